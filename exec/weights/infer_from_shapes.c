/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape inference backwards: a graph without its weights lacks the axes and
 * permutations of its ops, too. The shapes on both sides of an op determine
 * most of them; any axes consistent with the shapes serve as well as the true
 * ones for a run with random weights.
 *
 * Each rule fills the constant and returns whether the shapes allow it.
 */
#include <string.h>

#include "exec/weights/constants_internal.h"
#include "graph/op_attrs.h"
#include "ingest/operator.h"
#include "graph/output_types.h"

/* An op that reads an unknown constant, with the shapes around it. */
typedef struct consumer {
    const mo_graph *g;
    int op;
    mo_shape in, out;       /* of its first input and its first output; rank 0:
                               unknown */
    mo_tensor_dense *value; /* to be filled: n numbers */
    int64_t n;
} consumer;

/* Finds the shape of op's input at port; false: unknown. */
static bool find_input_shape(const mo_graph *g, int op, int port,
                             mo_shape *shape)
{
    for (int i = op < g->n_ops ? g->in_start[op] : 0;
         op < g->n_ops && i < g->in_start[op + 1]; i++) {
        const mo_edge *e = &g->edges[g->in_edges[i]];
        const mo_tensor *t = &g->tensors[e->tensor];

        if (e->dst_port == port || (e->dst_port == MO_PORT_NONE && port == 0 &&
                                    g->in_start[op + 1] - g->in_start[op] == 1))
            return mo_op_shape(&g->ops[e->from], t->port < 0 ? 0 : t->port,
                               shape);
    }
    for (int f = g->feed_start[op]; f < g->feed_start[op + 1]; f++) {
        int from = g->feed_port[f];

        if (g->feeds[f].dst_port == port)
            return mo_op_shape(&g->ops[g->feeds[f].from], from < 0 ? 0 : from,
                               shape);
    }
    return false;
}

/* Returns whether longer without that axis equals shorter. */
static bool equals_without_axis(const mo_shape *longer, int axis,
                                const mo_shape *shorter)
{
    mo_shape rest = *longer;

    memmove(rest.dims + axis, longer->dims + axis + 1,
            (size_t) (longer->rank - axis - 1) * sizeof *rest.dims);
    rest.rank--;
    return mo_shape_equal(&rest, shorter);
}

static bool accepts_squeezed(const consumer *r, int axis)
{
    return r->in.dims[axis] == 1 && equals_without_axis(&r->in, axis, &r->out);
}

static bool accepts_unsqueezed(const consumer *r, int axis)
{
    return r->out.dims[axis] == 1 && equals_without_axis(&r->out, axis, &r->in);
}

static bool accepts_changed(const consumer *r, int axis)
{
    mo_shape changed = r->in;

    changed.dims[axis] = r->out.dims[axis];
    return r->in.rank == r->out.rank && mo_shape_equal(&changed, &r->out);
}

static bool accepts_reduced(const consumer *r, int axis)
{
    if (r->in.rank == r->out.rank)
        return r->out.dims[axis] == 1 && accepts_changed(r, axis);
    return equals_without_axis(&r->in, axis, &r->out);
}

/* Over another axis, which may have one element, normalization would leave
 * nothing. */
static bool accepts_last(const consumer *r, int axis)
{
    return axis == r->in.rank - 1;
}

static bool accepts_any(const consumer *r, int axis)
{
    return axis < r->in.rank;
}

