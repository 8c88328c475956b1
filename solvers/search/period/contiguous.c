/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dp-contiguous: pipeline stages by dynamic programming, as in PipeDream
 * (Narayanan et al., SOSP 2019) and in Tarnawski et al. (Efficient algorithms
 * for device placement of DNN graph operators, NeurIPS 2020) for contiguous
 * splits.
 *
 *     best[i][S][k] = least largest load of the first i units, on the devices
 *                     S, the last stage on k
 *
 * Units, ops or groups, are in the order of their first ops: that of a training
 * graph, whose backward ops share the device of the forward op, is folded.  The
 * load of a stage is its processing time, or that of the tensors over its first
 * cut in either direction, exchanged with the device of the stage before.
 * Decided here: cuts are at most MAX_CUTS positions, evenly spread; with more
 * than MAX_SUBSET devices stages follow the order of decreasing speed.  Pins
 * override the split.  Of the best splits on each set of devices the one of the
 * shortest period is taken, with overheads and the time of the host.
 */
#include "solvers/search/period/contiguous.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/heuristic/single_device.h"
#include "solvers/search/baselines/baseline.h"

enum { MAX_CUTS = 400, MAX_SUBSET = 8 };

#define MAX_STEPS 1.5e8

typedef struct splitter {
    const mo_period_problem *p;
    int K, n_cuts;
    int *cut;             /* positions: stages are between them */
    int64_t *work_ns;     /* by cut and device: prefix sums */
    int64_t *bytes;       /* by cut: prefix sums */
    int64_t *crossing_ns; /* by cut, direction and pair kind */
    int n_sets;
    int *order; /* of devices, more than MAX_SUBSET of them; or NULL */
    int64_t *best;
    int *from; /* cut and last device of the state before */
} splitter;

static size_t state_of(const splitter *d, int cut, int set, int k)
{
    return ((size_t) cut * (size_t) d->n_sets + (size_t) set) * (size_t) d->K +
           (size_t) k;
}

static void choose_cuts(splitter *d)
{
    int n = d->p->units->n;
    int sets = d->order ? d->K + 1 : 1 << d->K;
    double states = (double) sets * d->K * d->K;
    int most = (int) fmin(MAX_CUTS, sqrt(2 * MAX_STEPS / states));

    d->n_sets = sets;
    d->n_cuts = mo_min_int(mo_max_int(n, 1), mo_max_int(most, 2)) + 1;
    for (int c = 0; c < d->n_cuts; c++)
        d->cut[c] = (int) ((int64_t) n * c / (d->n_cuts - 1));
}

static int64_t *crossing_of(const splitter *d, int cut, bool backward)
{
    return &d->crossing_ns[((int64_t) cut * 2 + backward) *
                           d->p->x->comm.n_kinds];
}

/* Adds a tensor that goes from one unit to another. */
static void add_crossing(splitter *d, int row, int from, int to)
{
    const mo_instance *x = d->p->x;
    int low = mo_min_int(from, to), high = mo_max_int(from, to);

    for (int c = 1; c < d->n_cuts - 1 && d->cut[c] <= high; c++)
        for (int kind = 0; d->cut[c] > low && kind < x->comm.n_kinds; kind++)
            crossing_of(d, c, to < from)[kind] +=
                x->comm.ns[(int64_t) row * x->comm.n_kinds + kind];
}

/* A tensor that is sent once crosses up to its farthest readers. */
static void sum_crossings(splitter *d)
{
    const mo_instance *x = d->p->x;
    const int *unit = d->p->units->of_op;

    for (int t = 0; t < x->n_tensors; t++) {
        int from = unit[x->tensor_from[t]], low = from, high = from;

        for (int q = x->tensor_start[t]; q < x->tensor_start[t + 1]; q++) {
            int to = unit[x->flows[q].to];

            low = mo_min_int(low, to);
            high = mo_max_int(high, to);
            if (d->p->regime.tensors != MO_TENSORS_ONCE)
                add_crossing(d, x->comm.flow_row[q], from, to);
        }
        if (d->p->regime.tensors == MO_TENSORS_ONCE) {
            add_crossing(d, x->comm.tensor_row[t], from, low);
            add_crossing(d, x->comm.tensor_row[t], from, high);
        }
    }
}

