/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/time_windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "graph/mincut.h"
#include "schedule/bound/head_tail.h"

/*
 * Minimum cuts: the inner ops of a cut are u, w, and all descendants of u that
 * are ancestors of w, so that every flow among them is sent after u has ended
 * and has arrived before w starts. Those on a are one side of a cut, with u
 * and without w; the flows that cross it leave a. The same holds for those
 * that are not on b, and the flows that enter b. A transfer takes at least the
 * time to the best other device.
 */

enum { MAX_CUTS = 256 };

typedef struct cut_builder {
    const mo_allowed_devices *places;
    int *number;  /* by op: node number from 1 on, u first and w second */
    bool *before; /* by op: ancestor of w */
    mo_mincut network;
} cut_builder;

/* Numbers the ops from u to w; returns how many. */
static int number_inner_ops(cut_builder *f, int u, int w)
{
    const mo_instance *x = f->places->x;
    int n = 2;

    for (int i = u; i <= w; i++) {
        f->number[i] = 0;
        f->before[i] = i == w;
    }
    for (int i = w - 1; i >= u; i--)
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
            if (x->flows[q].to <= w && f->before[x->flows[q].to])
                f->before[i] = true;
    f->number[u] = 1;
    for (int i = u; i < w; i++)
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++) {
            int to = x->flows[q].to;

            if (f->number[i] > 0 && to < w && f->before[to] &&
                f->number[to] == 0)
                f->number[to] = ++n;
        }
    f->number[w] = 2;
    return n;
}

/* Returns the transfer time from the device to the best other one, or to it
 * from there. */
static int64_t min_transfer_ns(const mo_instance *x, int row, int device,
                               bool enters)
{
    int64_t least = INT64_MAX;

    for (int k = 0; k < x->n_devices; k++) {
        int64_t ns = enters ? mo_instance_row_ns(x, row, k, device)
                            : mo_instance_row_ns(x, row, device, k);

        if (k != device && ns < least)
            least = ns;
    }
    return least == INT64_MAX ? 0 : least;
}

static bool is_inside(const cut_builder *f, int u, int w, int op)
{
    return op >= u && op <= w && f->number[op] > 0;
}

/* A tensor that is sent once crosses a cut once: a node of its own, with arcs
 * of infinite capacity behind it. */
static mo_status add_tensor_node(cut_builder *f, int u, int w, int tensor,
                                 int64_t ns, int node, mo_error *err)
{
    const mo_instance *x = f->places->x;
    int from = f->number[x->tensor_from[tensor]] - 1;
    mo_status status = mo_mincut_add_arc(&f->network, from, node, ns, err);

    for (int q = x->tensor_start[tensor];
         q < x->tensor_start[tensor + 1] && status == MO_OK; q++)
        if (is_inside(f, u, w, x->flows[q].to))
            status = mo_mincut_add_arc(&f->network, node,
                                       f->number[x->flows[q].to] - 1,
                                       MO_MAX_TOTAL_NS, err);
    return status;
}

static int last_tensor(const mo_instance *x, int op)
{
    return x->out_start[op] < x->out_start[op + 1]
               ? x->flows[x->out_start[op + 1] - 1].tensor
               : -1;
}

static int first_tensor(const mo_instance *x, int op)
{
    return x->out_start[op] < x->out_start[op + 1]
               ? x->flows[x->out_start[op]].tensor
               : 0;
}

static int count_tensors(const cut_builder *f, int u, int w)
{
    const mo_instance *x = f->places->x;
    int n = 0;

    for (int i = u; i < w; i++)
        if (f->number[i] > 0)
            n += last_tensor(x, i) - first_tensor(x, i) + 1;
    return n;
}

static mo_status min_crossing_ns(cut_builder *f, const mo_chain_cut *cut, int n,
                                 int device, bool enters, int64_t *ns,
                                 mo_error *err)
{
    const mo_instance *x = f->places->x;
    bool once = f->places->regime.tensors == MO_TENSORS_ONCE;
    int node = n, u = cut->u, w = cut->w;
    mo_status status =
        mo_mincut_init(&f->network, once ? n + count_tensors(f, u, w) : n, err);

    for (int i = u; i < w && status == MO_OK; i++) {
        if (f->number[i] == 0)
            continue;
        for (int q = x->out_start[i];
             !once && q < x->out_start[i + 1] && status == MO_OK; q++)
            if (is_inside(f, u, w, x->flows[q].to))
                status = mo_mincut_add_arc(
                    &f->network, f->number[i] - 1,
                    f->number[x->flows[q].to] - 1,
                    min_transfer_ns(x, x->comm.flow_row[q], device, enters),
                    err);
        for (int t = first_tensor(x, i);
             once && t <= last_tensor(x, i) && status == MO_OK; t++)
            status = add_tensor_node(
                f, u, w, t,
                min_transfer_ns(x, x->comm.tensor_row[t], device, enters),
                node++, err);
    }
    if (status == MO_OK)
        *ns = mo_mincut_solve(&f->network, 0, 1);
    return status;
}

