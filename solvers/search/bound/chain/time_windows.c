/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/time_windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/bound/head_tail.h"

enum { MAX_ROUNDS = 12 };

static int n_devices(const mo_chain_windows *w)
{
    return w->places.x->n_devices;
}

static void index_chain_ops(mo_chain_windows *w)
{
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

static mo_status fill_cut_tables(mo_chain_windows *w, mo_error *err)
{
    size_t n = (size_t) n_devices(w);

    w->cut_table =
        calloc((size_t) w->cuts->n + 1, n * n * sizeof *w->cut_table);
    if (!w->cut_table)
        return mo_fail_memory(err);
    for (int s = 0; s < w->cuts->n; s++)
        for (int a = 0; a < (int) n; a++)
            fill_cut_row(w, s, a,
                         w->cut_table + ((size_t) s * n + (size_t) a) * n);
    return MO_OK;
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
    w->partition = &blocks->partitions[cls];
    w->places = w->partition->places;
    w->places.allowed = NULL;
    status = allocate_windows(w, err);
    if (status == MO_OK)
        status = mo_chain_cuts_find(&w->partition->places, w->partition->chain,
                                    &w->cuts, err);
    if (status == MO_OK) {
        index_chain_ops(w);
        status = fill_cut_tables(w, err);
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

/* Raises heads or tails of a chain op by the blocks and cuts that end there. */
static void raise_along_chain(mo_chain_windows *w, const mo_head_tail *pass,
                              int op)
{
    bool back = pass->backward;
    int n = n_devices(w);
    int block = back ? w->begins[op] : w->ends[op];
    int cut = back ? w->cut_begins[op] : w->cut_ends[op];

    for (int k = 0; k < n; k++) {
        if (block >= 0 && mo_allowed_devices_has(&w->places, op, k)) {
            const mo_bound_segment *s = &w->partition->chain->segments[block];

            load_times(w, back,
                       w->blocks->blocks[w->partition->block[block]].lower_ns,
                       k);
            raise_side_from(w, pass, op, k, back ? s->v : s->u);
        }
        if (cut >= 0 && mo_allowed_devices_has(&w->places, op, k)) {
            const mo_chain_cut *s = &w->cuts->cuts[cut];

            load_times(w, back, w->cut_table + (int64_t) cut * n * n, k);
            raise_side_from(w, pass, op, k, back ? s->w : s->u);
        }
    }
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

        raise_along_chain(w, &pass, op);
        if (!has_device(w, op))
            return false;
        mo_head_tail_propagate(&pass, op);
    }
    return true;
}

static bool exclude_late_devices(mo_chain_windows *w, int64_t time_ns)
{
    const mo_instance *x = w->places.x;
    bool any = false;

    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->n_devices; k++) {
            int64_t at = mo_allowed_devices_index(&w->places, i, k);

            if (w->places.allowed[at] &&
                w->head_ns[at] + x->p_ns[at] + w->tail_ns[at] > time_ns) {
                w->places.allowed[at] = false;
                any = true;
            }
        }
    return any;
}

/* Each pass uses the devices allowed when it begins; exclusions of the last
 * round leave heads and tails as they are, which are weaker and still valid. */
bool mo_chain_windows_propagate(mo_chain_windows *w, int64_t time_ns)
{
    bool more = true;

    for (int i = 0; i < MAX_ROUNDS && more; i++) {
        if (!propagate_pass(w, false) || !propagate_pass(w, true))
            return false;
        more = exclude_late_devices(w, time_ns);
    }
    for (int i = 0; i < w->places.x->n; i++)
        if (!has_device(w, i))
            return false;
    return true;
}
