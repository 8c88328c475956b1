/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "exec/weights/constants_internal.h"
#include "exec/weights/consumer.h"
#include "ingest/operator.h"

/*
 * A graph that comes without its weights comes without the axes and orders of
 * its ops, too.  The shapes on both sides of an op tell most of them: some axes
 * that explain the shapes are as good as the true ones, for all that a run with
 * random weights can show.
 */

typedef bool rule(mo_weights_consumer *r);

static bool put(mo_weights_consumer *r, int64_t at, int64_t number)
{
    if (at < r->n)
        mo_tensor_set_int(r->value, at, number);
    return at < r->n;
}

static bool put_all(mo_weights_consumer *r, int64_t number)
{
    for (int64_t i = 0; i < r->n; i++)
        put(r, i, number);
    return true;
}

static bool put_zeros(mo_weights_consumer *r)
{
    return put_all(r, 0);
}

static bool put_ones(mo_weights_consumer *r)
{
    return put_all(r, 1);
}

static bool put_target(mo_weights_consumer *r)
{
    for (int d = 0; d < r->out.rank; d++)
        put(r, d, r->out.dims[d]);
    return r->n == r->out.rank;
}

/* Each dimension of the result comes from the first of its size that is left.
 */
static bool put_order(mo_weights_consumer *r)
{
    bool used[MO_MAX_RANK] = { false };

    if (r->n != r->in.rank || r->n != r->out.rank)
        return false;
    for (int d = 0; d < r->out.rank; d++) {
        int from = 0;

        while (from < r->in.rank &&
               (used[from] || r->in.dims[from] != r->out.dims[d]))
            from++;
        if (from == r->in.rank)
            return false;
        used[from] = true;
        put(r, d, from);
    }
    return true;
}

/* Axes of longer that are not in shorter, in order. */
static bool put_lost(mo_weights_consumer *r, const mo_shape *longer,
                     const mo_shape *shorter)
{
    int64_t found = 0;
    int at = 0;

    for (int d = 0; d < longer->rank; d++) {
        bool stays = at < shorter->rank &&
                     shorter->dims[at] == longer->dims[d] &&
                     longer->rank - d > r->n - found;

        if (stays)
            at++;
        else if (!put(r, found++, d))
            return false;
    }
    return found == r->n && at == shorter->rank;
}

static bool put_squeezed(mo_weights_consumer *r)
{
    return put_lost(r, &r->in, &r->out);
}

static bool put_unsqueezed(mo_weights_consumer *r)
{
    return put_lost(r, &r->out, &r->in);
}

/* Axes whose sizes differ first, then others from the front. */
static bool put_changed(mo_weights_consumer *r)
{
    int64_t found = 0;

    for (int same = 0; same < 2; same++)
        for (int d = 0; d < r->in.rank && d < r->out.rank; d++)
            if ((r->in.dims[d] == r->out.dims[d]) == same && found < r->n)
                put(r, found++, d);
    return found == r->n;
}

static bool put_reduced(mo_weights_consumer *r)
{
    return r->in.rank == r->out.rank ? put_changed(r) : put_squeezed(r);
}

static bool put_last(mo_weights_consumer *r)
{
    for (int64_t i = 0; i < r->n; i++)
        put(r, i, r->in.rank - r->n + i);
    return r->n <= r->in.rank;
}

/* The first axis that the first of several results has less of. */
static int split_axis(const mo_weights_consumer *r)
{
    int axis = 0;

    while (axis < r->in.rank - 1 && axis < r->out.rank &&
           r->in.dims[axis] == r->out.dims[axis])
        axis++;
    return axis;
}

static bool put_lengths(mo_weights_consumer *r)
{
    int axis = split_axis(r);

    if (r->in.rank == 0 || r->in.rank != r->out.rank)
        return false;
    for (int64_t i = 0; i < r->n; i++) {
        mo_shape part;

        if (!mo_shape_at(r->g->ops[r->op].shape, (int) i, &part) ||
            part.rank != r->in.rank)
            return false;
        put(r, i, part.dims[axis]);
    }
    return true;
}

/* Where a slice ends that begins at 0, along the axes put_changed chooses. */
static bool put_ends(mo_weights_consumer *r)
{
    bool done = put_changed(r);

    for (int64_t i = 0; i < r->n && done; i++)
        put(r, i, r->out.dims[mo_tensor_get_int(r->value, i)]);
    return done;
}

