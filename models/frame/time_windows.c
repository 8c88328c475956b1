/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time windows by constraint propagation of heads and tails.
 *
 * The head of op i on device k: it starts after all its inputs have arrived,
 * so
 *
 *     head[i,k] >= min over a of head[j,a] + p[j,a] + c[q,a,k]
 *
 * for every flow q of j into it, whatever else is sent meanwhile.  Flows
 * within a group stay on its device.  When a clean cut starts, all ops since
 * the cut before it have run, which takes the time of their load, and more
 * exactly that of the segment's table (schedule/bound/segment_bound.h).
 * Between the ops of a chain lie the bounds proven before
 * (models/frame/proven_bounds.h).  Tails are the mirror image.
 *
 * An op whose head, time and tail on a device exceed the horizon may not run
 * there; without that device heads and tails of others grow, and so on.  Any
 * number of rounds is valid, and most of the effect is in the first.
 */
#include <stdlib.h>
#include <string.h>

#include "models/frame/frame_internal.h"
#include "schedule/bound/head_tail.h"
#include "schedule/bound/load_bound.h"
#include "schedule/bound/segment_bound.h"

/* Segment tables.  Ops are in topological order: between two consecutive clean
 * cuts lie the ops with the numbers between theirs. */

/* Ops by devices to the third: a second or two; less where a search has proven
 * most of it already. */
enum { MAX_WORK = 1 << 20, MAX_WORK_PROVEN = 1 << 16 };

/* Above that there are no tables. */
static bool is_affordable(const mo_frame *f)
{
    int64_t n = f->x->n, n_devices = f->x->n_devices;
    int64_t most = f->proven && f->proven->n > 0 ? MAX_WORK_PROVEN : MAX_WORK;

    return f->n_cuts > 1 && n_devices <= 64 &&
           n * n_devices * n_devices * n_devices <= most;
}

static mo_status find_segments(mo_frame *f, mo_error *err)
{
    mo_allowed_devices domains = mo_frame_allowed_devices(f);
    mo_bound_segments *segments = NULL;
    size_t n_devices = (size_t) f->x->n_devices;
    int *numbers;
    mo_status status;

    if (!is_affordable(f))
        return MO_OK;
    if (!f->segment_ns)
        f->segment_ns = calloc((size_t) f->n_cuts * n_devices * n_devices,
                               sizeof *f->segment_ns);
    if (!f->segment_ns)
        return mo_fail_memory(err);
    numbers = malloc((size_t) f->x->n * sizeof *numbers);
    status = numbers ? mo_bound_segments_new(&domains, &segments, err)
                     : mo_fail_memory(err);
    if (status == MO_OK) {
        for (int i = 0; i < f->x->n; i++)
            numbers[i] = i;
        for (int c = 0; c + 1 < f->n_cuts; c++) {
            int u = f->cuts[c], v = f->cuts[c + 1];
            mo_bound_segment segment = { u, v, numbers + u + 1, v - u - 1 };

            mo_bound_segments_table(segments, &segment, f->horizon_ns,
                                    f->segment_ns + (int64_t) c *
                                                        f->x->n_devices *
                                                        f->x->n_devices);
        }
    }
    mo_bound_segments_free(segments);
    free(numbers);
    return status;
}

enum { MAX_ROUNDS = 16, ROUNDS_WITH_TABLES = 2 };

struct windows {
    mo_frame *f;
    mo_allowed_devices domains;
    mo_head_tail pass;   /* forward for heads, backward for tails */
    int64_t *scratch;    /* by device */
    bool *group_removed; /* by group and device */
};

static int64_t min_with_p(const struct windows *w, int op)
{
    int64_t least = INT64_MAX;

    for (int k = 0; k < w->f->x->n_devices; k++)
        if (mo_frame_allowed(w->f, op, k) &&
            mo_head_tail_with_p(&w->pass, op, k) < least)
            least = mo_head_tail_with_p(&w->pass, op, k);
    return least;
}

