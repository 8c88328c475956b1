/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common parts of all forms of the report: objective, gap, and shares of the
 * makespan, or of a period, by device and by pair of devices.
 */
#include "report/page/page.h"

#include <stdlib.h>
#include "graph/graph.h"

bool mo_page_is_period(const mo_page_placement *p)
{
    return p->evaluation->period_ns >= 0;
}

int64_t mo_page_objective_ns(const mo_page_placement *p)
{
    return mo_answer_evaluation_objective_ns(p->evaluation);
}

double mo_page_gap(const mo_page_placement *p, int64_t bound_ns)
{
    double value = (double) mo_page_objective_ns(p);
    double bound = (double) bound_ns;

    return value > bound ? (value - bound) / value : 0;
}

const mo_schedule *mo_page_schedule(const mo_page_placement *p)
{
    return p->loads ? p->evaluation->pipeline.request : p->evaluation->schedule;
}

int64_t mo_page_span_ns(const mo_page_placement *p)
{
    return p->loads ? p->evaluation->pipeline.period_ns
                    : p->evaluation->schedule->makespan_ns;
}

double mo_page_load_share(const mo_page_placement *p, int resource)
{
    double period_ns = (double) mo_page_objective_ns(p);

    return period_ns > 0 ? (double) p->loads->load_ns[resource] / period_ns : 0;
}

int mo_page_fold(int64_t period_ns, int64_t start_ns, int64_t end_ns,
                 mo_page_span pieces[2])
{
    int64_t length_ns = end_ns - start_ns;

    pieces[0] = (mo_page_span){ start_ns, end_ns };
    if (period_ns == 0)
        return 1;
    start_ns %= period_ns;
    pieces[0] = (mo_page_span){ start_ns, start_ns + length_ns };
    if (length_ns >= period_ns)
        pieces[0] = (mo_page_span){ 0, period_ns };
    if (pieces[0].end_ns <= period_ns)
        return 1;
    pieces[1] = (mo_page_span){ 0, pieces[0].end_ns - period_ns };
    pieces[0].end_ns = period_ns;
    return 2;
}

typedef struct interval {
    int device;
    bool is_transfer;
    int64_t start_ns, end_ns;
} interval;

static int compare_intervals(const void *a, const void *b)
{
    const interval *v = a, *w = b;

    if (v->device != w->device)
        return v->device < w->device ? -1 : 1;
    return (v->start_ns > w->start_ns) - (v->start_ns < w->start_ns);
}

/* Length of the union of the intervals of one device, which are sorted. */
static int64_t covered_ns(const interval *at, const interval *end,
                          bool with_transfers)
{
    int64_t covered = 0, until = 0;

    for (; at < end; at++) {
        int64_t from = at->start_ns > until ? at->start_ns : until;

        if ((at->is_transfer && !with_transfers) || at->end_ns <= from)
            continue;
        covered += at->end_ns - from;
        until = at->end_ns;
    }
    return covered;
}

/* Lists an interval of a device, folded to one period; returns the number of
 * pieces. */
static int list_interval(int device, bool is_transfer, int64_t period_ns,
                         int64_t start_ns, int64_t end_ns, interval list[2])
{
    mo_page_span pieces[2];
    int n = mo_page_fold(period_ns, start_ns, end_ns, pieces);

    for (int i = 0; i < n; i++)
        list[i] = (interval){ device, is_transfer, pieces[i].start_ns,
                              pieces[i].end_ns };
    return n;
}

static size_t list_intervals(const mo_instance *x, const mo_schedule *s,
                             int64_t period_ns, interval *list)
{
    interval *end = list;

    for (int i = 0; i < s->n; i++)
        end += list_interval(
            s->device[i], false, period_ns, s->start_ns[i],
            s->start_ns[i] + mo_instance_p_ns(x, i, s->device[i]), end);
    for (int i = 0; i < s->n_transfers; i++) {
        const mo_transfer *t = &s->transfers[i];

        end += list_interval(t->from, true, period_ns, t->start_ns, t->end_ns,
                             end);
        end +=
            list_interval(t->to, true, period_ns, t->start_ns, t->end_ns, end);
    }
    return (size_t) (end - list);
}

