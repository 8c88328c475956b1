/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/decomp/compose.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Ops of a piece stand together in the whole, as they do in its kind's part,
 * and so do their flows: what is at a place in the one is as far from the first
 * in the other.  Only tensors may be numbered with gaps; flows tell them.
 */

static const mo_decomp_class *kind_of(const mo_decomp_classes *kinds, int piece)
{
    return &kinds->kinds[kinds->pieces->kind[piece]];
}

/* The item of the whole that is the part's item in this piece. */
static int whole_item(const mo_decomp_classes *kinds, int piece, int item)
{
    const mo_instance *x = kinds->x, *part = kind_of(kinds, piece)->part->x;
    int first_flow =
        x->out_start[mo_decomp_segment_first_op(kinds->pieces, piece)];

    if (kinds->regime.tensors == MO_TENSORS_PER_EDGE)
        return first_flow + item;
    return x->flows[first_flow + part->tensor_start[item]].tensor;
}

/* What is stitched. */
typedef struct cloth {
    const mo_decomp_classes *kinds;
    const mo_decomp_path *path;
    const unsigned char *variants; /* or NULL */
} cloth;

static const mo_schedule *schedule_of(const cloth *c, int piece)
{
    const mo_decomp_boundary *pair =
        &kind_of(c->kinds, piece)
             ->pairs[mo_decomp_path_boundary(c->path, piece)];

    return c->variants ? pair->variants[c->variants[piece]].schedule
                       : pair->best;
}

static void place_piece(const cloth *c, int piece, int *device)
{
    const mo_decomp_classes *kinds = c->kinds;
    const mo_decomp_segments *p = kinds->pieces;
    const mo_decomp_class *kind = kind_of(kinds, piece);
    int pair = mo_decomp_path_boundary(c->path, piece),
        first = mo_decomp_segment_first_op(p, piece);

    if (kind->part) {
        const mo_schedule *s = schedule_of(c, piece);

        for (int i = 0; i < kind->n; i++)
            device[first + i] = s->device[i];
    } else if (mo_decomp_segment_exit(p, piece) != MO_FREE) {
        device[mo_decomp_segment_exit(p, piece)] =
            kinds->states->device[pair % kinds->states->n];
    }
}

static void set_start(mo_transfer *t, int64_t start_ns)
{
    t->end_ns += start_ns - t->start_ns;
    t->start_ns = start_ns;
}

/* From the piece's transfers on, at *t, all of them; *t goes behind them. */
static void time_part(const mo_decomp_classes *kinds, int piece,
                      const mo_schedule *from, int64_t begin_ns, mo_schedule *s,
                      int *t)
{
    const mo_decomp_class *kind = kind_of(kinds, piece);
    int first = mo_decomp_segment_first_op(kinds->pieces, piece);

    for (int i = kind->u == MO_FREE ? 0 : 1; i < kind->n; i++)
        s->start_ns[first + i] = begin_ns + from->start_ns[i];
    for (int j = 0; j < from->n_transfers; j++) {
        const mo_transfer *its = &from->transfers[j];
        mo_transfer *ours = &s->transfers[(*t)++];

        assert(ours->item == whole_item(kinds, piece, its->item) &&
               ours->to == its->to);
        set_start(ours, begin_ns + its->start_ns);
    }
}

/* The same where nothing is between u and v. */
static void time_direct(const mo_decomp_classes *kinds, int piece,
                        int64_t begin_ns, mo_schedule *s, int *t)
{
    int u = mo_decomp_segment_entry(kinds->pieces, piece);
    int v = mo_decomp_segment_exit(kinds->pieces, piece);
    int64_t arrived_ns = begin_ns;

    if (v == MO_FREE)
        return;
    if (u != MO_FREE && s->device[u] != s->device[v]) {
        bool queues = mo_decomp_direct_transfers_serialize(
            kinds->x, &kinds->regime, s->device[u], s->device[v]);
        int n = kinds->x->out_start[u + 1] - kinds->x->out_start[u];

        for (int j = 0; j < n; j++) {
            mo_transfer *ours = &s->transfers[(*t)++];

            set_start(ours, queues ? arrived_ns : begin_ns);
            arrived_ns = ours->end_ns > arrived_ns ? ours->end_ns : arrived_ns;
        }
    }
    s->start_ns[v] = arrived_ns;
}

static int64_t end_ns(const mo_instance *x, const mo_schedule *s, int op)
{
    return s->start_ns[op] + mo_instance_p_ns(x, op, s->device[op]);
}

static void time_pieces(const cloth *c, mo_schedule *s)
{
    const mo_decomp_segments *p = c->kinds->pieces;
    int t = 0;

    for (int i = 0; i < p->n; i++) {
        int u = mo_decomp_segment_entry(p, i);
        int64_t begin_ns = u == MO_FREE ? 0 : end_ns(c->kinds->x, s, u);

        if (kind_of(c->kinds, i)->part)
            time_part(c->kinds, i, schedule_of(c, i), begin_ns, s, &t);
        else
            time_direct(c->kinds, i, begin_ns, s, &t);
    }
    assert(t == s->n_transfers);
}

