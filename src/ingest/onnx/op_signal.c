/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX operators of signals: Fourier transforms, windows, the
 * matrix of mel filters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

static const double pi = 3.14159265358979323846;

/* Appends a last dimension of one number. */
static mo_onnx_ref add_last_axis(mo_onnx_builder *b, mo_onnx_ref x)
{
    mo_shape shape = *mo_onnx_shape(b, x);

    if (shape.rank == MO_MAX_RANK)
        return mo_onnx_refuse(b, "has more than %d dimensions",
                              MO_MAX_RANK - 1);
    shape.dims[shape.rank++] = 1;
    return mo_onnx_reshape(b, x, &shape);
}

/* A pair of real and imaginary part where x has real parts only. */
static mo_onnx_ref make_complex(mo_onnx_builder *b, mo_onnx_ref x)
{
    int last = mo_onnx_shape(b, x)->rank - 1;
    mo_onnx_ref zero;

    if (last < 0 || mo_onnx_shape(b, x)->dims[last] == 2)
        return x;
    zero = mo_onnx_broadcast(b, mo_onnx_number(b, 0, mo_onnx_dtype(b, x)),
                             mo_onnx_shape(b, x));
    return mo_onnx_concat(b, MO_ONNX_REFS(x, zero), 2, last);
}

/* Without the last dimension: the real parts. */
static mo_onnx_ref real_parts(mo_onnx_builder *b, mo_onnx_ref x)
{
    int last = mo_onnx_shape(b, x)->rank - 1;
    bool marks[MO_MAX_RANK] = { false };

    if (last < 0)
        return x;
    marks[last] = true;
    return mo_onnx_squeeze(b, mo_onnx_cut(b, x, last, 0, 1), marks);
}

/* Transforms x, [..., 1] or [..., 2], along axis. */
static mo_onnx_ref add_dft(mo_onnx_builder *b, mo_onnx_ref x, int axis,
                           int64_t length, bool inverse, bool onesided)
{
    mo_onnx_ref axes = mo_onnx_ints(b, (const int64_t[]){ axis }, 1);
    mo_onnx_ref size = mo_onnx_ints(b, &length, 1);

    if (onesided && inverse)
        return add_last_axis(
            b, mo_onnx_add(b, "IRDFT", MO_ONNX_REFS(x, axes, size), 3, NULL));
    if (onesided)
        return mo_onnx_add(b, "RDFT",
                           MO_ONNX_REFS(real_parts(b, x), axes, size), 3, NULL);
    return mo_onnx_add(b, inverse ? "IDFT" : "DFT",
                       MO_ONNX_REFS(make_complex(b, x), axes, size), 3, NULL);
}

/* The axis became an input with opset 20. */
void mo_onnx_op_dft(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const mo_shape *shape = mo_onnx_shape(b, x);
    int64_t given = op->version < 20 ? mo_onnx_attr_int(op, "axis", 1)
                                     : mo_onnx_in_int(op, 2, "axis", -2);
    int axis = mo_onnx_axis(b, given, shape->rank);
    bool inverse = mo_onnx_attr_int(op, "inverse", 0) != 0;
    bool onesided = mo_onnx_attr_int(op, "onesided", 0) != 0;
    int64_t parts = shape->rank > 0 ? shape->dims[shape->rank - 1] : 0;
    int64_t size = shape->dims[axis];
    double length = mo_onnx_in_number(
        op, 1, "length",
        (double) (inverse && onesided ? 2 * (size - 1) : size));

    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (axis == shape->rank - 1 || (parts != 1 && parts != 2))
        mo_onnx_wrong(b,
                      "has %lld numbers in its last dimension, or "
                      "transforms it",
                      (long long) parts);
    else if (!(length >= 1 && length <= 1 << 24))
        mo_onnx_wrong(b, "has a length of %g", length);
    else if (onesided && parts != (inverse ? 2 : 1))
        mo_onnx_refuse(b,
                       "is one-sided and has %lld numbers in its last "
                       "dimension",
                       (long long) parts);
    else
        mo_onnx_out(op,
                    add_dft(b, x, axis, (int64_t) length, inverse, onesided));
}