static mo_status share_devices(const mo_instance *x, const mo_schedule *s,
                               int64_t period_ns, mo_time_share *devices,
                               mo_error *err)
{
    size_t room = 2 * ((size_t) s->n + 2 * (size_t) s->n_transfers) + 2;
    size_t n, at = 0;
    int64_t whole_ns = period_ns > 0 ? period_ns : s->makespan_ns;
    interval *list = calloc(room, sizeof *list);

    if (!list)
        return mo_fail_memory(err);
    n = list_intervals(x, s, period_ns, list);
    qsort(list, n, sizeof *list, compare_intervals);
    for (int k = 0; k < x->n_devices; k++) {
        size_t end = at;
        int64_t occupied_ns;

        while (end < n && list[end].device == k)
            end++;
        occupied_ns = covered_ns(list + at, list + end, true);
        devices[k].compute_ns = covered_ns(list + at, list + end, false);
        devices[k].transfer_ns = occupied_ns - devices[k].compute_ns;
        devices[k].idle_ns =
            whole_ns > occupied_ns ? whole_ns - occupied_ns : 0;
        at = end;
    }
    for (int i = 0; i < s->n; i++)
        devices[s->device[i]].n_ops++;
    free(list);
    return MO_OK;
}

/* Adds the times of the critical path to its devices and pairs. */
static void share_path(const mo_instance *x, const mo_schedule *s,
                       const mo_critical_path *path, mo_pair_share *pairs,
                       mo_time_shares *shares)
{
    for (int i = 0; i < path->n; i++) {
        const mo_path_item *item = &path->items[i];

        shares->path_gap_ns += item->gap_ns;
        if (item->is_transfer) {
            const mo_transfer *t = &s->transfers[item->id];

            shares->path_transfer_ns += t->end_ns - t->start_ns;
            pairs[t->from * x->n_devices + t->to].path_ns +=
                t->end_ns - t->start_ns;
        } else {
            int k = s->device[item->id];

            shares->devices[k].path_ns += mo_instance_p_ns(x, item->id, k);
        }
    }
}

mo_status mo_time_shares_compute(const mo_instance *x, const mo_schedule *s,
                                 int64_t period_ns,
                                 const mo_critical_path *path,
                                 mo_time_shares *shares, mo_error *err)
{
    size_t n_devices = (size_t) x->n_devices;
    mo_status status;

    shares->devices = calloc(n_devices, sizeof *shares->devices);
    shares->pairs = calloc(n_devices * n_devices, sizeof *shares->pairs);
    if (!shares->devices || !shares->pairs)
        return mo_fail_memory(err);
    status = share_devices(x, s, period_ns, shares->devices, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < s->n_transfers; i++) {
        mo_pair_share *pair =
            &shares->pairs[s->transfers[i].from * x->n_devices +
                           s->transfers[i].to];
        const mo_transfer *t = &s->transfers[i];
        int64_t bytes = x->tensor_bytes[mo_schedule_tensor(x, s, t)];

        pair->n_transfers++;
        pair->busy_ns += t->end_ns - t->start_ns;
        if (bytes < 0)
            pair->bytes = MO_UNKNOWN;
        else if (pair->bytes != MO_UNKNOWN)
            pair->bytes += bytes;
    }
    share_path(x, s, path, shares->pairs, shares);
    /* Moves the pairs with transfers to the front. */
    int n = 0;

    for (int a = 0; a < x->n_devices; a++)
        for (int b = 0; b < x->n_devices; b++) {
            mo_pair_share *pair = &shares->pairs[a * x->n_devices + b];

            pair->from = a;
            pair->to = b;
            if (pair->n_transfers > 0)
                shares->pairs[n++] = *pair;
        }
    shares->n_pairs = n;
    return MO_OK;
}

void mo_time_shares_clear(mo_time_shares *shares)
{
    free(shares->devices);
    free(shares->pairs);
    *shares = (mo_time_shares){ 0 };
}
