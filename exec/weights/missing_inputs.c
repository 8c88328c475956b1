/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/weights/missing_inputs.h"

#include <string.h>

#include "exec/weights/missing_weights.h"
#include "graph/op_attrs.h"

static bool add_input(mo_weights_search *s, int port, mo_elem elem,
                      const mo_shape *shape)
{
    mo_weights_missing *m = s->missing;

    m->port[m->n] = port;
    m->desc[m->n++] = (mo_tensor_desc){ elem, *shape };
    return true;
}

bool mo_weights_search_add(mo_weights_search *s, int port,
                           const mo_shape *shape)
{
    return add_input(s, port, s->op->out[0].elem, shape);
}

/* Axes, sizes, orders: n integers; a scalar for n < 0. */
static bool add_integers(mo_weights_search *s, int port, int n)
{
    mo_shape shape = { .rank = n < 0 ? 0 : 1, .dims = { n } };

    return n != 0 && add_input(s, port, MO_ELEM_I64, &shape);
}

int64_t mo_weights_search_elements(const mo_weights_search *s)
{
    int64_t bytes = s->op->op->weight_bytes;

    return bytes == MO_UNKNOWN
               ? 0
               : bytes / (int64_t) mo_elem_size(s->op->out[0].elem);
}

static bool add_matrix(mo_weights_search *s, int64_t rows, int64_t columns,
                       bool turned)
{
    mo_shape shape = { .rank = 2, .dims = { rows, columns } };

    if (turned) {
        shape.dims[0] = columns;
        shape.dims[1] = rows;
    }
    return mo_weights_search_add(s, 1, &shape);
}

static bool infer_product(mo_weights_search *s, const char *key_a,
                          const char *key_b)
{
    const mo_attr_list *attrs = s->op->op->attr_list;
    int last = s->in->rank - 1;

    if (s->in->rank < 1 || s->out->rank < 1)
        return false;
    if (last > 0 && mo_attr_bool(attrs, key_a, false))
        last--;
    return add_matrix(s, s->in->dims[last], s->out->dims[s->out->rank - 1],
                      mo_attr_bool(attrs, key_b, false));
}

static bool infer_matmul(mo_weights_search *s)
{
    return infer_product(s, "transpose_a", "transpose_b");
}

static bool infer_gemm(mo_weights_search *s)
{
    return infer_product(s, "transA", "transB");
}

static bool infer_linear(mo_weights_search *s)
{
    return s->in->rank > 0 && s->out->rank > 0 &&
           add_matrix(s, s->in->dims[s->in->rank - 1],
                      s->out->dims[s->out->rank - 1], true);
}

/* A bias or a scale: one number for each channel. */
static bool infer_operand(mo_weights_search *s)
{
    int axis = s->out->rank > 3 ? 1 : s->out->rank - 1; /* channels */
    mo_shape shape = { .rank = s->out->rank };

    if (!mo_shape_equal(s->in, s->out))
        return false;
    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = d == axis ? s->out->dims[d] : 1;
    return mo_weights_search_add(s, 1, &shape);
}

static bool add_channel_vectors(mo_weights_search *s, int first, int last)
{
    mo_shape shape = { .rank = 1,
                       .dims = { s->in->rank > 1 ? s->in->dims[1] : 0 } };

    for (int port = first; port <= last; port++)
        mo_weights_search_add(s, port, &shape);
    return s->in->rank > 1;
}

static bool infer_batch_norm(mo_weights_search *s)
{
    return add_channel_vectors(s, 1, 4);
}

static bool infer_group_norm(mo_weights_search *s)
{
    return add_channel_vectors(s, 1, 2);
}

static bool infer_slope(mo_weights_search *s)
{
    return add_channel_vectors(s, 1, 1);
}

/* An embedding: rows of a table, whose length follows from its bytes. The
 * input is the indices. */