/* All ops from first to last - 1 run between gone_ns and the cut. */
static void raise_by_load(struct windows *w, int cut, int first, int last,
                          int64_t gone_ns)
{
    int64_t least =
        gone_ns + mo_bound_load_ns(&w->domains, first, last, w->scratch);

    for (int k = 0; k < w->f->x->n_devices; k++)
        mo_head_tail_raise(
            &w->pass.time_ns[mo_allowed_devices_index(&w->domains, cut, k)],
            least);
}

/* The segment behind the cut of that number takes its table's time: raises the
 * head of the cut at its end, or, backward, the tail of the one before it. */
static void raise_by_segment(struct windows *w, int number)
{
    const mo_frame *f = w->f;
    int n_devices = f->x->n_devices, backward = w->pass.backward;
    int here = f->cuts[number + backward], there = f->cuts[number + !backward];
    const int64_t *table;

    if (!f->segment_ns)
        return;
    table = f->segment_ns + (int64_t) number * n_devices * n_devices;
    for (int k = 0; k < n_devices; k++) {
        int64_t least = INT64_MAX;
        for (int a = 0; a < n_devices; a++) {
            int64_t with_segment =
                mo_head_tail_with_p(&w->pass, here, a) +
                table[backward ? k * n_devices + a : a * n_devices + k];
            if (mo_frame_allowed(f, here, a) && with_segment < least)
                least = with_segment;
        }
        mo_head_tail_raise(
            &w->pass.time_ns[mo_allowed_devices_index(&w->domains, there, k)],
            least);
    }
}

/* From the pair's op on this side of the pass, on device a, to that on the
 * other, on k. */
static int64_t proven_ns(const struct windows *w, size_t number, int a, int k)
{
    return w->pass.backward ? mo_frame_proven_pair_ns(w->f, number, k, a)
                            : mo_frame_proven_pair_ns(w->f, number, a, k);
}

/* The bound of the pair on the op at the far side on device k.  Tables may
 * exclude a device by MO_MAX_TOTAL_NS; sums of times stay in range all the
 * same. */
static int64_t bound_by_pair(const struct windows *w, size_t number, int here,
                             int k)
{
    int64_t least = MO_MAX_TOTAL_NS;

    if (here == MO_FREE)
        return proven_ns(w, number, 0, k);
    for (int a = 0; a < w->f->x->n_devices; a++) {
        int64_t with_pair =
            mo_head_tail_with_p(&w->pass, here, a) + proven_ns(w, number, a, k);

        if (mo_frame_allowed(w->f, here, a) && with_pair < least)
            least = with_pair;
    }
    return least;
}

static void raise_by_pair(struct windows *w, size_t number)
{
    const mo_proven_bounds_pair *pair = &w->f->proven->pairs[number];
    int here = w->pass.backward ? pair->v : pair->u;
    int there = w->pass.backward ? pair->u : pair->v;

    for (int k = 0; k < w->f->x->n_devices; k++)
        mo_head_tail_raise(
            &w->pass.time_ns[mo_allowed_devices_index(&w->domains, there, k)],
            bound_by_pair(w, number, here, k));
}

static size_t n_pairs(const mo_frame *f)
{
    return f->proven ? f->proven->n : 0;
}

static void find_heads(struct windows *w)
{
    const mo_frame *f = w->f;
    int cut = 0, before = -1;
    int64_t gone_ns = 0;
    size_t pair = 0;

    w->pass.backward = false;
    w->pass.time_ns = f->head_ns;
    for (int i = 0; i < f->x->n; i++) {
        if (cut < f->n_cuts && f->cuts[cut] == i) {
            raise_by_load(w, i, before + 1, i, gone_ns);
            if (cut > 0)
                raise_by_segment(w, cut - 1);
            gone_ns = min_with_p(w, i);
            before = i;
            cut++;
        }
        if (pair < n_pairs(f) && f->proven->pairs[pair].v == i)
            raise_by_pair(w, pair++);
        mo_head_tail_propagate(&w->pass, i);
    }
}

static bool has_time(const mo_frame *f, int op, int device)
{
    int64_t at = (int64_t) op * f->x->n_devices + device;

    return f->head_ns[at] + mo_instance_p_ns(f->x, op, device) +
               f->tail_ns[at] <=
           f->horizon_ns;
}

