/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hare: F. Chen, P. Li, C. Wu, S. Guo: Hare: exploiting inter-job and
 * intra-job parallelism of distributed machine learning on heterogeneous GPUs
 * (HPDC 2022), as the Moirai paper puts it: "a simple greedy heuristic that
 * always provides higher GPU memory for the next task and keeps the latest
 * completed task".
 *
 * Greedy list scheduling: ops are placed in the order in which their last
 * input is completed. Each goes to the device that offers it most memory: the
 * free memory there, plus, on the device of its latest completed input, the
 * memory of that op, which is kept in place and need not be transferred.
 *
 * Decided here, as Hare places jobs and not ops: the above; ties go to the
 * device of the latest completed input, then to the one that is free first,
 * then to the first. Memory is the static memory of an op, whatever the task's
 * model; an op that fits nowhere is placed all the same, and the result does
 * not fit. A group takes all of its memory where its first op goes.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/minmax.h"
#include "solvers/search/baselines/baseline.h"

typedef struct hare {
    const mo_method_task *task;
    const mo_instance *x;
    mo_placement_units *units;
    int *unit_device;              /* or MO_FREE */
    int64_t *free_bytes, *free_ns; /* by device */
    int *waits;
    int64_t *end_ns;
    int *device, *rank;
    mo_heap ready; /* ops by completion of their last input */
} hare;

/* Returns the input of op completed last, of equals the first; -1: none. */
static int latest_input(const hare *h, int op)
{
    int latest = -1;

    for (int at = h->x->in_start[op]; at < h->x->in_start[op + 1]; at++) {
        int from = h->x->flows[h->x->in_flows[at]].from;

        if (latest < 0 || h->end_ns[from] > h->end_ns[latest])
            latest = from;
    }
    return latest;
}

/* Returns the memory that device k offers to a reader of `latest`. */
static int64_t offered_bytes(const hare *h, int latest, int k)
{
    int64_t bytes = h->free_bytes[k];

    if (latest >= 0 && h->device[latest] == k &&
        !mo_int64_add(bytes, h->x->memory_bytes[latest], &bytes))
        bytes = INT64_MAX;
    return bytes;
}

/* Returns whether device k is better for op than the best so far. */
static bool offers_more(const hare *h, int latest, int k, int best)
{
    int64_t bytes = offered_bytes(h, latest, k);
    int64_t best_bytes = offered_bytes(h, latest, best);
    bool keeps = latest >= 0 && h->device[latest] == k;
    bool best_keeps = latest >= 0 && h->device[latest] == best;

    if (bytes != best_bytes)
        return bytes > best_bytes;
    if (keeps != best_keeps)
        return keeps;
    return h->free_ns[k] < h->free_ns[best];
}

static int choose_device(const hare *h, int op)
{
    int decided = h->unit_device[h->units->of_op[op]];
    int latest = latest_input(h, op), best = 0;

    if (decided != MO_FREE)
        return decided;
    for (int k = 1; k < h->x->n_devices; k++)
        if (offers_more(h, latest, k, best))
            best = k;
    return best;
}

static void place_op(hare *h, int op, int k, int rank)
{
    int unit = h->units->of_op[op];
    /* When all inputs of op are on device k, without congestion. */
    int64_t start_ns = 0;

    for (int at = h->x->in_start[op]; at < h->x->in_start[op + 1]; at++) {
        int q = h->x->in_flows[at], from = h->x->flows[q].from;
        int64_t ns =
            h->end_ns[from] + mo_instance_flow_ns(h->x, q, h->device[from], k);

        start_ns = mo_max_i64(ns, start_ns);
    }

    if (h->unit_device[unit] == MO_FREE) {
        h->unit_device[unit] = k;
        /* Below 0 it stays: no further subtraction. */
        if (h->free_bytes[k] >= 0)
            h->free_bytes[k] -= h->units->bytes[unit];
    }
    if (start_ns < h->free_ns[k])
        start_ns = h->free_ns[k];
    h->device[op] = k;
    h->rank[op] = rank;
    h->end_ns[op] = start_ns + mo_instance_p_ns(h->x, op, k);
    h->free_ns[k] = h->end_ns[op];
}

/* Sets *all unless stopped. */
static mo_status place_all(hare *h, mo_method_result *placed, bool *all,
                           mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < h->x->n && status == MO_OK; i++)
        if (h->waits[i] == 0)
            status = mo_heap_push(&h->ready, 0, i, err);
    for (int n = 0; h->ready.n > 0 && status == MO_OK; n++) {
        int op = mo_heap_pop(&h->ready).id;

        if (mo_baseline_should_stop(h->task, n, n, placed))
            return MO_OK;
        place_op(h, op, choose_device(h, op), n);
        const mo_instance *x = h->x;
        status = MO_OK;

        for (int q = x->out_start[op];
             q < x->out_start[op + 1] && status == MO_OK; q++) {
            int to = x->flows[q].to;

            if (--h->waits[to] == 0)
                status = mo_heap_push(&h->ready, h->end_ns[latest_input(h, to)],
                                      to, err);
        }
    }
    *all = status == MO_OK;
    return status;
}

static mo_status open_hare(hare *h, mo_error *err)
{
    const mo_regime sums = { .memory = MO_MEMORY_STATIC };
    const mo_instance *x = h->x;
    size_t n = (size_t) x->n + 1, n_devices = (size_t) x->n_devices + 1;
    mo_status status = mo_placement_units_make(x, &sums, &h->units, err);

    h->unit_device = calloc(n, sizeof *h->unit_device);
    h->free_bytes = calloc(n_devices, sizeof *h->free_bytes);
    h->free_ns = calloc(n_devices, sizeof *h->free_ns);
    h->waits = calloc(n, sizeof *h->waits);
    h->end_ns = calloc(n, sizeof *h->end_ns);
    h->device = calloc(n, sizeof *h->device);
    h->rank = calloc(n, sizeof *h->rank);
    if (status == MO_OK && (!h->unit_device || !h->free_bytes || !h->free_ns ||
                            !h->waits || !h->end_ns || !h->device || !h->rank))
        status = mo_fail_memory(err);
    if (status != MO_OK)
        return status;
    mo_placement_units_free_bytes(x, h->units, h->free_bytes);
    for (int u = 0; u < h->units->n; u++)
        h->unit_device[u] = h->units->pin[u];
    for (int i = 0; i < x->n; i++)
        h->waits[i] = x->in_start[i + 1] - x->in_start[i];
    return MO_OK;
}

static mo_status place_hare(const mo_method_task *task,
                            mo_method_result *placed, mo_error *err)
{
    hare h = { .task = task, .x = task->x };
    bool all = false;
    mo_status status = open_hare(&h, err);

    if (status == MO_OK)
        status = place_all(&h, placed, &all, err);
    if (all)
        status = mo_baseline_simulate(task, h.device, h.rank, placed, err);
    mo_heap_clear(&h.ready);
    free(h.rank);
    free(h.device);
    free(h.end_ns);
    free(h.waits);
    free(h.free_ns);
    free(h.free_bytes);
    free(h.unit_device);
    mo_placement_units_free(h.units);
    return status;
}

const mo_method mo_method_hare = {
    .name = "hare",
    .help = "to the device with most memory, counting what was just made",
    .source = "Hare: Chen et al. 2022",
    .all = true,
    .place = place_hare,
};
