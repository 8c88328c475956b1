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
    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
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

/* The axis in place of which the indices' dimensions stand. */
static bool put_gathered(reader *r)
{
    mo_shape index;
    int64_t batch = 0;

    if (!input_shape(r->g, r->op, 1, &index))
        return false;
    if (r->g->ops[r->op].attrs)
        mo_json_ints(r->g->ops[r->op].attrs, "batch_dims", &batch, 1);
    if (batch < 0 || batch > index.rank)
        return false;
    for (int axis = (int) batch; axis < r->in.rank; axis++) {
        mo_shape want = r->in;
        int more = index.rank - (int) batch;

        if (want.rank - 1 + more != r->out.rank)
            continue;
        memmove(want.dims + axis + more, r->in.dims + axis + 1,
                (size_t) (r->in.rank - axis - 1) * sizeof *want.dims);
        memcpy(want.dims + axis, index.dims + batch,
               (size_t) more * sizeof *want.dims);
        want.rank = r->out.rank;
        if (mo_shape_equal(&want, &r->out))
            return put(r, 0, axis);
    }
    return false;
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

static bool put_split(reader *r)
{
    return r->in.rank == r->out.rank && put_all(r, split_axis(r));
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

static const struct {
    const char *type;
    int port;
    rule *rule;
} rules[] = {
    { "Broadcast", 1, put_target },
    { "CumSum", 1, put_zeros },
    { "Gather", 1, put_zeros },
    { "Gather", 2, put_gathered },
    { "GatherElements", 1, put_zeros },
    { "GatherND", 1, put_zeros },
    { "MVN", 1, put_last },
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
    { "Split", 1, put_split },
    { "Squeeze", 1, put_squeezed },
    { "Transpose", 1, put_order },
    { "Unsqueeze", 1, put_unsqueezed },
    { "VariadicSplit", 1, put_split },
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

static bool ask(const mo_graph *g, const mo_edge *feed, mo_dense *value)
{
    const mo_op *op = &g->ops[feed->to];
    rule *fits = find_rule(op->type, feed->dst_port);
    reader r = { .g = g,
                 .op = feed->to,
                 .value = value,
                 .n = mo_desc_elements(&value->desc) };

    if (!fits || feed->to >= g->n_ops)
        return false;
    if (!input_shape(g, r.op, 0, &r.in))
        r.in.rank = 0;
    return mo_shape_at(op->shape, 0, &r.out) && fits(&r);
}

bool mo_constants_guess(const mo_graph *g, int id, mo_dense *value)
{
    for (int f = 0; f < g->n_feeds; f++)
        if (g->feeds[f].from == id && ask(g, &g->feeds[f], value))
            return true;
    return false;
}