static bool infer_gather(mo_weights_search *s)
{
    mo_shape table = { .rank = 2 };
    int64_t width = s->out->rank > 0 ? s->out->dims[s->out->rank - 1] : 0;

    if (mo_elem_is_float(s->op->in->elem) || s->out->rank != s->in->rank + 1 ||
        width < 1 || mo_weights_search_elements(s) < width)
        return false;
    table.dims[0] = mo_weights_search_elements(s) / width;
    table.dims[1] = width;
    s->missing->data_port = 1;
    return mo_weights_search_add(s, 0, &table) && add_integers(s, 2, -1);
}

/* What follows from the shapes, see infer_from_shapes.c */

static bool infer_target_shape(mo_weights_search *s)
{
    s->missing->determined = true;
    return add_integers(s, 1, s->out->rank);
}

static bool infer_order(mo_weights_search *s)
{
    s->missing->determined = true;
    return s->in->rank == s->out->rank && add_integers(s, 1, s->in->rank);
}

static bool infer_reduced_axes(mo_weights_search *s)
{
    int n = s->in->rank - s->out->rank;

    if (mo_attr_find(s->op->op->attr_list, "axes"))
        return false;
    for (int d = 0; d < s->in->rank && s->in->rank == s->out->rank; d++)
        n += s->in->dims[d] != s->out->dims[d];
    s->missing->determined = true;
    return n >= 0 && add_integers(s, 1, n > 0 ? n : 1);
}

static bool infer_axis(mo_weights_search *s)
{
    s->missing->determined = true;
    return add_integers(s, 1, -1);
}

static bool infer_normalized_axes(mo_weights_search *s)
{
    s->missing->determined = true;
    return add_integers(s, 1, 1);
}

static bool infer_split(mo_weights_search *s)
{
    return infer_axis(s) && add_integers(s, 2, s->op->n_out);
}

static bool infer_padding(mo_weights_search *s)
{
    s->missing->determined = true;
    return s->in->rank == s->out->rank && add_integers(s, 1, s->in->rank) &&
           add_integers(s, 2, s->in->rank);
}

static const struct {
    const char *type;
    bool (*infer)(mo_weights_search *s);
} rules[] = {
    { "Add", infer_operand },
    { "AvgPool", mo_weights_infer_pool },
    { "BatchNormInference", infer_batch_norm },
    { "Broadcast", infer_target_shape },
    { "Convolution", mo_weights_infer_conv },
    { "ConvolutionBackpropData", mo_weights_infer_conv_transpose },
    { "Divide", infer_operand },
    { "Gather", infer_gather },
    { "Gemm", infer_gemm },
    { "GroupConvolution", mo_weights_infer_group_conv },
    { "GroupConvolutionBackpropData", mo_weights_infer_group_conv_transpose },
    { "GroupNormalization", infer_group_norm },
    { "Linear", infer_linear },
    { "MatMul", infer_matmul },
    { "MaxPool", mo_weights_infer_pool },
    { "Multiply", infer_operand },
    { "NormalizeL2", infer_normalized_axes },
    { "Pad", infer_padding },
    { "PReLU", infer_slope },
    { "ReduceL1", infer_reduced_axes },
    { "ReduceL2", infer_reduced_axes },
    { "ReduceMax", infer_reduced_axes },
    { "ReduceMean", infer_reduced_axes },
    { "ReduceMin", infer_reduced_axes },
    { "ReduceProd", infer_reduced_axes },
    { "ReduceSum", infer_reduced_axes },
    { "Split", infer_axis },
    { "Subtract", infer_operand },
    { "Transpose", infer_order },
    { "VariadicSplit", infer_split },
};

void mo_weights_find_missing(const mo_weights_partial_op *op, mo_arena *arena,
                             mo_weights_missing *missing)
{
    mo_weights_search s = { op, &op->in->shape, &op->out[0].shape, arena,
                            missing };

    *missing = (mo_weights_missing){ 0 };
    if (!op->type || op->in->shape.rank < 0 || op->out[0].shape.rank < 0)
        return;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].type, op->type) == 0 && !rules[i].infer(&s))
            *missing = (mo_weights_missing){ 0 };
}
