/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/dense_tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "exec/tensor/half.h"

enum { ALIGNMENT = 64 };

int64_t mo_tensor_desc_elements(const mo_tensor_desc *desc)
{
    return mo_shape_elements(&desc->shape);
}

int64_t mo_tensor_desc_bytes(const mo_tensor_desc *desc)
{
    return mo_tensor_desc_elements(desc) * (int64_t) mo_elem_size(desc->elem);
}

bool mo_tensor_desc_equal(const mo_tensor_desc *a, const mo_tensor_desc *b)
{
    return a->elem == b->elem && mo_shape_equal(&a->shape, &b->shape);
}

const char *mo_tensor_desc_format(const mo_tensor_desc *desc,
                                  char text[MO_TENSOR_DESC_TEXT_SIZE])
{
    const char *name = mo_elem_name(desc->elem);
    size_t n = strlen(name);

    memcpy(text, name, n);
    text[n++] = '[';
    n += mo_shape_write(&desc->shape, text + n);
    text[n++] = ']';
    text[n] = '\0';
    return text;
}

mo_status mo_tensor_new(const mo_tensor_desc *desc, mo_tensor_dense *dense,
                        mo_error *err)
{
    size_t bytes, size;
    void *data = NULL;

    /* A multiple of ALIGNMENT, never 0, so that empty tensors have an
     * address, too. */
    if (mo_size_mul((size_t) mo_tensor_desc_elements(desc),
                    mo_elem_size(desc->elem), &bytes) &&
        mo_size_add(bytes, ALIGNMENT, &size)) {
        size -= size % ALIGNMENT;
        data = aligned_alloc(ALIGNMENT, size);
    }
    if (!data)
        return mo_fail_memory(err);
    memset(data, 0, size);
    dense->desc = *desc;
    dense->data = data;
    dense->own = true;
    return MO_OK;
}

void mo_tensor_clear(mo_tensor_dense *dense)
{
    if (dense->own)
        free(dense->data);
    *dense = (mo_tensor_dense){ 0 };
}

static void store_float(mo_tensor_dense *dense, int64_t i, double x)
{
    switch (dense->desc.elem) {
    case MO_ELEM_F64:
        ((double *) dense->data)[i] = x;
        break;
    case MO_ELEM_F16:
        ((uint16_t *) dense->data)[i] = mo_f32_to_f16((float) x);
        break;
    case MO_ELEM_BF16:
        ((uint16_t *) dense->data)[i] = mo_f32_to_bf16((float) x);
        break;
    default:
        ((float *) dense->data)[i] = (float) x;
    }
}

/* Two's complement: signs do not matter when storing. */
static void store_int(mo_tensor_dense *dense, int64_t i, uint64_t x)
{
    switch (mo_elem_size(dense->desc.elem)) {
    case 8:
        ((uint64_t *) dense->data)[i] = x;
        break;
    case 4:
        ((uint32_t *) dense->data)[i] = (uint32_t) x;
        break;
    case 2:
        ((uint16_t *) dense->data)[i] = (uint16_t) x;
        break;
    default:
        ((uint8_t *) dense->data)[i] = (uint8_t) x;
    }
}

void mo_tensor_fill_random(mo_tensor_dense *dense, uint64_t seed, double scale,
                           int64_t below)
{
    int64_t n = mo_tensor_desc_elements(&dense->desc);
    bool real = mo_elem_is_float(dense->desc.elem);
    uint64_t bound = below > 0 ? (uint64_t) below : 1;
    mo_random random = { seed };

    if (dense->desc.elem == MO_ELEM_BOOL)
        bound = 2;
    for (int64_t i = 0; i < n; i++) {
        if (real)
            store_float(dense, i, scale * (2 * mo_random_unit(&random) - 1));
        else
            store_int(dense, i, (mo_random_next(&random) >> 1) % bound);
    }
}

