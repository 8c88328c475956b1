/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of Fourier transforms: DFT, IDFT, RDFT, IRDFT, STFT.
 *
 * A transform along an axis is a product with the matrix of its roots of unity,
 * real and imaginary parts beside each other, which is computed where it is
 * used.  That takes O(n^2) per line: right for the hundreds of elements of
 * windows and spectra in networks.
 */
#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"
#include "exec/op/point_builder.h"

#define MAX_MATRIX ((int64_t) 1 << 26)

/* One line: used numbers of a signal of size, from first on, to count ones. */
typedef struct transform {
    int64_t size, first, used, count;
    bool complex_in, complex_out, inverse;
} transform;

static int64_t rows_of(const transform *t)
{
    return t->used * (t->complex_in ? 2 : 1);
}

static int64_t columns_of(const transform *t)
{
    return t->count * (t->complex_out ? 2 : 1);
}

static int constant_register(mo_point_builder *b, int any, int64_t number)
{
    return mo_point_builder_unary_params(b, MO_POINT_I_CLAMP, any,
                                         (double) number, (double) number);
}

/* Quotient and remainder of an index. */
static void divide_register(mo_point_builder *b, int index, int64_t by,
                            int *quotient, int *rest)
{
    int divisor = constant_register(b, index, by);

    *quotient =
        mo_point_builder_binary(b, MO_POINT_I_FLOOR_DIVIDE, index, divisor);
    *rest = mo_point_builder_binary(b, MO_POINT_I_FLOOR_MOD, index, divisor);
}

/* Of half a spectrum all but its ends stand for two. */
static int spectrum_weight(mo_point_builder *b, const transform *t, int n)
{
    int zero = constant_register(b, n, 0), two = constant_register(b, n, 2);
    int middle = mo_point_builder_binary(b, MO_POINT_I_ADD, n, n);
    int size = constant_register(b, n, t->size);

    middle = mo_point_builder_binary(b, MO_POINT_I_EQUAL, middle, size);
    zero = mo_point_builder_binary(b, MO_POINT_I_EQUAL, n, zero);
    two = mo_point_builder_binary(b, MO_POINT_I_SUBTRACT, two, zero);
    return mo_point_builder_binary(b, MO_POINT_I_SUBTRACT, two, middle);
}

/* Element [n, p][k, q] of the matrix, p and q: real or imaginary part. */
static int root_register(mo_point_builder *b, const transform *t, int index)
{
    const double turn = 6.283185307179586476925 / (double) t->size;
    double sign = t->inverse ? 1 : -1;
    int row, column, n, p, k, q, angle, cosine, sine, same;

    divide_register(b, index, columns_of(t), &row, &column);
    divide_register(b, row, t->complex_in ? 2 : 1, &n, &p);
    divide_register(b, column, t->complex_out ? 2 : 1, &k, &q);
    n = mo_point_builder_binary(b, MO_POINT_I_ADD, n,
                                constant_register(b, n, t->first));
    angle = mo_point_builder_binary(b, MO_POINT_I_MULTIPLY, n, k);
    angle = mo_point_builder_binary(b, MO_POINT_I_FLOOR_MOD, angle,
                                    constant_register(b, n, t->size));
    angle = mo_point_builder_to_real(b, angle);
    angle = mo_point_builder_unary_params(b, MO_POINT_AFFINE, angle, turn, 0);
    cosine = mo_point_builder_unary(b, MO_POINT_COS, angle);
    sine = mo_point_builder_unary(b, MO_POINT_SIN, angle);
    same = mo_point_builder_binary(b, MO_POINT_I_EQUAL, p, q);
    q = mo_point_builder_binary(b, MO_POINT_I_SUBTRACT, q, p);
    cosine = mo_point_builder_binary(b, MO_POINT_MULTIPLY, cosine,
                                     mo_point_builder_to_real(b, same));
    sine = mo_point_builder_binary(b, MO_POINT_MULTIPLY, sine,
                                   mo_point_builder_to_real(b, q));
    sine = mo_point_builder_unary_params(b, MO_POINT_AFFINE, sine, sign, 0);
    angle = mo_point_builder_binary(b, MO_POINT_ADD, cosine, sine);
    if (t->inverse && !t->complex_out)
        angle = mo_point_builder_binary(
            b, MO_POINT_MULTIPLY, angle,
            mo_point_builder_to_real(b, spectrum_weight(b, t, n)));
    return mo_point_builder_unary_params(
        b, MO_POINT_AFFINE, angle, t->inverse ? 1 / (double) t->size : 1, 0);
}