static void extend_all(splitter *d, int c, int set, int last)
{
    for (int k = 0; k < d->K; k++) {
        bool may_follow =
            d->order ? set < d->K && d->order[set] == k : !(set >> k & 1);

        for (int to = c + 1; may_follow && to < d->n_cuts; to++) {
            /* Extends a state by a stage up to cut `to` on device k. */
            const mo_instance *x = d->p->x;
            int next = d->order ? set + 1 : set | 1 << k;
            size_t at = state_of(d, to, next, k);
            int64_t ns = d->work_ns[(int64_t) to * d->K + k] -
                         d->work_ns[(int64_t) c * d->K + k];

            if (d->bytes[to] - d->bytes[c] > x->capacity_bytes[k])
                continue;
            if (last >= 0) {
                int kind = x->comm.pair_kind[(int64_t) last * d->K + k];
                int back = x->comm.pair_kind[(int64_t) k * d->K + last];

                ns = mo_max_i64(ns, crossing_of(d, c, false)[kind]);
                ns = mo_max_i64(ns, crossing_of(d, c, true)[back]);
                ns = mo_max_i64(ns, d->best[state_of(d, c, set, last)]);
            }
            if (ns < d->best[at]) {
                d->best[at] = ns;
                d->from[at] = c * (d->K + 1) + last + 1;
            }
        }
    }
}

/* Fills device by the final state of those devices, the last stage on k. */
static void trace_back(const splitter *d, int set, int k, int *device)
{
    const mo_placement_units *u = d->p->units;
    int c = d->n_cuts - 1;

    while (k >= 0) {
        int from = d->from[state_of(d, c, set, k)];

        for (int i = u->start[d->cut[from / (d->K + 1)]];
             i < u->start[d->cut[c]]; i++)
            device[u->ops[i]] = k;
        set = d->order ? set - 1 : set & ~(1 << k);
        c = from / (d->K + 1);
        k = from % (d->K + 1) - 1;
    }
}

/* Fills device by the final state of the shortest period, by its largest load
 * where equal; all on device 0 where there is none. */
static mo_status choose_split(const splitter *d, int *device, mo_error *err)
{
    int64_t best_ns = INT64_MAX, best_load_ns = INT64_MAX;
    int *split = calloc((size_t) d->p->x->n + 1, sizeof *split);
    mo_period_state state = { 0 };
    mo_status status =
        split ? mo_period_state_init(&state, d->p, err) : mo_fail_memory(err);

    memset(device, 0, (size_t) d->p->x->n * sizeof *device);
    for (int s = 0; s < d->n_sets && status == MO_OK; s++)
        for (int k = 0; k < d->K; k++) {
            int64_t load_ns = d->best[state_of(d, d->n_cuts - 1, s, k)], ns;

            if (load_ns > best_ns || load_ns == INT64_MAX)
                continue;
            trace_back(d, s, k, split);
            mo_period_state_set(&state, split);
            ns = mo_period_state_period_ns(&state);
            if (ns > best_ns || (ns == best_ns && load_ns >= best_load_ns))
                continue;
            best_ns = ns;
            best_load_ns = load_ns;
            memcpy(device, split, (size_t) d->p->x->n * sizeof *device);
        }
    mo_period_state_clear(&state);
    free(split);
    return status;
}

/* Devices by increasing time of all ops. */
static mo_status order_devices(splitter *d, mo_error *err)
{
    d->order = calloc((size_t) d->K + 1, sizeof *d->order);
    if (!d->order)
        return mo_fail_memory(err);
    for (int k = 0; k < d->K; k++) {
        int at = k;

        for (; at > 0 && mo_single_device_ns(d->p->x, k) <
                             mo_single_device_ns(d->p->x, d->order[at - 1]);
             at--)
            d->order[at] = d->order[at - 1];
        d->order[at] = k;
    }
    return MO_OK;
}

