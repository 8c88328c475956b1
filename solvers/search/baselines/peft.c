/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PEFT: H. Arabnejad, J. G. Barbosa: List scheduling algorithm for
 * heterogeneous systems by an optimistic cost table (IEEE TPDS 25(3), 2014).
 *
 * List scheduling: of the ready ops the one with the largest mean of its row
 * in the table, on the device with the least sum of finish time and table
 * entry, into the first gap.
 *
 * Decided here: as in HEFT, transfers use the gaps that the task's congestion
 * leaves, and memory is ignored.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/heuristic/mean_cost.h"
#include "solvers/search/baselines/baseline.h"

/*
 * OCT(i, k) = max over readers j of min over devices l of
 *                 OCT(j, l) + p(j, l) + (l == k ? 0 : mean transfer)
 *
 * The inner minimum is either at k itself or at the best device of j: one pass
 * over the devices for each flow, not one for each pair.
 */
typedef struct table {
    const mo_instance *x;
    const mo_regime *regime;
    int64_t *rows_ns; /* mean transfer times */
    int64_t *oct_ns;
    int64_t *best_ns; /* by op: least sum of OCT and p */
} table;

/* Returns the time from the start of op on the device; INT64_MAX: not
 * allowed. */
static int64_t cost_from_start(const table *t, int op, int device)
{
    int pin = t->x->pin[op];

    if (pin != MO_FREE && pin != device)
        return INT64_MAX;
    return t->oct_ns[(int64_t) op * t->x->n_devices + device] +
           mo_instance_p_ns(t->x, op, device);
}

mo_status mo_baseline_oct_make(const mo_instance *x, const mo_regime *regime,
                               int64_t **oct_ns, mo_error *err)
{
    table t = { .x = x, .regime = regime };
    size_t cells;
    mo_status status = mo_mean_cost_rows(x, &t.rows_ns, err);

    if (status != MO_OK)
        return status;
    if (mo_size_mul((size_t) x->n + 1, (size_t) x->n_devices, &cells))
        t.oct_ns = calloc(cells, sizeof *t.oct_ns);
    t.best_ns = calloc((size_t) x->n + 1, sizeof *t.best_ns);
    if (t.oct_ns && t.best_ns) {
        /* Ops are numbered in topological order: readers come before their
         * inputs here. */
        for (int i = t.x->n - 1; i >= 0; i--) {
            for (int q = t.x->out_start[i]; q < t.x->out_start[i + 1]; q++) {
                int reader = t.x->flows[q].to;
                int64_t away_ns =
                    t.best_ns[reader] +
                    mo_mean_cost_flow_ns(t.x, t.regime, t.rows_ns, q);
                int64_t *row_ns = t.oct_ns + (int64_t) i * t.x->n_devices;

                for (int k = 0; k < t.x->n_devices; k++) {
                    int64_t here_ns = cost_from_start(&t, reader, k);
                    int64_t least_ns = mo_min_i64(here_ns, away_ns);

                    if (row_ns[k] < least_ns)
                        row_ns[k] = least_ns;
                }
            }
            t.best_ns[i] = INT64_MAX;
            for (int k = 0; k < t.x->n_devices; k++)
                if (cost_from_start(&t, i, k) < t.best_ns[i])
                    t.best_ns[i] = cost_from_start(&t, i, k);
        }
        *oct_ns = t.oct_ns;
    } else {
        free(t.oct_ns);
        status = mo_fail_memory(err);
    }
    free(t.best_ns);
    free(t.rows_ns);
    return status;
}

/* Quotients and remainders separately: the sum may overflow. */
int64_t mo_baseline_oct_rank_ns(const mo_instance *x, const int64_t *oct_ns,
                                int op)
{
    const int64_t *row_ns = oct_ns + (int64_t) op * x->n_devices;
    int64_t whole_ns = 0, rest_ns = 0;

    for (int k = 0; k < x->n_devices; k++) {
        whole_ns += row_ns[k] / x->n_devices;
        rest_ns += row_ns[k] % x->n_devices;
    }
    return whole_ns + rest_ns / x->n_devices;
}

static mo_status choose_for_op(void *context, mo_insertion *grown, int op,
                               int *device, mo_error *err)
{
    const int64_t *oct_ns = context;

    return mo_insertion_best_device(
        grown, op, oct_ns + (int64_t) op * grown->x->n_devices, device, err);
}

static mo_status place_peft(const mo_method_task *task,
                            mo_method_result *placed, mo_error *err)
{
    const mo_instance *x = task->x;
    int64_t *rank_ns = malloc(((size_t) x->n + 1) * sizeof *rank_ns);
    int64_t *oct_ns = NULL;
    mo_status status =
        rank_ns ? mo_baseline_oct_make(x, &task->regime, &oct_ns, err)
                : mo_fail_memory(err);

    if (status == MO_OK) {
        for (int i = 0; i < x->n; i++)
            rank_ns[i] = mo_baseline_oct_rank_ns(x, oct_ns, i);
        status = mo_baseline_list_schedule(task, rank_ns, choose_for_op, oct_ns,
                                           placed, err);
    }
    free(oct_ns);
    free(rank_ns);
    return status;
}

const mo_method mo_method_peft = {
    .name = "peft",
    .help = "as heft, looking ahead by an optimistic cost table",
    .source = "Arabnejad, Barbosa 2014",
    .all = true,
    .place = place_peft,
};
