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

double device_least_time(const char *root, const char *device, double read, double written)
{
    char *path = text_format("%s/profiles/devices/%s.cfg", root, device);
    config_t config;
    config_init(&config);
    double seconds = config_read_file(&config, path) ? least(&config, read, written) : 0;
    config_destroy(&config);
    free(path);
    return seconds;
}
