/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/infer/value_text.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "ingest/infer/dims.h"

static int64_t count_numbers(const char *text)
{
    int64_t n = 1;

    for (; *text; text++)
        n += *text == ',';
    return n;
}

/* Reads one number; false: it is none, or the type does not hold it. */
static bool read_number(const char *text, size_t length, const char *dtype,
                        bool real, mo_infer_scalar *item)
{
    mo_infer_scalar given;

    if (real) {
        if (mo_number_read_double(text, length, &given.r) != MO_NUMBER_OK)
            return false;
        *item = mo_infer_value_cast(given, "f64", dtype);
        return fabs(item->r) <= (strcmp(dtype, "f64") == 0   ? DBL_MAX
                                 : strcmp(dtype, "f16") == 0 ? 65504
                                                             : FLT_MAX);
    }
    if (mo_number_read_int(text, length, &given.i) != MO_NUMBER_OK)
        return false;
    *item = mo_infer_value_cast(given, "i64", dtype);
    return item->i == given.i && (given.i >= 0 || dtype[0] != 'u');
}

mo_status mo_infer_value_read(mo_arena *arena, const char *request,
                              const char *numbers, const mo_shape *shape,
                              const char *dtype, mo_infer_value **value,
                              mo_error *err)
{
    int64_t n = count_numbers(numbers);
    mo_shape whole = *shape;

    if (!mo_infer_value_supports(dtype))
        return mo_fail(err, MO_E_SUPPORT,
                       "--value %.120s: the input has elements of type %s",
                       request, dtype ? dtype : "unknown");
    if (whole.rank == 1 && whole.dims[0] < 0)
        whole.dims[0] = n;
    if (!mo_shape_is_static(&whole))
        return mo_fail(err, MO_E_USAGE,
                       "--value %.120s: the input has a dynamic dimension "
                       "(%s); give it a size with --shape, too",
                       request, mo_dims_format(shape).text);
    if (!mo_shape_fits(&whole) ||
        mo_shape_elements(&whole) > MO_INFER_VALUE_MAX_ITEMS)
        return mo_fail(err, MO_E_LIMIT,
                       "--value %.120s: the input has more than %d elements",
                       request, MO_INFER_VALUE_MAX_ITEMS);
    *value = mo_infer_value_new(arena, &whole, dtype);
    if (!*value)
        return mo_fail_memory(err);
    if (n != 1 && n != (*value)->count)
        return mo_fail(err, MO_E_USAGE,
                       "--value %.120s has %lld numbers, but the input has "
                       "%lld elements (%s)",
                       request, (long long) n, (long long) (*value)->count,
                       mo_dims_format(&whole).text);
    for (int64_t i = 0; i < (*value)->count; i++) {
        size_t length = strcspn(numbers, ",");

        if (!read_number(numbers, length, dtype, (*value)->real,
                         &(*value)->items[i]))
            return mo_fail(err, MO_E_USAGE,
                           "--value %.120s: '%.*s' is no number of type %s, "
                           "as in rate=16000",
                           request, length < 80 ? (int) length : 80, numbers,
                           dtype);
        numbers += n > 1 ? length + (numbers[length] == ',') : 0;
    }
    return MO_OK;
}

void mo_infer_real_write(double x, mo_out *out)
{
    if (isnan(x))
        mo_out_text(out, "nan");
    else if (isinf(x))
        mo_out_text(out, x > 0 ? "inf" : "-inf");
    else if (x == 0 && signbit(x))
        mo_out_text(out, "-0");
    else
        mo_out_double(out, x);
}

void mo_infer_value_write_literal(const mo_infer_value *value, mo_out *out)
{
    char dims[MO_SHAPE_TEXT_SIZE];

    mo_out_text(out, "{\"element_type\":\"");
    mo_out_text(out, value->dtype);
    mo_out_text(out, "\",\"shape\":\"");
    mo_out_bytes(out, dims, mo_shape_write(&value->shape, dims));
    mo_out_text(out, "\",\"value\":\"");
    for (int64_t i = 0; i < value->count; i++) {
        if (i > 0)
            mo_out_char(out, ',');
        if (value->real)
            mo_infer_real_write(value->items[i].r, out);
        else
            mo_out_int(out, value->items[i].i);
    }
    mo_out_text(out, "\"}");
}

bool mo_infer_value_read_literal(const char *attrs, mo_infer_value *value)
{
    size_t length;
    const char *text = attrs ? mo_json_find(attrs, "value", &length) : NULL;

    if (!text || length < 2)
        return false;
    text++;
    for (int64_t i = 0; i < value->count; i++) {
        size_t n = strcspn(text, ",\"");

        if (!read_number(text, n, value->dtype, value->real, &value->items[i]))
            return false;
        text += n + (text[n] == ',');
    }
    return true;
}
