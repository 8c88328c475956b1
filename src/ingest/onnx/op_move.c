/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX operators that move elements, or gather them by index. */
#include <stdlib.h>
#include <string.h>

#include "ingest/infer/dims.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

void mo_onnx_op_transpose(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    int rank = mo_onnx_shape(op->b, x)->rank;
    mo_onnx_list order = mo_onnx_attr_ints(op, "perm");

    if (order.n < 0)
        for (int d = 0; d < rank; d++)
            order.at[d] = rank - 1 - d;
    else if (order.n != rank)
        mo_onnx_wrong(op->b, "permutes %d of %d dimensions", order.n, rank);
    for (int d = 0; d < rank && order.n == rank; d++)
        order.at[d] = mo_onnx_axis(op->b, order.at[d], rank);
    if (mo_onnx_builder_status(op->b) == MO_OK)
        mo_onnx_out(op, mo_onnx_transpose(op->b, x, order.at));
}

void mo_onnx_op_expand(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    mo_onnx_list sizes = mo_onnx_in_ints(op, 1, "shape");
    mo_shape wanted = { .rank = 0 }, shape;

    for (int d = 0; d < sizes.n; d++)
        mo_dims_push(&wanted, sizes.at[d]);
    if (wanted.rank > MO_MAX_RANK ||
        !mo_dims_broadcast(mo_onnx_shape(op->b, x), &wanted, &shape))
        mo_onnx_wrong(op->b, "cannot broadcast %s to %s",
                      mo_dims_format(mo_onnx_shape(op->b, x)).text,
                      wanted.rank > MO_MAX_RANK ? "more dimensions"
                                                : mo_dims_format(&wanted).text);
    else
        mo_onnx_out(op, mo_onnx_broadcast(op->b, x, &shape));
}

void mo_onnx_op_tile(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    mo_onnx_list repeats = mo_onnx_in_ints(op, 1, "repeats");
    bool all_once = true;

    for (int d = 0; d < repeats.n; d++)
        all_once = all_once && repeats.at[d] == 1;
    if (repeats.n < 0 || all_once)
        mo_onnx_out(op, x);
    else
        mo_onnx_out(op, mo_onnx_binary(
                            op->b, "Tile", x,
                            mo_onnx_ints(op->b, repeats.at, repeats.n), NULL));
}

void mo_onnx_op_concat(mo_onnx_op *op)
{
    int rank = mo_onnx_shape(op->b, mo_onnx_in(op, 0))->rank;

    mo_onnx_out(
        op, mo_onnx_concat(
                op->b, op->inputs, op->n_inputs,
                mo_onnx_axis(op->b, mo_onnx_attr_int(op, "axis", 1), rank)));
}

/* The lengths of the parts: given, or as equal as can be. */
static mo_onnx_ref split_lengths(mo_onnx_op *op, int64_t size)
{
    int64_t n = op->n_outputs, each = n > 0 ? (size + n - 1) / n : 0;
    int64_t *lengths;
    mo_onnx_ref made;
    const mo_onnx_attribute *given = mo_onnx_attr(op, "split");

    if (op->version >= 13 && mo_onnx_has(op, 1))
        return mo_onnx_in(op, 1);
    if (op->version < 13 && given)
        return given->n_ints <= 1 << 16
                   ? mo_onnx_ints(op->b, given->ints, (int) given->n_ints)
                   : mo_onnx_refuse(op->b, "has too many parts");
    lengths = calloc((size_t) n + 1, sizeof *lengths);
    if (!lengths)
        return mo_onnx_fail_memory(op->b);
    for (int64_t i = 0; i < n; i++) {
        int64_t left = size - each * i;

        lengths[i] = left > each ? each : left > 0 ? left : 0;
    }
    made = mo_onnx_ints(op->b, lengths, (int) n);
    free(lengths);
    return made;
}

void mo_onnx_op_split(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0), first;
    const mo_shape *shape = mo_onnx_shape(op->b, x);
    int axis =
        mo_onnx_axis(op->b, mo_onnx_attr_int(op, "axis", 0), shape->rank);
    mo_onnx_ref lengths = split_lengths(op, shape->dims[axis]);

    if (op->n_outputs == 1) {
        mo_onnx_out(op, x);
        return;
    }
    first =
        mo_onnx_add_outputs(op->b, "VariadicSplit",
                            MO_ONNX_REFS(x, mo_onnx_int(op->b, axis), lengths),
                            3, op->n_outputs, NULL, NULL);
    for (int i = 0; i < op->n_outputs && mo_onnx_is(first); i++)
        op->outputs[i] = (mo_onnx_ref){ first.layer, i };
}