static bool is_removed(const struct windows *w, int op, int device)
{
    const mo_instance *x = w->f->x;

    if (x->group[op] == MO_FREE)
        return !has_time(w->f, op, device);
    return w->group_removed[(int64_t) x->group[op] * x->n_devices + device];
}

/* Returns whether any device was removed from op, and left it one. */
static bool remove_op_devices(struct windows *w, int op)
{
    mo_frame *f = w->f;
    bool changed = false, any = false;

    for (int k = 0; k < f->x->n_devices; k++) {
        bool *allowed =
            &f->allowed[mo_allowed_devices_index(&w->domains, op, k)];
        if (*allowed && is_removed(w, op, k)) {
            *allowed = false;
            changed = true;
        }
        any = any || *allowed;
    }
    if (!any)
        mo_allowed_devices_reset_to_pin(&w->domains, op);
    return changed && any;
}

static mo_status propagate_windows(struct windows *w, mo_error *err)
{
    bool changed = true;

    for (int round = 0; round < MAX_ROUNDS && changed; round++) {
        mo_status status =
            round < ROUNDS_WITH_TABLES ? find_segments(w->f, err) : MO_OK;
        if (status != MO_OK)
            return status;
        find_heads(w); /* which only grow, like tails, from round to round */
        const mo_frame *f = w->f;
        int cut = f->n_cuts - 1, behind = f->x->n;
        int64_t gone_ns = 0;
        size_t pair = n_pairs(f);

        w->pass.backward = true;
        w->pass.time_ns = f->tail_ns;
        for (int i = f->x->n - 1; i >= 0; i--) {
            if (cut >= 0 && f->cuts[cut] == i) {
                raise_by_load(w, i, i + 1, behind, gone_ns);
                if (cut + 1 < f->n_cuts)
                    raise_by_segment(w, cut);
                gone_ns = min_with_p(w, i);
                behind = i;
                cut--;
            }
            if (pair > 0 && f->proven->pairs[pair - 1].u == i)
                raise_by_pair(w, --pair);
            mo_head_tail_propagate(&w->pass, i);
        }
        size_t n_devices = (size_t) w->f->x->n_devices;

        /* A group may run where all of its ops may. */
        memset(w->group_removed, 0, (size_t) w->f->x->n_groups * n_devices);
        for (int i = 0; i < w->f->x->n; i++)
            for (int k = 0;
                 k < w->f->x->n_devices && w->f->x->group[i] != MO_FREE; k++)
                if (!has_time(w->f, i, k))
                    w->group_removed[(size_t) w->f->x->group[i] * n_devices +
                                     (size_t) k] = true;
        changed = false;
        for (int i = 0; i < w->f->x->n; i++)
            changed |= remove_op_devices(w, i);
    }
    for (int i = 0; i < w->f->x->n; i++) {
        w->f->est_ns[i] = INT64_MAX;
        w->f->lct_ns[i] = INT64_MIN;
        for (int k = 0; k < w->f->x->n_devices; k++) {
            int64_t at = (int64_t) i * w->f->x->n_devices + k;

            if (!w->f->allowed[at])
                continue;
            if (w->f->head_ns[at] < w->f->est_ns[i])
                w->f->est_ns[i] = w->f->head_ns[at];
            mo_head_tail_raise(&w->f->lct_ns[i],
                               w->f->horizon_ns - w->f->tail_ns[at]);
        }
    }
    return MO_OK;
}

mo_status mo_frame_find_windows(mo_frame *f, mo_error *err)
{
    size_t n_devices = (size_t) f->x->n_devices;
    size_t n_groups = (size_t) f->x->n_groups;
    struct windows w = { .f = f, .domains = mo_frame_allowed_devices(f) };
    mo_status status;

    w.pass.domains = &w.domains;
    w.pass.arrival_ns = calloc(n_devices + 1, sizeof *w.pass.arrival_ns);
    w.scratch = calloc(n_devices + 1, sizeof *w.scratch);
    w.group_removed = calloc(n_groups + 1, n_devices + 1);
    if (w.pass.arrival_ns && w.scratch && w.group_removed)
        status = propagate_windows(&w, err);
    else
        status = mo_fail_memory(err);
    free(w.pass.arrival_ns);
    free(w.scratch);
    free(w.group_removed);
    return status;
}
