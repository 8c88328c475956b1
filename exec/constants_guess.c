#include <string.h>

#include "base/json.h"
#include "exec/constants_parts.h"
#include "ingest/operator.h"

/*
 * A graph that comes without its weights comes without the axes and orders of
 * its ops, too.  The shapes on both sides of an op tell most of them: some axes
 * that explain the shapes are as good as the true ones, for all that a run with
 * random weights can show.
 */

/* A reader of the constant, as its rule sees it. */
typedef struct reader {
    const mo_graph *g;
    int op;
    mo_shape in, out; /* of its first input and its first output */
    mo_dense *value;  /* to be filled: n numbers */
    int64_t n;
} reader;

typedef bool rule(reader *r);

/* The shape of what op reads at port. */
static bool input_shape(const mo_graph *g, int op, int port, mo_shape *shape)
{
    for (int i = op < g->n_ops ? g->in_start[op] : 0;
         op < g->n_ops && i < g->in_start[op + 1]; i++) {
        const mo_edge *e = &g->edges[g->in_edges[i]];
        const mo_tensor *t = &g->tensors[e->tensor];

        if (e->dst_port == port)
            return mo_shape_at(g->ops[e->from].shape, t->port < 0 ? 0 : t->port,
                               shape);
    }
    for (int f = g->feed_start[op]; f < g->feed_start[op + 1]; f++) {
        int from = g->feed_port[f];

        if (g->feeds[f].dst_port == port)
            return mo_shape_at(g->ops[g->feeds[f].from].shape,
                               from < 0 ? 0 : from, shape);
    }
    return false;
}

static bool put(reader *r, int64_t at, int64_t number)
{
    if (at < r->n)
        mo_dense_put_int(r->value, at, number);
    return at < r->n;
}

static bool put_all(reader *r, int64_t number)
{
    for (int64_t i = 0; i < r->n; i++)
        put(r, i, number);
    return true;
}

static bool put_zeros(reader *r)
{
    return put_all(r, 0);
}

static bool put_ones(reader *r)
{
    return put_all(r, 1);
}

static bool put_target(reader *r)
{
    for (int d = 0; d < r->out.rank; d++)
        put(r, d, r->out.dims[d]);
    return r->n == r->out.rank;
}

/* Each dimension of the result comes from the first of its size that is left.
 */
static bool put_order(reader *r)
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
static bool put_lost(reader *r, const mo_shape *longer, const mo_shape *shorter)
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

static bool put_squeezed(reader *r)
{
    return put_lost(r, &r->in, &r->out);
}

static bool put_unsqueezed(reader *r)
{
    return put_lost(r, &r->out, &r->in);
}

/* Axes whose sizes differ first, then others from the front. */
static bool put_changed(reader *r)
{
    int64_t found = 0;

    for (int same = 0; same < 2; same++)
        for (int d = 0; d < r->in.rank && d < r->out.rank; d++)
            if ((r->in.dims[d] == r->out.dims[d]) == same && found < r->n)
                put(r, found++, d);
    return found == r->n;
}

static bool put_reduced(reader *r)
{
    return r->in.rank == r->out.rank ? put_changed(r) : put_squeezed(r);
}

static bool put_last(reader *r)
{
    for (int64_t i = 0; i < r->n; i++)
        put(r, i, r->in.rank - r->n + i);
    return r->n <= r->in.rank;
}

/* The first axis that the first of several results has less of. */
static int split_axis(const reader *r)
{
    int axis = 0;

    while (axis < r->in.rank - 1 && axis < r->out.rank &&
           r->in.dims[axis] == r->out.dims[axis])
        axis++;
    return axis;
}

static bool put_lengths(reader *r)
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
static bool put_ends(reader *r)
{
    bool done = put_changed(r);

    for (int64_t i = 0; i < r->n && done; i++)
        put(r, i, r->out.dims[mo_dense_int(r->value, i)]);
    return done;
}

