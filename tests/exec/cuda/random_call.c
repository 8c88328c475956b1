/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/cuda/random_call.h"

#include <string.h>

#include "tests/support/suite.h"

static random_call_maker *const makers[MO_CALL_KINDS] = {
    [MO_CALL_VIEW] = random_view,
    [MO_CALL_POINT] = random_point,
    [MO_CALL_COPY] = random_copy,
    [MO_CALL_MATMUL] = random_matmul,
    [MO_CALL_CONV] = random_conv,
    [MO_CALL_POOL] = random_pool,
    [MO_CALL_REDUCE] = random_reduce,
    [MO_CALL_SOFTMAX] = random_softmax,
    [MO_CALL_NORM] = random_norm,
    [MO_CALL_GATHER] = random_gather,
    [MO_CALL_SCATTER] = random_scatter,
    [MO_CALL_TOPK] = random_topk,
    [MO_CALL_CUMSUM] = random_cumsum,
    [MO_CALL_INTERPOLATE] = random_interpolate,
    [MO_CALL_ATTENTION] = random_attention_call,
    [MO_CALL_RANGE] = random_range,
    [MO_CALL_RNN] = random_rnn,
    [MO_CALL_GRID_SAMPLE] = random_grid_sample,
};

int64_t random_from(mo_random *random, int least, int most)
{
    return least + mo_random_below(random, most - least + 1);
}

void random_call_make(random_call *r, mo_call_kind kind, mo_elem elem,
                      uint64_t seed)
{
    mo_random random = { mo_random_seed(seed, (uint64_t) kind) };

    memset(r, 0, sizeof *r);
    r->seed = seed;
    case_begin(&r->c, kind);
    makers[kind](r, &random, elem);
}

/* Every second call has an epilogue. */
static void maybe_after(random_call *r, mo_random *random, int axis,
                        bool channels_last)
{
    if (mo_random_below(random, 2))
        case_after(&r->c, axis, channels_last, r->seed + 1);
}

static int64_t pick(mo_random *random, const int *from, int n)
{
    return from[mo_random_below(random, n)];
}

/* Steps with a small derivative: differences of operands stay small. */
static const mo_point_op smooth[] = {
    MO_POINT_ABS,        MO_POINT_NEGATE,   MO_POINT_SIN,
    MO_POINT_TANH,       MO_POINT_ERF,      MO_POINT_SIGMOID,
    MO_POINT_SOFTSIGN,   MO_POINT_GELU_ERF, MO_POINT_GELU_TANH,
    MO_POINT_HSWISH,     MO_POINT_RELU,     MO_POINT_CLAMP,
    MO_POINT_LEAKY_RELU, MO_POINT_SWISH,    MO_POINT_AFFINE,
    MO_POINT_ADD,        MO_POINT_SUBTRACT, MO_POINT_MULTIPLY,
    MO_POINT_MAXIMUM,    MO_POINT_MINIMUM,  MO_POINT_PRELU,
    MO_POINT_SOFTPLUS,   MO_POINT_ELU,      MO_POINT_HARD_SIGMOID,
};

static void add_steps(mo_point_program *p, mo_random *random, int n)
{
    for (int i = 0; i < n; i++) {
        int registers = p->n_operands + p->n_steps;
        mo_point_step step = {
            .op = smooth[mo_random_below(random, COUNT(smooth))],
            .a = mo_random_below(random, registers),
            .b = mo_random_below(random, registers),
            .x = -0.5,
            .y = 0.75
        };

        if (mo_point_op_signature(step.op).arity < 2)
            step.b = 0;
        p->result = mo_point_push_step(p, step);
    }
}

/* A result of up to four dimensions; operands are broadcast along some of
 * them. */