/* A bound of a slice as Python's slice.indices() has it; a start is at least
 * 0. */
static int64_t slice_bound(int64_t bound, int64_t size, bool backwards)
{
    if (bound < 0)
        bound = bound < -size ? -1 : bound + size;
    if (bound < 0)
        return backwards ? -1 : 0;
    return bound >= size ? (backwards ? size - 1 : size) : bound;
}

/* From, to, along which axes, by which step. */
void mo_onnx_op_slice(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const mo_shape *shape = mo_onnx_shape(b, x);
    mo_onnx_list starts = mo_onnx_list_of(op, "starts", 1, 10);
    mo_onnx_list ends = mo_onnx_list_of(op, "ends", 2, 10);
    mo_onnx_list axes = mo_onnx_list_of(op, "axes", 3, 10);
    mo_onnx_list steps = { .n = -1 };
    int64_t from[MO_MAX_RANK], to[MO_MAX_RANK], by[MO_MAX_RANK];
    int64_t along[MO_MAX_RANK];
    int n = 0;

    if (op->version >= 10)
        steps = mo_onnx_in_ints(op, 4, "steps");
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (starts.n < 0 || ends.n != starts.n || starts.n > shape->rank ||
        (axes.n >= 0 && axes.n != starts.n) ||
        (steps.n >= 0 && steps.n != starts.n)) {
        mo_onnx_wrong(b, "has not as many starts as ends, axes and steps");
        return;
    }
    for (int i = 0; i < starts.n; i++) {
        int axis = mo_onnx_axis(b, axes.n >= 0 ? axes.at[i] : i, shape->rank);
        int64_t size = shape->dims[axis];
        int64_t step = steps.n >= 0 ? steps.at[i] : 1;
        bool backwards = step < 0;
        int64_t start = slice_bound(starts.at[i], size, backwards);
        int64_t stop = slice_bound(ends.at[i], size, backwards);

        if (start < 0) /* unlike Python's */
            start = 0;
        if (step == 0 || step < -INT32_MAX)
            step = step == 0 ? 0 : -INT32_MAX;
        if (step > INT32_MAX)
            step = INT32_MAX;
        if (step == 0) {
            mo_onnx_wrong(b, "has a step of 0");
            return;
        }
        if (start == 0 && stop >= size && step == 1)
            continue;
        /* An end in front of the first element is written as -size - 1. */
        from[n] = start;
        to[n] = stop < 0 ? -size - 1 : stop;
        by[n] = step;
        along[n++] = axis;
    }
    if (n == 0)
        mo_onnx_out(op, x);
    else
        mo_onnx_out(op, mo_onnx_add(b, "Slice",
                                    MO_ONNX_REFS(x, mo_onnx_ints(b, from, n),
                                                 mo_onnx_ints(b, to, n),
                                                 mo_onnx_ints(b, by, n),
                                                 mo_onnx_ints(b, along, n)),
                                    5, NULL));
}

/* The other end of x in front and behind, along each axis. */
static mo_onnx_ref wrap_pad(mo_onnx_builder *b, mo_onnx_ref x,
                            const int64_t *begin, const int64_t *end)
{
    for (int d = 0; mo_onnx_is(x) && d < mo_onnx_shape(b, x)->rank; d++) {
        int64_t size = mo_onnx_shape(b, x)->dims[d];
        mo_onnx_ref parts[3];
        int n = 0;

        if (begin[d] > size || end[d] > size || begin[d] < 0 || end[d] < 0)
            return mo_onnx_refuse(b, "wraps around more than once");
        if (begin[d] > 0)
            parts[n++] = mo_onnx_cut(b, x, d, size - begin[d], size);
        parts[n++] = x;
        if (end[d] > 0)
            parts[n++] = mo_onnx_cut(b, x, d, 0, end[d]);
        x = mo_onnx_concat(b, parts, n, d);
    }
    return x;
}

