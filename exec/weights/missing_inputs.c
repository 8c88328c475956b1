/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/weights/missing_inputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "graph/op_attrs.h"

typedef struct search {
    const mo_weights_partial_op *op;
    const mo_shape *in, *out;
    mo_arena *arena;
    mo_weights_missing *missing;
} search;

static bool add_input(search *s, int port, mo_elem elem, const mo_shape *shape)
{
    mo_weights_missing *m = s->missing;

    m->port[m->n] = port;
    m->desc[m->n++] = (mo_tensor_desc){ elem, *shape };
    return true;
}

static bool add_weights(search *s, int port, const mo_shape *shape)
{
    return add_input(s, port, s->op->out[0].elem, shape);
}

/* Axes, sizes, orders: n integers; a scalar for n < 0. */
static bool add_integers(search *s, int port, int n)
{
    mo_shape shape = { .rank = n < 0 ? 0 : 1, .dims = { n } };

    return n != 0 && add_input(s, port, MO_ELEM_I64, &shape);
}

static mo_shape vector_of(int64_t n)
{
    return (mo_shape){ .rank = 1, .dims = { n } };
}

/* Returns the elements of the weights by their bytes; 0: unknown. */
static int64_t weight_elements(const search *s)
{
    int64_t bytes = s->op->op->weight_bytes;

    return bytes == MO_UNKNOWN
               ? 0
               : bytes / (int64_t) mo_elem_size(s->op->out[0].elem);
}

/* ---- windows */

enum { MAX_SPATIAL = 3, LARGEST_KERNEL = 1 << 12 };

/* A convolution: weights are [groups, out / groups, in / groups, kernel], or
 * with in and out exchanged. */
typedef struct window {
    int spatial;
    bool transposed, same;
    int64_t groups;
    const int64_t *in, *out; /* spatial dimensions */
    int64_t stride[MAX_SPATIAL], dilation[MAX_SPATIAL], pad[MAX_SPATIAL];
    int64_t kernel[MAX_SPATIAL], volume; /* volume 0: unknown */
} window;

/* Reads up to n numbers; fills with fallback. Returns whether there are any. */
static bool read_numbers(const search *s, const char *key, int64_t fallback,
                         int64_t *values, int n)
{
    bool found = mo_attr_find(s->op->op->attr_list, key) &&
                 mo_attr_ints(s->op->op->attr_list, key, values, n) == n;

    for (int i = 0; i < n && !found; i++)
        values[i] = fallback;
    return found;
}

static bool read_kernel(const search *s, window *w)
{
    return read_numbers(s, "kernel", 0, w->kernel, w->spatial) ||
           read_numbers(s, "kernel_shape", 0, w->kernel, w->spatial) ||
           read_numbers(s, "kernel_size", 0, w->kernel, w->spatial);
}

/* The elements of one kernel by the bytes of the weights, else by the FLOPs:
 * two for each term of each output. */
static int64_t kernel_volume(const search *s, const window *w)
{
    int64_t matrix = s->in->dims[1] * s->out->dims[1] / w->groups;
    int64_t elements = weight_elements(s);
    const mo_shape *swept = w->transposed ? s->in : s->out;
    int64_t each = matrix;

    for (int d = 0; d < w->spatial; d++)
        each *= swept->dims[2 + d];
    if (matrix > 0 && elements >= matrix)
        return elements / matrix; /* the rest is a bias */
    if (s->op->op->flops > 0 && each > 0 && s->out->dims[0] > 0)
        return llround(s->op->op->flops / 2 / (double) each /
                       (double) s->out->dims[0]);
    return 0;
}

