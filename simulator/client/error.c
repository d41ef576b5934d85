// Errors: each thread's last error, the names of errors and NVIDIA's descriptions, and reports of
// calls that were used wrongly.

#include "client.h"
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

cudaError_t client_unsupported(const char *call)
{
    WireRequest request = client_request(WIRE_UNSUPPORTED, call);
    WireReply reply;
    cudaError_t error = client_call(&request, call, strlen(call), &reply, NULL, 0);
    return client_done(error ? error : cudaErrorNotSupported);
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

cudaError_t client_no_place(const char *call)
{
    char message[80];
    snprintf(message, sizeof message, "%s was given a null pointer to write the new address to",
             call);
    return client_misuse(call, cudaErrorInvalidValue, message,
                         "The new address is written to where the first argument points.",
                         "Give the address of your own pointer: &p, not p.");
}