void mo_onnx_op_pad(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), inputs[4];
    int rank = mo_onnx_shape(b, x)->rank;
    const char *mode = mo_onnx_attr_text(op, "mode", "constant");
    bool constant = strcmp(mode, "constant") == 0, any = false;
    mo_onnx_list pads = mo_onnx_list_of(op, "pads", 1, 11);
    mo_onnx_list axes = { .n = -1 };
    int64_t begin[MO_MAX_RANK] = { 0 }, end[MO_MAX_RANK] = { 0 };

    if (!constant && strcmp(mode, "reflect") != 0 &&
        strcmp(mode, "edge") != 0 && strcmp(mode, "wrap") != 0)
        mo_onnx_refuse(b, "pads in mode %.20s", mode);
    if (op->version >= 18)
        axes = mo_onnx_in_ints(op, 3, "axes");
    if (axes.n < 0) {
        axes.n = rank;
        for (int d = 0; d < rank; d++)
            axes.at[d] = d;
    }
    if (mo_onnx_builder_status(b) == MO_OK && pads.n != 2 * axes.n)
        mo_onnx_wrong(b, "has %d pads for %d axes", pads.n, axes.n);
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    for (int i = 0; i < axes.n; i++) {
        int axis = mo_onnx_axis(b, axes.at[i], rank);

        begin[axis] = pads.at[i];
        end[axis] = pads.at[i + axes.n];
        any = any || begin[axis] != 0 || end[axis] != 0;
    }
    if (!any) {
        mo_onnx_out(op, x);
        return;
    }
    if (strcmp(mode, "wrap") == 0) {
        mo_onnx_out(op, wrap_pad(b, x, begin, end));
        return;
    }
    inputs[0] = x;
    inputs[1] = mo_onnx_ints(b, begin, rank);
    inputs[2] = mo_onnx_ints(b, end, rank);
    if (op->version >= 11 && mo_onnx_has(op, 2))
        inputs[3] =
            mo_onnx_reshape(b, mo_onnx_in(op, 2), &(mo_shape){ .rank = 0 });
    else
        inputs[3] = mo_onnx_number(b, mo_onnx_attr_real(op, "value", 0),
                                   mo_onnx_dtype(b, x));
    mo_onnx_set_text(b, "pad_mode", mode);
    mo_onnx_out(op, mo_onnx_add(b, "Pad", inputs, constant ? 4 : 3, NULL));
}

void mo_onnx_op_gather(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    int axis = mo_onnx_axis(op->b, mo_onnx_attr_int(op, "axis", 0),
                            mo_onnx_shape(op->b, x)->rank);
    mo_onnx_ref at = mo_onnx_int(op->b, axis);

    mo_onnx_set_int(op->b, "batch_dims", 0);
    mo_onnx_out(op,
                mo_onnx_add(op->b, "Gather",
                            MO_ONNX_REFS(x, mo_onnx_in(op, 1), at), 3, NULL));
}

void mo_onnx_op_gather_elements(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);

    mo_onnx_set_int(op->b, "axis",
                    mo_onnx_axis(op->b, mo_onnx_attr_int(op, "axis", 0),
                                 mo_onnx_shape(op->b, x)->rank));
    mo_onnx_out(op, mo_onnx_binary(op->b, "GatherElements", x,
                                   mo_onnx_in(op, 1), NULL));
}

void mo_onnx_op_gather_nd(mo_onnx_op *op)
{
    mo_onnx_set_int(op->b, "batch_dims", mo_onnx_attr_int(op, "batch_dims", 0));
    mo_onnx_out(op, mo_onnx_binary(op->b, "GatherND", mo_onnx_in(op, 0),
                                   mo_onnx_in(op, 1), NULL));
}

static const char *reduction_of(mo_onnx_op *op)
{
    static const char *const names[][2] = { { "none", "none" },
                                            { "add", "sum" },
                                            { "mul", "prod" },
                                            { "max", "max" },
                                            { "min", "min" } };
    const char *given = mo_onnx_attr_text(op, "reduction", "none");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(given, names[i][0]) == 0)
            return names[i][1];
    mo_onnx_wrong(op->b, "has reduction '%.20s'", given);
    return "none";
}

void mo_onnx_op_scatter_nd(mo_onnx_op *op)
{
    mo_onnx_set_text(op->b, "reduction", reduction_of(op));
    mo_onnx_out(op, mo_onnx_add(op->b, "ScatterNDUpdate", op->inputs,
                                op->n_inputs, NULL));
}