static mo_status allocate_cuts(const mo_allowed_devices *places,
                               mo_chain_cuts **cuts, mo_error *err)
{
    size_t n_devices = (size_t) places->x->n_devices;
    mo_chain_cuts *s = calloc(1, sizeof *s);

    *cuts = s;
    if (!s)
        return mo_fail_memory(err);
    s->cuts = calloc(MAX_CUTS, sizeof *s->cuts);
    s->times_ns = calloc(n_devices, 2 * sizeof *s->times_ns * MAX_CUTS);
    if (!s->cuts || !s->times_ns)
        return mo_fail_memory(err);
    for (size_t i = 0; i < MAX_CUTS; i++) {
        s->cuts[i].leave_ns = s->times_ns + 2 * i * n_devices;
        s->cuts[i].enter_ns = s->cuts[i].leave_ns + n_devices;
    }
    return MO_OK;
}

static mo_status compute_cuts(const mo_allowed_devices *places,
                              const mo_bound_chain *chain, mo_chain_cuts *s,
                              mo_error *err)
{
    size_t n = (size_t) places->x->n;
    cut_builder f = { .places = places };
    bool *chained = calloc(n, sizeof *chained);
    mo_status status = MO_OK;

    f.number = calloc(n, sizeof *f.number);
    f.before = calloc(n, sizeof *f.before);
    if (!chained || !f.number || !f.before)
        status = mo_fail_memory(err);
    for (int i = 1; i < chain->n && status == MO_OK; i++)
        chained[chain->segments[i].u] = true;
    if (status == MO_OK) {
        /* Chooses cuts from ops of the chain to their last reader in the
         * chain; of several with the same end the shortest. */
        for (int i = 1; i < chain->n && s->n < MAX_CUTS; i++) {
            int u = chain->segments[i].u, v = chain->segments[i].v, w = v;

            for (int q = places->x->out_start[u];
                 q < places->x->out_start[u + 1]; q++)
                if (chained[places->x->flows[q].to] &&
                    places->x->flows[q].to > w)
                    w = places->x->flows[q].to;
            if (v == MO_FREE || w == v)
                continue;
            if (s->n == 0 || s->cuts[s->n - 1].w != w)
                s->n++;
            s->cuts[s->n - 1].u = u;
            s->cuts[s->n - 1].w = w;
        }
    }
    for (int i = 0; i < s->n && status == MO_OK; i++) {
        mo_chain_cut *cut = &s->cuts[i];
        int count = number_inner_ops(&f, cut->u, cut->w);

        for (int k = 0; k < f.places->x->n_devices && status == MO_OK; k++) {
            status = min_crossing_ns(&f, cut, count, k, false,
                                     &cut->leave_ns[k], err);
            if (status == MO_OK)
                status = min_crossing_ns(&f, cut, count, k, true,
                                         &cut->enter_ns[k], err);
        }
    }
    mo_mincut_clear(&f.network);
    free(chained);
    free(f.number);
    free(f.before);
    return status;
}

mo_status mo_chain_cuts_find(const mo_allowed_devices *places,
                             const mo_bound_chain *chain, mo_chain_cuts **cuts,
                             mo_error *err)
{
    mo_chain_cuts *s = NULL;
    mo_status status = allocate_cuts(places, &s, err);

    if (status == MO_OK && places->regime.congestion == MO_CONGESTION_PORT &&
        !mo_ablated(MO_ABLATION_cut_bound))
        status = compute_cuts(places, chain, s, err);
    if (status == MO_OK)
        *cuts = s;
    else
        mo_chain_cuts_free(s);
    return status;
}

void mo_chain_cuts_free(mo_chain_cuts *s)
{
    if (!s)
        return;
    free(s->cuts);
    free(s->times_ns);
    free(s);
}

/*
 * Windows.
 */

enum { MAX_ROUNDS = 12 };

static int n_devices(const mo_chain_windows *w)
{
    return w->places.x->n_devices;
}

/* Extends paths over a block: device_ns, by device, becomes the least time
 * until its v starts there. */
static void extend_over_block(mo_chain_windows *w, int segment, bool first,
                              int64_t *next)
{
    const mo_bound_segment *s = &w->partition->chain->segments[segment];
    const int64_t *table =
        w->blocks->blocks[w->partition->block[segment]].lower_ns;
    int n = n_devices(w);

    for (int k = 0; k < n; k++) {
        next[k] = INT64_MAX;
        for (int j = 0; j < n; j++) {
            int64_t ns = table[j * n + k];

            if (ns == INT64_MAX || w->device_ns[j] == INT64_MAX)
                continue;
            ns += w->device_ns[j];
            if (!first)
                ns += mo_instance_p_ns(w->places.x, s->u, j);
            next[k] = ns < next[k] ? ns : next[k];
        }
    }
    memcpy(w->device_ns, next, (size_t) n * sizeof *next);
}

