/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/mean_cost.h"

#include <stdlib.h>

int64_t mo_mean_cost_op_ns(const mo_instance *x, int op)
{
    int64_t sum_ns = 0;

    if (x->pin[op] != MO_FREE)
        return mo_instance_p_ns(x, op, x->pin[op]);
    for (int k = 0; k < x->n_devices; k++)
        sum_ns += mo_instance_p_ns(x, op, k);
    return sum_ns / x->n_devices;
}

mo_status mo_mean_cost_rows(const mo_instance *x, int64_t **rows_ns,
                            mo_error *err)
{
    int64_t n = (int64_t) x->n_devices * (x->n_devices - 1);
    int64_t *n_pairs = calloc((size_t) x->comm.n_kinds + 1, sizeof *n_pairs);
    int64_t *means_ns = calloc((size_t) x->comm.n_rows + 1, sizeof *means_ns);

    if (!n_pairs || !means_ns) {
        free(means_ns);
        free(n_pairs);
        return mo_fail_memory(err);
    }
    /* The ordered pairs of different devices of each kind. */
    for (int a = 0; a < x->n_devices; a++)
        for (int b = 0; b < x->n_devices; b++)
            n_pairs[x->comm.pair_kind[a * x->n_devices + b]] += a != b;
    for (int row = 0; row < x->comm.n_rows && n > 0; row++) {
        /* The mean of a row, rounded down; quotients and remainders are summed
         * separately, as the sum itself may overflow. */
        const int64_t *row_ns = x->comm.ns + (int64_t) row * x->comm.n_kinds;
        int64_t whole_ns = 0, rest = 0;

        for (int kind = 0; kind < x->comm.n_kinds; kind++) {
            whole_ns += row_ns[kind] / n * n_pairs[kind];
            rest += row_ns[kind] % n * n_pairs[kind];
        }
        means_ns[row] = whole_ns + rest / n;
    }
    free(n_pairs);
    *rows_ns = means_ns;
    return MO_OK;
}