static mo_status add_matrix(const mo_op_site *site, const transform *t,
                            int *matrix, mo_lower_result *lowered,
                            mo_error *err)
{
    int64_t n = rows_of(t) * columns_of(t);
    mo_tensor_desc counts = { MO_ELEM_I64, { .rank = 1, .dims = { n } } };
    mo_tensor_desc desc = { site->in[0].elem, { .rank = 1, .dims = { n } } };
    mo_point_builder builder;
    int counter = 0;
    mo_status status;

    if (n > MAX_MATRIX || t->size < 1)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "a transform of %lld elements cannot be run",
                               (long long) t->size);
    status = mo_lower_add_counter(site, 0, &counts, lowered, &counter, err);
    if (status == MO_OK)
        status = mo_lower_add_temp(lowered, site, &desc, matrix, err);
    if (status != MO_OK)
        return status;
    builder = mo_point_builder_init_for(site, *matrix, &desc);
    mo_point_builder_store(
        &builder,
        root_register(&builder, t,
                      mo_point_builder_operand(&builder, counter, &counts)));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

/* lines times the matrix of t, from tensor to tensor. */
static mo_status add_product(const mo_op_site *site, const transform *t,
                             int64_t lines, int from, int to,
                             mo_lower_result *lowered, mo_error *err)
{
    int64_t rows = rows_of(t), columns = columns_of(t);
    mo_call *call;
    int matrix = 0;
    mo_status status = add_matrix(site, t, &matrix, lowered, err);

    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_MATMUL, 2, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = from;
    call->in[1] = matrix;
    call->out[0] = to;
    call->first_extra = 2;
    call->u.matmul = (mo_call_matmul){ .m = lines,
                                       .n = columns,
                                       .k = rows,
                                       .a = { .row = rows, .column = 1 },
                                       .b = { .row = columns, .column = 1 },
                                       .c = { .row = columns, .column = 1 } };
    return MO_OK;
}

/* A tensor in the middle of the transform: its parts are numbers or pairs. */
typedef struct signal {
    int tensor;
    mo_shape shape; /* without the pairs */
    bool is_complex;
} signal;

static mo_status add_signal(const mo_op_site *site, const mo_shape *shape,
                            int64_t parts, int *tensor,
                            mo_lower_result *lowered, mo_error *err)
{
    mo_tensor_desc desc = { site->in[0].elem, *shape };

    if (parts > 1)
        desc.shape.dims[desc.shape.rank++] = parts;
    return mo_lower_add_temp(lowered, site, &desc, tensor, err);
}

typedef struct turn {
    int64_t outer, middle, used, inner, parts;
} turn;

/* Copies [outer][used of middle][inner][parts] to [outer][inner][used][parts],
 * or back. */
static mo_status add_turn(int from, int to, const turn *t, bool back,
                          mo_lower_result *lowered, mo_error *err)
{
    mo_call_copy_box box = { 0 };
    int64_t in[3] = { t->middle * t->inner * t->parts, t->parts,
                      t->inner * t->parts };
    int64_t out[3] = { t->inner * t->used * t->parts, t->used * t->parts,
                       t->parts };

    mo_lower_copy_box_push(&box, t->outer, back ? out[0] : in[0],
                           back ? in[0] : out[0]);
    mo_lower_copy_box_push(&box, t->inner, back ? out[1] : in[1],
                           back ? in[1] : out[1]);
    mo_lower_copy_box_push(&box, t->used, back ? out[2] : in[2],
                           back ? in[2] : out[2]);
    mo_lower_copy_box_push(&box, t->parts, 1, 1);
    return mo_lower_copy_add_box(&box, from, to, lowered, err);
}