/* A unit is where its first op is, unless it may not be. */
static void override_units(const mo_period_problem *p, int *device)
{
    const mo_placement_units *u = p->units;

    for (int i = 0; i < u->n; i++) {
        int k = device[u->ops[u->start[i]]], first = u->ops[u->start[i]];

        for (int l = 0; !mo_allowed_devices_has(&p->domains, first, k) &&
                        l < p->x->n_devices;
             l++)
            k = l;
        for (int j = u->start[i]; j < u->start[i + 1]; j++)
            device[u->ops[j]] = k;
    }
}

mo_status mo_period_split_contiguous(const mo_period_problem *p, int *device,
                                     mo_error *err)
{
    splitter d = { .p = p, .K = p->x->n_devices };
    size_t cuts = MAX_CUTS + 2, K = (size_t) d.K, states;
    mo_status status = d.K > MAX_SUBSET ? order_devices(&d, err) : MO_OK;

    if (status != MO_OK)
        return status;
    d.cut = calloc(cuts, sizeof *d.cut);
    if (d.cut)
        choose_cuts(&d);
    states = (size_t) d.n_cuts * (size_t) d.n_sets * K + 1;
    d.work_ns = calloc(cuts * K, sizeof *d.work_ns);
    d.bytes = calloc(cuts, sizeof *d.bytes);
    d.crossing_ns = calloc(cuts * 2 * (size_t) (p->x->comm.n_kinds + 1),
                           sizeof *d.crossing_ns);
    d.best = calloc(states, sizeof *d.best);
    d.from = calloc(states, sizeof *d.from);
    if (d.cut && d.work_ns && d.bytes && d.crossing_ns && d.best && d.from) {
        const mo_placement_units *u = d.p->units;

        for (int c = 1; c < d.n_cuts; c++) {
            int64_t *work = &d.work_ns[(int64_t) c * d.K];

            memcpy(work, work - d.K, K * sizeof *work);
            d.bytes[c] = d.bytes[c - 1];
            for (int i = d.cut[c - 1]; i < d.cut[c]; i++)
                d.bytes[c] += u->bytes[i];
            for (int i = u->start[d.cut[c - 1]]; i < u->start[d.cut[c]]; i++)
                for (int k = 0; k < d.K; k++)
                    work[k] += mo_instance_p_ns(d.p->x, u->ops[i], k);
        }
        sum_crossings(&d);
        for (size_t i = 0; i + 1 < states; i++)
            d.best[i] = INT64_MAX;
        extend_all(&d, 0, 0, -1);
        for (int c = 1; c < d.n_cuts - 1; c++)
            for (int set = 0; set < d.n_sets; set++)
                for (int k = 0; k < d.K; k++)
                    if (d.best[state_of(&d, c, set, k)] < INT64_MAX)
                        extend_all(&d, c, set, k);
        status = choose_split(&d, device, err);
        override_units(p, device);
    } else {
        status = mo_fail_memory(err);
    }
    free(d.cut);
    free(d.work_ns);
    free(d.bytes);
    free(d.crossing_ns);
    free(d.best);
    free(d.from);
    free(d.order);
    return status;
}

static mo_status place_contiguous(const mo_method_task *task,
                                  mo_method_result *placed, mo_error *err)
{
    size_t n = (size_t) task->x->n + 1;
    int *device = calloc(n, sizeof *device), *rank = calloc(n, sizeof *rank);
    mo_period_problem p = { 0 };
    mo_status status =
        device && rank ? mo_period_problem_init(&p, task->x, &task->regime, err)
                       : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_period_split_contiguous(&p, device, err);
    for (int i = 0; i < task->x->n && status == MO_OK; i++)
        rank[i] = i;
    if (status == MO_OK)
        status = mo_baseline_simulate(task, device, rank, placed, err);
    mo_period_problem_clear(&p);
    free(device);
    free(rank);
    return status;
}

const mo_method mo_method_dp_contiguous = {
    .name = "dp-contiguous",
    .help = "contiguous pipeline stages of least largest load",
    .source = "PipeDream: Narayanan et al. 2019",
    .all = true,
    .place = place_contiguous,
};
