#define _GNU_SOURCE
#include "summary.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A result as result.h says, with some of what a summary leaves out.
static json_t *result(double ratio)
{
    json_t *copy = json_pack("{si sf s[ff] s{si sf} s{sf} s[s]}", "tries", 1, "ratio", ratio,
                             "ratios", 0.25, ratio, "student", "bytes", 4000, "seconds", 1e-6,
                             "peer", "seconds", 2.5e-7, "log", "much");
    json_t *records = json_pack("[{ss s[]}{ss s{so} s[]}]", "check", "small", "lines", "check",
                                "large", "measured", "copy", copy, "by_kernel");
    json_t *timings = json_pack("[{ss sf sn ss}]", "name", "t", "ratio", ratio, "gold", "why", "w");
    json_t *claims = json_pack("[{ss sf sf ss}]", "name", "c", "sum", 123456789012.0, "by", 0.1, //
                               "why", "w");
    return json_pack("{ss ss s{si} so s[{ss}] s{ss so so}}", "lesson", "05-it", "verdict", "PASS",
                     "score", "passed", 3, "claims", claims, "checks", "check", "small", "gpu",
                     "device", "A GPU", "timings", timings, "records", records);
}

static char path[] = "/tmp/warpwise-summary-XXXXXX";

static void open_path(void)
{
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
    unlink(path);
}

static void remove_path(void) { unlink(path); }

TestSuite(summary, .init = open_path, .fini = remove_path);

static void put(const char *text)
{
    FILE *f = fopen(path, "we");
    fputs(text, f);
    fclose(f);
}

static char *text_of_path(void)
{
    static char text[4096];
    FILE *f = fopen(path, "re");
    text[f ? fread(text, 1, sizeof text - 1, f) : 0] = 0;
    if (f) fclose(f);
    return text;
}

// A row a timing, a measurement and a claim; a count to its last digit, what was measured to six.
Test(summary, is_laid_out_in_rows)
{
    const char *problem;
    json_t *versions[SUMMARY_VERSIONS] = { [1] = summary_of(result(0.123456789), "05-it", 2,
                                                            &problem) };
    cr_assert_null(problem);
    cr_assert(summary_write(path, "05-it", versions));
    cr_expect_str_eq(text_of_path(),
                     "{\n"
                     " \"schema\": 1,\n"
                     " \"lesson\": \"05-it\",\n"
                     " \"versions\": [\n"
                     "  {\n"
                     "   \"version\": 2,\n"
                     "   \"verdict\": \"PASS\",\n"
                     "   \"score\": {\"passed\": 3},\n"
                     "   \"gpu\": {\n"
                     "    \"device\": \"A GPU\",\n"
                     "    \"timings\": [\n"
                     "     {\"name\": \"t\", \"ratio\": 0.123457, \"gold\": null}\n"
                     "    ],\n"
                     "    \"records\": [\n"
                     "     {\n"
                     "      \"check\": \"large\",\n"
                     "      \"measured\": {\n"
                     "       \"copy\": {\"tries\": 1, \"ratios\": [0.25, 0.123457], \"student\": "
                     "{\"bytes\": 4000, \"seconds\": 1e-6}, \"peer\": {\"seconds\": 2.5e-7}}\n"
                     "      }\n"
                     "     }\n"
                     "    ]\n"
                     "   },\n"
                     "   \"claims\": [\n"
                     "    {\"name\": \"c\", \"sum\": 123456789012, \"by\": 0.1}\n"
                     "   ]\n"
                     "  }\n"
                     " ]\n"
                     "}\n");
}

Test(summary, comes_back_by_version)
{
    const char *problem;
    json_t *written[SUMMARY_VERSIONS] = { 0 }, *read[SUMMARY_VERSIONS] = { 0 };
    written[0] = summary_of(result(0.5), "05-it", 1, &problem);
    written[2] = summary_of(result(0.75), "05-it", 3, &problem);
    cr_assert(summary_write(path, "05-it", written));
    cr_assert_null(summary_read(path, "05-it", read));
    for (int v = 0; v < SUMMARY_VERSIONS; v++)
        cr_expect(json_equal(read[v], written[v]) || (!read[v] && !written[v]), "version %d",
                  v + 1);
}

Test(summary, takes_no_other_results)
{
    const char *problem;
    json_t *no_gpu = result(1);
    json_object_del(no_gpu, "gpu");
    cr_expect_null(summary_of(NULL, "05-it", 1, &problem));
    cr_expect_str_eq(problem, "is no result");
    cr_expect_null(summary_of(result(1), "06-other", 1, &problem));
    cr_expect_str_eq(problem, "is the result of another lesson");
    cr_expect_null(summary_of(no_gpu, "05-it", 1, &problem));
    cr_expect_str_eq(problem, "is not of a run on a GPU");
}

// What summary_read says of a file with this text, but for its name.
static const char *refused(const char *text)
{
    json_t *versions[SUMMARY_VERSIONS] = { 0 };
    put(text);
    const char *problem = summary_read(path, "05-it", versions);
    cr_assert_not_null(problem, "%s", text);
    cr_assert_eq(strncmp(problem, path, strlen(path)), 0);
    return problem + strlen(path);
}

Test(summary, of_what_is_none_says_so)
{
    json_t *versions[SUMMARY_VERSIONS] = { 0 };
    cr_expect_null(summary_read(path, "05-it", versions), "a file that is not there has nothing");
    cr_expect_eq(strncmp(refused("{\n\"lesson\" 5}"), ":2: ", 4), 0);
    cr_expect_str_eq(refused("{\"lesson\": \"05-it\", \"checks\": []}"),
                     ": is no summary of 05-it");
    cr_expect_str_eq(refused("{\"lesson\": \"06-other\", \"versions\": []}"),
                     ": is no summary of 05-it");
    cr_expect_str_eq(refused("{\"lesson\": \"05-it\", \"versions\": [{\"verdict\": \"PASS\"}]}"),
                     ": has a version that is none of 1 to 32");
    cr_expect_str_eq(refused("{\"lesson\": \"05-it\", \"versions\": [{\"version\": 33}]}"),
                     ": has a version that is none of 1 to 32");
}