static bool put_padding(reader *r)
{
    if (r->n != r->in.rank || r->in.rank != r->out.rank)
        return false;
    for (int d = 0; d < r->in.rank; d++)
        put(r, d, r->out.dims[d] - r->in.dims[d]);
    return true;
}

static bool put_count(reader *r)
{
    return put_all(r, mo_shape_elements(&r->out));
}

static bool put_first_axes(reader *r)
{
    for (int64_t i = 0; i < r->n; i++)
        put(r, i, i);
    return true;
}

/* Are they equal but for an axis that the longer one has more? */
static bool is_without(const mo_shape *longer, int axis,
                       const mo_shape *shorter)
{
    mo_shape rest = *longer;

    memmove(rest.dims + axis, longer->dims + axis + 1,
            (size_t) (longer->rank - axis - 1) * sizeof *rest.dims);
    rest.rank--;
    return mo_shape_equal(&rest, shorter);
}

static bool takes_squeezed(const reader *r, int axis)
{
    return r->in.dims[axis] == 1 && is_without(&r->in, axis, &r->out);
}

static bool takes_unsqueezed(const reader *r, int axis)
{
    return r->out.dims[axis] == 1 && is_without(&r->out, axis, &r->in);
}

static bool takes_changed(const reader *r, int axis)
{
    mo_shape changed = r->in;

    changed.dims[axis] = r->out.dims[axis];
    return r->in.rank == r->out.rank && mo_shape_equal(&changed, &r->out);
}

static bool takes_reduced(const reader *r, int axis)
{
    if (r->in.rank == r->out.rank)
        return r->out.dims[axis] == 1 && takes_changed(r, axis);
    return is_without(&r->in, axis, &r->out);
}

/* Over another axis, which may have one element, nothing would be left. */
static bool takes_last(const reader *r, int axis)
{
    return axis == r->in.rank - 1;
}

static bool takes_any(const reader *r, int axis)
{
    return axis < r->in.rank;
}

/* The indices' dimensions stand in place of the axis. */
static bool takes_gathered(const reader *r, int axis)
{
    mo_shape index, want = r->in;
    int64_t batch = 0;
    int more;

    if (!input_shape(r->g, r->op, 1, &index))
        return false;
    if (r->g->ops[r->op].attrs)
        mo_json_ints(r->g->ops[r->op].attrs, "batch_dims", &batch, 1);
    if (batch < 0 || batch > index.rank || batch > axis)
        return false;
    more = index.rank - (int) batch;
    if (want.rank - 1 + more != r->out.rank)
        return false;
    memmove(want.dims + axis + more, r->in.dims + axis + 1,
            (size_t) (r->in.rank - axis - 1) * sizeof *want.dims);
    memcpy(want.dims + axis, index.dims + batch,
           (size_t) more * sizeof *want.dims);
    want.rank = r->out.rank;
    return mo_shape_equal(&want, &r->out);
}

/* What an input means.  Where it may be a single axis, several ops may share
 * it, and takes says which axes would do for one of them; rank is then that of
 * its input, or of its output. */
typedef struct meaning {
    const char *type;
    int port;
    rule *rule;
    bool (*takes)(const reader *r, int axis);
    bool of_output;
} meaning;

