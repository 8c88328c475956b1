/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/search/rl/rl_methods_case.h"

#include <math.h>

#include "base/random.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

const mo_method *const learners[N_LEARNERS] = { &mo_method_placeto,
                                                &mo_method_hrl };

const mo_regime learners_ports = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                   MO_MEMORY_NONE };

mo_method_result learners_place(const mo_method *method,
                                const mo_method_task *task)
{
    mo_method_result placed = { 0 };

    MUST(method->place(task, &placed, &err));
    ck_assert_ptr_nonnull(placed.schedule);
    return placed;
}

void learners_small_problem(problem *p, uint64_t seed)
{
    mo_random random = { mo_random_seed(77, seed) };
    mo_out *out = text_new();
    int n = 10 + mo_random_below(&random, 3);
    char *text;

    for (int i = 0; i < n; i++) {
        int us = 4 + mo_random_below(&random, 30);

        mo_out_printf(out, "o%d t.A=%d t.B=%d t.C=%d;", i, us,
                      us * (8 + mo_random_below(&random, 16)) / 10,
                      us * (6 + mo_random_below(&random, 30)) / 10);
    }
    for (int i = 1; i < n; i++)
        for (int tries = 1 + mo_random_below(&random, 2), from = -1; tries > 0;
             tries--) {
            int next = mo_random_below(&random, i);

            if (next != from)
                mo_out_printf(out, "o%d>o%d bytes=%d;", next, i,
                              1000 * (1 + mo_random_below(&random, 20)));
            from = next;
        }
    text = text_end(out);
    problem_make(p, text, "A; B; C; A-B gbps=16; A-C gbps=8; B-C gbps=8", NULL);
    free(text);
}

double sign_test(int wins, int losses)
{
    int n = wins + losses;
    double tail = 0, log_half = n * log(0.5);

    for (int k = wins; k <= n; k++)
        tail +=
            exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + log_half);
    return tail;
}
