/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/infer/infer_value.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Layout of each supported type in a file. */
typedef struct kind {
    const char *dtype;
    enum { INT, UINT, REAL, BOOL } is;
    int bytes;
    int digits;   /* REAL: bits of the significand, the hidden one too */
    int exponent; /* REAL: bits of the exponent */
} kind;

static const kind kinds[] = {
    { "i64", INT, 8, 0, 0 },      { "i32", INT, 4, 0, 0 },
    { "boolean", BOOL, 1, 0, 0 }, { "f32", REAL, 4, 24, 8 },
    { "f16", REAL, 2, 11, 5 },    { "bf16", REAL, 2, 8, 8 },
    { "f64", REAL, 8, 53, 11 },   { "i16", INT, 2, 0, 0 },
    { "i8", INT, 1, 0, 0 },       { "u64", UINT, 8, 0, 0 },
    { "u32", UINT, 4, 0, 0 },     { "u16", UINT, 2, 0, 0 },
    { "u8", UINT, 1, 0, 0 },
};

static const kind *find_kind(const char *dtype)
{
    if (dtype)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(kinds[i].dtype, dtype) == 0)
                return &kinds[i];
    return NULL;
}

bool mo_infer_value_supports(const char *dtype)
{
    return find_kind(dtype) != NULL;
}

/* Of a type that is supported. */
static const kind *kind_of(const char *dtype)
{
    const kind *k = find_kind(dtype);

    assert(k);
    return k;
}

size_t mo_infer_value_item_bytes(const char *dtype)
{
    return (size_t) kind_of(dtype)->bytes;
}

mo_infer_value *mo_infer_value_new(mo_arena *arena, const mo_shape *shape,
                                   const char *dtype)
{
    mo_infer_value *value = mo_arena_alloc(arena, sizeof *value);

    if (!value)
        return NULL;
    value->shape = *shape;
    value->dtype = dtype;
    value->real = kind_of(dtype)->is == REAL;
    value->count = mo_shape_elements(shape);
    value->items =
        mo_arena_array(arena, (size_t) value->count, sizeof *value->items);
    return value->items ? value : NULL;
}

/* The low bits of x as a signed number of that many bits. */
static int64_t sign_extend(uint64_t x, int bits)
{
    uint64_t sign = (uint64_t) 1 << (bits - 1);

    if (bits < 64)
        x &= (sign << 1) - 1;
    if (!(x & sign))
        return (int64_t) x;
    return -(int64_t) (sign - (x & (sign - 1)) - 1) - 1;
}

/* Sign, exponent and fraction of an IEEE number of any width. */
static double decode_real(uint64_t bits, const kind *k)
{
    int fraction_bits = k->digits - 1;
    uint64_t fraction = bits & (((uint64_t) 1 << fraction_bits) - 1);
    int top = (1 << k->exponent) - 1, bias = top / 2;
    int exponent = (int) (bits >> fraction_bits & (uint64_t) top);
    bool negative = bits >> (8 * k->bytes - 1) & 1;
    double size;

    if (exponent == top)
        size = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        size = ldexp((double) fraction, 1 - bias - fraction_bits);
    else
        size = ldexp((double) (fraction | (uint64_t) 1 << fraction_bits),
                     exponent - bias - fraction_bits);
    return negative ? -size : size;
}

static mo_infer_scalar decode_item(uint64_t bits, const kind *k)
{
    switch (k->is) {
    case REAL:
        return (mo_infer_scalar){ .r = decode_real(bits, k) };
    case BOOL:
        return (mo_infer_scalar){ .i = bits != 0 };
    case UINT:
        return (mo_infer_scalar){ .i = sign_extend(bits, 64) };
    case INT:
        break;
    }
    return (mo_infer_scalar){ .i = sign_extend(bits, 8 * k->bytes) };
}

void mo_infer_value_decode(mo_infer_value *value, const unsigned char *bytes)
{
    const kind *k = kind_of(value->dtype);

    for (int64_t i = 0; i < value->count; i++) {
        uint64_t bits = 0;

        for (int b = k->bytes - 1; b >= 0; b--)
            bits = bits << 8 | bytes[b];
        value->items[i] = decode_item(bits, k);
        bytes += k->bytes;
    }
}