/* Transforms s along axis; to: the tensor of the last result, else -1. */
static mo_status add_axis(const mo_op_site *site, signal *s, int axis,
                          transform t, int to, mo_lower_result *lowered,
                          mo_error *err)
{
    int64_t outer = 1, inner = 1, middle = s->shape.dims[axis];
    int64_t in_parts = t.complex_in ? 2 : 1, out_parts = t.complex_out ? 2 : 1;
    int lines = s->tensor, product = to, result = to;
    mo_shape turned = { .rank = 1 };
    mo_status status = MO_OK;

    for (int d = 0; d < s->shape.rank; d++)
        if (d != axis)
            *(d < axis ? &outer : &inner) *= s->shape.dims[d];
    if (inner > 1 || t.used != middle) {
        turned.dims[0] = outer * inner * rows_of(&t);
        status = add_signal(site, &turned, 1, &lines, lowered, err);
        if (status == MO_OK)
            status = add_turn(s->tensor, lines,
                              &(turn){ outer, middle, t.used, inner, in_parts },
                              false, lowered, err);
    }
    s->shape.dims[axis] = t.count;
    if (status == MO_OK && to < 0)
        status = add_signal(site, &s->shape, out_parts, &result, lowered, err);
    product = result;
    if (status == MO_OK && inner > 1) {
        turned.dims[0] = outer * inner * columns_of(&t);
        status = add_signal(site, &turned, 1, &product, lowered, err);
    }
    if (status == MO_OK)
        status =
            add_product(site, &t, outer * inner, lines, product, lowered, err);
    if (status == MO_OK && inner > 1)
        status = add_turn(product, result,
                          &(turn){ outer, t.count, t.count, inner, out_parts },
                          true, lowered, err);
    s->tensor = result;
    s->is_complex = t.complex_out;
    return status;
}

/* Which axis is real on one side: none, the first one done, the last one. */
typedef enum real_side { REAL_NONE, REAL_IN, REAL_OUT } real_side;

static transform transform_of(const signal *s, int axis, int64_t size,
                              bool inverse, real_side real)
{
    int64_t there = s->shape.dims[axis];
    transform t = { .complex_in = s->is_complex,
                    .complex_out = real != REAL_OUT,
                    .inverse = inverse };

    t.size = size >= 0 ? size : real == REAL_OUT ? 2 * (there - 1) : there;
    t.count = real == REAL_IN ? t.size / 2 + 1 : t.size;
    t.used = real == REAL_OUT ? t.size / 2 + 1 : t.size;
    t.used = t.used < there ? t.used : there;
    return t;
}

static mo_status lower_fourier(const mo_op_site *site, bool inverse,
                               real_side real, mo_lower_result *lowered,
                               mo_error *err)
{
    int64_t axes[MO_MAX_RANK], sizes[MO_MAX_RANK];
    signal s = { 0, site->in[0].shape, real != REAL_IN };
    int n = 0, at = 0;
    mo_status status = mo_op_site_check_arity(site, 2, 3, 1, err);

    if (status == MO_OK)
        status = mo_op_site_const_ints(site, 1, axes, MO_MAX_RANK, &n, err);
    for (int i = 0; i < n; i++)
        sizes[i] = -1;
    if (status == MO_OK && site->n_in > 2)
        status = mo_op_site_const_ints_exact(site, 2, sizes, n, err);
    if (status != MO_OK)
        return status;
    s.shape.rank -= s.is_complex;
    if (n < 1 || !mo_elem_is_float(site->in[0].elem) || s.shape.rank < 1 ||
        s.shape.rank >= MO_MAX_RANK ||
        (s.is_complex && site->in[0].shape.dims[s.shape.rank] != 2))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "transforms reals along given axes only");
    /* The half spectrum is that of the last axis. */
    for (int i = 0; i < n && status == MO_OK; i++) {
        int which = real == REAL_IN ? n - 1 - i : i;
        bool half = which == n - 1;

        status = mo_op_site_normalize_axis(site, axes[which], s.shape.rank, &at,
                                           err);
        if (status == MO_OK)
            status = add_axis(site, &s, at,
                              transform_of(&s, at, sizes[which], inverse,
                                           half ? real : REAL_NONE),
                              i == n - 1 ? site->n_in : -1, lowered, err);
    }
    return status;
}