/* The dimensions of the indices replace the axis. */
static bool accepts_gathered(const consumer *r, int axis)
{
    mo_shape index, want = r->in;
    int64_t batch = 0;
    int more;

    if (!find_input_shape(r->g, r->op, 1, &index))
        return false;
    mo_attr_ints(r->g->ops[r->op].attr_list, "batch_dims", &batch, 1);
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

/* Inputs that may be an axis; of_output: it indexes dimensions of the
 * result. */
static const struct {
    const char *type;
    int port;
    bool (*accepts)(const consumer *r, int axis);
    bool of_output;
} axes[] = {
    { "CumSum", 1, accepts_any, false },
    { "Gather", 2, accepts_gathered, false },
    { "MVN", 1, accepts_last, false },
    { "NormalizeL2", 1, accepts_last, false },
    { "ReduceL1", 1, accepts_reduced, false },
    { "ReduceL2", 1, accepts_reduced, false },
    { "ReduceLogicalAnd", 1, accepts_reduced, false },
    { "ReduceLogicalOr", 1, accepts_reduced, false },
    { "ReduceMax", 1, accepts_reduced, false },
    { "ReduceMean", 1, accepts_reduced, false },
    { "ReduceMin", 1, accepts_reduced, false },
    { "ReduceProd", 1, accepts_reduced, false },
    { "ReduceSum", 1, accepts_reduced, false },
    { "Split", 1, accepts_changed, false },
    { "Squeeze", 1, accepts_squeezed, false },
    { "Unsqueeze", 1, accepts_unsqueezed, true },
    { "VariadicSplit", 1, accepts_changed, false },
};

/* Returns whether this axis (negative: counted from the back) at that port is
 * consistent with the op's shapes. *is_axis: the port may be an axis at all. */
static bool accepts_axis(const consumer *r, int port, int axis, bool *is_axis)
{
    const mo_operator *known = r->g->ops[r->op].kind;
    size_t n = sizeof axes / sizeof *axes, i = 0;
    int rank;

    while (known && i < n &&
           (axes[i].port != port || strcmp(axes[i].type, known->name) != 0))
        i++;
    *is_axis = known && i < n;
    if (!*is_axis)
        return false;
    rank = axes[i].of_output ? r->out.rank : r->in.rank;
    axis += axis < 0 ? rank : 0;
    return axis >= 0 && axis < rank && axes[i].accepts(r, axis);
}

typedef bool rule(consumer *r);

static bool fill_element(consumer *r, int64_t at, int64_t number)
{
    if (at < r->n)
        mo_tensor_set_int(r->value, at, number);
    return at < r->n;
}

static bool fill_all(consumer *r, int64_t number)
{
    for (int64_t i = 0; i < r->n; i++)
        fill_element(r, i, number);
    return true;
}

static bool fill_zeros(consumer *r)
{
    return fill_all(r, 0);
}

static bool fill_ones(consumer *r)
{
    return fill_all(r, 1);
}

static bool fill_target_shape(consumer *r)
{
    for (int d = 0; d < r->out.rank; d++)
        fill_element(r, d, r->out.dims[d]);
    return r->n == r->out.rank;
}

/* Each dimension of the result comes from the first unused one of its size. */
static bool fill_permutation(consumer *r)
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
        fill_element(r, d, from);
    }
    return true;
}

/* Axes of longer that are not in shorter, in order. */
static bool fill_lost_axes(consumer *r, const mo_shape *longer,
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
        else if (!fill_element(r, found++, d))
            return false;
    }
    return found == r->n && at == shorter->rank;
}

static bool fill_squeezed_axes(consumer *r)
{
    return fill_lost_axes(r, &r->in, &r->out);
}

static bool fill_unsqueezed_axes(consumer *r)
{
    return fill_lost_axes(r, &r->out, &r->in);
}

/* Axes with different sizes first, then others from the front. */
static bool fill_changed_axes(consumer *r)
{
    int64_t found = 0;

    for (int same = 0; same < 2; same++)
        for (int d = 0; d < r->in.rank && d < r->out.rank; d++)
            if ((r->in.dims[d] == r->out.dims[d]) == same && found < r->n)
                fill_element(r, found++, d);
    return found == r->n;
}

static bool fill_reduced_axes(consumer *r)
{
    return r->in.rank == r->out.rank ? fill_changed_axes(r)
                                     : fill_squeezed_axes(r);
}

static bool fill_last_axes(consumer *r)
{
    for (int64_t i = 0; i < r->n; i++)
        fill_element(r, i, r->in.rank - r->n + i);
    return r->n <= r->in.rank;
}

static bool fill_split_lengths(consumer *r)
{
    int axis = 0;

    if (r->in.rank == 0 || r->in.rank != r->out.rank)
        return false;
    /* The first axis along which the first of several results is smaller. */
    while (axis < r->in.rank - 1 && r->in.dims[axis] == r->out.dims[axis])
        axis++;
    for (int64_t i = 0; i < r->n; i++) {
        mo_shape part;

        if (!mo_op_shape(&r->g->ops[r->op], (int) i, &part) ||
            part.rank != r->in.rank)
            return false;
        fill_element(r, i, part.dims[axis]);
    }
    return true;
}

/* Ends of a slice that begins at 0, along the axes of fill_changed_axes. */
static bool fill_slice_ends(consumer *r)
{
    bool done = fill_changed_axes(r);

    for (int64_t i = 0; i < r->n && done; i++)
        fill_element(r, i, r->out.dims[mo_tensor_get_int(r->value, i)]);
    return done;
}

static bool fill_padding(consumer *r)
{
    if (r->n != r->in.rank || r->in.rank != r->out.rank)
        return false;
    for (int d = 0; d < r->in.rank; d++)
        fill_element(r, d, r->out.dims[d] - r->in.dims[d]);
    return true;
}

static bool fill_element_count(consumer *r)
{
    return fill_all(r, mo_shape_elements(&r->out));
}