void mo_onnx_op_scatter_elements(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    int axis = mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", 0),
                            mo_onnx_shape(b, x)->rank);
    mo_onnx_ref at = mo_onnx_int(b, axis);

    mo_onnx_set_text(b, "reduction", reduction_of(op));
    mo_onnx_set_bool(b, "use_init_val", true);
    mo_onnx_out(op, mo_onnx_add(b, "ScatterElementsUpdate",
                                MO_ONNX_REFS(x, mo_onnx_in(op, 1),
                                             mo_onnx_in(op, 2), at),
                                4, NULL));
}

void mo_onnx_op_depth_space(mo_onnx_op *op)
{
    const char *mode = mo_onnx_attr_text(op, "mode", "DCR");

    mo_onnx_set_text(op->b, "mode",
                     strcmp(mode, "CRD") == 0 ? "depth_first" : "blocks_first");
    mo_onnx_set_int(op->b, "block_size", mo_onnx_attr_int(op, "blocksize", 1));
    mo_onnx_out(op,
                mo_onnx_unary(op->b, op->argument, mo_onnx_in(op, 0), NULL));
}

/* Values and indices of the largest or smallest k. */
static mo_onnx_ref add_top_k(mo_onnx_op *op, mo_onnx_ref x, mo_onnx_ref k,
                             int axis, bool largest, bool sorted)
{
    mo_onnx_builder *b = op->b;

    mo_onnx_set_int(b, "axis", axis);
    mo_onnx_set_text(b, "mode", largest ? "max" : "min");
    mo_onnx_set_text(b, "sort", sorted ? "value" : "none");
    mo_onnx_set_text(b, "index_element_type", "i64");
    return mo_onnx_add_outputs(b, "TopK", MO_ONNX_REFS(x, k), 2, 2, NULL,
                               "i64");
}

void mo_onnx_op_top_k(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    int rank = mo_onnx_shape(b, mo_onnx_in(op, 0))->rank;
    int64_t k = op->version < 10 ? mo_onnx_attr_int(op, "k", 0)
                                 : mo_onnx_in_int(op, 1, "k", 0);
    mo_onnx_ref top =
        add_top_k(op, mo_onnx_in(op, 0), mo_onnx_int(b, k),
                  mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", -1), rank),
                  mo_onnx_attr_int(op, "largest", 1) != 0,
                  mo_onnx_attr_int(op, "sorted", 1) != 0);

    mo_onnx_out(op, top);
    if (op->n_outputs > 1 && mo_onnx_is(top))
        op->outputs[1] = (mo_onnx_ref){ top.layer, 1 };
}

/* The index of the first (or last) maximum or minimum. */
void mo_onnx_op_arg_extreme(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    int rank = mo_onnx_shape(b, mo_onnx_in(op, 0))->rank;
    int axis = mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", 0), rank);
    bool marks[MO_MAX_RANK] = { false };
    bool last = mo_onnx_attr_int(op, "select_last_index", 0) != 0;
    bool max = strcmp(op->argument, "max") == 0;
    mo_onnx_ref x = mo_onnx_in(op, 0), top;

    /* NaN is the extreme of both, as in numpy, and the largest of TopK. */
    if (!max && mo_onnx_is_real(b, x)) {
        x = mo_onnx_unary(b, "Negative", x, NULL);
        max = true;
    }
    if (last) { /* of equals: the first one from the end */
        mo_onnx_set_text(b, "mode", "index");
        x = mo_onnx_binary(b, "Reverse", x,
                           mo_onnx_ints(b, (const int64_t[]){ axis }, 1), NULL);
    }
    top = add_top_k(op, x, mo_onnx_int(b, 1), axis, max, true);
    if (!mo_onnx_is(top))
        return;
    top.port = 1;
    if (last)
        top = mo_onnx_binary(
            b, "Subtract", mo_onnx_int(b, mo_onnx_shape(b, x)->dims[axis] - 1),
            top, NULL);
    marks[axis] = true;
    mo_onnx_out(op, mo_onnx_attr_int(op, "keepdims", 1)
                        ? top
                        : mo_onnx_squeeze(b, top, marks));
}

void mo_onnx_op_reverse_sequence(mo_onnx_op *op)
{
    mo_onnx_set_int(op->b, "batch_axis", mo_onnx_attr_int(op, "batch_axis", 1));
    mo_onnx_set_int(op->b, "seq_axis", mo_onnx_attr_int(op, "time_axis", 0));
    mo_onnx_out(op, mo_onnx_binary(op->b, "ReverseSequence", mo_onnx_in(op, 0),
                                   mo_onnx_in(op, 1), NULL));
}