static const meaning meanings[] = {
    { "Broadcast", 1, put_target, NULL, false },
    { "CumSum", 1, NULL, takes_any, false },
    { "Divide", 1, put_ones, NULL, false },
    { "FloorMod", 1, put_ones, NULL, false },
    { "Gather", 2, NULL, takes_gathered, false },
    { "MVN", 1, put_last, takes_last, false },
    { "Mod", 1, put_ones, NULL, false },
    { "NormalizeL2", 1, put_last, takes_last, false },
    { "Pad", 1, put_zeros, NULL, false },
    { "Pad", 2, put_padding, NULL, false },
    { "Range", 0, put_zeros, NULL, false },
    { "Range", 1, put_count, NULL, false },
    { "Range", 2, put_ones, NULL, false },
    { "ReduceL1", 1, put_reduced, takes_reduced, false },
    { "ReduceL2", 1, put_reduced, takes_reduced, false },
    { "ReduceLogicalAnd", 1, put_reduced, takes_reduced, false },
    { "ReduceLogicalOr", 1, put_reduced, takes_reduced, false },
    { "ReduceMax", 1, put_reduced, takes_reduced, false },
    { "ReduceMean", 1, put_reduced, takes_reduced, false },
    { "ReduceMin", 1, put_reduced, takes_reduced, false },
    { "ReduceProd", 1, put_reduced, takes_reduced, false },
    { "ReduceSum", 1, put_reduced, takes_reduced, false },
    { "Reshape", 1, put_target, NULL, false },
    { "Roll", 1, put_ones, NULL, false },
    { "Roll", 2, put_first_axes, NULL, false },
    { "Slice", 1, put_zeros, NULL, false },
    { "Slice", 2, put_ends, NULL, false },
    { "Slice", 3, put_ones, NULL, false },
    { "Slice", 4, put_changed, NULL, false },
    { "Split", 1, NULL, takes_changed, false },
    { "Squeeze", 1, put_squeezed, takes_squeezed, false },
    { "Transpose", 1, put_order, NULL, false },
    { "Unsqueeze", 1, put_unsqueezed, takes_unsqueezed, true },
    { "VariadicSplit", 1, NULL, takes_changed, false },
    { "VariadicSplit", 2, put_lengths, NULL, false },
};

static const meaning *find_meaning(const char *type, int port)
{
    const mo_operator *known = type ? mo_operator_find(type) : NULL;

    for (size_t i = 0; known && i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].port == port &&
            strcmp(meanings[i].type, known->name) == 0)
            return &meanings[i];
    return NULL;
}

static reader reader_of(const mo_graph *g, const mo_edge *feed, mo_dense *value)
{
    reader r = { .g = g,
                 .op = feed->to,
                 .value = value,
                 .n = mo_desc_elements(&value->desc) };

    if (!input_shape(g, r.op, 0, &r.in))
        r.in.rank = 0;
    if (!mo_shape_at(g->ops[r.op].shape, 0, &r.out))
        r.out.rank = 0;
    return r;
}

/* Would this axis, negative ones counted from the back, do for the reader? */
static bool does_for(const reader *r, const meaning *means, int axis)
{
    int rank = means->of_output ? r->out.rank : r->in.rank;

    axis += axis < 0 ? rank : 0;
    return axis >= 0 && axis < rank && means->takes(r, axis);
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

static void hear(const mo_graph *g, const mo_edge *feed, mo_dense *value,
                 opinions *o)
{
    const meaning *means = find_meaning(g->ops[feed->to].type, feed->dst_port);
    reader r = reader_of(g, feed, value);

    if (!means)
        return;
    if (means->takes && r.n == 1)
        for (int i = 0; i < 2 * MO_MAX_RANK; i++)
            o->votes[i] += does_for(&r, means, axis_of(i));
    else
        o->settled = means->rule && means->rule(&r);
}

static bool elect(const opinions *o, mo_dense *value)
{
    int best = 0;

    for (int i = 1; i < 2 * MO_MAX_RANK; i++)
        if (o->votes[i] > o->votes[best])
            best = i;
    if (o->votes[best] > 0)
        mo_dense_put_int(value, 0, axis_of(best));
    return o->votes[best] > 0;
}

/* Ops are asked first: what constants make of it is done in vain if what they
 * lead to is guessed. */
bool mo_constants_guess(const mo_graph *g, int id, mo_dense *value)
{
    opinions o = { .settled = false };

    for (int constants = 0; constants < 2; constants++)
        for (int f = 0; f < g->n_feeds && !o.settled; f++)
            if (g->feeds[f].from == id &&
                (g->feeds[f].to >= g->n_ops) == constants)
                hear(g, &g->feeds[f], value, &o);
    return o.settled || elect(&o, value);
}
