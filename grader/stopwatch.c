// A request, and the time until its answer. What the request itself costs is in
// it, and is gone in the difference of a long run and a short one.
#include "stopwatch.h"
#include "process.h"

static bool ask(Session *s, enum action action, uint32_t times, enum outcome *outcome,
                Answer *answer)
{
    Request request = { .magic = PROTOCOL_MAGIC, .action = action, .times = times };
    events_new_call(&s->events);
    *outcome = session_call(s, &request, NULL, 0, answer);
    return *outcome == OUTCOME_ANSWER && answer->stage == STAGE_DONE;
}

double stopwatch(Session *s, uint32_t times, enum outcome *outcome, Answer *answer)
{
    if (!ask(s, ACTION_RESET, 0, outcome, answer)) return -1;
    double start = seconds_now();
    bool good = ask(s, ACTION_RUN, times, outcome, answer);
    return good ? seconds_now() - start : -1;
}
