// Why calls fail whose errors the program can see: notes for a person.
#include "memory/memory.h"
#include "serve.h"
#include <string.h>

void refusal(Call *call, int error, enum report_cause cause,
             const ReportNumber numbers[REFUSAL_NUMBERS])
{
    Report report = {
        .cause = cause, .place = serve_place(call), .call = call->request.call, .note = true
    };
    if (numbers) memcpy(report.number, numbers, REFUSAL_NUMBERS * sizeof *numbers);
    call->reply.error = error;
    report_error(&report);
}

void refusal_full(Call *call, u64 bytes, u32 device, bool shared)
{
    u64 capacity = memory_capacity(), used = memory_used(device);
    const ReportNumber numbers[REFUSAL_NUMBERS] = {
        { "asked", bytes > INT64_MAX ? INT64_MAX : (s64)bytes },
        { "free", used < capacity ? (s64)(capacity - used) : 0 },
        { "capacity", (s64)capacity }
    };
    refusal(call, WIRE_MEMORY_ALLOCATION, shared ? CAUSE_shared_memory_full : CAUSE_memory_full,
            numbers);
}
