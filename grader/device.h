// What the profile of the device that is imitated says, profiles/devices/NAME.cfg.
#pragma once

// What a call takes at least that launches one kernel, in seconds, if it has to read and to write
// so many bytes: from and to the L2 cache, where they fit, else memory. 0: not known. `root` is the
// project's folder, `device` the profile's name ("h200").
double device_least_time(const char *root, const char *device, double read, double written);

// What so many bytes of pinned memory take at least on the host's bus, both ways at once, in
// seconds. 0: not known.
double device_least_journey(const char *root, const char *device, double htod, double dtoh);
