/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/time_windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/bound/head_tail.h"

enum { MOST_ROUNDS = 12 };

static int n_devices(const mo_chain_windows *w)
{
    return w->places.x->n_devices;
}

static void number_ends(mo_chain_windows *w)
{
    const mo_bound_chain *chain = w->chained->chain;

    for (int i = 0; i < w->places.x->n; i++)
        w->ends[i] = w->begins[i] = w->span_ends[i] = w->span_begins[i] = -1;
    for (int s = 0; s < chain->n; s++) {
        if (chain->segments[s].v != MO_FREE)
            w->ends[chain->segments[s].v] = s;
        if (chain->segments[s].u != MO_FREE)
            w->begins[chain->segments[s].u] = s;
    }
    for (int s = 0; s < w->spans->n; s++) {
        w->span_ends[w->spans->spans[s].w] = s;
        w->span_begins[w->spans->spans[s].u] = s;
    }
}

/* Along the blocks from an op of the chain on one device to the end of the
 * segment: at, by device, becomes the least time until its v starts there. */
static void go_through(mo_chain_windows *w, int segment, bool first,
                       int64_t *next)
{
    const mo_bound_segment *s = &w->chained->chain->segments[segment];
    const int64_t *table =
        w->blocks->blocks[w->chained->block[segment]].lower_ns;
    int n = n_devices(w);

    for (int k = 0; k < n; k++) {
        next[k] = INT64_MAX;
        for (int j = 0; j < n; j++) {
            int64_t ns = table[j * n + k];

            if (ns == INT64_MAX || w->at[j] == INT64_MAX)
                continue;
            ns += w->at[j];
            if (!first)
                ns += mo_instance_p_ns(w->places.x, s->u, j);
            next[k] = ns < next[k] ? ns : next[k];
        }
    }
    memcpy(w->at, next, (size_t) n * sizeof *next);
}

/* What crosses, and what the blocks take one after the other, whichever is
 * more. */
static void fill_span_row(mo_chain_windows *w, int span, int a, int64_t *row)
{
    const mo_chain_cut *s = &w->spans->spans[span];
    int first = w->begins[s->u], last = w->ends[s->w];

    for (int k = 0; k < n_devices(w); k++)
        w->at[k] = k == a ? 0 : INT64_MAX;
    for (int i = first; i <= last; i++)
        go_through(w, i, i == first, row);
    for (int b = 0; b < n_devices(w); b++)
        if (a != b && row[b] != INT64_MAX) {
            mo_head_tail_raise(&row[b], s->leave_ns[a]);
            mo_head_tail_raise(&row[b], s->enter_ns[b]);
        }
}

static mo_status fill_span_tables(mo_chain_windows *w, mo_error *err)
{
    size_t n = (size_t) n_devices(w);

    w->span_table =
        calloc((size_t) w->spans->n + 1, n * n * sizeof *w->span_table);
    if (!w->span_table)
        return mo_fail_memory(err);
    for (int s = 0; s < w->spans->n; s++)
        for (int a = 0; a < (int) n; a++)
            fill_span_row(w, s, a,
                          w->span_table + ((size_t) s * n + (size_t) a) * n);
    return MO_OK;
}

