/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/onnx/ops.h"

#include <string.h>

#include "ingest/infer/dims.h"

int mo_onnx_axis(mo_onnx_builder *b, int64_t axis, int rank)
{
    if (axis < -rank || axis >= (rank > 0 ? rank : 1)) {
        mo_onnx_wrong(b, "has axis %lld of %d dimensions", (long long) axis,
                      rank);
        return 0;
    }
    return (int) (axis < 0 ? axis + rank : axis);
}

/* Where the operator has no shape rule, the shape is that of x. */
mo_onnx_ref mo_onnx_unary(mo_onnx_builder *b, const char *type, mo_onnx_ref x,
                          const char *dtype)
{
    static const char *const without_rule[] = { "Reciprocal", "Softsign" };

    for (size_t i = 0; i < sizeof without_rule / sizeof *without_rule; i++)
        if (strcmp(type, without_rule[i]) == 0)
            return mo_onnx_add_shaped(b, type, &x, 1, mo_onnx_shape(b, x),
                                      dtype);
    return mo_onnx_add(b, type, &x, 1, dtype);
}

mo_onnx_ref mo_onnx_binary(mo_onnx_builder *b, const char *type, mo_onnx_ref x,
                           mo_onnx_ref y, const char *dtype)
{
    return mo_onnx_add(b, type, MO_ONNX_REFS(x, y), 2, dtype);
}

mo_onnx_ref mo_onnx_with_number(mo_onnx_builder *b, const char *type,
                                mo_onnx_ref x, double number)
{
    return mo_onnx_binary(b, type, x,
                          mo_onnx_number(b, number, mo_onnx_dtype(b, x)), NULL);
}

mo_onnx_ref mo_onnx_convert(mo_onnx_builder *b, mo_onnx_ref x,
                            const char *dtype)
{
    if (strcmp(mo_onnx_dtype(b, x), dtype) == 0)
        return x;
    mo_onnx_set_text(b, "destination_type", dtype);
    return mo_onnx_add(b, "Convert", &x, 1, dtype);
}

mo_onnx_ref mo_onnx_widen(mo_onnx_builder *b, mo_onnx_ref x)
{
    const char *dtype = mo_onnx_dtype(b, x);
    bool is_half = strcmp(dtype, "f16") == 0 || strcmp(dtype, "bf16") == 0;

    return is_half ? mo_onnx_convert(b, x, "f32") : x;
}

mo_onnx_ref mo_onnx_select(mo_onnx_builder *b, mo_onnx_ref condition,
                           mo_onnx_ref yes, mo_onnx_ref no)
{
    return mo_onnx_add(b, "Select", MO_ONNX_REFS(condition, yes, no), 3,
                       mo_onnx_dtype(b, yes));
}

mo_onnx_ref mo_onnx_reshape(mo_onnx_builder *b, mo_onnx_ref x,
                            const mo_shape *shape)
{
    const mo_shape *old = mo_onnx_shape(b, x);
    mo_shape wanted = *shape;

    if (!mo_onnx_is(x) || mo_shape_equal(old, shape))
        return x;
    if (!mo_shape_is_static(shape) || !mo_shape_fits(shape) ||
        mo_shape_elements(shape) != mo_shape_elements(old))
        return mo_onnx_wrong(b, "cannot turn shape %s into %s",
                             mo_dims_format(old).text,
                             mo_dims_format(shape).text);
    if (mo_onnx_is_constant(b, x))
        return mo_onnx_constant_view(b, x, &wanted);
    mo_onnx_set_bool(b, "special_zero", false);
    return mo_onnx_add_shaped(
        b, "Reshape",
        MO_ONNX_REFS(x, mo_onnx_ints(b, wanted.dims, wanted.rank)), 2, &wanted,
        NULL);
}

mo_onnx_ref mo_onnx_squeeze(mo_onnx_builder *b, mo_onnx_ref x,
                            const bool marks[MO_MAX_RANK])
{
    const mo_shape *old = mo_onnx_shape(b, x);
    mo_shape shape = { .rank = 0 };

    for (int d = 0; d < old->rank; d++)
        if (!marks[d])
            shape.dims[shape.rank++] = old->dims[d];
    return mo_onnx_reshape(b, x, &shape);
}

mo_onnx_ref mo_onnx_channels(mo_onnx_builder *b, mo_onnx_ref x, int rank)
{
    mo_shape shape = { .rank = rank < 2 ? 2 : rank };

    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = 1;
    shape.dims[1] = mo_shape_elements(mo_onnx_shape(b, x));
    return mo_onnx_reshape(b, x, &shape);
}

mo_onnx_ref mo_onnx_transpose(mo_onnx_builder *b, mo_onnx_ref x,
                              const int64_t *order)
{
    int rank = mo_onnx_shape(b, x)->rank;
    bool moved = false;

    for (int d = 0; d < rank; d++)
        moved = moved || order[d] != d;
    return moved ? mo_onnx_binary(b, "Transpose", x,
                                  mo_onnx_ints(b, order, rank), NULL)
                 : x;
}