/* Sets the makespan.  With live memory every start may have its reason, and
 * what is moved to the left may no longer fit. */
static mo_status finish(const mo_instance *x, mo_schedule *s, mo_error *err)
{
    if (s->regime.memory != MO_MEMORY_LIVE)
        return mo_schedule_left_shift(x, s, err);
    s->makespan_ns = 0;
    for (int i = 0; i < s->n; i++)
        if (end_ns(x, s, i) > s->makespan_ns)
            s->makespan_ns = end_ns(x, s, i);
    return MO_OK;
}

mo_status mo_decomp_compose(const mo_decomp_classes *kinds,
                            const mo_decomp_path *path,
                            const unsigned char *variants,
                            mo_schedule **schedule, mo_error *err)
{
    const cloth c = { kinds, path, variants };
    int *device = malloc(((size_t) kinds->x->n + 1) * sizeof *device);
    mo_schedule *s = NULL;
    mo_status status;

    if (!device)
        return mo_fail_memory(err);
    for (int i = 0; i < kinds->pieces->n; i++)
        place_piece(&c, i, device);
    status = mo_schedule_new(kinds->x, &kinds->regime, device, &s, err);
    free(device);
    if (status != MO_OK)
        return status;
    time_pieces(&c, s);
    status = finish(kinds->x, s, err);
    if (status == MO_OK)
        *schedule = s;
    else
        mo_schedule_free(s);
    return status;
}

/* The pair of states at the ends of a piece, or -1. */
static int pair_of(const mo_decomp_classes *kinds, const mo_schedule *s,
                   int piece)
{
    int u = mo_decomp_segment_entry(kinds->pieces, piece);
    int v = mo_decomp_segment_exit(kinds->pieces, piece);
    int a = u == MO_FREE ? 0 : kinds->states->of[s->device[u]];
    int b = v == MO_FREE ? 0 : kinds->states->of[s->device[v]];

    return a < 0 || b < 0 ? -1 : a * kinds->states->n + b;
}

static void copy_times(const mo_decomp_classes *kinds, int piece,
                       const mo_schedule *s, int64_t begin_ns, mo_schedule *to)
{
    const mo_decomp_class *kind = kind_of(kinds, piece);
    int first = mo_decomp_segment_first_op(kinds->pieces, piece);

    for (int i = kind->u == MO_FREE ? 0 : 1; i < kind->n; i++)
        to->start_ns[i] = s->start_ns[first + i] - begin_ns;
    for (int t = 0; t < to->n_transfers; t++) {
        mo_transfer *ours = &to->transfers[t];

        set_start(ours, mo_schedule_transfer(
                            s, whole_item(kinds, piece, ours->item), ours->to)
                                ->start_ns -
                            begin_ns);
    }
}

static mo_status take_piece(mo_decomp_classes *kinds, int piece,
                            const mo_schedule *s, int64_t begin_ns, int pair,
                            mo_error *err)
{
    mo_decomp_class *kind = &kinds->kinds[kinds->pieces->kind[piece]];
    int first = mo_decomp_segment_first_op(kinds->pieces, piece);
    mo_schedule *taken = NULL;
    bool fits = false;
    mo_status status = mo_schedule_new(kind->part->x, &kinds->regime,
                                       s->device + first, &taken, err);

    if (status != MO_OK)
        return status;
    copy_times(kinds, piece, s, begin_ns, taken);
    status = finish(kind->part->x, taken, err);
    if (status == MO_OK)
        status = mo_schedule_fits_memory(kind->part->x, taken, &fits, err);
    if (status == MO_OK && fits)
        return mo_decomp_class_update_upper(kinds, kind, pair, taken, err);
    mo_schedule_free(taken);
    return status;
}

mo_status mo_decomp_split_schedule(mo_decomp_classes *kinds,
                                   const mo_schedule *s, mo_error *err)
{
    const mo_decomp_segments *p = kinds->pieces;
    mo_status status = MO_OK;

    for (int i = 0; i < p->n && status == MO_OK; i++) {
        const mo_decomp_class *kind = kind_of(kinds, i);
        int u = mo_decomp_segment_entry(p, i), v = mo_decomp_segment_exit(p, i);
        int64_t begin_ns = u == MO_FREE ? 0 : end_ns(kinds->x, s, u);
        int64_t until_ns =
            v == MO_FREE ? s->makespan_ns : end_ns(kinds->x, s, v);
        int pair = kind->part ? pair_of(kinds, s, i) : -1;

        if (pair >= 0 && until_ns - begin_ns < kind->upper_ns[pair])
            status = take_piece(kinds, i, s, begin_ns, pair, err);
    }
    return status;
}