/* The sizes of a kernel in dimension d that make this output. */
static void kernel_range(const window *w, int d, int64_t *least, int64_t *most)
{
    int64_t room = w->in[d] + w->pad[d], stride = w->stride[d];
    int64_t longest = room - (w->out[d] - 1) * stride;
    int64_t shortest = longest - stride + 1;

    if (w->transposed) /* out = (in - 1) stride + span - pads */
        longest = shortest = w->out[d] + w->pad[d] - (w->in[d] - 1) * stride;
    if (w->same) {
        shortest = 1;
        longest = 1 + 2 * (w->in[d] - 1);
    }
    *least =
        mo_max_i64(1, (shortest - 1 + w->dilation[d] - 1) / w->dilation[d] + 1);
    *most = mo_min_i64(LARGEST_KERNEL, (longest - 1) / w->dilation[d] + 1);
}

/* Without a volume: 3 where any size will do, else the largest odd one. */
static int64_t usual_kernel(const window *w, int64_t least, int64_t most)
{
    if (w->same)
        return mo_min_i64(3, most);
    return most % 2 == 0 && most > least ? most - 1 : most;
}

/* The n-th root of volume, where it is a whole number; else 0. */
static int64_t whole_root(int64_t volume, int n)
{
    int64_t root = llround(pow((double) volume, 1.0 / n)), power = 1;

    for (int i = 0; i < n; i++)
        power *= root;
    return power == volume ? root : 0;
}

/* A cube of the volume, or else one side after the other by what is left. */
static bool choose_kernel(window *w)
{
    int64_t left = w->volume, root = 0;

    if (left > 0)
        root = whole_root(left, w->spatial);
    for (int d = 0; d < w->spatial; d++) {
        int64_t least, most, k;

        kernel_range(w, d, &least, &most);
        if (most < least)
            return false;
        k = root >= least && root <= most ? root : usual_kernel(w, least, most);
        if (root == 0 && left > 0 && d == w->spatial - 1 && left >= least &&
            left <= most)
            k = left;
        else if (root == 0 && left > 0 && left % k != 0)
            k = least;
        w->kernel[d] = k;
        left = left > 0 && left % k == 0 ? left / k : 0;
    }
    return true;
}

/* Writes ,"key":"1,2" and returns the length. */
static int write_list(const char *key, const int64_t *values, int n, char *text,
                      size_t size)
{
    int at = snprintf(text, size, ",\"%s\":\"", key);

    for (int i = 0; i < n; i++)
        at += snprintf(text + at, size - (size_t) at, "%s%lld",
                       i > 0 ? "," : "", (long long) values[i]);
    return at + snprintf(text + at, size - (size_t) at, "\"");
}

/* Makes attributes for a window that has none: strides that divide the input
 * into the output, and "same" padding; of a pool also the kernel. */
static bool make_attributes(search *s, bool pools, window *w)
{
    static const char same[] = "{\"auto_pad\":\"same_upper\"";
    char text[512];
    size_t at = sizeof same - 1;

    for (int d = 0; d < w->spatial; d++) {
        int64_t stride =
            w->out[d] > 0 ? (w->in[d] + w->out[d] - 1) / w->out[d] : 0;

        if (stride < 1 || (w->in[d] + stride - 1) / stride != w->out[d])
            return false;
        w->stride[d] = stride;
        w->kernel[d] = stride > 1 ? stride : mo_min_i64(3, w->in[d]);
    }
    w->same = true;
    memcpy(text, same, sizeof same);
    at += (size_t) write_list("strides", w->stride, w->spatial, text + at,
                              sizeof text - at);
    if (pools)
        at += (size_t) write_list("kernel", w->kernel, w->spatial, text + at,
                                  sizeof text - at);
    text[at++] = '}';
    s->missing->attrs =
        mo_attr_list_parse(mo_arena_text(s->arena, text, at), s->arena);
    return s->missing->attrs != NULL;
}

/* Returns whether the op has attributes of a window. */
static bool has_window(const search *s)
{
    static const char *const keys[] = { "strides",  "pads_begin", "pads_end",
                                        "auto_pad", "dilations",  "kernel" };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (mo_attr_find(s->op->op->attr_list, keys[i]))
            return true;
    return false;
}

static bool init_window(const search *s, window *w)
{
    w->spatial = s->in->rank - 2;
    w->in = s->in->dims + 2;
    w->out = s->out->dims + 2;
    return w->spatial >= 1 && w->spatial <= MAX_SPATIAL &&
           s->out->rank == s->in->rank;
}

