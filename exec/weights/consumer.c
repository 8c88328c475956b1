/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/weights/consumer.h"

#include <string.h>

#include "base/json.h"
#include "ingest/operator.h"

bool mo_weights_consumer_input_shape(const mo_graph *g, int op, int port,
                                     mo_shape *shape)
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

mo_weights_consumer mo_weights_consumer_of(const mo_graph *g,
                                           const mo_edge *feed,
                                           mo_tensor_dense *value)
{
    mo_weights_consumer r = { .g = g,
                              .op = feed->to,
                              .value = value,
                              .n = mo_tensor_desc_elements(&value->desc) };

    if (!mo_weights_consumer_input_shape(g, r.op, 0, &r.in))
        r.in.rank = 0;
    if (!mo_shape_at(g->ops[r.op].shape, 0, &r.out))
        r.out.rank = 0;
    return r;
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

static bool takes_squeezed(const mo_weights_consumer *r, int axis)
{
    return r->in.dims[axis] == 1 && is_without(&r->in, axis, &r->out);
}

static bool takes_unsqueezed(const mo_weights_consumer *r, int axis)
{
    return r->out.dims[axis] == 1 && is_without(&r->out, axis, &r->in);
}

static bool takes_changed(const mo_weights_consumer *r, int axis)
{
    mo_shape changed = r->in;

    changed.dims[axis] = r->out.dims[axis];
    return r->in.rank == r->out.rank && mo_shape_equal(&changed, &r->out);
}

static bool takes_reduced(const mo_weights_consumer *r, int axis)
{
    if (r->in.rank == r->out.rank)
        return r->out.dims[axis] == 1 && takes_changed(r, axis);
    return is_without(&r->in, axis, &r->out);
}

/* Over another axis, which may have one element, nothing would be left. */
static bool takes_last(const mo_weights_consumer *r, int axis)
{
    return axis == r->in.rank - 1;
}

static bool takes_any(const mo_weights_consumer *r, int axis)
{
    return axis < r->in.rank;
}

/* The indices' dimensions stand in place of the axis. */
static bool takes_gathered(const mo_weights_consumer *r, int axis)
{
    mo_shape index, want = r->in;
    int64_t batch = 0;
    int more;

    if (!mo_weights_consumer_input_shape(r->g, r->op, 1, &index))
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

/* Inputs that may be an axis; of_output: it counts dimensions of the result. */
static const struct {
    const char *type;
    int port;
    bool (*takes)(const mo_weights_consumer *r, int axis);
    bool of_output;
} axes[] = {
    { "CumSum", 1, takes_any, false },
    { "Gather", 2, takes_gathered, false },
    { "MVN", 1, takes_last, false },
    { "NormalizeL2", 1, takes_last, false },
    { "ReduceL1", 1, takes_reduced, false },
    { "ReduceL2", 1, takes_reduced, false },
    { "ReduceLogicalAnd", 1, takes_reduced, false },
    { "ReduceLogicalOr", 1, takes_reduced, false },
    { "ReduceMax", 1, takes_reduced, false },
    { "ReduceMean", 1, takes_reduced, false },
    { "ReduceMin", 1, takes_reduced, false },
    { "ReduceProd", 1, takes_reduced, false },
    { "ReduceSum", 1, takes_reduced, false },
    { "Split", 1, takes_changed, false },
    { "Squeeze", 1, takes_squeezed, false },
    { "Unsqueeze", 1, takes_unsqueezed, true },
    { "VariadicSplit", 1, takes_changed, false },
};

bool mo_weights_consumer_accepts_axis(const mo_weights_consumer *r, int port,
                                      int axis, bool *is_axis)
{
    const char *type = r->g->ops[r->op].type;
    const mo_operator *known = type ? mo_operator_find(type) : NULL;
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
    return axis >= 0 && axis < rank && axes[i].takes(r, axis);
}
