/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls that copy, gather, scatter, sort and resize. */
#include "tests/exec/cuda/random_call.h"
#include "tests/support/suite.h"

static const mo_elem any_elems[] = { MO_ELEM_F32, MO_ELEM_F16, MO_ELEM_I64,
                                     MO_ELEM_I32, MO_ELEM_U8 };

static mo_elem any_elem(mo_random *random)
{
    return any_elems[mo_random_below(random, COUNT(any_elems))];
}

static mo_elem index_elem(mo_random *random)
{
    return mo_random_below(random, 2) ? MO_ELEM_I64 : MO_ELEM_I32;
}

/* Indices within size. */
static void add_indices(random_call *r, mo_random *random, mo_shape shape,
                        int64_t size)
{
    mo_tensor_dense *indices =
        case_in(&r->c, index_elem(random), shape, r->seed);

    for (int64_t i = 0; i < mo_tensor_desc_elements(&indices->desc); i++)
        mo_tensor_set_int(indices, i, mo_random_below(random, (int) size));
}

void random_view(random_call *r, mo_random *random, mo_elem elem)
{
    int64_t rows = random_from(random, 1, 40), n = random_from(random, 1, 90);

    (void) elem;
    elem = any_elem(random);
    case_in(&r->c, elem, shape_of(2, rows, n), r->seed);
    case_out(&r->c, elem, shape_of(1, rows * n));
}

/* A transposed tensor copied into the middle of a larger one that is filled
 * before. */
void random_copy(random_call *r, mo_random *random, mo_elem elem)
{
    static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    const int *order = orders[mo_random_below(random, COUNT(orders))];
    int64_t in[3], border = random_from(random, 0, 3);
    int64_t in_stride[3], out_stride[3], out[3], n = 1;
    mo_call_copy_box *fill = &r->boxes[0], *move = &r->boxes[1];

    elem = any_elem(random);
    for (int d = 2; d >= 0; d--) {
        in[d] = random_from(random, 1, 40);
        in_stride[d] = d == 2 ? 1 : in_stride[d + 1] * in[d + 1];
    }
    for (int d = 2; d >= 0; d--) {
        out[d] = in[order[d]] + border;
        out_stride[d] = n;
        n *= out[d];
    }
    *fill =
        (mo_call_copy_box){ .from = MO_CALL_COPY_FILL, .fill = 3, .rank = 1 };
    fill->extent[0] = n;
    fill->out_stride[0] = 1;
    *move = (mo_call_copy_box){ .rank = 3 };
    for (int d = 0; d < 3; d++) {
        move->extent[d] = in[order[d]];
        move->in_stride[d] = in_stride[order[d]];
        move->out_stride[d] = out_stride[d];
        move->out_offset += border / 2 * out_stride[d];
    }
    r->c.call.u.copy = (mo_call_copy){ r->boxes, 2, -1 };
    case_in(&r->c, elem, shape_of(3, in[0], in[1], in[2]), r->seed);
    case_out(&r->c, elem, shape_of(3, out[0], out[1], out[2]));
}

static void gather_axis(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_gather *g = &r->c.call.u.gather;

    g->batch = random_from(random, 1, 3);
    g->outer = random_from(random, 1, 4);
    g->axis = random_from(random, 1, 50);
    g->inner = random_from(random, 1, 70);
    g->count = random_from(random, 1, 30);
    case_in(&r->c, elem, shape_of(4, g->batch, g->outer, g->axis, g->inner),
            r->seed);
    add_indices(r, random, shape_of(2, g->batch, g->count), g->axis);
    case_out(&r->c, elem, shape_of(4, g->batch, g->outer, g->count, g->inner));
}

static void gather_elements(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_gather *g = &r->c.call.u.gather;

    g->data = shape_of(3, random_from(random, 1, 9), random_from(random, 1, 9),
                       random_from(random, 1, 9));
    g->at = mo_random_below(random, 3);
    g->result = g->data;
    g->result.dims[g->at] = random_from(random, 1, 20);
    case_in(&r->c, elem, g->data, r->seed);
    add_indices(r, random, g->result, g->data.dims[g->at]);
    case_out(&r->c, elem, g->result);
}

static void gather_slices(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_gather *g = &r->c.call.u.gather;
    int64_t least;

    g->batch = random_from(random, 1, 3);
    g->depth = 2;
    g->dims[0] = random_from(random, 1, 9);
    g->dims[1] = random_from(random, 1, 9);
    g->inner = random_from(random, 1, 40);
    g->count = random_from(random, 1, 30);
    least = g->dims[0] < g->dims[1] ? g->dims[0] : g->dims[1];
    case_in(&r->c, elem,
            shape_of(4, g->batch, g->dims[0], g->dims[1], g->inner), r->seed);
    add_indices(r, random, shape_of(3, g->batch, g->count, (int64_t) 2), least);
    case_out(&r->c, elem, shape_of(3, g->batch, g->count, g->inner));
}

void random_gather(random_call *r, mo_random *random, mo_elem elem)
{
    static random_call_maker *const kinds[] = { gather_axis, gather_elements,
                                                gather_slices };
    int kind = mo_random_below(random, 3);

    (void) elem;
    r->c.call.u.gather.kind = (mo_call_gather_kind) kind;
    kinds[kind](r, random, any_elem(random));
}