/* 0, step, 2 step, ... along one of two axes. */
static mo_onnx_ref multiples(mo_onnx_builder *b, int64_t n, int64_t step,
                             int axis)
{
    mo_shape shape = { .rank = 2, .dims = { 1, 1 } };
    mo_infer_value *value;

    if (n > MO_INFER_VALUE_MAX_ITEMS)
        return mo_onnx_refuse(b, "has more than %d frames, or longer ones",
                              MO_INFER_VALUE_MAX_ITEMS);
    shape.dims[axis] = n;
    value = mo_infer_value_new(mo_onnx_builder_arena(b), &shape, "i64");
    if (!value)
        return mo_onnx_fail_memory(b);
    for (int64_t i = 0; i < n; i++)
        value->items[i].i = i * step;
    return mo_onnx_literal(b, value);
}

/* Frames of a signal [batch, length, parts], [batch, frames, length, parts]. */
static mo_onnx_ref gather_frames(mo_onnx_builder *b, mo_onnx_ref signal,
                                 int64_t frames, int64_t step, int64_t length)
{
    mo_onnx_ref at = mo_onnx_binary(b, "Add", multiples(b, frames, step, 0),
                                    multiples(b, length, 1, 1), NULL);

    mo_onnx_set_int(b, "batch_dims", 0);
    return mo_onnx_add(b, "Gather", MO_ONNX_REFS(signal, at, mo_onnx_int(b, 1)),
                       3, NULL);
}

/* Fourier transforms of overlapping frames: [batch, frames, bins, 2]. */
void mo_onnx_op_stft(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref signal = mo_onnx_in(op, 0), window = mo_onnx_in(op, 2), y;
    mo_shape shape = *mo_onnx_shape(b, signal);
    int64_t step = mo_onnx_in_int(op, 1, "frame step", 0);
    int64_t wide = mo_onnx_is(window) ? mo_onnx_shape(b, window)->dims[0] : 0;
    int64_t length = mo_onnx_in_int(op, 3, "frame length", wide);
    bool onesided = mo_onnx_attr_int(op, "onesided", 1) != 0;
    mo_shape row = { .rank = 3, .dims = { 1, length, 1 } };

    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (shape.rank == 2) {
        signal = add_last_axis(b, signal);
        shape = *mo_onnx_shape(b, signal);
    }
    if (shape.rank != 3 || step < 1 || length < 1 || length > shape.dims[1] ||
        (mo_onnx_is(window) &&
         (wide != length || mo_onnx_shape(b, window)->rank != 1)) ||
        (onesided && shape.dims[2] != 1)) {
        mo_onnx_wrong(b,
                      "has frames of %lld every %lld, or a window of %lld, "
                      "that its signal cannot have",
                      (long long) length, (long long) step, (long long) wide);
        return;
    }
    y = gather_frames(b, signal, (shape.dims[1] - length) / step + 1, step,
                      length);
    if (mo_onnx_is(window))
        y = mo_onnx_binary(b, "Multiply", y, mo_onnx_reshape(b, window, &row),
                           NULL);
    if (mo_onnx_is(y))
        mo_onnx_out(op, add_dft(b, y, 2, length, false, onesided));
}

/* The type of the output; 1 (float) by default. */
static const char *output_type(mo_onnx_op *op)
{
    int64_t type = mo_onnx_attr_int(op, "output_datatype", MO_ONNX_FLOAT);
    const char *dtype =
        type > 0 && type < 1000 ? mo_onnx_dtype_of((int) type) : NULL;

    if (!dtype || !mo_infer_value_supports(dtype))
        mo_onnx_refuse(op->b, "makes elements of type %lld of ONNX",
                       (long long) type);
    return dtype;
}

