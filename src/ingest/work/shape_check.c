/* SPDX-License-Identifier: Apache-2.0 */
/* Consistency check of an op's shapes, to reject a wrong order of inputs. */
#include "graph/op_attrs.h"
#include "ingest/work/input_order.h"

#include "ingest/work/flops.h"

enum { VECTOR = -1 };

static const mo_shape *input_at(const mo_work_input *in, int index)
{
    return index < in->n_inputs && in->inputs[index].rank >= 0
               ? &in->inputs[index]
               : NULL;
}

static const mo_shape *output_of(const mo_work_input *in)
{
    return in->n_outputs > 0 && in->outputs[0].rank >= 0 ? &in->outputs[0]
                                                         : NULL;
}

/* The dimension that stands back places from the end (1: the last). */
static int64_t dim_from_end(const mo_shape *shape, int back)
{
    return back <= shape->rank ? shape->dims[shape->rank - back] : 1;
}

static bool broadcasts(const mo_shape *shape, const mo_shape *to)
{
    if (shape->rank > to->rank)
        return false;
    for (int back = 1; back <= shape->rank; back++)
        if (dim_from_end(shape, back) != 1 &&
            dim_from_end(shape, back) != dim_from_end(to, back))
            return false;
    return true;
}

/* An operand of a product: the dimension that is summed over and the one that
 * stays, which a vector lacks. */
typedef struct matrix {
    int64_t inner, outer;
} matrix;

static matrix matrix_of(const mo_shape *shape, bool inner_is_last)
{
    if (shape->rank < 2)
        return (matrix){ dim_from_end(shape, 1), VECTOR };
    return inner_is_last
               ? (matrix){ dim_from_end(shape, 1), dim_from_end(shape, 2) }
               : (matrix){ dim_from_end(shape, 2), dim_from_end(shape, 1) };
}

static bool makes_product(matrix a, matrix b, const mo_shape *product)
{
    int back = 1;

    if (a.inner != b.inner)
        return false;
    if (b.outer != VECTOR && dim_from_end(product, back++) != b.outer)
        return false;
    return a.outer == VECTOR || dim_from_end(product, back) == a.outer;
}

static bool has_flag(const mo_work_input *in, const char *key)
{
    return mo_attr_bool(in->attrs, key, false);
}

/* Operands at a and behind it, something to add at bias. */
static bool fits_product(const mo_work_input *in, int a, bool a_transposed,
                         bool b_transposed, int bias)
{
    const mo_shape *left = input_at(in, a), *right = input_at(in, a + 1);
    const mo_shape *added = bias >= 0 ? input_at(in, bias) : NULL;
    const mo_shape *product = output_of(in);

    if (!left || !right || !product)
        return true;
    return makes_product(matrix_of(left, !a_transposed),
                         matrix_of(right, b_transposed), product) &&
           (!added || broadcasts(added, product));
}

static bool fits_matmul(const mo_work_input *in)
{
    return fits_product(in, 0, has_flag(in, "transpose_a"),
                        has_flag(in, "transpose_b"), -1);
}

static bool fits_linear(const mo_work_input *in)
{
    /* Rows of weights in a storage format are bytes. */
    return mo_attr_find(in->attrs, "format") ||
           fits_product(in, 0, false, true, 2);
}

static bool fits_gemm(const mo_work_input *in)
{
    return fits_product(in, 0, has_flag(in, "transA"), has_flag(in, "transB"),
                        2);
}

static bool fits_addmm(const mo_work_input *in)
{
    bool has_bias = in->n_inputs > 2;

    return fits_product(in, has_bias, false, false, has_bias ? 0 : -1);
}

static bool fits_einsum(const mo_work_input *in)
{
    return mo_flops_einsum(in) >= 0;
}

/* Channels of a filter, as seen from its op's input and output: times as many
 * as there are groups. */
typedef struct filter {
    int64_t in, out;
} filter;

