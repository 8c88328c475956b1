/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PEFT: H. Arabnejad, J. G. Barbosa: List scheduling algorithm for
 * heterogeneous systems by an optimistic cost table (IEEE TPDS 25(3), 2014).
 *
 * List scheduling: of the ready ops the one with the largest mean of its row
 * in the table (oct.h), on the device with the least sum of finish time and
 * table entry, into the first gap.
 *
 * Decided here: as in HEFT, transfers use the gaps that the task's congestion
 * leaves, and memory is ignored.
 */
#include <stdlib.h>

#include "solvers/search/baselines/baseline.h"
#include "solvers/search/baselines/oct.h"

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