double mo_tensor_get_double(const mo_tensor_dense *dense, int64_t i)
{
    switch (dense->desc.elem) {
    case MO_ELEM_F32:
        return ((const float *) dense->data)[i];
    case MO_ELEM_F64:
        return ((const double *) dense->data)[i];
    case MO_ELEM_F16:
        return mo_f16_to_f32(((const uint16_t *) dense->data)[i]);
    case MO_ELEM_BF16:
        return mo_bf16_to_f32(((const uint16_t *) dense->data)[i]);
    case MO_ELEM_U64:
        return (double) ((const uint64_t *) dense->data)[i];
    default:
        return (double) mo_tensor_get_int(dense, i);
    }
}

int64_t mo_tensor_count_not_finite(const mo_tensor_dense *dense)
{
    int64_t n = mo_tensor_desc_elements(&dense->desc), count = 0;

    for (int64_t i = 0; i < n && mo_elem_is_float(dense->desc.elem); i++)
        count += !isfinite(mo_tensor_get_double(dense, i));
    return count;
}

/* Rounds towards zero and saturates; NaN becomes 0. */
static int64_t truncate_to_int(double x)
{
    if (x >= 0x1p63)
        return INT64_MAX;
    if (x < -0x1p63)
        return INT64_MIN;
    return x == x ? (int64_t) x : 0;
}

int64_t mo_tensor_get_int(const mo_tensor_dense *dense, int64_t i)
{
    switch (dense->desc.elem) {
    case MO_ELEM_I64:
    case MO_ELEM_U64:
        return ((const int64_t *) dense->data)[i];
    case MO_ELEM_I32:
        return ((const int32_t *) dense->data)[i];
    case MO_ELEM_I16:
        return ((const int16_t *) dense->data)[i];
    case MO_ELEM_I8:
        return ((const int8_t *) dense->data)[i];
    case MO_ELEM_U32:
        return ((const uint32_t *) dense->data)[i];
    case MO_ELEM_U16:
        return ((const uint16_t *) dense->data)[i];
    case MO_ELEM_U8:
    case MO_ELEM_BOOL:
        return ((const uint8_t *) dense->data)[i];
    default:
        return truncate_to_int(mo_tensor_get_double(dense, i));
    }
}

void mo_tensor_set_double(mo_tensor_dense *dense, int64_t i, double x)
{
    if (mo_elem_is_float(dense->desc.elem))
        store_float(dense, i, x);
    else
        store_int(dense, i, (uint64_t) truncate_to_int(x));
}

void mo_tensor_set_int(mo_tensor_dense *dense, int64_t i, int64_t x)
{
    if (mo_elem_is_float(dense->desc.elem))
        store_float(dense, i, (double) x);
    else
        store_int(dense, i, (uint64_t) x);
}

mo_tensor_difference mo_tensor_compare(const mo_tensor_dense *a,
                                       const mo_tensor_dense *b)
{
    mo_tensor_difference d = { .same_shape = mo_shape_equal(&a->desc.shape,
                                                            &b->desc.shape) };
    int64_t n = d.same_shape ? mo_tensor_desc_elements(&b->desc) : 0;
    bool whole =
        !mo_elem_is_float(a->desc.elem) && !mo_elem_is_float(b->desc.elem);
    double largest = 1e-30; /* where all elements are zero */

    for (int64_t i = 0; i < n; i++) {
        double x = mo_tensor_get_double(a, i), y = mo_tensor_get_double(b, i);
        double error = x == y ? 0 : fabs(x - y);

        /* Large integers may differ by less than a double resolves. */
        if (whole)
            error = mo_tensor_get_int(a, i) == mo_tensor_get_int(b, i)
                        ? 0
                        : fmax(error, 1);
        else if (isnan(x) || isnan(y))
            error = isnan(x) && isnan(y) ? 0 : INFINITY;
        if (isfinite(y) && fabs(y) > largest)
            largest = fabs(y);
        if (error > d.absolute) {
            d.absolute = error;
            d.at = i;
        }
    }
    d.relative = d.absolute / largest;
    if (!d.same_shape)
        d.absolute = d.relative = INFINITY;
    return d;
}
