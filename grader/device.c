#include "device.h"
#include "text.h"
#include <libconfig.h>
#include <math.h>
#include <stdlib.h>

static double number(const config_t *config, const char *key)
{
    double value = NAN;
    int whole;
    if (!config_lookup_float(config, key, &value) && config_lookup_int(config, key, &whole))
        value = whole;
    return value;
}

static double least(const config_t *c, double read, double written)
{
    double hz = number(c, "clock_hz"),
           moved = read + written <= number(c, "l2_bytes")
                     ? fmax(read / (number(c, "l2_read_bytes_per_clock") * hz),
                            written / (number(c, "l2_write_bytes_per_clock") * hz))
                     : (read + written) / number(c, "dram_bytes_per_second"),
           seconds = number(c, "kernel_seconds") + moved;
    return isfinite(seconds) ? seconds : 0;
}

// Both ways at once.
static double least_on_the_bus(const config_t *c, double in, double out)
{
    double seconds = fmax(in / number(c, "copy_bytes_per_second"),
                          out / number(c, "copy_back_bytes_per_second"));
    return isfinite(seconds) ? seconds : 0;
}

static double ask(const char *root, const char *device,
                  double (*what)(const config_t *, double, double), double a, double b)
{
    char *path = text_format("%s/profiles/devices/%s.cfg", root, device);
    config_t config;
    config_init(&config);
    double seconds = config_read_file(&config, path) ? what(&config, a, b) : 0;
    config_destroy(&config);
    free(path);
    return seconds;
}

double device_least_time(const char *root, const char *device, double read, double written)
{
    return ask(root, device, least, read, written);
}

double device_least_journey(const char *root, const char *device, double htod, double dtoh)
{
    return ask(root, device, least_on_the_bus, htod, dtoh);
}
