// The harness is found in a program by its symbols: in this one, which has such symbols of its own.
#include "harness.h"
#include <criterion/criterion.h>

__asm__(".pushsection .text\n"
        ".globl harness_begin, harness_end\n"
        "harness_begin: .fill 16, 1, 0x90\n"
        "harness_end: .popsection\n");

static json_t *call_from(const char *object, uint64_t address)
{
    char text[32];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    return json_pack("{s{ssss}}", "caller", "object", object, "address", text);
}

Test(harness, is_where_its_symbols_say)
{
    Harness h = harness_of("/proc/self/exe");
    cr_assert_eq(h.end - h.begin, 16);
    cr_expect_not(harness_called(&h, call_from(h.program, h.begin)), "it returns before");
    cr_expect(harness_called(&h, call_from(h.program, h.begin + 1)));
    cr_expect(harness_called(&h, call_from(h.program, h.end)), "its last instruction is a call");
    cr_expect_not(harness_called(&h, call_from(h.program, h.end + 1)));
    cr_expect_not(harness_called(&h, call_from("/another", h.begin + 1)));
    cr_expect_not(harness_called(&h, json_object()));
    cr_expect_not(harness_called(&h, NULL));
}

Test(harness, is_in_no_file_that_is_no_program)
{
    static const char *const files[] = { "/nowhere", "/dev/null", "grader/harness.c", "." };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        Harness h = harness_of(files[i]);
        cr_expect_eq(h.end, 0, "%s", files[i]);
        cr_expect_not(harness_called(&h, call_from(files[i], 0)), "%s", files[i]);
    }
}