static void scatter_axis(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_scatter *s = &r->c.call.u.scatter;

    s->outer = random_from(random, 1, 4);
    s->axis = random_from(random, 1, 50);
    s->inner = random_from(random, 1, 40);
    s->count = random_from(random, 1, 30);
    case_in(&r->c, elem, shape_of(3, s->outer, s->axis, s->inner), r->seed);
    add_indices(r, random, shape_of(1, s->count), s->axis);
    case_in(&r->c, elem, shape_of(3, s->outer, s->count, s->inner), r->seed);
    case_out(&r->c, elem, shape_of(3, s->outer, s->axis, s->inner));
}

static void scatter_elements(random_call *r, mo_random *random, mo_elem elem)
{
    static const mo_call_scatter_op ops[] = {
        MO_CALL_SCATTER_SET, MO_CALL_SCATTER_SUM, MO_CALL_SCATTER_PROD,
        MO_CALL_SCATTER_MIN, MO_CALL_SCATTER_MAX, MO_CALL_SCATTER_MEAN
    };
    mo_call_scatter *s = &r->c.call.u.scatter;

    s->op = ops[mo_random_below(random, COUNT(ops))];
    s->use_init = mo_random_below(random, 2);
    s->data = shape_of(3, random_from(random, 1, 9), random_from(random, 1, 9),
                       random_from(random, 1, 9));
    s->at = mo_random_below(random, 3);
    s->updates = s->data;
    s->updates.dims[s->at] = random_from(random, 1, 20);
    case_in(&r->c, elem, s->data, r->seed);
    add_indices(r, random, s->updates, s->data.dims[s->at]);
    case_in(&r->c, elem, s->updates, r->seed);
    case_out(&r->c, elem, s->data);
}

void random_scatter(random_call *r, mo_random *random, mo_elem elem)
{
    bool by_axis = mo_random_below(random, 2);

    (void) elem;
    r->c.call.u.scatter.kind =
        by_axis ? MO_CALL_GATHER_AXIS : MO_CALL_GATHER_ELEMENTS;
    (by_axis ? scatter_axis : scatter_elements)(
        r, random, mo_random_below(random, 2) ? MO_ELEM_F32 : MO_ELEM_I64);
}

void random_topk(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_topk *t = &r->c.call.u.topk;
    mo_shape kept;

    *t = (mo_call_topk){ .outer = random_from(random, 1, 5),
                         .count = random_from(random, 1, 300),
                         .inner = random_from(random, 1, 4),
                         .largest = mo_random_below(random, 2),
                         .sort =
                             (mo_call_topk_sort) mo_random_below(random, 3) };
    t->k = 1 + mo_random_below(random, (int) t->count);
    kept = shape_of(3, t->outer, t->k, t->inner);
    case_in(&r->c, elem, shape_of(3, t->outer, t->count, t->inner), r->seed);
    case_out(&r->c, elem, kept);
    case_out(&r->c, index_elem(random), kept);
}

void random_interpolate(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_interpolate *c = &r->c.call.u.interpolate;
    mo_shape in = { .rank = 4 }, out = { .rank = 4 };

    c->mode = (mo_call_interpolate_mode) mo_random_below(random, 4);
    c->coordinates =
        (mo_call_interpolate_coordinates) mo_random_below(random, 5);
    c->nearest = (mo_call_interpolate_nearest) mo_random_below(random, 5);
    c->antialias =
        c->mode == MO_CALL_INTERPOLATE_LINEAR && mo_random_below(random, 2);
    c->cubic = -0.75;
    c->rank = 4;
    for (int d = 0; d < 4; d++) {
        in.dims[d] = random_from(random, 1, d < 2 ? 4 : 12);
        out.dims[d] = d < 2 ? in.dims[d] : random_from(random, 1, 20);
        c->in[d] = in.dims[d];
        c->out[d] = out.dims[d];
        c->moves[d] = d >= 2;
        c->scale[d] = (double) out.dims[d] / (double) in.dims[d];
    }
    case_in(&r->c, elem, in, r->seed);
    case_out(&r->c, elem, out);
}

void random_range(random_call *r, mo_random *random, mo_elem elem)
{
    (void) elem;
    r->c.call.u.range.start = random_from(random, -50, 50);
    r->c.call.u.range.step = random_from(random, -3, 3);
    case_out(&r->c, index_elem(random),
             shape_of(1, random_from(random, 1, 600)));
}

void random_grid_sample(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_grid_sample *g = &r->c.call.u.grid_sample;
    int64_t volume = 1;

    g->mode = (mo_call_grid_mode) mo_random_below(random, 3);
    g->padding = (mo_call_grid_padding) mo_random_below(random, 3);
    g->align_corners = mo_random_below(random, 2);
    g->spatial = 1 + mo_random_below(random, 3);
    g->batch = random_from(random, 1, 2);
    g->channels = random_from(random, 1, 3);
    g->points = random_from(random, 1, 200);
    for (int d = 0; d < g->spatial; d++)
        volume *= g->in[d] = random_from(random, 1, 7);
    case_in(&r->c, elem, shape_of(3, g->batch, g->channels, volume),
            r->seed + 20);
    case_in(&r->c, elem, shape_of(3, g->batch, g->points, (int64_t) g->spatial),
            r->seed + 21);
    r->c.call.first_extra = 2;
    case_out(&r->c, elem, shape_of(3, g->batch, g->channels, g->points));
}
