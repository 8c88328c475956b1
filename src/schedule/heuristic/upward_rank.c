/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/upward_rank.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/heuristic/mean_cost.h"
#include "schedule/schedule.h"

typedef struct ranked_op {
    int64_t rank_ns;
    int op;
} ranked_op;

typedef struct rank_state {
    const mo_instance *x;
    const mo_regime *regime;
    const int *placement;
    int64_t *mean_ns; /* by row of transfer times; NULL with a placement */
    ranked_op *ops;
} rank_state;

static int compare_ranked(const void *a, const void *b)
{
    const ranked_op *v = a, *w = b;

    if (v->rank_ns != w->rank_ns)
        return v->rank_ns > w->rank_ns ? -1 : 1;
    return (v->op > w->op) - (v->op < w->op);
}

mo_status mo_upward_rank_order(const mo_instance *x, const mo_regime *regime,
                               const int *placement, int *order, mo_error *err)
{
    rank_state r = { .x = x, .regime = regime, .placement = placement };
    mo_status status = MO_OK;

    r.ops = malloc(((size_t) x->n + 1) * sizeof *r.ops);
    if (!r.ops)
        return mo_fail_memory(err);
    if (!placement)
        status = mo_mean_cost_rows(x, &r.mean_ns, err);
    if (status == MO_OK) {
        /* Ops are in topological order: the readers of an op are ranked before
         * it. */
        for (int i = r.x->n - 1; i >= 0; i--) {
            int64_t most_ns = 0;

            for (int q = r.x->out_start[i]; q < r.x->out_start[i + 1]; q++) {
                const mo_flow *f = &r.x->flows[q];
                int64_t ns =
                    r.placement
                        ? mo_schedule_flow_ns(r.x, r.regime, q,
                                              r.placement[f->from],
                                              r.placement[f->to])
                        : mo_mean_cost_flow_ns(r.x, r.regime, r.mean_ns, q);

                ns += r.ops[f->to].rank_ns;
                most_ns = ns > most_ns ? ns : most_ns;
            }
            most_ns += r.placement ? mo_instance_p_ns(r.x, i, r.placement[i])
                                   : mo_mean_cost_op_ns(r.x, i);
            r.ops[i] = (ranked_op){ most_ns, i };
        }
        qsort(r.ops, (size_t) x->n, sizeof *r.ops, compare_ranked);
        for (int i = 0; i < x->n; i++)
            order[i] = r.ops[i].op;
    }
    free(r.mean_ns);
    free(r.ops);
    return status;
}
