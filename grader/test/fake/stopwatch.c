// In the place of grader/stopwatch.c: the calls are made, but how long they took is
// told by the case. The peer's take 0.2 us each, and the request itself 10 us.
#include "stopwatch.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

static double call_seconds(bool student)
{
    static int turn;
    const char *now = getenv("FAKE_CASE");
    if (strcmp(now, "gpu-long-runs") == 0)
        return 40e-6;
    bool library = strcmp(check.function, "twice_fast") == 0;
    if (!student)
        return library && strcmp(now, "gpu-peer-slow") == 0 ? 0.11e-6 : 0.2e-6;
    if (strcmp(now, "gpu-gold") == 0)
        return 0.2e-6;
    if (strcmp(now, "gpu-slow") == 0)
        return 0.5e-6;
    if (strcmp(now, "gpu-suspect") == 0)
        return 0.1e-6;                  // 8000 bytes take 0.125 us
    if (strcmp(now, "gpu-unsteady") == 0)
        return (turn++ + 2) / 4 % 2 ? 0.2e-6 : 0.6e-6;  // 2 to begin with, then 4 a turn
    return 0.22e-6;
}

// A millisecond that the student's longer runs lose in every second turn: a run of 200 calls takes 8.
static double lost_seconds(bool student, uint32_t times)
{
    static int turn;
    bool longer = student && times > 150 && strcmp(getenv("FAKE_CASE"), "gpu-long-runs") == 0;
    return longer && turn++ / 2 % 2 ? 1e-3 : 0;
}

double stopwatch(Session *s, uint32_t times, enum outcome *outcome, Answer *answer)
{
    enum action steps[] = {ACTION_RESET, ACTION_RUN};
    for (int i = 0; i < 2; i++) {
        Request request = {.magic = PROTOCOL_MAGIC, .action = steps[i], .times = times};
        *outcome = session_call(s, &request, NULL, 0, answer);
        if (*outcome != OUTCOME_ANSWER || answer->stage != STAGE_DONE)
            return -1;
    }
    bool student = s == &check.session;
    return 10e-6 + times * call_seconds(student) + lost_seconds(student, times);
}