static bool put_padding(mo_weights_consumer *r)
{
    if (r->n != r->in.rank || r->in.rank != r->out.rank)
        return false;
    for (int d = 0; d < r->in.rank; d++)
        put(r, d, r->out.dims[d] - r->in.dims[d]);
    return true;
}

static bool put_count(mo_weights_consumer *r)
{
    return put_all(r, mo_shape_elements(&r->out));
}

static bool put_first_axes(mo_weights_consumer *r)
{
    for (int64_t i = 0; i < r->n; i++)
        put(r, i, i);
    return true;
}

/* What inputs mean that are more than one axis. */
static const struct {
    const char *type;
    int port;
    rule *rule;
} rules[] = {
    { "Broadcast", 1, put_target },
    { "Divide", 1, put_ones },
    { "FloorMod", 1, put_ones },
    { "MVN", 1, put_last },
    { "Mod", 1, put_ones },
    { "NormalizeL2", 1, put_last },
    { "Pad", 1, put_zeros },
    { "Pad", 2, put_padding },
    { "Range", 0, put_zeros },
    { "Range", 1, put_count },
    { "Range", 2, put_ones },
    { "ReduceL1", 1, put_reduced },
    { "ReduceL2", 1, put_reduced },
    { "ReduceLogicalAnd", 1, put_reduced },
    { "ReduceLogicalOr", 1, put_reduced },
    { "ReduceMax", 1, put_reduced },
    { "ReduceMean", 1, put_reduced },
    { "ReduceMin", 1, put_reduced },
    { "ReduceProd", 1, put_reduced },
    { "ReduceSum", 1, put_reduced },
    { "Reshape", 1, put_target },
    { "Roll", 1, put_ones },
    { "Roll", 2, put_first_axes },
    { "Slice", 1, put_zeros },
    { "Slice", 2, put_ends },
    { "Slice", 3, put_ones },
    { "Slice", 4, put_changed },
    { "Squeeze", 1, put_squeezed },
    { "Transpose", 1, put_order },
    { "Unsqueeze", 1, put_unsqueezed },
    { "VariadicSplit", 2, put_lengths },
};

static rule *find_rule(const char *type, int port)
{
    const mo_operator *known = type ? mo_operator_find(type) : NULL;

    for (size_t i = 0; known && i < sizeof rules / sizeof *rules; i++)
        if (rules[i].port == port && strcmp(rules[i].type, known->name) == 0)
            return rules[i].rule;
    return NULL;
}

/* What the readers of a constant say about it. */
typedef struct opinions {
    int votes[2 * MO_MAX_RANK]; /* for an axis: 0, 1, ..., then -1, -2, ... */
    bool settled;               /* somebody told all of it */
} opinions;

static int axis_of(int candidate)
{
    return candidate < MO_MAX_RANK ? candidate : MO_MAX_RANK - 1 - candidate;
}

/* Does the reader take it for one axis?  Then it votes. */
static bool vote(const mo_weights_consumer *r, int port, opinions *o)
{
    bool is_axis = false;

    for (int i = 0; i < 2 * MO_MAX_RANK && r->n == 1; i++)
        o->votes[i] +=
            mo_weights_consumer_accepts_axis(r, port, axis_of(i), &is_axis);
    return is_axis;
}

static void hear(const mo_graph *g, const mo_edge *feed, mo_tensor_dense *value,
                 opinions *o)
{
    mo_weights_consumer r = mo_weights_consumer_of(g, feed, value);
    rule *tells = find_rule(g->ops[feed->to].type, feed->dst_port);

    if (!vote(&r, feed->dst_port, o))
        o->settled = tells && tells(&r);
}

static bool elect(const opinions *o, mo_tensor_dense *value)
{
    int best = 0;

    for (int i = 1; i < 2 * MO_MAX_RANK; i++)
        if (o->votes[i] > o->votes[best])
            best = i;
    if (o->votes[best] > 0)
        mo_tensor_set_int(value, 0, axis_of(best));
    return o->votes[best] > 0;
}

/* Ops are asked first: what constants make of it is done in vain if what they
 * lead to is guessed. */
bool mo_weights_infer_from_shapes(const mo_graph *g, int id,
                                  mo_tensor_dense *value)
{
    opinions o = { .settled = false };

    for (int constants = 0; constants < 2; constants++)
        for (int f = 0; f < g->n_feeds && !o.settled; f++)
            if (g->feeds[f].from == id &&
                (g->feeds[f].to >= g->n_ops) == constants)
                hear(g, &g->feeds[f], value, &o);
    return o.settled || elect(&o, value);
}
