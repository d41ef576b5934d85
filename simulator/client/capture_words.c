#include "capture_words.h"
#include <stdio.h>
#include <string.h>

typedef struct Words {
    cudaError_t error;
    const char *message, *why, *next; // the message follows the call's name
} Words;

static const Words waiting = {
    cudaErrorStreamCaptureUnsupported, "waits for a stream that is being captured, or asks for it",
    "What is captured is written down, and not done: there is nothing to wait for, and the capture "
    "is lost.",
    "Call it after cudaStreamEndCapture, when the graph has been launched."
};

static const Words all[] = {
    { cudaErrorStreamCaptureUnsupported, "is not permitted while a stream is being captured",
      "It may wait for the captured stream, in which nothing runs. The capture is lost.",
      "Call it before the capture, or capture in the mode cudaStreamCaptureModeThreadLocal, which "
      "permits it in other threads, or cudaStreamCaptureModeRelaxed." },
    { cudaErrorStreamCaptureInvalidated, "is part of a capture that is lost",
      "A call that a capture does not permit ends it, and all that follows in it fails.",
      "Look at that call first." },
    { cudaErrorStreamCaptureMerge, "would make one capture of two",
      "An event of one capture was waited for in the other, and both are lost.",
      "Begin one capture alone: another stream joins it when it waits for one of its events." },
    { cudaErrorStreamCaptureUnmatched, "was given another stream than the capture began with",
      "A stream that has joined a capture cannot end it.",
      "End the capture with the stream that was given to cudaStreamBeginCapture." },
    { cudaErrorStreamCaptureUnjoined, "ends a capture that another stream has not joined again",
      "The other stream joined when it waited for an event; its last work has to come before the "
      "end of the captured stream.",
      "Record an event on the other stream after its work, and let the first stream wait for it." },
    { cudaErrorStreamCaptureIsolation, "waits for an event from outside of the capture",
      "Nothing in a graph can wait for what was recorded before its capture began. The capture is "
      "lost.",
      "Record the event on a captured stream, or wait with the flag cudaEventWaitExternal." },
    { cudaErrorStreamCaptureImplicit, "uses the default stream while another is being captured",
      "The default stream would wait for the captured one, in which nothing runs. The capture is "
      "lost.",
      "Name a stream, or make the captured one with cudaStreamNonBlocking." },
    { cudaErrorCapturedEvent, "was given an event that was recorded in a capture",
      "Such a record is a part of the graph, and has not happened.",
      "Wait for the stream in which the graph is launched." },
    { cudaErrorIllegalState, "was given a stream that is being captured already",
      "A stream is in one capture at a time.", "Call cudaStreamEndCapture first." },
    { cudaErrorStreamCaptureWrongThread, "ends a capture that another thread began",
      "Only in the mode cudaStreamCaptureModeRelaxed may another thread end it.",
      "End it in the thread that began it." },
};

void capture_site(ClientSite *site, const char *call)
{
    WireRequest here = client_request(WIRE_REFUSED, call);
    snprintf(site->call, sizeof site->call, "%s", call);
    memcpy(site->caller, here.caller, sizeof site->caller);
}

static cudaError_t explain(const char *call, const Words *words, const ClientSite *began)
{
    char message[160];
    bool lost = words->error == cudaErrorStreamCaptureInvalidated;
    snprintf(message, sizeof message, "%s %s", call, words->message);
    return client_note(
        call, words->error,
        (ClientWords){ .message = message,
                       .why = words->why,
                       .next = words->next,
                       .label = lost ? "the capture was lost by" : "the capture began with",
                       .site = began });
}

cudaError_t capture_explain(const char *call, cudaError_t error, const ClientSite *began)
{
    for (size_t i = 0; error && i < sizeof all / sizeof *all; i++)
        if (all[i].error == error) return explain(call, &all[i], began);
    return error;
}

cudaError_t capture_explain_waiting(const char *call, cudaError_t error, const ClientSite *began)
{
    if (error != waiting.error) return capture_explain(call, error, began);
    return explain(call, &waiting, began);
}

// Two errors whose cause is easily missed are errors of the run.
void capture_explain_operation(const char *call, cudaError_t error, bool waits,
                               const ClientSite *began)
{
    char message[160];
    if (error == cudaErrorStreamCaptureImplicit) {
        snprintf(message, sizeof message,
                 "%s: it names no stream, while another one is being captured", call);
        client_misuse(call, error, message,
                      "The default stream would wait for the captured one, in which nothing runs.",
                      "Name the captured stream: in a launch in the fourth place between the angle "
                      "brackets.");
    } else if (error == cudaErrorStreamCaptureUnsupported && waits) {
        snprintf(message, sizeof message,
                 "%s: it waits for its end, on a stream that is being captured", call);
        client_misuse(
            call, error, message, "What is captured is written down, and not done.",
            "Take the asynchronous call of that name, or call it before the capture or after it.");
    } else capture_explain(call, error, began);
}