static bool read_window(search *s, window *w)
{
    const mo_attr_list *attrs = s->op->op->attr_list;
    int64_t end[MAX_SPATIAL];

    if (!init_window(s, w))
        return false;
    read_numbers(s, "strides", 1, w->stride, w->spatial);
    read_numbers(s, "dilations", 1, w->dilation, w->spatial);
    read_numbers(s, "pads_begin", 0, w->pad, w->spatial);
    read_numbers(s, "pads_end", 0, end, w->spatial);
    for (int d = 0; d < w->spatial; d++) {
        if (w->stride[d] < 1 || w->dilation[d] < 1)
            return false;
        w->pad[d] += end[d];
    }
    w->same = mo_attr_equals(attrs, "auto_pad", "same_upper") ||
              mo_attr_equals(attrs, "auto_pad", "same_lower");
    return w->transposed || has_window(s) || make_attributes(s, false, w);
}

static bool infer_filter(search *s, bool grouped, bool transposed)
{
    window w = { .groups = 1, .transposed = transposed };
    mo_shape shape = { .rank = 0 };
    int64_t in = s->in->rank > 1 ? s->in->dims[1] : 0;
    int64_t out = s->out->rank > 1 ? s->out->dims[1] : 0;

    if (!read_window(s, &w))
        return false;
    /* Without an attribute a grouped convolution is depthwise. */
    if (grouped && !read_numbers(s, "groups", 1, &w.groups, 1) &&
        !read_numbers(s, "group", 1, &w.groups, 1))
        w.groups = mo_min_i64(in, out);
    if (w.groups < 1 || in % w.groups != 0 || out % w.groups != 0)
        return false;
    w.volume = kernel_volume(s, &w);
    if (!read_kernel(s, &w) && !choose_kernel(&w))
        return false;
    if (grouped)
        shape.dims[shape.rank++] = w.groups;
    shape.dims[shape.rank++] = (transposed ? in : out) / w.groups;
    shape.dims[shape.rank++] = (transposed ? out : in) / w.groups;
    for (int d = 0; d < w.spatial; d++)
        shape.dims[shape.rank++] = w.kernel[d];
    return add_weights(s, 1, &shape);
}

static bool infer_conv(search *s)
{
    return infer_filter(s, false, false);
}

static bool infer_group_conv(search *s)
{
    return infer_filter(s, true, false);
}

static bool infer_conv_transpose(search *s)
{
    return infer_filter(s, false, true);
}

static bool infer_group_conv_transpose(search *s)
{
    return infer_filter(s, true, true);
}

static bool infer_pool(search *s)
{
    window w = { .groups = 1 };

    return !has_window(s) && init_window(s, &w) && make_attributes(s, true, &w);
}

/* ---- products */

static bool add_matrix(search *s, int64_t rows, int64_t columns, bool turned)
{
    mo_shape shape = { .rank = 2, .dims = { rows, columns } };

    if (turned) {
        shape.dims[0] = columns;
        shape.dims[1] = rows;
    }
    return add_weights(s, 1, &shape);
}

static bool infer_product(search *s, const char *key_a, const char *key_b)
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

static bool infer_matmul(search *s)
{
    return infer_product(s, "transpose_a", "transpose_b");
}

static bool infer_gemm(search *s)
{
    return infer_product(s, "transA", "transB");
}

static bool infer_linear(search *s)
{
    return s->in->rank > 0 && s->out->rank > 0 &&
           add_matrix(s, s->in->dims[s->in->rank - 1],
                      s->out->dims[s->out->rank - 1], true);
}

/* ---- vectors */

/* The channels of images are dimension 1, those of other tensors the last. */
static int channel_axis(const mo_shape *shape)
{
    return shape->rank > 3 ? 1 : shape->rank - 1;
}