/* A sum of cosines; the row's argument selects the coefficients. */
void mo_onnx_op_window(mo_onnx_op *op)
{
    static const struct {
        const char *name;
        double a[3];
    } kinds[] = { { "hann", { 0.5, 0.5, 0 } },
                  { "hamming", { 25.0 / 46, 21.0 / 46, 0 } },
                  { "blackman", { 0.42, 0.5, 0.08 } } };
    int64_t size = mo_onnx_in_int(op, 0, "size", 0);
    bool periodic = mo_onnx_attr_int(op, "periodic", 1) != 0;
    const char *dtype = output_type(op);
    mo_shape shape = { .rank = 1, .dims = { size } };
    double *items;
    int k = 0;

    if (mo_onnx_builder_status(op->b) != MO_OK)
        return;
    if (!(size >= 0 && size <= MO_INFER_VALUE_MAX_ITEMS)) {
        mo_onnx_refuse(op->b, "has more than %d numbers",
                       MO_INFER_VALUE_MAX_ITEMS);
        return;
    }
    while (strcmp(kinds[k].name, op->argument) != 0)
        k++;
    items = calloc((size_t) size + 1, sizeof *items);
    if (!items) {
        mo_onnx_fail_memory(op->b);
        return;
    }
    for (int64_t i = 0; i < shape.dims[0]; i++) {
        double turn =
            2 * pi * (double) i / (double) (periodic ? size : size - 1);

        items[i] = kinds[k].a[0] - kinds[k].a[1] * cos(turn) +
                   kinds[k].a[2] * cos(2 * turn);
    }
    mo_onnx_out(op, mo_onnx_numbers(op->b, items, &shape, dtype));
    free(items);
}

/* Frequencies between which the triangles of mel filters lie, in bins of the
 * spectrum. */
static int64_t mel_bin(int64_t i, int64_t n, double length, double rate,
                       double low, double high)
{
    double low_mel = 2595 * log10(1 + low / 700);
    double step = (2595 * log10(1 + high / 700) - low_mel) / (double) (n + 2);
    double hertz = 700 * (pow(10, ((double) i * step + low_mel) / 2595) - 1);

    return (int64_t) floor((length + 1) * hertz / rate);
}

static void fill_mel_filter(double *items, int64_t bins, int64_t filters,
                            int64_t filter, int64_t left, int64_t center,
                            int64_t right)
{
    for (int64_t j = left; j <= center && center > left; j++)
        if (j >= 0 && j < bins)
            items[j * filters + filter] =
                (double) (j - left) / (double) (center - left);
    if (center == left && center >= 0 && center < bins)
        items[center * filters + filter] = 1;
    for (int64_t j = center; j < right; j++)
        if (j >= 0 && j < bins)
            items[j * filters + filter] =
                (double) (right - j) / (double) (right - center);
}

/* A matrix from the bins of a spectrum to overlapping triangles that are
 * equally wide on the mel scale. */
void mo_onnx_op_mel_weight_matrix(mo_onnx_op *op)
{
    double n = mo_onnx_in_number(op, 0, "number of filters", 0);
    double length = mo_onnx_in_number(op, 1, "length", 0);
    double rate = mo_onnx_in_number(op, 2, "sample rate", 0);
    double low = mo_onnx_in_number(op, 3, "lower edge", 0);
    double high = mo_onnx_in_number(op, 4, "upper edge", 0);
    const char *dtype = output_type(op);
    mo_shape shape = { .rank = 2 };
    double *items;

    if (mo_onnx_builder_status(op->b) != MO_OK)
        return;
    if (!(n >= 1 && n <= 1 << 12 && length >= 1 && length <= 1 << 16 &&
          rate > 0 && rate <= 1e12 && low >= 0 && high >= low &&
          high <= rate) ||
        n * (length / 2 + 1) > MO_INFER_VALUE_MAX_ITEMS) {
        mo_onnx_refuse(op->b,
                       "has more than %d numbers, or edges beyond its "
                       "sample rate",
                       MO_INFER_VALUE_MAX_ITEMS);
        return;
    }
    shape.dims[0] = (int64_t) length / 2 + 1;
    shape.dims[1] = (int64_t) n;
    items = calloc((size_t) mo_shape_elements(&shape), sizeof *items);
    if (!items) {
        mo_onnx_fail_memory(op->b);
        return;
    }
    for (int64_t i = 0; i < shape.dims[1]; i++)
        fill_mel_filter(items, shape.dims[0], shape.dims[1], i,
                        mel_bin(i, shape.dims[1], length, rate, low, high),
                        mel_bin(i + 1, shape.dims[1], length, rate, low, high),
                        mel_bin(i + 2, shape.dims[1], length, rate, low, high));
    mo_onnx_out(op, mo_onnx_numbers(op->b, items, &shape, dtype));
    free(items);
}