/* Computes the maximum of the cut bound and the sum of the blocks. */
static void fill_cut_row(mo_chain_windows *w, int cut, int a, int64_t *row)
{
    const mo_chain_cut *s = &w->cuts->cuts[cut];
    int first = w->begins[s->u], last = w->ends[s->w];

    for (int k = 0; k < n_devices(w); k++)
        w->device_ns[k] = k == a ? 0 : INT64_MAX;
    for (int i = first; i <= last; i++)
        extend_over_block(w, i, i == first, row);
    for (int b = 0; b < n_devices(w); b++)
        if (a != b && row[b] != INT64_MAX) {
            mo_head_tail_raise(&row[b], s->leave_ns[a]);
            mo_head_tail_raise(&row[b], s->enter_ns[b]);
        }
}

static mo_status allocate_windows(mo_chain_windows *w, mo_error *err)
{
    size_t n = (size_t) w->places.x->n, devices = (size_t) n_devices(w), size;

    if (!mo_size_mul(n, devices, &size))
        return mo_fail_memory(err);
    w->places.allowed = malloc(size * sizeof *w->places.allowed);
    w->head_ns = calloc(size, sizeof *w->head_ns);
    w->tail_ns = calloc(size, sizeof *w->tail_ns);
    w->device_ns = calloc(devices, sizeof *w->device_ns);
    w->ends = calloc(n, sizeof *w->ends);
    w->begins = calloc(n, sizeof *w->begins);
    w->cut_ends = calloc(n, sizeof *w->cut_ends);
    w->cut_begins = calloc(n, sizeof *w->cut_begins);
    if (!w->places.allowed || !w->head_ns || !w->tail_ns || !w->device_ns ||
        !w->ends || !w->begins || !w->cut_ends || !w->cut_begins)
        return mo_fail_memory(err);
    memcpy(w->places.allowed, w->partition->places.allowed,
           size * sizeof *w->places.allowed);
    return MO_OK;
}

mo_status mo_chain_windows_new(const mo_chain_blocks *blocks, int cls,
                               mo_chain_windows **windows, mo_error *err)
{
    mo_chain_windows *w = calloc(1, sizeof *w);
    mo_status status;

    if (!w)
        return mo_fail_memory(err);
    w->blocks = blocks;
    w->has_chain = !mo_ablated(MO_ABLATION_time_windows);
    w->partition = &blocks->partitions[cls];
    w->places = w->partition->places;
    w->places.allowed = NULL;
    status = allocate_windows(w, err);
    if (status == MO_OK)
        status = mo_chain_cuts_find(&w->partition->places, w->partition->chain,
                                    &w->cuts, err);
    if (status == MO_OK) {
        const mo_bound_chain *chain = w->partition->chain;

        for (int i = 0; i < w->places.x->n; i++)
            w->ends[i] = w->begins[i] = w->cut_ends[i] = w->cut_begins[i] = -1;
        for (int s = 0; s < chain->n; s++) {
            if (chain->segments[s].v != MO_FREE)
                w->ends[chain->segments[s].v] = s;
            if (chain->segments[s].u != MO_FREE)
                w->begins[chain->segments[s].u] = s;
        }
        for (int s = 0; s < w->cuts->n; s++) {
            w->cut_ends[w->cuts->cuts[s].w] = s;
            w->cut_begins[w->cuts->cuts[s].u] = s;
        }

        size_t n = (size_t) n_devices(w);

        w->cut_table =
            calloc((size_t) w->cuts->n + 1, n * n * sizeof *w->cut_table);
        if (!w->cut_table) {
            status = mo_fail_memory(err);
        } else {
            for (int s = 0; s < w->cuts->n; s++)
                for (int a = 0; a < (int) n; a++)
                    fill_cut_row(w, s, a,
                                 w->cut_table +
                                     ((size_t) s * n + (size_t) a) * n);
            status = MO_OK;
        }
    }
    if (status == MO_OK)
        *windows = w;
    else
        mo_chain_windows_free(w);
    return status;
}

void mo_chain_windows_free(mo_chain_windows *w)
{
    if (!w)
        return;
    free(w->places.allowed);
    free(w->head_ns);
    free(w->tail_ns);
    free(w->device_ns);
    free(w->ends);
    free(w->begins);
    free(w->cut_ends);
    free(w->cut_begins);
    free(w->cut_table);
    mo_chain_cuts_free(w->cuts);
    free(w);
}

