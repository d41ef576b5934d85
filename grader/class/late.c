#include "class.h"

int late_days(time_t time, time_t deadline)
{
    enum { DAY = 24 * 60 * 60 };
    if (time == NO_TIME || deadline == NO_TIME || time <= deadline) return 0;
    return (int)((time - deadline + DAY - 1) / DAY);
}

double late_worth(const LateRules *l, double points, int days, int left, int *spent)
{
    *spent = 0;
    if (l->most && days > l->most) return 0;
    int free = days < left ? days : left;
    double share = 1 - l->penalty / 100 * (days - free);
    if (share <= 0 || points <= 0) return 0;
    *spent = free;
    return points * share;
}

size_t late_choose(const LateRules *l, const Attempt *attempt, size_t count, int left, bool latest)
{
    size_t best = 0;
    int fewest, spent;
    if (latest) return count - 1;
    double most = late_worth(l, attempt[0].points, attempt[0].days, left, &fewest);
    for (size_t n = 1; n < count; n++) {
        double worth = late_worth(l, attempt[n].points, attempt[n].days, left, &spent);
        if (worth < most || (worth == most && spent >= fewest)) continue;
        best = n;
        most = worth;
        fewest = spent;
    }
    return best;
}