void random_point(random_call *r, mo_random *random, mo_elem elem)
{
    static const int sizes[] = { 1, 2, 3, 4, 8, 17, 64 };
    mo_point_program *p = &r->c.call.u.point;
    mo_shape shape = { .rank = (int) random_from(random, 1, 4) };
    int n = (int) random_from(random, 1, 4);

    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = pick(random, sizes, COUNT(sizes));
    for (int i = 0; i < n; i++) {
        mo_shape from = shape;

        for (int d = 0; i > 0 && d < shape.rank; d++)
            if (mo_random_below(random, 3) == 0)
                from.dims[d] = 1;
        case_in(&r->c, elem, from, r->seed);
        p->operands[i] =
            (mo_point_operand){ elem,
                                mo_point_access_broadcast(&from, &shape) };
    }
    p->n_operands = n;
    p->out = mo_point_access_dense(&shape);
    add_steps(p, random, (int) random_from(random, 1, 8));
    case_out(&r->c, elem, shape);
}

/* One operand of a batched product, transposed or not. */
static mo_call_matmul_operand side_of(mo_random *random, int64_t rows,
                                      int64_t columns, bool may_turn)
{
    bool turned = may_turn && mo_random_below(random, 2);
    mo_call_matmul_operand side = { turned ? 1 : columns,
                                    turned ? rows : 1,
                                    { 0 } };

    side.batch[0] = rows * columns;
    return side;
}

void random_matmul(random_call *r, mo_random *random, mo_elem elem)
{
    static const int sizes[] = { 1, 7, 16, 32, 50, 64, 100, 128, 200 };
    mo_call_matmul *m = &r->c.call.u.matmul;

    m->m = pick(random, sizes, COUNT(sizes));
    m->n = pick(random, sizes, COUNT(sizes));
    m->k = pick(random, sizes, COUNT(sizes));
    m->n_batch = 1;
    m->extent[0] = random_from(random, 1, 3);
    m->a = side_of(random, m->m, m->k, true);
    m->b = side_of(random, m->k, m->n, true);
    m->c = side_of(random, m->m, m->n, false);
    if (mo_random_below(random, 2))
        m->b.batch[0] = 0;
    case_in(&r->c, elem, shape_of(3, m->extent[0], m->m, m->k), r->seed);
    case_in(&r->c, elem,
            shape_of(3, m->b.batch[0] ? m->extent[0] : 1, m->k, m->n), r->seed);
    case_out(&r->c, elem, shape_of(3, m->extent[0], m->m, m->n));
    r->c.constant = mo_random_below(random, 2) ? 2 : 0;
    maybe_after(r, random, 2, false);
}

static mo_shape spatial_shape(int64_t first, int64_t second,
                              const int64_t *dims, int n)
{
    mo_shape shape = { .rank = 2 + n, .dims = { first, second } };

    for (int d = 0; d < n; d++)
        shape.dims[2 + d] = dims[d];
    return shape;
}

static void make_sweep(mo_random *random, mo_call_window *s)
{
    s->spatial = (int) random_from(random, 1, 3);
    for (int d = 0; d < s->spatial; d++) {
        int64_t span;

        s->kernel[d] = random_from(random, 1, 3);
        s->stride[d] = random_from(random, 1, 2);
        s->dilation[d] = random_from(random, 1, 2);
        s->pad_begin[d] = random_from(random, 0, (int) s->kernel[d] - 1);
        s->pad_end[d] = random_from(random, 0, (int) s->kernel[d] - 1);
        s->in[d] = random_from(random, 5, s->spatial == 3 ? 8 : 20);
        span = (s->kernel[d] - 1) * s->dilation[d] + 1;
        s->out[d] =
            (s->in[d] + s->pad_begin[d] + s->pad_end[d] - span) / s->stride[d] +
            1;
    }
}

