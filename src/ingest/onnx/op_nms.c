/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translator of ONNX's NonMaxSuppression, greedy: round by round the box of the
 * best score is taken, and all that overlap it are left out; the rounds are
 * unrolled, batches and classes are computed beside each other.
 *
 * How many boxes remain depends on data, but the file may say how many rows the
 * result has, as detectors of a fixed size do: rows behind the last box are
 * -1.
 */
#include <math.h>

#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

enum { MAX_ROUNDS = 512 };

/* Coordinates of all boxes, [batch, 1, boxes] each, and their areas. */
typedef struct boxes {
    mo_onnx_ref low[2], high[2], area;
} boxes;

static mo_onnx_ref point(mo_onnx_builder *b, const char *type, mo_onnx_ref x,
                         mo_onnx_ref y)
{
    return mo_onnx_binary(b, type, x, y, NULL);
}

/* Column i of the boxes, [batch, boxes, 4], as [batch, 1, boxes]. */
static mo_onnx_ref box_column(mo_onnx_op *op, int i)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const mo_shape *shape = mo_onnx_shape(op->b, x);
    mo_shape row = { .rank = 3, .dims = { shape->dims[0], 1, shape->dims[1] } };

    return mo_onnx_reshape(op->b, mo_onnx_cut(op->b, x, 2, i, i + 1), &row);
}

static mo_onnx_ref area_of(mo_onnx_builder *b, const mo_onnx_ref low[2],
                           const mo_onnx_ref high[2])
{
    return point(b, "Multiply", point(b, "Subtract", high[0], low[0]),
                 point(b, "Subtract", high[1], low[1]));
}

/* Boxes are two corners, or a center and sizes. */
static boxes read_boxes(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    bool centered = mo_onnx_attr_int(op, "center_point_box", 0) != 0;
    boxes all;

    for (int d = 0; d < 2; d++) {
        mo_onnx_ref first = box_column(op, d), second = box_column(op, d + 2);

        if (centered) {
            second = mo_onnx_with_number(b, "Multiply", second, 0.5);
            all.low[d] = point(b, "Subtract", first, second);
            all.high[d] = point(b, "Add", first, second);
        } else {
            all.low[d] = point(b, "Minimum", first, second);
            all.high[d] = point(b, "Maximum", first, second);
        }
    }
    all.area = area_of(b, all.low, all.high);
    return all;
}

/* Element at of each row, [batch, classes, 1]. */
static mo_onnx_ref pick(mo_onnx_builder *b, mo_onnx_ref row, mo_onnx_ref at,
                        const mo_shape *scores)
{
    row = mo_onnx_broadcast(b, row, scores);
    mo_onnx_set_int(b, "axis", 2);
    return mo_onnx_binary(b, "GatherElements", row, at, NULL);
}

/* The scores without the box at, and those that overlap it by more than the
 * limit. */
static mo_onnx_ref suppress(mo_onnx_op *op, const boxes *all,
                            mo_onnx_ref scores, mo_onnx_ref at, double limit)
{
    mo_onnx_builder *b = op->b;
    mo_shape shape = *mo_onnx_shape(b, scores);
    mo_onnx_ref low[2], high[2], sides[2], area, both, out, own;
    mo_onnx_ref nothing = mo_onnx_number(b, 0, "f32");

    for (int d = 0; d < 2; d++) {
        low[d] = pick(b, all->low[d], at, &shape);
        high[d] = pick(b, all->high[d], at, &shape);
    }
    area = area_of(b, low, high);
    for (int d = 0; d < 2; d++) {
        low[d] = point(b, "Maximum", low[d], all->low[d]);
        high[d] = point(b, "Minimum", high[d], all->high[d]);
        sides[d] =
            point(b, "Maximum", point(b, "Subtract", high[d], low[d]), nothing);
    }
    both = point(b, "Multiply", sides[0], sides[1]);
    area = point(b, "Subtract", point(b, "Add", area, all->area), both);
    out = mo_onnx_binary(b, "Greater", both,
                         mo_onnx_with_number(b, "Multiply", area, limit),
                         "boolean");
    own = mo_onnx_binary(b, "Equal", at,
                         mo_onnx_count_along(b, 0, shape.dims[2], 2, 3),
                         "boolean");
    out = mo_onnx_binary(b, "LogicalOr", out, own, NULL);
    return mo_onnx_select(b, out, mo_onnx_number(b, -INFINITY, "f32"), scores);
}

/* Batch, class and box of every round as rows, those without a box last: taken
 * marks those with one, at is the box; [batch, classes, rounds] both. */
