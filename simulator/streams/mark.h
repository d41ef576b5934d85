// A wait for an event is for its latest record at that time. The event may be recorded again before
// that wait is executed, so issued records and waits have a mark, which keeps the time of one
// record.
#pragma once
#include "base/base.h"

u32 mark_new(double at);   // 1 or more. `at`: ns; INFINITY: the record is not executed yet
double *mark_at(u32 mark); // of an existing mark
void marks_forget(void);   // no work is incomplete
void marks_push_back(double from, double ns); // those at the time `from` are `ns` later