void random_conv(random_call *r, mo_random *random, mo_elem elem)
{
    static const int widths[] = { 1, 3, 8, 16, 24, 64 };
    mo_call_conv *c = &r->c.call.u.conv;
    mo_call_window *s = &c->sweep;
    int64_t each = pick(random, widths, COUNT(widths));
    int64_t made = pick(random, widths, COUNT(widths));

    make_sweep(random, s);
    c->groups = mo_random_below(random, 3) ? 1 : random_from(random, 2, 20);
    if (c->groups > 1)
        each = made = 1;
    c->batch = random_from(random, 1, 2);
    c->in_channels = c->groups * each;
    c->out_channels = c->groups * made;
    c->channels_last = mo_random_below(random, 2);
    case_in(&r->c, elem,
            spatial_shape(c->batch, c->in_channels, s->in, s->spatial),
            r->seed);
    case_in(&r->c, elem,
            spatial_shape(c->out_channels, each, s->kernel, s->spatial),
            r->seed);
    case_out(&r->c, elem,
             spatial_shape(c->batch, c->out_channels, s->out, s->spatial));
    r->c.constant = mo_random_below(random, 4) ? 2 : 0;
    maybe_after(r, random, 1, c->channels_last);
}

/* As in ceil_torch: the last window may extend over the padding, but begins
 * before the end of the data. */
static int64_t round_up(const mo_call_window *s, int d)
{
    int64_t room = s->in[d] + s->pad_begin[d] + s->pad_end[d] - s->kernel[d];
    int64_t last = (room + s->stride[d] - 1) / s->stride[d];

    return last * s->stride[d] < s->in[d] + s->pad_begin[d] ? last + 1 : last;
}

/* Every window has an element that is not padding. */
void random_pool(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_pool *p = &r->c.call.u.pool;
    mo_call_window *s = &p->sweep;

    make_sweep(random, s);
    for (int d = 0; d < s->spatial; d++)
        s->dilation[d] = 1;
    for (int d = 0; d < s->spatial; d++)
        s->out[d] = round_up(s, d);
    p->batch = random_from(random, 1, 2);
    p->channels = random_from(random, 1, 40);
    p->average = mo_random_below(random, 2);
    p->count = (mo_call_pool_count) mo_random_below(random, 3);
    p->channels_last = mo_random_below(random, 2);
    case_in(&r->c, elem,
            spatial_shape(p->batch, p->channels, s->in, s->spatial), r->seed);
    case_out(&r->c, elem,
             spatial_shape(p->batch, p->channels, s->out, s->spatial));
    maybe_after(r, random, 1, p->channels_last);
}

void random_reduce(random_call *r, mo_random *random, mo_elem elem)
{
    static const int sizes[] = { 1, 3, 8, 33, 64, 300 };
    static const mo_call_reduce_op ops[] = {
        MO_CALL_REDUCE_SUM, MO_CALL_REDUCE_MEAN, MO_CALL_REDUCE_MAX,
        MO_CALL_REDUCE_MIN, MO_CALL_REDUCE_L1,   MO_CALL_REDUCE_L2
    };
    mo_call_reduce *c = &r->c.call.u.reduce;
    mo_shape in = { .rank = 3 }, out = { .rank = 3 };
    int64_t stride = 1;

    c->op = ops[mo_random_below(random, COUNT(ops))];
    c->rank = 3;
    for (int d = 0; d < 3; d++) {
        c->extent[d] = in.dims[d] = pick(random, sizes, COUNT(sizes));
        c->reduced[d] = mo_random_below(random, 2);
        out.dims[d] = c->reduced[d] ? 1 : in.dims[d];
    }
    for (int d = 2; d >= 0; d--) {
        c->in_stride[d] = d == 2 ? 1 : c->in_stride[d + 1] * in.dims[d + 1];
        c->out_stride[d] = c->reduced[d] ? 0 : stride;
        stride *= out.dims[d];
    }
    case_in(&r->c, elem, in, r->seed);
    case_out(&r->c, elem, out);
    maybe_after(r, random, 2, false);
}

/* Three dimensions, of which the middle one is the axis. */
static void add_line(random_call *r, mo_random *random, mo_elem elem,
                     int64_t *outer, int64_t *count, int64_t *inner)
{
    static const int counts[] = { 1, 5, 32, 100, 257, 1000, 1500 };
    mo_shape shape;

    *outer = random_from(random, 1, 6);
    *count = pick(random, counts, COUNT(counts));
    *inner = mo_random_below(random, 2) ? 1 : random_from(random, 2, 9);
    shape = shape_of(3, *outer, *count, *inner);
    case_in(&r->c, elem, shape, r->seed);
    case_out(&r->c, elem, shape);
}

