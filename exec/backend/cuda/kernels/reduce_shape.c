/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/reduce_shape.h"

#include <stddef.h>

#include "exec/backend/cuda/jit/codegen.h"

enum {
    WARP = 32,
    BLOCK = 256,      /* threads of a block that has results side by side */
    MOST_LANES = 256, /* for a result that is a row */
    MOST_DEEP = 16,   /* for results side by side */
    PER_LANE = 4,     /* elements that make a further thread worth while */
    PER_SPLIT = 16,   /* elements of each thread that do so for a block */
    MOST_SPLITS = 64,
    VECTOR_BYTES = 16
};

/* ---- dimensions */

typedef struct sorted {
    mo_cuda_reduce_axis axes[MO_MAX_RANK];
    bool reduced[MO_MAX_RANK];
    int n;
} sorted;

static void insert(sorted *s, mo_cuda_reduce_axis axis, bool reduced)
{
    int at = s->n++;

    for (; at > 0 && s->axes[at - 1].in < axis.in; at--) {
        s->axes[at] = s->axes[at - 1];
        s->reduced[at] = s->reduced[at - 1];
    }
    s->axes[at] = axis;
    s->reduced[at] = reduced;
}

/* Two neighbours that count on become one. */
static void append(mo_cuda_reduce_axes *list, mo_cuda_reduce_axis axis,
                   bool follows)
{
    mo_cuda_reduce_axis *last = list->n > 0 ? &list->axes[list->n - 1] : NULL;

    list->size *= axis.extent;
    if (follows && last && last->in == axis.in * axis.extent &&
        last->out == axis.out * axis.extent) {
        axis.extent *= last->extent;
        *last = axis;
    } else {
        list->axes[list->n++] = axis;
    }
}

static void set_axes(const mo_call_reduce *reduce, mo_cuda_reduce_shape *shape)
{
    sorted s = { .n = 0 };

    for (int d = 0; d < reduce->rank; d++) {
        mo_cuda_reduce_axis axis = { reduce->extent[d], reduce->in_stride[d],
                                     reduce->reduced[d]
                                         ? 0
                                         : reduce->out_stride[d] };

        if (axis.extent != 1)
            insert(&s, axis, reduce->reduced[d]);
    }
    shape->kept.size = shape->folded.size = 1;
    for (int i = 0; i < s.n; i++)
        append(s.reduced[i] ? &shape->folded : &shape->kept, s.axes[i],
               i > 0 && s.reduced[i - 1] == s.reduced[i]);
    shape->by_rows = s.n > 0 && s.reduced[s.n - 1];
}

/* ---- cutting */

/* Vectors must not reach over the end of a row, and all begin aligned. */
static int width_of(const mo_cuda_reduce_shape *shape, int bytes)
{
    const mo_cuda_reduce_axes *folded = &shape->folded, *kept = &shape->kept;
    int width = VECTOR_BYTES / bytes;

    if (!shape->by_rows || folded->axes[folded->n - 1].in != 1)
        return 1;
    for (int i = 0; i < folded->n; i++)
        while (width > 1 && (i < folded->n - 1 ? folded->axes[i].in
                                               : folded->axes[i].extent) %
                                    width !=
                                0)
            width /= 2;
    for (int i = 0; i < kept->n; i++)
        while (width > 1 && kept->axes[i].in % width != 0)
            width /= 2;
    return width;
}

static int doubled_up_to(int64_t wish, int most)
{
    int n = 1;

    while (2 * n <= wish && n < most)
        n *= 2;
    return n;
}

static void cut_rows(mo_cuda_reduce_shape *shape, int sms)
{
    int64_t vectors = shape->folded.size / shape->width;
    bool many = shape->kept.size > (int64_t) sms * WARP;

    shape->lanes = doubled_up_to(vectors / (many ? PER_LANE : 2),
                                 many ? WARP : MOST_LANES);
    shape->outputs = shape->lanes < BLOCK / 2 ? BLOCK / 2 / shape->lanes : 1;
}

static void cut_columns(mo_cuda_reduce_shape *shape, int sms)
{
    int64_t results = shape->kept.size;
    int side = 1;

    while (side < WARP && side < results)
        side *= 2;
    shape->lanes =
        doubled_up_to(shape->folded.size / PER_LANE, MOST_DEEP * WARP / side);
    while (shape->lanes > 1 &&
           results * shape->lanes > (int64_t) sms * 8 * BLOCK)
        shape->lanes /= 2;
    shape->outputs = side;
    while (shape->outputs * shape->lanes < BLOCK / 2 &&
           results / shape->outputs > sms)
        shape->outputs *= 2;
}

/* Long sums of few results: several blocks for each. */
static void split(mo_cuda_reduce_shape *shape, int sms)
{
    int64_t vectors = shape->folded.size / shape->width;
    int64_t blocks = (shape->kept.size + shape->outputs - 1) / shape->outputs;
    int64_t wish = blocks > 0 ? 2 * (int64_t) sms / blocks : 1;
    int64_t most = vectors / ((int64_t) shape->lanes * PER_SPLIT);

    wish = wish < most ? wish : most;
    wish = wish < MOST_SPLITS ? wish : MOST_SPLITS;
    shape->splits = wish > 1 ? (int) wish : 1;
    shape->share = (vectors + shape->splits - 1) / shape->splits;
}

mo_cuda_reduce_shape mo_cuda_reduce_shape_of(const mo_call_reduce *reduce,
                                             int bytes, int sms)
{
    mo_cuda_reduce_shape shape = { 0 };

    set_axes(reduce, &shape);
    shape.width = width_of(&shape, bytes);
    if (shape.by_rows)
        cut_rows(&shape, sms);
    else
        cut_columns(&shape, sms);
    split(&shape, sms);
    return shape;
}

/* ---- code */

static void add_places(mo_cuda_source *code, const char *name,
                       const mo_cuda_reduce_axes *list, bool out)
{
    int64_t extents[MO_MAX_RANK], strides[MO_MAX_RANK];

    for (int i = 0; i < list->n; i++) {
        extents[i] = list->axes[i].extent;
        strides[i] = out ? list->axes[i].out : list->axes[i].in;
    }
    mo_cuda_emit_offset_function(code, name, extents, strides, list->n);
}

void mo_cuda_emit_reduce_shape(mo_cuda_source *code,
                               const mo_cuda_reduce_shape *shape)
{
    mo_cuda_source_printf(
        code,
        "#define RESULTS %lldLL\n#define FOLDED %lldLL\n"
        "#define BY_ROWS %d\n#define LANES %d\n#define OUTPUTS %d\n"
        "#define BLOCK (LANES * OUTPUTS)\n"
        "#define SPLITS %d\n#define SHARE %lldLL\n",
        (long long) shape->kept.size, (long long) shape->folded.size,
        shape->by_rows, shape->lanes, shape->outputs, shape->splits,
        (long long) shape->share);
    add_places(code, "in_of", &shape->kept, false);
    add_places(code, "out_of", &shape->kept, true);
    add_places(code, "step_of", &shape->folded, false);
}