static filter filter_of(const mo_shape *shape, bool backwards)
{
    return backwards ? (filter){ shape->dims[0], shape->dims[1] }
                     : (filter){ shape->dims[1], shape->dims[0] };
}

static filter group_filter_of(const mo_shape *shape, bool backwards)
{
    int64_t groups = shape->dims[0];
    int64_t first = groups * shape->dims[1], second = groups * shape->dims[2];

    return backwards ? (filter){ first, second } : (filter){ second, first };
}

static bool is_divisor(int64_t part, int64_t whole)
{
    return part > 0 && whole % part == 0;
}

/* Groups may be hidden in the channels of the side that has more of them. */
static bool fits_filter(const mo_work_input *in, int at, int bias,
                        bool backwards, bool grouped)
{
    const mo_shape *data = input_at(in, 0), *weights = input_at(in, at);
    const mo_shape *added = bias >= 0 ? input_at(in, bias) : NULL;
    const mo_shape *made = output_of(in);
    filter f;

    if (!data || !weights || !made)
        return true;
    if (made->rank < 2 || data->rank != made->rank ||
        weights->rank != made->rank + grouped || data->dims[0] != made->dims[0])
        return false;
    f = grouped ? group_filter_of(weights, backwards)
                : filter_of(weights, backwards);
    if (backwards || grouped ? data->dims[1] != f.in
                             : !is_divisor(f.in, data->dims[1]))
        return false;
    if (!backwards || grouped ? made->dims[1] != f.out
                              : !is_divisor(f.out, made->dims[1]))
        return false;
    return !added ||
           (added->rank <= 1 ? dim_from_end(added, 1) == made->dims[1]
                             : mo_shape_elements(added) == made->dims[1]);
}

static bool fits_convolution(const mo_work_input *in)
{
    return fits_filter(in, 1, 2, false, false);
}

static bool fits_group_convolution(const mo_work_input *in)
{
    return fits_filter(in, 1, -1, false, true);
}

static bool fits_deconvolution(const mo_work_input *in)
{
    return fits_filter(in, 1, -1, true, false);
}

static bool fits_group_deconvolution(const mo_work_input *in)
{
    return fits_filter(in, 1, -1, true, true);
}

static bool fits_deformable(const mo_work_input *in)
{
    return fits_filter(in, 2, -1, false, false);
}

static bool fits_attention(const mo_work_input *in)
{
    const mo_shape *q = input_at(in, 0), *k = input_at(in, 1);
    const mo_shape *v = input_at(in, 2), *made = output_of(in);

    if (!q || !k || !v || !made)
        return true;
    return dim_from_end(q, 1) == dim_from_end(k, 1) &&
           dim_from_end(k, 2) == dim_from_end(v, 2) &&
           dim_from_end(made, 2) == dim_from_end(q, 2) &&
           dim_from_end(made, 1) == dim_from_end(v, 1);
}

bool mo_work_shapes_agree(const mo_work_input *in)
{
    static const struct {
        double (*formula)(const mo_work_input *in);
        bool (*fits)(const mo_work_input *in);
    } demands[] = {
        { mo_flops_matmul, fits_matmul },
        { mo_flops_linear, fits_linear },
        { mo_flops_gemm, fits_gemm },
        { mo_flops_addmm, fits_addmm },
        { mo_flops_einsum, fits_einsum },
        { mo_flops_convolution, fits_convolution },
        { mo_flops_group_convolution, fits_group_convolution },
        { mo_flops_deconvolution, fits_deconvolution },
        { mo_flops_group_deconvolution, fits_group_deconvolution },
        { mo_flops_deformable, fits_deformable },
        { mo_flops_attention, fits_attention },
    };

    for (size_t i = 0; i < sizeof demands / sizeof *demands; i++)
        if (demands[i].formula == in->kind->flops)
            return demands[i].fits(in);
    return true;
}
