// Who wrote which word of device memory last: the parts that the device itself has made.
#include "memory/writer.h"
#include <criterion/criterion.h>

enum { MADE = 20, ALL = 100 };
static const u64 at = MEMORY_BASE + 4096;

static void write_some(void)
{
    cr_assert(writer_keep());
    writer_set(at, 12, WRITER_KERNEL);
    writer_set(at + 12, MADE - 12, WRITER_FILL);
    writer_set(at + MADE, 4, WRITER_HOST);
    writer_set(at + MADE + 4, 4, WRITER_MOVED);
}

TestSuite(writer, .init = write_some);

static void expect_run(u64 from, u64 bytes, u64 run, bool made)
{
    bool by_device = !made;
    cr_expect_eq(writer_run(at + from, bytes, &by_device), run);
    cr_expect_eq(by_device, made);
}

Test(writer, run_goes_on_while_the_device_has_made_it)
{
    expect_run(0, ALL, MADE, true);
    expect_run(8, ALL, MADE - 8, true);
    expect_run(MADE, ALL, ALL, false);
    expect_run(MADE + 4, ALL, ALL, false);
}

Test(writer, run_ends_with_what_is_asked_for)
{
    expect_run(0, MADE, MADE, true);
    expect_run(0, 12, 12, true);
    expect_run(0, 6, 6, true);
    expect_run(MADE, 1, 1, false);
    writer_set(at + 12, 4, WRITER_HOST);
    expect_run(0, 13, 12, true);
}