/* A bias or a scale: one number for each channel. */
static bool infer_operand(search *s)
{
    int axis = channel_axis(s->out);
    mo_shape shape = { .rank = s->out->rank };

    if (!mo_shape_equal(s->in, s->out))
        return false;
    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = d == axis ? s->out->dims[d] : 1;
    return add_weights(s, 1, &shape);
}

static bool add_channel_vectors(search *s, int first, int last)
{
    mo_shape shape = vector_of(s->in->rank > 1 ? s->in->dims[1] : 0);

    for (int port = first; port <= last; port++)
        add_weights(s, port, &shape);
    return s->in->rank > 1;
}

static bool infer_batch_norm(search *s)
{
    return add_channel_vectors(s, 1, 4);
}

static bool infer_group_norm(search *s)
{
    return add_channel_vectors(s, 1, 2);
}

static bool infer_slope(search *s)
{
    return add_channel_vectors(s, 1, 1);
}

/* An embedding: rows of a table, whose length follows from its bytes. The
 * input is the indices. */
static bool infer_gather(search *s)
{
    mo_shape table = { .rank = 2 };
    int64_t width = s->out->rank > 0 ? s->out->dims[s->out->rank - 1] : 0;

    if (mo_elem_is_float(s->op->in->elem) || s->out->rank != s->in->rank + 1 ||
        width < 1 || weight_elements(s) < width)
        return false;
    table.dims[0] = weight_elements(s) / width;
    table.dims[1] = width;
    s->missing->data_port = 1;
    return add_weights(s, 0, &table) && add_integers(s, 2, -1);
}

/* ---- what follows from the shapes, see infer_from_shapes.c */

static bool infer_target_shape(search *s)
{
    s->missing->determined = true;
    return add_integers(s, 1, s->out->rank);
}

static bool infer_order(search *s)
{
    s->missing->determined = true;
    return s->in->rank == s->out->rank && add_integers(s, 1, s->in->rank);
}

static bool infer_reduced_axes(search *s)
{
    int n = s->in->rank - s->out->rank;

    if (mo_attr_find(s->op->op->attr_list, "axes"))
        return false;
    for (int d = 0; d < s->in->rank && s->in->rank == s->out->rank; d++)
        n += s->in->dims[d] != s->out->dims[d];
    s->missing->determined = true;
    return n >= 0 && add_integers(s, 1, n > 0 ? n : 1);
}

static bool infer_axis(search *s)
{
    s->missing->determined = true;
    return add_integers(s, 1, -1);
}

static bool infer_normalized_axes(search *s)
{
    s->missing->determined = true;
    return add_integers(s, 1, 1);
}

static bool infer_split(search *s)
{
    return infer_axis(s) && add_integers(s, 2, s->op->n_out);
}

static bool infer_padding(search *s)
{
    s->missing->determined = true;
    return s->in->rank == s->out->rank && add_integers(s, 1, s->in->rank) &&
           add_integers(s, 2, s->in->rank);
}

static const struct {
    const char *type;
    bool (*infer)(search *s);
} rules[] = {
    { "Add", infer_operand },
    { "AvgPool", infer_pool },
    { "BatchNormInference", infer_batch_norm },
    { "Broadcast", infer_target_shape },
    { "Convolution", infer_conv },
    { "ConvolutionBackpropData", infer_conv_transpose },
    { "Divide", infer_operand },
    { "Gather", infer_gather },
    { "Gemm", infer_gemm },
    { "GroupConvolution", infer_group_conv },
    { "GroupConvolutionBackpropData", infer_group_conv_transpose },
    { "GroupNormalization", infer_group_norm },
    { "Linear", infer_linear },
    { "MatMul", infer_matmul },
    { "MaxPool", infer_pool },
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
    search s = { op, &op->in->shape, &op->out[0].shape, arena, missing };

    *missing = (mo_weights_missing){ 0 };
    if (!op->type || op->in->shape.rank < 0 || op->out[0].shape.rank < 0)
        return;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].type, op->type) == 0 && !rules[i].infer(&s))
            *missing = (mo_weights_missing){ 0 };
}
