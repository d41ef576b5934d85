// Reads a device profile. A figure that is missing or not a number is an error: nothing has a
// default.
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile.h"

Profile profile;

static bool number(const config_t *config, const char *path, const char *name, double *value)
{
    const config_setting_t *s = config_lookup(config, name);
    int type = s ? config_setting_type(s) : CONFIG_TYPE_NONE;
    if (type == CONFIG_TYPE_FLOAT) *value = config_setting_get_float(s);
    else if (type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64)
        *value = config_setting_get_int64(s);
    else fprintf(stderr, "%s: %s is missing or is not a number\n", path, name);
    return type == CONFIG_TYPE_FLOAT || type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
}

static bool read_carveouts(const config_t *config, const char *path, Profile *p)
{
    const config_setting_t *list = config_lookup(config, "carveouts");
    p->carveout_count = list ? config_setting_length(list) : 0;
    if (!p->carveout_count || p->carveout_count > MOST_CARVEOUTS) {
        fprintf(stderr, "%s: carveouts = [ ... ], up to %d of them, is missing\n", path,
                MOST_CARVEOUTS);
        return false;
    }
    for (int n = 0; n < p->carveout_count; n++)
        p->carveouts[n] = config_setting_get_int_elem(list, n);
    return true;
}

static bool read_cluster_groups(const config_t *config, const char *path, Profile *p)
{
    const config_setting_t *list = config_lookup(config, "cluster_sms");
    int sms = 0;
    p->cluster_groups = list ? config_setting_length(list) : 0;
    for (int n = 0; n < p->cluster_groups && n < MOST_CLUSTER_GROUPS; n++)
        sms += p->cluster_sms[n] = config_setting_get_int_elem(list, n);
    if (list && p->cluster_groups <= MOST_CLUSTER_GROUPS && (sms == p->sm_count || !sms))
        return true;
    fprintf(
        stderr,
        "%s: cluster_sms = [ ... ], up to %d numbers whose sum is sm_count, or none, is missing\n",
        path, MOST_CLUSTER_GROUPS);
    return false;
}

static bool read_load_clocks(const config_t *config, const char *path, Profile *p)
{
    const config_setting_t *list = config_lookup(config, "dram_load_clocks");
    for (int n = 0; n < LOAD_PARTS; n++) {
        p->dram_load_clocks[n] =
            list && n < config_setting_length(list) ? config_setting_get_float_elem(list, n) : 0;
        if (p->dram_load_clocks[n] > 0
            && (n == 0 || p->dram_load_clocks[n] >= p->dram_load_clocks[n - 1]))
            continue;
        fprintf(stderr, "%s: dram_load_clocks = [ ... ], %d numbers that rise, is missing\n", path,
                LOAD_PARTS);
        return false;
    }
    return true;
}

static bool read_figures(const config_t *config, const char *path, Profile *p)
{
    const char *name;
    const config_setting_t *capability = config_lookup(config, "compute_capability");
    if (!config_lookup_string(config, "name", &name) || !capability
        || config_setting_length(capability) != 2) {
        fprintf(stderr, "%s: name = \"...\" or compute_capability = [major, minor] is missing\n",
                path);
        return false;
    }
    snprintf(p->name, sizeof p->name, "%s", name);
    p->major = config_setting_get_int_elem(capability, 0);
    p->minor = config_setting_get_int_elem(capability, 1);
    double value = 0;
#define FIGURE(type, field, what)                                                                  \
    if (!number(config, path, #field, &value)) return false;                                       \
    p->field = (type)value;
#include "profile.def"
#undef FIGURE
    if (p->l1_ways < 1 || p->l1_ways > 16 || p->l2_ways < 1 || p->l2_ways > 16) {
        fprintf(stderr, "%s: l1_ways and l2_ways are from 1 to 16\n", path);
        return false;
    }
    return read_carveouts(config, path, p) && read_cluster_groups(config, path, p)
        && read_load_clocks(config, path, p);
}

bool profile_load(const char *path, Profile *p)
{
    config_t config;
    config_init(&config);
    bool good = config_read_file(&config, path);
    if (good) good = read_figures(&config, path, p);
    else if (config_error_type(&config) == CONFIG_ERR_FILE_IO)
        fprintf(stderr, "%s: there is no such device profile (PROFILE=h200 is one)\n", path);
    else
        fprintf(stderr, "%s:%d: %s\n", path, config_error_line(&config),
                config_error_text(&config));
    config_destroy(&config);
    return good;
}
