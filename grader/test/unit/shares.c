// Claims: what lanes and threads cannot make less by sharing it with others that do none of the
// work.
#include "claims.h"
#include <criterion/criterion.h>
#include <math.h>

#define LOADED "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
#define CONFLICTS "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
#define PASSES "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
#define APART "l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_ld.sum"

// Lanes that take turns meet no others in a bank. Their passes count as conflicts do.
Test(shares, tell_lanes_apart_from_conflicts)
{
    const Claim c = { .name = "bank conflicts",
                      .per = "call",
                      .counter = { CONFLICTS, APART },
                      .counters = 2,
                      .at_least = -INFINITY,
                      .at_most = 1,
                      .slow = "one bank" };
    json_t *r = json_pack("{si si s{si si} s[{ss si s{si si si}}]}", "kernels", 1, "calls", 1,
                          "counters", CONFLICTS, 0, APART, 7000, "lines", "file", "/x/a.cu", "line",
                          20, "counters", CONFLICTS, 0, APART, 7000, PASSES, 8000);
    Finding f = claim_judge(&c, r);
    cr_expect_float_eq(f.value, 7000, 1e-9);
    cr_expect_str_eq(f.words, "The lanes of a warp use shared memory one after the other, or over "
                              "the network between multiprocessors, in a.cu:20: that takes as many "
                              "passes over shared memory as bank conflicts do.");
}

// 64 threads share the work. Another launch has 32,000 busy ones, and next to no work.
Test(shares, divide_by_threads_that_share_the_work)
{
    enum { ALL = 64000, OTHERS = 1000 };
    const Claim c = { .name = "sectors of a thread",
                      .per = "launch__busy_thread_count",
                      .counter = { LOADED },
                      .counters = 1,
                      .at_least = -INFINITY,
                      .at_most = 1000 };
    json_t *r = json_pack("{si s{si si}}", "kernels", 1, "counters", LOADED, 6400, c.per, 64);
    cr_expect_float_eq(claim_judge(&c, r).value, 100, 1e-9);
    json_t *counters = json_object_get(r, "counters");
    json_object_set_new(counters, c.per, json_integer(64 + 32000));
    json_object_set_new(counters, "smsp__thread_inst_executed.sum", json_integer(ALL + OTHERS));
    json_object_set_new(counters, "launch__work_of_a_thread.sum",
                        json_integer((json_int_t)ALL * ALL / 64 + OTHERS * OTHERS / 32000));
    cr_expect_float_eq(claim_judge(&c, r).value, 97, 0.1);
}