mo_status mo_lower_dft(const mo_op_site *site, mo_lower_result *lowered,
                       mo_error *err)
{
    return lower_fourier(site, false, REAL_NONE, lowered, err);
}

mo_status mo_lower_idft(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    return lower_fourier(site, true, REAL_NONE, lowered, err);
}

mo_status mo_lower_rdft(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    return lower_fourier(site, false, REAL_IN, lowered, err);
}

mo_status mo_lower_irdft(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    return lower_fourier(site, true, REAL_OUT, lowered, err);
}

/* Frames of the signal, times the window: [batch][frames][window]. */
static mo_status add_frames(const mo_op_site *site, int64_t frames,
                            int64_t step, int64_t first, int *windowed,
                            mo_lower_result *lowered, mo_error *err)
{
    const mo_shape *signal_shape = &site->in[0].shape;
    int64_t length = signal_shape->dims[signal_shape->rank - 1];
    int64_t batch = signal_shape->rank == 2 ? signal_shape->dims[0] : 1;
    int64_t width = mo_tensor_desc_elements(&site->in[1]);
    mo_tensor_desc desc = { site->in[0].elem,
                            { .rank = 3, .dims = { batch, frames, width } } };
    mo_call_copy_box box = mo_lower_copy_box_init(&desc.shape);
    mo_point_builder builder;
    int copied = 0, x, w;
    mo_status status = mo_lower_add_temp(lowered, site, &desc, &copied, err);

    box.in_offset = first;
    box.in_stride[0] = length;
    box.in_stride[1] = step;
    box.in_stride[2] = 1;
    if (status == MO_OK)
        status = mo_lower_copy_add_box(&box, 0, copied, lowered, err);
    if (status == MO_OK)
        status = mo_lower_add_temp(lowered, site, &desc, windowed, err);
    if (status != MO_OK)
        return status;
    builder = mo_point_builder_init_for(site, *windowed, &desc);
    x = mo_point_builder_operand(&builder, copied, &desc);
    w = mo_point_builder_operand(&builder, 1, &site->in[1]);
    mo_point_builder_store(
        &builder, mo_point_builder_binary(&builder, MO_POINT_MULTIPLY, x, w));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

/* Inputs: signal, window, frame size, frame step. A shorter window is in the
 * middle of its frame. */
mo_status mo_lower_stft(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    const mo_shape *shape = &site->in[0].shape;
    bool by_bin = mo_op_site_attr_bool(site, "transpose_frames", false);
    int64_t size = 0, step = 0, batch, frames, width;
    int windowed = 0, product = site->n_in;
    transform t = { .complex_out = true };
    mo_tensor_desc desc = site->out[0];
    mo_status status = mo_op_site_check_arity(site, 4, 4, 1, err);

    if (status == MO_OK)
        status = mo_op_site_const_ints_exact(site, 2, &size, 1, err);
    if (status == MO_OK)
        status = mo_op_site_const_ints_exact(site, 3, &step, 1, err);
    if (status != MO_OK)
        return status;
    width = mo_tensor_desc_elements(&site->in[1]);
    if (shape->rank < 1 || shape->rank > 2 || step < 1 || size < 1 ||
        width < 1 || width > size || size > shape->dims[shape->rank - 1] ||
        !mo_elem_is_float(site->in[0].elem) ||
        site->in[1].elem != site->in[0].elem)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has no frames of reals within its signal");
    batch = shape->rank == 2 ? shape->dims[0] : 1;
    frames = (shape->dims[shape->rank - 1] - size) / step + 1;
    t.size = size;
    t.first = (size - width) / 2;
    t.used = width;
    t.count = size / 2 + 1;
    status = add_frames(site, frames, step, t.first, &windowed, lowered, err);
    if (status == MO_OK && by_bin)
        status = mo_lower_add_temp(lowered, site, &desc, &product, err);
    if (status == MO_OK)
        status = add_product(site, &t, batch * frames, windowed, product,
                             lowered, err);
    if (status == MO_OK && by_bin)
        status = add_turn(product, site->n_in,
                          &(turn){ batch, frames, frames, t.count, 2 }, false,
                          lowered, err);
    return status;
}
