/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/time_shares.h"

#include <stdlib.h>

#include "graph/graph.h"

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

static void share_device(const interval *at, const interval *end,
                         int64_t makespan_ns, mo_time_share *share)
{
    int64_t occupied = covered_ns(at, end, true);

    share->compute_ns = covered_ns(at, end, false);
    share->transfer_ns = occupied - share->compute_ns;
    share->idle_ns = makespan_ns > occupied ? makespan_ns - occupied : 0;
}

static size_t list_intervals(const mo_instance *x, const mo_schedule *s,
                             interval *list)
{
    size_t n = 0;

    for (int i = 0; i < s->n; i++)
        list[n++] =
            (interval){ s->device[i], false, s->start_ns[i],
                        s->start_ns[i] + mo_instance_p_ns(x, i, s->device[i]) };
    for (int i = 0; i < s->n_transfers; i++) {
        const mo_transfer *t = &s->transfers[i];

        list[n++] = (interval){ t->from, true, t->start_ns, t->end_ns };
        list[n++] = (interval){ t->to, true, t->start_ns, t->end_ns };
    }
    return n;
}

static mo_status share_devices(const mo_instance *x, const mo_schedule *s,
                               mo_time_share *devices, mo_error *err)
{
    size_t room = (size_t) s->n + 2 * (size_t) s->n_transfers + 1, n, at = 0;
    interval *list = calloc(room, sizeof *list);

    if (!list)
        return mo_fail_memory(err);
    n = list_intervals(x, s, list);
    qsort(list, n, sizeof *list, compare_intervals);
    for (int k = 0; k < x->n_devices; k++) {
        size_t end = at;

        while (end < n && list[end].device == k)
            end++;
        share_device(list + at, list + end, s->makespan_ns, &devices[k]);
        at = end;
    }
    for (int i = 0; i < s->n; i++)
        devices[s->device[i]].n_ops++;
    free(list);
    return MO_OK;
}

static void add_transfer(const mo_instance *x, const mo_schedule *s, int number,
                         mo_pair_share *pair)
{
    const mo_transfer *t = &s->transfers[number];
    int64_t bytes = x->tensor_bytes[mo_schedule_tensor(x, s, t)];

    pair->n_transfers++;
    pair->busy_ns += t->end_ns - t->start_ns;
    if (bytes < 0)
        pair->bytes = MO_UNKNOWN;
    else if (pair->bytes != MO_UNKNOWN)
        pair->bytes += bytes;
}

/* Items of the path: to their device or pair. */
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

/* Moves the pairs with transfers to the front. */
static int keep_used(mo_pair_share *pairs, int n_devices)
{
    int n = 0;

    for (int a = 0; a < n_devices; a++)
        for (int b = 0; b < n_devices; b++) {
            mo_pair_share *pair = &pairs[a * n_devices + b];

            pair->from = a;
            pair->to = b;
            if (pair->n_transfers > 0)
                pairs[n++] = *pair;
        }
    return n;
}

mo_status mo_time_shares_compute(const mo_instance *x, const mo_schedule *s,
                                 const mo_critical_path *path,
                                 mo_time_shares *shares, mo_error *err)
{
    size_t k = (size_t) x->n_devices;
    mo_status status;

    shares->devices = calloc(k, sizeof *shares->devices);
    shares->pairs = calloc(k * k, sizeof *shares->pairs);
    if (!shares->devices || !shares->pairs)
        return mo_fail_memory(err);
    status = share_devices(x, s, shares->devices, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < s->n_transfers; i++)
        add_transfer(x, s, i,
                     &shares->pairs[s->transfers[i].from * x->n_devices +
                                    s->transfers[i].to]);
    share_path(x, s, path, shares->pairs, shares);
    shares->n_pairs = keep_used(shares->pairs, x->n_devices);
    return MO_OK;
}

void mo_time_shares_clear(mo_time_shares *shares)
{
    free(shares->devices);
    free(shares->pairs);
    *shares = (mo_time_shares){ 0 };
}