static bool fill_first_axes(consumer *r)
{
    for (int64_t i = 0; i < r->n; i++)
        fill_element(r, i, i);
    return true;
}

/* Inputs other than a single axis. */
static const struct {
    const char *type;
    int port;
    rule *rule;
} rules[] = {
    { "Broadcast", 1, fill_target_shape },
    { "Divide", 1, fill_ones },
    { "FloorMod", 1, fill_ones },
    { "MVN", 1, fill_last_axes },
    { "Mod", 1, fill_ones },
    { "NormalizeL2", 1, fill_last_axes },
    { "Pad", 1, fill_zeros },
    { "Pad", 2, fill_padding },
    { "Range", 0, fill_zeros },
    { "Range", 1, fill_element_count },
    { "Range", 2, fill_ones },
    { "ReduceL1", 1, fill_reduced_axes },
    { "ReduceL2", 1, fill_reduced_axes },
    { "ReduceLogicalAnd", 1, fill_reduced_axes },
    { "ReduceLogicalOr", 1, fill_reduced_axes },
    { "ReduceMax", 1, fill_reduced_axes },
    { "ReduceMean", 1, fill_reduced_axes },
    { "ReduceMin", 1, fill_reduced_axes },
    { "ReduceProd", 1, fill_reduced_axes },
    { "ReduceSum", 1, fill_reduced_axes },
    { "Reshape", 1, fill_target_shape },
    { "Roll", 1, fill_ones },
    { "Roll", 2, fill_first_axes },
    { "Slice", 1, fill_zeros },
    { "Slice", 2, fill_slice_ends },
    { "Slice", 3, fill_ones },
    { "Slice", 4, fill_changed_axes },
    { "Squeeze", 1, fill_squeezed_axes },
    { "Transpose", 1, fill_permutation },
    { "Unsqueeze", 1, fill_unsqueezed_axes },
    { "VariadicSplit", 2, fill_split_lengths },
};

/* Votes of the consumers of a constant. */
typedef struct consumer_votes {
    int votes[2 * MO_MAX_RANK]; /* for an axis: 0, 1, ..., then -1, -2, ... */
    bool settled;               /* a rule has filled all of it */
} consumer_votes;

static int axis_of(int candidate)
{
    return candidate < MO_MAX_RANK ? candidate : MO_MAX_RANK - 1 - candidate;
}

static void consult_consumer(const mo_graph *g, const mo_edge *feed,
                             mo_tensor_dense *value, consumer_votes *o)
{
    const mo_operator *known = g->ops[feed->to].kind;
    int port = feed->dst_port;
    consumer r = { .g = g,
                   .op = feed->to,
                   .value = value,
                   .n = mo_tensor_desc_elements(&value->desc) };
    bool is_axis = false;
    rule *fill = NULL;

    if (!find_input_shape(g, r.op, 0, &r.in))
        r.in.rank = 0;
    if (!mo_op_shape(&g->ops[r.op], 0, &r.out))
        r.out.rank = 0;
    for (size_t i = 0; known && !fill && i < sizeof rules / sizeof *rules; i++)
        if (rules[i].port == port && strcmp(rules[i].type, known->name) == 0)
            fill = rules[i].rule;
    for (int i = 0; i < 2 * MO_MAX_RANK && r.n == 1; i++)
        o->votes[i] += accepts_axis(&r, port, axis_of(i), &is_axis);
    if (!is_axis)
        o->settled = fill && fill(&r);
}

static bool fill_elected_axis(const consumer_votes *o, mo_tensor_dense *value)
{
    int best = 0;

    for (int i = 1; i < 2 * MO_MAX_RANK; i++)
        if (o->votes[i] > o->votes[best])
            best = i;
    if (o->votes[best] > 0)
        mo_tensor_set_int(value, 0, axis_of(best));
    return o->votes[best] > 0;
}

/* Ops are examined before other constants: folding a constant is pointless if
 * its result is inferred. */
bool mo_weights_infer_from_shapes(const mo_graph *g, int id,
                                  mo_tensor_dense *value)
{
    consumer_votes o = { .settled = false };

    for (int constants = 0; constants < 2; constants++)
        for (int f = 0; f < g->n_feeds && !o.settled; f++)
            if (g->feeds[f].from == id &&
                (g->feeds[f].to >= g->n_ops) == constants)
                consult_consumer(g, &g->feeds[f], value, &o);
    return o.settled || fill_elected_axis(&o, value);
}

bool mo_weights_infer_input(const mo_graph *g, int op, int port,
                            mo_tensor_dense *value)
{
    const mo_edge feed = { .to = op, .dst_port = port };
    consumer_votes o = { .settled = false };

    consult_consumer(g, &feed, value, &o);
    return o.settled || fill_elected_axis(&o, value);
}