static mo_onnx_ref make_rows(mo_onnx_op *op, mo_onnx_ref at, mo_onnx_ref taken,
                             int64_t rows)
{
    mo_onnx_builder *b = op->b;
    mo_shape shape = *mo_onnx_shape(b, at), column = shape;
    int64_t n = mo_shape_elements(&shape);
    mo_shape flat = { .rank = 1, .dims = { n } };
    mo_shape table = { .rank = 2, .dims = { n, 3 } };
    mo_onnx_ref parts[3], order, list;

    column.dims[column.rank++] = 1;
    parts[0] = mo_onnx_count_along(b, 0, shape.dims[0], 0, 3);
    parts[1] = mo_onnx_count_along(b, 0, shape.dims[1], 1, 3);
    parts[2] = at;
    for (int i = 0; i < 3; i++) {
        parts[i] = mo_onnx_broadcast(b, parts[i], &shape);
        parts[i] = mo_onnx_select(b, taken, parts[i], mo_onnx_int(b, -1));
        parts[i] = mo_onnx_reshape(b, parts[i], &column);
    }
    list = mo_onnx_reshape(b, mo_onnx_concat(b, parts, 3, 3), &table);
    order = mo_onnx_reshape(b, mo_onnx_convert(b, taken, "f32"), &flat);
    mo_onnx_set_int(b, "axis", 0);
    mo_onnx_set_text(b, "mode", "max");
    mo_onnx_set_text(b, "sort", "value");
    mo_onnx_set_text(b, "index_element_type", "i64");
    order = mo_onnx_add_outputs(b, "TopK",
                                MO_ONNX_REFS(order, mo_onnx_int(b, rows)), 2, 2,
                                NULL, "i64");
    if (!mo_onnx_is(order))
        return order;
    order.port = 1;
    mo_onnx_set_int(b, "batch_dims", 0);
    return mo_onnx_add(b, "Gather",
                       MO_ONNX_REFS(list, order, mo_onnx_int(b, 0)), 3, NULL);
}

/* The rounds: *taken, whether each has a box. */
static mo_onnx_ref take_rounds(mo_onnx_op *op, int64_t rounds,
                               mo_onnx_ref *taken)
{
    mo_onnx_builder *b = op->b;
    double limit = mo_onnx_in_number(op, 3, "IoU threshold", 0);
    mo_onnx_ref scores = mo_onnx_in(op, 1), ends[2][MAX_ROUNDS];
    mo_onnx_ref least = mo_onnx_number(b, -INFINITY, "f32");
    boxes all = read_boxes(op);

    if (mo_onnx_has(op, 4)) {
        mo_onnx_ref bound = mo_onnx_number(
            b, mo_onnx_in_number(op, 4, "score threshold", 0), "f32");

        scores = mo_onnx_select(
            b, mo_onnx_binary(b, "Greater", scores, bound, "boolean"), scores,
            least);
    }
    for (int64_t i = 0; i < rounds; i++) {
        mo_onnx_ref top;

        mo_onnx_set_int(b, "axis", 2);
        mo_onnx_set_text(b, "mode", "max");
        mo_onnx_set_text(b, "sort", "value");
        mo_onnx_set_text(b, "index_element_type", "i64");
        top = mo_onnx_add_outputs(b, "TopK",
                                  MO_ONNX_REFS(scores, mo_onnx_int(b, 1)), 2, 2,
                                  NULL, "i64");
        if (!mo_onnx_is(top))
            return top;
        ends[0][i] = (mo_onnx_ref){ top.layer, 1 };
        ends[1][i] = mo_onnx_binary(b, "Greater", top, least, "boolean");
        if (i + 1 < rounds)
            scores = suppress(op, &all, scores, ends[0][i], limit);
    }
    *taken = mo_onnx_concat(b, ends[1], (int) rounds, 2);
    return mo_onnx_concat(b, ends[0], (int) rounds, 2);
}

void mo_onnx_op_nms(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    const mo_shape *shape = mo_onnx_shape(b, mo_onnx_in(op, 0));
    const mo_shape *scores = mo_onnx_shape(b, mo_onnx_in(op, 1));
    int64_t most = mo_onnx_in_int(op, 2, "number of boxes", 0);
    int64_t rows = op->declared && op->declared->shape.rank == 2
                       ? op->declared->shape.dims[0]
                       : -1;
    mo_onnx_ref at, taken = MO_ONNX_NONE;
    int64_t rounds;

    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (shape->rank != 3 || shape->dims[2] != 4 || scores->rank != 3 ||
        scores->dims[0] != shape->dims[0] ||
        scores->dims[2] != shape->dims[1]) {
        mo_onnx_wrong(b, "has scores of other boxes");
        return;
    }
    rounds = most < shape->dims[1] ? most : shape->dims[1];
    if (rows < 0) {
        mo_onnx_refuse(b, "the number of boxes that it leaves depends on data, "
                          "and the file does not give it");
        return;
    }
    if (rounds < 1 || rounds > MAX_ROUNDS || rows < 1 ||
        rows > rounds * scores->dims[0] * scores->dims[1]) {
        mo_onnx_refuse(b, "has %lld rows of at most %lld boxes, not 1 to %d",
                       (long long) rows, (long long) rounds, MAX_ROUNDS);
        return;
    }
    at = take_rounds(op, rounds, &taken);
    if (mo_onnx_is(at))
        mo_onnx_out(op, make_rows(op, at, taken, rows));
}
