/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/weights/missing_weights.h"
#include "graph/op_attrs.h"

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
static bool read_numbers(const mo_weights_search *s, const char *key,
                         int64_t fallback, int64_t *values, int n)
{
    bool found = mo_attr_find(s->op->op->attr_list, key) &&
                 mo_attr_ints(s->op->op->attr_list, key, values, n) == n;

    for (int i = 0; i < n && !found; i++)
        values[i] = fallback;
    return found;
}

/* The elements of one kernel by the bytes of the weights, else by the FLOPs:
 * two for each term of each output. */
static int64_t kernel_volume(const mo_weights_search *s, const window *w)
{
    int64_t matrix = s->in->dims[1] * s->out->dims[1] / w->groups;
    int64_t elements = mo_weights_search_elements(s);
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
        if (root >= least && root <= most)
            k = root;
        else if (w->same) /* any size will do */
            k = mo_min_i64(3, most);
        else /* the largest odd one */
            k = most % 2 == 0 && most > least ? most - 1 : most;
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
static bool make_attributes(mo_weights_search *s, bool pools, window *w)
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
static bool has_window(const mo_weights_search *s)
{
    static const char *const keys[] = { "strides",  "pads_begin", "pads_end",
                                        "auto_pad", "dilations",  "kernel" };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (mo_attr_find(s->op->op->attr_list, keys[i]))
            return true;
    return false;
}

static bool init_window(const mo_weights_search *s, window *w)
{
    w->spatial = s->in->rank - 2;
    w->in = s->in->dims + 2;
    w->out = s->out->dims + 2;
    return w->spatial >= 1 && w->spatial <= MAX_SPATIAL &&
           s->out->rank == s->in->rank;
}

static bool read_window(mo_weights_search *s, window *w)
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

static bool infer_filter(mo_weights_search *s, bool grouped, bool transposed)
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
    if (!(read_numbers(s, "kernel", 0, w.kernel, w.spatial) ||
          read_numbers(s, "kernel_shape", 0, w.kernel, w.spatial) ||
          read_numbers(s, "kernel_size", 0, w.kernel, w.spatial)) &&
        !choose_kernel(&w))
        return false;
    if (grouped)
        shape.dims[shape.rank++] = w.groups;
    shape.dims[shape.rank++] = (transposed ? in : out) / w.groups;
    shape.dims[shape.rank++] = (transposed ? out : in) / w.groups;
    for (int d = 0; d < w.spatial; d++)
        shape.dims[shape.rank++] = w.kernel[d];
    return mo_weights_search_add(s, 1, &shape);
}

bool mo_weights_infer_conv(mo_weights_search *s)
{
    return infer_filter(s, false, false);
}

bool mo_weights_infer_group_conv(mo_weights_search *s)
{
    return infer_filter(s, true, false);
}

bool mo_weights_infer_conv_transpose(mo_weights_search *s)
{
    return infer_filter(s, false, true);
}

bool mo_weights_infer_group_conv_transpose(mo_weights_search *s)
{
    return infer_filter(s, true, true);
}

bool mo_weights_infer_pool(mo_weights_search *s)
{
    window w = { .groups = 1 };

    return !has_window(s) && init_window(s, &w) && make_attributes(s, true, &w);
}