void random_softmax(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_softmax *s = &r->c.call.u.softmax;

    add_line(r, random, elem, &s->outer, &s->count, &s->inner);
    s->log = mo_random_below(random, 4) == 0;
    maybe_after(r, random, 1, false);
}

void random_norm(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_norm *n = &r->c.call.u.norm;
    int64_t outer, count, inner;

    add_line(r, random, elem, &outer, &count, &inner);
    *n = (mo_call_norm){ .groups = outer,
                         .count = count * inner,
                         .eps = 1e-3,
                         .center = mo_random_below(random, 2),
                         .scale = mo_random_below(random, 4) != 0,
                         .eps_outside = mo_random_below(random, 4) == 0 };
    maybe_after(r, random, 1, false);
}

void random_cumsum(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_cumsum *s = &r->c.call.u.cumsum;

    add_line(r, random, elem, &s->outer, &s->count, &s->inner);
    s->exclusive = mo_random_below(random, 2);
    s->reverse = mo_random_below(random, 2);
}

/* Heads are consecutive, or interleaved in each row. */
static void lay_heads(int64_t heads, int64_t rows, int64_t width, bool beside,
                      int64_t *row, int64_t *batch)
{
    *row = beside ? heads * width : width;
    batch[0] = heads * rows * width;
    batch[1] = beside ? width : rows * width;
}

void random_attention_call(random_call *r, mo_random *random, mo_elem elem)
{
    static const int sizes[] = { 1, 7, 16, 33, 64, 100, 130 };
    static const int widths[] = { 8, 20, 32, 64 };
    mo_call_attention *a = &r->c.call.u.attention;
    bool beside = mo_random_below(random, 2);
    /* Keys and values may be of a smaller type, as in a cache. */
    bool smaller = mo_random_below(random, 4) == 0;
    mo_elem kept = smaller && elem == MO_ELEM_F32 ? MO_ELEM_F16 : elem;
    int64_t heads = random_from(random, 1, 3), batch;

    batch = random_from(random, 1, 2);
    *a = (mo_call_attention){ .n_batch = 2,
                              .extent = { batch, heads },
                              .queries = pick(random, sizes, COUNT(sizes)),
                              .keys = pick(random, sizes, COUNT(sizes)),
                              .width = pick(random, widths, COUNT(widths)),
                              .v_width = pick(random, widths, COUNT(widths)),
                              .scale = 0.3,
                              .mask_column = 1,
                              .causal = mo_random_below(random, 3) == 0 };
    a->has_mask = !a->causal && mo_random_below(random, 2);
    a->zero_if_masked = mo_random_below(random, 2);
    a->mask_row = mo_random_below(random, 2) ? a->keys : 0;
    lay_heads(heads, a->queries, a->width, beside, &a->q_row, a->q_batch);
    lay_heads(heads, a->keys, a->width, beside, &a->k_row, a->k_batch);
    lay_heads(heads, a->keys, a->v_width, beside, &a->v_row, a->v_batch);
    lay_heads(heads, a->queries, a->v_width, beside, &a->out_row, a->out_batch);
    case_in(&r->c, elem, shape_of(1, batch * a->q_batch[0]), r->seed);
    case_in(&r->c, kept, shape_of(1, batch * a->k_batch[0]), r->seed);
    case_in(&r->c, kept, shape_of(1, batch * a->v_batch[0]), r->seed);
    if (a->has_mask)
        case_in(&r->c, mo_random_below(random, 2) ? elem : MO_ELEM_BOOL,
                shape_of(2, a->mask_row ? a->queries : 1, a->keys), r->seed);
    case_out(&r->c, elem,
             shape_of(4, batch, beside ? a->queries : heads,
                      beside ? heads : a->queries, a->v_width));
}