void mo_chain_windows_fix(mo_chain_windows *w, int op, int device)
{
    for (int k = 0; k < n_devices(w); k++)
        if (k != device)
            w->places.allowed[mo_allowed_devices_index(&w->places, op, k)] =
                false;
}

int mo_chain_windows_fixed_device(const mo_chain_windows *w, int op)
{
    int only = -1;

    for (int k = 0; k < n_devices(w); k++)
        if (mo_allowed_devices_has(&w->places, op, k)) {
            if (only >= 0)
                return -1;
            only = k;
        }
    return only;
}

static bool has_device(const mo_chain_windows *w, int op)
{
    bool any = false;

    for (int k = 0; k < n_devices(w); k++)
        any = any || mo_allowed_devices_has(&w->places, op, k);
    return any;
}

/* Loads into device_ns the times of a table between the other end, by its
 * device, and this end on a device. */
static void load_times(mo_chain_windows *w, bool backward, const int64_t *table,
                       int device)
{
    int n = n_devices(w);

    for (int k = 0; k < n; k++)
        w->device_ns[k] = table[backward ? device * n + k : k * n + device];
}

/* Raises the head (backward: tail) of op on a device by the times in device_ns
 * from the other op; without another, by the first entry. Where op is not
 * reachable, the device is excluded. */
static void raise_side_from(mo_chain_windows *w, const mo_head_tail *pass,
                            int op, int device, int other)
{
    int64_t at = mo_allowed_devices_index(&w->places, op, device),
            least_ns = INT64_MAX;

    for (int k = 0; k < (other == MO_FREE ? 1 : n_devices(w)); k++) {
        int64_t ns = w->device_ns[k];

        if (ns == INT64_MAX ||
            (other != MO_FREE && !mo_allowed_devices_has(&w->places, other, k)))
            continue;
        if (other != MO_FREE)
            ns += mo_head_tail_with_p(pass, other, k);
        least_ns = ns < least_ns ? ns : least_ns;
    }
    if (least_ns == INT64_MAX)
        w->places.allowed[at] = false;
    else
        mo_head_tail_raise(&pass->time_ns[at], least_ns);
}

/* Returns false if an op has no device left. */
static bool propagate_pass(mo_chain_windows *w, bool backward)
{
    int n = w->places.x->n;
    mo_head_tail pass = { .domains = &w->places,
                          .backward = backward,
                          .time_ns = backward ? w->tail_ns : w->head_ns,
                          .arrival_ns = w->device_ns };

    memset(pass.time_ns, 0,
           (size_t) n * (size_t) n_devices(w) * sizeof(int64_t));
    for (int i = 0; i < n; i++) {
        int op = backward ? n - 1 - i : i;

        if (w->has_chain) {
            /* Raises heads or tails of a chain op by the blocks and cuts that
             * end there. */
            bool back = pass.backward;
            int count = n_devices(w);
            int block = back ? w->begins[op] : w->ends[op];
            int cut = back ? w->cut_begins[op] : w->cut_ends[op];

            for (int k = 0; k < count; k++) {
                if (block >= 0 && mo_allowed_devices_has(&w->places, op, k)) {
                    const mo_bound_segment *s =
                        &w->partition->chain->segments[block];

                    load_times(
                        w, back,
                        w->blocks->blocks[w->partition->block[block]].lower_ns,
                        k);
                    raise_side_from(w, &pass, op, k, back ? s->v : s->u);
                }
                if (cut >= 0 && mo_allowed_devices_has(&w->places, op, k)) {
                    const mo_chain_cut *s = &w->cuts->cuts[cut];

                    load_times(w, back,
                               w->cut_table + (int64_t) cut * count * count, k);
                    raise_side_from(w, &pass, op, k, back ? s->w : s->u);
                }
            }
        }
        if (!has_device(w, op))
            return false;
        mo_head_tail_propagate(&pass, op);
    }
    return true;
}

/* Each pass uses the devices allowed when it begins; exclusions of the last
 * round leave heads and tails as they are, which are weaker and still valid. */
bool mo_chain_windows_propagate(mo_chain_windows *w, int64_t time_ns)
{
    bool more = true;

    for (int i = 0; i < MAX_ROUNDS && more; i++) {
        if (!propagate_pass(w, false) || !propagate_pass(w, true))
            return false;

        const mo_instance *x = w->places.x;
        more = false;

        for (int j = 0; j < x->n; j++)
            for (int k = 0; k < x->n_devices; k++) {
                int64_t at = mo_allowed_devices_index(&w->places, j, k);

                if (w->places.allowed[at] &&
                    w->head_ns[at] + x->p_ns[at] + w->tail_ns[at] > time_ns) {
                    w->places.allowed[at] = false;
                    more = true;
                }
            }
    }
    for (int i = 0; i < w->places.x->n; i++)
        if (!has_device(w, i))
            return false;
    return true;
}