mo_onnx_ref mo_onnx_broadcast(mo_onnx_builder *b, mo_onnx_ref x,
                              const mo_shape *shape)
{
    mo_onnx_ref target;

    if (mo_shape_equal(mo_onnx_shape(b, x), shape))
        return x;
    target = mo_onnx_ints(b, shape->dims, shape->rank);
    mo_onnx_set_text(b, "mode", "numpy");
    return mo_onnx_binary(b, "Broadcast", x, target, NULL);
}

mo_onnx_ref mo_onnx_count_along(mo_onnx_builder *b, int64_t first, int64_t n,
                                int axis, int rank)
{
    mo_shape shape = { .rank = rank };
    mo_onnx_ref line;

    for (int d = 0; d < rank; d++)
        shape.dims[d] = d == axis ? n : 1;
    mo_onnx_set_text(b, "output_type", "i64");
    line =
        mo_onnx_add(b, "Range",
                    MO_ONNX_REFS(mo_onnx_int(b, first),
                                 mo_onnx_int(b, first + n), mo_onnx_int(b, 1)),
                    3, "i64");
    return mo_onnx_reshape(b, line, &shape);
}

mo_onnx_ref mo_onnx_cut(mo_onnx_builder *b, mo_onnx_ref x, int axis,
                        int64_t start, int64_t stop)
{
    int64_t at = axis, one = 1;

    return mo_onnx_add(
        b, "Slice",
        MO_ONNX_REFS(x, mo_onnx_ints(b, &start, 1), mo_onnx_ints(b, &stop, 1),
                     mo_onnx_ints(b, &one, 1), mo_onnx_ints(b, &at, 1)),
        5, NULL);
}

mo_onnx_ref mo_onnx_concat(mo_onnx_builder *b, const mo_onnx_ref *parts, int n,
                           int axis)
{
    if (n == 1)
        return parts[0];
    mo_onnx_set_int(b, "axis", axis);
    return mo_onnx_add(b, "Concat", parts, n, NULL);
}

mo_onnx_ref mo_onnx_add_pad(mo_onnx_builder *b, mo_onnx_ref x,
                            const int64_t *begin, const int64_t *end)
{
    int rank = mo_onnx_shape(b, x)->rank;
    mo_onnx_ref zero = mo_onnx_number(b, 0, mo_onnx_dtype(b, x));
    mo_onnx_ref front = mo_onnx_ints(b, begin, rank);
    mo_onnx_ref back = mo_onnx_ints(b, end, rank);

    mo_onnx_set_text(b, "pad_mode", "constant");
    return mo_onnx_add(b, "Pad", MO_ONNX_REFS(x, front, back, zero), 4, NULL);
}

mo_onnx_ref mo_onnx_reduce(mo_onnx_builder *b, const char *type, mo_onnx_ref x,
                           const bool marks[MO_MAX_RANK], bool keep)
{
    int64_t axes[MO_MAX_RANK];
    int n = 0;
    mo_onnx_ref list;

    for (int d = 0; d < mo_onnx_shape(b, x)->rank; d++)
        if (marks[d])
            axes[n++] = d;
    if (n == 0)
        return x;
    list = mo_onnx_ints(b, axes, n);
    mo_onnx_set_bool(b, "keep_dims", keep);
    return mo_onnx_binary(b, type, x, list, NULL);
}

mo_onnx_ref mo_onnx_softmax(mo_onnx_builder *b, const char *type, mo_onnx_ref x,
                            int axis)
{
    mo_onnx_set_int(b, "axis", axis);
    return mo_onnx_add(b, type, &x, 1, NULL);
}

mo_onnx_ref mo_onnx_matmul(mo_onnx_builder *b, mo_onnx_ref x, mo_onnx_ref y,
                           bool transpose_x, bool transpose_y)
{
    mo_onnx_set_bool(b, "transpose_a", transpose_x);
    mo_onnx_set_bool(b, "transpose_b", transpose_y);
    return mo_onnx_binary(b, "MatMul", x, y, NULL);
}

mo_onnx_ref mo_onnx_normalize(mo_onnx_builder *b, mo_onnx_ref x, int axis,
                              double epsilon)
{
    int64_t axes[MO_MAX_RANK];
    int rank = mo_onnx_shape(b, x)->rank;
    mo_onnx_ref list;

    for (int d = axis; d < rank; d++)
        axes[d - axis] = d;
    list = mo_onnx_ints(b, axes, rank - axis);
    mo_onnx_set_real(b, "eps", epsilon);
    mo_onnx_set_bool(b, "normalize_variance", true);
    mo_onnx_set_text(b, "eps_mode", "inside_sqrt");
    return mo_onnx_binary(b, "MVN", x, list, NULL);
}
