/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the choice among the copies of a network (pipeline/shares.c) against
 * list scheduling of the requests by their earliest finish. */
#include "exec/runtime/pipeline/pipeline_internal.h"

#include <stdlib.h>

#include "base/random.h"
#include "tests/support/suite.h"

enum { MAX_COPIES = 4, REQUESTS = 200 };

/* Requests that all wait from the begin, of copies whose latency is the period:
 * each is assigned as list scheduling does. */
START_TEST(requests_go_where_they_end_first)
{
    mo_random random = { (uint64_t) _i + 1 };
    mo_pipeline_share shares[MAX_COPIES];
    int64_t ends[MAX_COPIES] = { 0 };
    mo_pipeline p = { .shares = shares,
                      .n_shares = 1 + mo_random_below(&random, MAX_COPIES) };

    for (int c = 0; c < p.n_shares; c++) {
        int64_t ns = 1 + mo_random_below(&random, 1000);

        shares[c] = (mo_pipeline_share){ .n_slots = 2,
                                         .latency_ns = ns,
                                         .period_ns = ns };
    }
    for (int i = 0; i < REQUESTS; i++) {
        int best = 0, chosen = mo_pipeline_choose_share(&p, 0);

        for (int c = 1; c < p.n_shares; c++)
            if (ends[c] + shares[c].period_ns <
                ends[best] + shares[best].period_ns)
                best = c;
        ck_assert_int_eq(chosen, best);
        ends[best] += shares[best].period_ns;
        mo_pipeline_share_assign(&shares[best], 0);
    }
}
END_TEST

/* One request alone goes to the copy of the least latency, although another has
 * the shorter period. */
START_TEST(a_request_alone_goes_by_latency)
{
    mo_pipeline_share shares[] = {
        { .n_slots = 2, .latency_ns = 300, .period_ns = 100 },
        { .n_slots = 1, .latency_ns = 200, .period_ns = 200 },
    };
    mo_pipeline p = { .shares = shares, .n_shares = 2 };

    ck_assert_int_eq(mo_pipeline_choose_share(&p, 0), 1);
    mo_pipeline_share_assign(&shares[1], 0);
    ck_assert_int_eq(mo_pipeline_choose_share(&p, 0), 0);
}
END_TEST

/* Predictions that were wrong are replaced by what was measured. */
START_TEST(measured_periods_replace_predicted_ones)
{
    mo_pipeline_share shares[] = {
        { .n_slots = 1, .latency_ns = 100, .period_ns = 100 },
        { .n_slots = 1, .latency_ns = 1000, .period_ns = 1000 },
    };
    mo_pipeline p = { .shares = shares, .n_shares = 2 };

    for (int i = 0; i < 10; i++)
        for (int c = 0; c < 2; c++) {
            mo_pipeline_share_assign(&shares[c], 10000 * i);
            mo_pipeline_share_complete(&shares[c],
                                       10000 * i + (c == 0 ? 5000 : 50));
        }
    ck_assert_int_eq(mo_pipeline_choose_share(&p, 100000), 1);
}
END_TEST

SUITE(shares)
{
    EACH(requests_go_where_they_end_first, 100);
    TEST(a_request_alone_goes_by_latency);
    TEST(measured_periods_replace_predicted_ones);
}