mo_infer_scalar mo_infer_value_fit_int(int64_t result, const char *dtype)
{
    const kind *k = kind_of(dtype);

    if (k->is == BOOL)
        result = result != 0;
    else if (k->is == INT)
        result = sign_extend((uint64_t) result, 8 * k->bytes);
    else if (k->bytes < 8)
        result = (int64_t) ((uint64_t) result &
                            (((uint64_t) 1 << 8 * k->bytes) - 1));
    return (mo_infer_scalar){ .i = result };
}

mo_infer_scalar mo_infer_value_fit_real(double result, const char *dtype)
{
    const kind *k = kind_of(dtype);
    int exponent, least = 3 - (1 << (k->exponent - 1)), digits = k->digits;
    double rounded;

    if (!isfinite(result) || k->digits >= DBL_MANT_DIG)
        return (mo_infer_scalar){ .r = result };
    rounded = frexp(result, &exponent);
    if (exponent < least) /* a denormal has fewer digits */
        digits -= least - exponent;
    rounded = ldexp(nearbyint(ldexp(rounded, digits)), exponent - digits);
    if (fabs(rounded) >= ldexp(1, 1 << (k->exponent - 1)))
        rounded = copysign(INFINITY, rounded);
    return (mo_infer_scalar){ .r = rounded };
}

static int64_t truncate_real(double real)
{
    if (isnan(real))
        return 0;
    if (real >= 0x1p63)
        return INT64_MAX;
    return real < -0x1p63 ? INT64_MIN : (int64_t) real;
}

static double real_of(mo_infer_scalar item, const kind *k)
{
    if (k->is == REAL)
        return item.r;
    return k->is == UINT ? (double) (uint64_t) item.i : (double) item.i;
}

mo_infer_scalar mo_infer_value_cast(mo_infer_scalar item, const char *from,
                                    const char *to)
{
    const kind *k = kind_of(to), *was = kind_of(from);

    if (k->is == REAL)
        return mo_infer_value_fit_real(real_of(item, was), to);
    if (was->is != REAL)
        return mo_infer_value_fit_int(item.i, to);
    if (k->is == BOOL)
        return (mo_infer_scalar){ .i = item.r != 0 };
    if (k->is == UINT && item.r >= 0x1p63 && item.r < 0x1p64)
        return mo_infer_value_fit_int(sign_extend((uint64_t) item.r, 64), to);
    return mo_infer_value_fit_int(truncate_real(item.r), to);
}

double mo_infer_value_number(const mo_infer_value *value, int64_t i)
{
    return real_of(value->items[i], kind_of(value->dtype));
}

mo_infer_view mo_infer_view_of(const mo_shape *shape)
{
    mo_infer_view view = { 0 };
    int64_t stride = 1;

    for (int d = shape->rank - 1; d >= 0; d--) {
        view.stride[d] = stride;
        stride *= shape->dims[d];
    }
    return view;
}

mo_infer_view mo_infer_view_broadcast(const mo_shape *from, const mo_shape *to)
{
    mo_infer_view own = mo_infer_view_of(from), view = { 0 };
    int lead = to->rank - from->rank;

    for (int d = 0; d < from->rank; d++)
        if (from->dims[d] != 1)
            view.stride[lead + d] = own.stride[d];
    return view;
}

int64_t mo_infer_view_at(const mo_infer_view *view, const mo_shape *shape,
                         int64_t index)
{
    int64_t at = view->base;

    for (int d = shape->rank - 1; d >= 0; d--) {
        at += index % shape->dims[d] * view->stride[d];
        index /= shape->dims[d];
    }
    return at;
}

void mo_infer_value_take(mo_infer_value *to, const mo_infer_value *from,
                         const mo_infer_view *view)
{
    for (int64_t i = 0; i < to->count; i++)
        to->items[i] = from->items[mo_infer_view_at(view, &to->shape, i)];
}

void mo_infer_value_put(mo_infer_value *to, const mo_infer_value *from,
                        const mo_infer_view *view)
{
    for (int64_t i = 0; i < from->count; i++)
        to->items[mo_infer_view_at(view, &from->shape, i)] = from->items[i];
}
