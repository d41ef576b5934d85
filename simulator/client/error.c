// Errors: each thread's last error, the names of errors and NVIDIA's descriptions, and reports of
// calls that were used wrongly.

#include "client.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Printed by generate/errors.c from the toolkit's own runtime when this library is built. The last
// row is for all codes that are no error.
static const struct {
    int code;
    const char *name, *words;
} table[] = {
#include "errors.inc"
};

static __thread cudaError_t last;
static __thread bool unchecked; // a failed launch: the program has not asked for the error yet

cudaError_t client_done(cudaError_t error)
{
    if (error && error != cudaErrorNotReady) // which is an answer, and no error
        last = error;
    return error;
}

void client_unchecked(void) { unchecked = true; }

// The program asks for the last error: a failed launch no longer counts as unchecked.
static void note_checked(const char *call)
{
    if (!unchecked) return;
    WireRequest request = client_request(WIRE_CHECKED, call);
    client_tell(&request, NULL, 0);
    unchecked = false;
}

EXPORT cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;
    note_checked("cudaGetLastError");
    last = cudaSuccess;
    return error;
}

EXPORT cudaError_t cudaPeekAtLastError(void)
{
    note_checked("cudaPeekAtLastError");
    return last;
}

static size_t find(cudaError_t error)
{
    size_t i = 0, last_row = sizeof table / sizeof *table - 1;
    while (i < last_row && table[i].code != (int)error) i++;
    return i;
}

EXPORT const char *cudaGetErrorName(cudaError_t error) { return table[find(error)].name; }

EXPORT const char *cudaGetErrorString(cudaError_t error) { return table[find(error)].words; }

cudaError_t client_report_unsupported(const char *what)
{
    WireRequest request = client_request(WIRE_UNSUPPORTED, what);
    WireReply reply;
    cudaError_t error = client_call(&request, what, strlen(what), &reply, NULL, 0);
    return error ? error : cudaErrorNotSupported;
}

cudaError_t client_unsupported(const char *call)
{
    return client_done(client_report_unsupported(call));
}

cudaError_t client_misuse(const char *call, cudaError_t error, const char *message, const char *why,
                          const char *next)
{
    char tail[1024];
    int bytes = snprintf(tail, sizeof tail, "%s\n%s\n%s", message, why, next);
    if (bytes < 0 || bytes >= (int)sizeof tail) return error;
    WireRequest request = client_request(WIRE_MISUSE, call);
    WireReply reply;
    cudaError_t answer = client_call(&request, tail, (size_t)bytes, &reply, NULL, 0);
    return answer ? answer : error;
}

// The site goes first in the request's tail, or zeros.
cudaError_t client_note(const char *call, cudaError_t error, ClientWords words)
{
    char tail[2048];
    ClientSite none = { 0 }, site = words.label ? *words.site : none;
    memcpy(tail, site.caller, sizeof site.caller);
    int bytes =
        snprintf(tail + sizeof site.caller, sizeof tail - sizeof site.caller, "%s\n%s\n%s\n%s\n%s",
                 words.message, words.why, words.next, words.label ? words.label : "", site.call);
    if (bytes < 0 || bytes >= (int)(sizeof tail - sizeof site.caller)) return error;
    WireRequest request = client_request(WIRE_REFUSED, call);
    WireReply reply;
    client_call(&request, tail, sizeof site.caller + (size_t)bytes, &reply, NULL, 0);
    return error;
}

static WireRequest about_handle(enum wire_op op, const char *call, enum wire_handle kind,
                                const void *handle)
{
    WireRequest request = client_request(op, call);
    request.handle.id = client_address(handle);
    request.handle.kind = kind;
    return request;
}

void client_destroyed(const char *call, enum wire_handle kind, const void *handle)
{
    WireRequest request = about_handle(WIRE_HANDLE_DESTROYED, call, kind, handle);
    client_tell(&request, NULL, 0);
}

bool client_was_destroyed(const char *call, enum wire_handle kind, const void *handle, bool work)
{
    WireRequest request = about_handle(WIRE_HANDLE_UNKNOWN, call, kind, handle);
    WireReply reply;
    request.handle.fails = work;
    return handle && !client_open() && !client_simple(&request, &reply) && reply.id;
}

cudaError_t client_refuse(const char *call, cudaError_t error, const char *why, const char *next,
                          const char *format, ...)
{
    char message[256];
    va_list arguments;
    int length = snprintf(message, sizeof message, "%s ", call);
    va_start(arguments, format);
    vsnprintf(message + length, sizeof message - (size_t)length, format, arguments);
    va_end(arguments);
    return client_note(call, error, (ClientWords){ message, why, next, NULL, NULL });
}

cudaError_t client_no_device(const char *call, int ordinal)
{
    return client_refuse(
        call, cudaErrorInvalidDevice,
        "The last device has the number of devices less 1; CUDA_VISIBLE_DEVICES may hide some.",
        "Ask cudaGetDeviceCount how many there are; DEVICES=N simulator/run has N.",
        "was given device %d, and the program has %d, counted from 0", ordinal,
        client_facts()->device_count);
}

cudaError_t client_no_flags(const char *call, unsigned flags)
{
    return client_refuse(call, cudaErrorInvalidValue,
                         "A flag that a call does not have makes it fail.",
                         "Look the flags up that this call has; 0 is the default.",
                         "does not have the flags 0x%x", flags);
}

cudaError_t client_no_place(const char *call)
{
    char message[80];
    snprintf(message, sizeof message, "%s was given a null pointer to write the new address to",
             call);
    return client_misuse(call, cudaErrorInvalidValue, message,
                         "The new address is written to where the first argument points.",
                         "Give the address of your own pointer: &p, not p.");
}
