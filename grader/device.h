// What the profile of the device that is imitated says, profiles/devices/NAME.cfg.
#pragma once
#include <jansson.h>
#include <stdbool.h>

// What a call takes at least that launches one kernel, in seconds, if it has to read and to write
// so many bytes: from and to the L2 cache, where they fit, else memory. 0: not known. `root` is the
// project's folder, `device` the profile's name ("h200").
double device_least_time(const char *root, const char *device, double read, double written);

// ---- Of a check's record (record.h), for all of its calls; 0 for no record

// The predicted time, in ns: from the beginning of a call's first piece of work to the end of its
// last where that is known, and else the sum of its kernels' times.
double device_time(const json_t *record);
bool device_time_is_whole(const json_t *record);

// What it takes at least on that device, in ns: a launch a call, and what is compulsory; where the
// time is whole, what is compulsory on the host's bus, both ways at once. 0: not known, as on
// several devices.
double device_least(const char *root, const char *device, const json_t *record);
