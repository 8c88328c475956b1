/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pesto: U. U. Hafeez, X. Sun, A. Gandhi, Z. Liu: Towards optimal placement
 * and scheduling of DNN operations with Pesto (Middleware 2021).
 *
 * Ops are clustered without cycles to about 200 (cluster_ops.h); an integer
 * program (models/baselines/pesto.c) places and orders the clusters on two
 * devices; ops follow their clusters, ordered by their starts.
 *
 * Decided here: Pesto's two types of devices are the two devices with the
 * shortest total time, so that pins to others leave it without a solution. The
 * clustering is ours; the program gets the time that is left, and its best
 * solution by then is used. It knows the task's congestion and memory;
 * clusters have the sum of the memory of their ops, also where less would be
 * live at once, and send each other one tensor.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "solvers/answer/answer.h"
#include "solvers/search/baselines/baseline.h"
#include "solvers/search/baselines/baseline_milp.h"
#include "solvers/search/baselines/cluster_ops.h"

enum { MAX_CLUSTERS = 200 };

typedef struct op_start {
    int64_t start_ns; /* of its cluster */
    int cluster, op;
} op_start;

static int compare_starts(const void *a, const void *b)
{
    const op_start *v = a, *w = b;

    if (v->start_ns != w->start_ns)
        return v->start_ns < w->start_ns ? -1 : 1;
    if (v->cluster != w->cluster)
        return v->cluster < w->cluster ? -1 : 1;
    return (v->op > w->op) - (v->op < w->op);
}

/* Places every op with its cluster. */
static mo_status place_ops_with_clusters(const mo_method_task *task,
                                         const mo_baseline_clustering *merged,
                                         const mo_schedule *claims,
                                         mo_method_result *placed,
                                         mo_error *err)
{
    size_t n = (size_t) task->x->n + 1;
    op_start *starts = malloc(n * sizeof *starts);
    int *device = malloc(n * sizeof *device), *rank = malloc(n * sizeof *rank);
    mo_status status = starts && device && rank ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK) {
        for (int i = 0; i < task->x->n; i++) {
            int c = merged->cluster[i];

            starts[i] = (op_start){ claims->start_ns[c], c, i };
            device[i] = claims->device[c];
        }
        qsort(starts, (size_t) task->x->n, sizeof *starts, compare_starts);
        for (int p = 0; p < task->x->n; p++)
            rank[starts[p].op] = p;
        status = mo_baseline_simulate(task, device, rank, placed, err);
    }
    free(rank);
    free(device);
    free(starts);
    return status;
}

static mo_status place_pesto(const mo_method_task *task,
                             mo_method_result *placed, mo_error *err)
{
    mo_baseline_milp_model model = { .formulation = &mo_formulation_pesto,
                                     .regime = task->regime,
                                     .integer = true };
    mo_baseline_milp_result solved = { 0 };
    mo_baseline_clustering *merged = NULL;
    mo_status status = mo_baseline_cluster_ops(task->x, task->regime.tensors,
                                               MAX_CLUSTERS, &merged, err);

    model.regime.tensors = MO_TENSORS_PER_EDGE;
    if (status == MO_OK) {
        model.x = merged->x;
        status = mo_baseline_milp_solve(task, &model, &solved, placed, err);
    }
    if (status == MO_OK && solved.solution) {
        /* The solver's values may be no valid schedule, which is not an error
         * here. */
        mo_schedule *claims = NULL;
        mo_error wrong = { 0 };
        status = mo_answer_schedule(solved.solution, merged->x, &model.regime,
                                    solved.unit_ns, MO_ANSWER_TOLERANCE,
                                    &claims, &wrong);

        if (status == MO_OK) {
            status = place_ops_with_clusters(task, merged, claims, placed, err);
        } else if (status == MO_E_INPUT) {
            mo_utf8_escape_controls(placed->why, sizeof placed->why,
                                    wrong.text);
            status = MO_OK;
        } else if (err) {
            *err = wrong;
        }
        mo_schedule_free(claims);
    }
    mo_solution_free(solved.solution);
    mo_baseline_clustering_free(merged);
    return status;
}

const mo_method mo_method_pesto = {
    .name = "pesto",
    .help = "an integer program over two devices, ops merged to 200; needs a "
            "solver",
    .source = "Pesto: Hafeez, Sun, Gandhi, Liu 2021",
    .all = true,
    .place = place_pesto,
};
