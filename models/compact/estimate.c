/* SPDX-License-Identifier: Apache-2.0 */
#include "models/compact/estimate.h"

#include "base/minmax.h"
#include "models/compact/disjunctive_pairs.h"

/* At least: that they are on one device, or both sent, and their order. */
enum { ROWS_OF_PAIR = 2 };

/* Numbers of pairs of ops, and of flows by their producers, between clean
 * cuts. */
static void count_between_cuts(const mo_frame *f, double *ops, double *flows)
{
    const mo_instance *x = f->x;
    int cut = 0;

    *ops = *flows = 0;
    for (int i = 0; i < x->n; i++) {
        int end;

        while (cut < f->n_cuts && f->cuts[cut] <= i)
            cut++;
        end = cut < f->n_cuts ? f->cuts[cut] : x->n;
        *ops += end - i - 1;
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
            *flows += x->out_start[end] - q - 1;
    }
}

int64_t mo_compact_estimate_rows(const mo_frame *f, int64_t limit)
{
    mo_disjunctive_pairs pairs;
    double n_ops, n_flows, rows;
    int64_t n = 0;

    count_between_cuts(f, &n_ops, &n_flows);
    mo_disjunctive_pairs_begin(f, &pairs);
    while (ROWS_OF_PAIR * n < limit && mo_disjunctive_pairs_next(&pairs))
        n++;
    rows = ROWS_OF_PAIR * (double) n;
    if (f->regime.congestion != MO_CONGESTION_NONE && n > 0)
        rows += rows / n_ops * n_flows;
    return rows < (double) limit ? (int64_t) rows : limit;
}
