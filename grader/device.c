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

// ---- Of a check's record

static double number_of(const json_t *record, const char *key)
{
    return json_number_value(json_object_get(record, key));
}

static double elapsed(const json_t *record)
{
    return number_of(json_object_get(record, "counters"), "devices__elapsed_ns.sum");
}

bool device_time_is_whole(const json_t *record) { return elapsed(record) > 0; }

double device_time(const json_t *record)
{
    return device_time_is_whole(record) ? elapsed(record) : number_of(record, "time_ns");
}

double device_least(const char *root, const char *device, const json_t *record)
{
    double calls = number_of(record, "calls"), read = number_of(record, "compulsory_read"),
           written = number_of(record, "compulsory_write"),
           htod = number_of(record, "compulsory_htod"), dtoh = number_of(record, "compulsory_dtoh");
    if (number_of(record, "compulsory_link") > 0) return 0; // of several devices
    if (device_time_is_whole(record)) return 1e9 * ask(root, device, least_on_the_bus, htod, dtoh);
    if (read + written <= 0) return 0;
    return 1e9 * calls * device_least_time(root, device, read / calls, written / calls);
}