static mo_status reserve(mo_chain_windows *w, mo_error *err)
{
    size_t n = (size_t) w->places.x->n, devices = (size_t) n_devices(w), size;

    if (!mo_size_mul(n, devices, &size))
        return mo_fail_memory(err);
    w->places.allowed = malloc(size * sizeof *w->places.allowed);
    w->head_ns = calloc(size, sizeof *w->head_ns);
    w->tail_ns = calloc(size, sizeof *w->tail_ns);
    w->at = calloc(devices, sizeof *w->at);
    w->ends = calloc(n, sizeof *w->ends);
    w->begins = calloc(n, sizeof *w->begins);
    w->span_ends = calloc(n, sizeof *w->span_ends);
    w->span_begins = calloc(n, sizeof *w->span_begins);
    if (!w->places.allowed || !w->head_ns || !w->tail_ns || !w->at ||
        !w->ends || !w->begins || !w->span_ends || !w->span_begins)
        return mo_fail_memory(err);
    memcpy(w->places.allowed, w->chained->places.allowed,
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
    w->chained = &blocks->chained[cls];
    w->places = w->chained->places;
    w->places.allowed = NULL;
    status = reserve(w, err);
    if (status == MO_OK)
        status = mo_chain_cuts_find(&w->chained->places, w->chained->chain,
                                    &w->spans, err);
    if (status == MO_OK) {
        number_ends(w);
        status = fill_span_tables(w, err);
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
    free(w->at);
    free(w->ends);
    free(w->begins);
    free(w->span_ends);
    free(w->span_begins);
    free(w->span_table);
    mo_chain_cuts_free(w->spans);
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

static bool is_anywhere(const mo_chain_windows *w, int op)
{
    bool any = false;

    for (int k = 0; k < n_devices(w); k++)
        any = any || mo_allowed_devices_has(&w->places, op, k);
    return any;
}

/* Between the other end of a segment and its end on a device, by the other's:
 * fills at. */
static void find_block_times(mo_chain_windows *w, bool backward, int segment,
                             int device)
{
    const int64_t *table =
        w->blocks->blocks[w->chained->block[segment]].lower_ns;
    int n = n_devices(w);

    for (int k = 0; k < n; k++)
        w->at[k] = table[backward ? device * n + k : k * n + device];
}

static void find_span_times(mo_chain_windows *w, bool backward, int span,
                            int device)
{
    int n = n_devices(w);
    const int64_t *table = w->span_table + (int64_t) span * n * n;

    for (int k = 0; k < n; k++)
        w->at[k] = table[backward ? device * n + k : k * n + device];
}

/* Raises op's side on a device by the times in at since the other, or backward
 * until it; where there is no other, by the first of them.  Where op cannot be
 * reached from anywhere, it cannot be on the device. */
static void raise_from(mo_chain_windows *w, const mo_head_tail *pass, int op,
                       int device, int other)
{
    int64_t at = mo_allowed_devices_index(&w->places, op, device),
            least_ns = INT64_MAX;

    for (int k = 0; k < (other == MO_FREE ? 1 : n_devices(w)); k++) {
        int64_t ns = w->at[k];

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

/* Raises the sides of a chain's op by what lies between it and others of the
 * chain. */
static void raise_along(mo_chain_windows *w, const mo_head_tail *pass, int op)
{
    bool back = pass->backward;
    int block = back ? w->begins[op] : w->ends[op];
    int span = back ? w->span_begins[op] : w->span_ends[op];

    for (int k = 0; k < n_devices(w); k++) {
        if (block >= 0 && mo_allowed_devices_has(&w->places, op, k)) {
            const mo_bound_segment *s = &w->chained->chain->segments[block];

            find_block_times(w, back, block, k);
            raise_from(w, pass, op, k, back ? s->v : s->u);
        }
        if (span >= 0 && mo_allowed_devices_has(&w->places, op, k)) {
            const mo_chain_cut *s = &w->spans->spans[span];

            find_span_times(w, back, span, k);
            raise_from(w, pass, op, k, back ? s->w : s->u);
        }
    }
}

/* False: an op can be nowhere. */
static bool pass_all(mo_chain_windows *w, bool backward)
{
    int n = w->places.x->n;
    mo_head_tail pass = { &w->places, backward,
                          backward ? w->tail_ns : w->head_ns, w->at };

    memset(pass.time_ns, 0,
           (size_t) n * (size_t) n_devices(w) * sizeof(int64_t));
    for (int i = 0; i < n; i++) {
        int op = backward ? n - 1 - i : i;

        raise_along(w, &pass, op);
        if (!is_anywhere(w, op))
            return false;
        mo_head_tail_propagate(&pass, op);
    }
    return true;
}

static bool take_away(mo_chain_windows *w, int64_t time_ns)
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

/* Each pass counts what is allowed when it begins; what is taken away in the
 * last round leaves the sides as they are, which is less than could be said and
 * still true. */
bool mo_chain_windows_propagate(mo_chain_windows *w, int64_t time_ns)
{
    bool more = true;

    for (int i = 0; i < MOST_ROUNDS && more; i++) {
        if (!pass_all(w, false) || !pass_all(w, true))
            return false;
        more = take_away(w, time_ns);
    }
    for (int i = 0; i < w->places.x->n; i++)
        if (!is_anywhere(w, i))
            return false;
    return true;
}
