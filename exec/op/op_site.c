/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/op_site.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "graph/op_attrs.h"

/* Limit on attributes: below it sums with dimensions do not overflow. */
#define MAX_ATTRIBUTE MO_MAX_ELEMENTS

mo_status mo_op_site_fail(const mo_op_site *site, mo_status status,
                          mo_error *err, const char *format, ...)
{
    char text[MO_ERROR_TEXT_SIZE / 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mo_fail(err, status, "op '%.256s' (%.64s): %s", site->name,
                   site->type ? site->type : "no type", text);
}

int mo_op_site_opset(const mo_op_site *site)
{
    static const char prefix[] = "opset";
    const mo_attr *attr = mo_attr_find(site->attrs, "opset");
    size_t length, skipped = sizeof prefix - 1;
    const char *text;
    int64_t number;

    if (!attr)
        return INT_MAX;
    text = attr->text;
    length = attr->length;
    if (length > skipped && memcmp(text, prefix, skipped) == 0) {
        text += skipped;
        length -= skipped;
    }
    if (mo_number_read_int(text, length, &number) != MO_NUMBER_OK ||
        number < 0 || number > INT_MAX)
        return INT_MAX;
    return (int) number;
}

bool mo_op_site_has_attr(const mo_op_site *site, const char *key)
{
    return mo_attr_find(site->attrs, key) != NULL;
}

mo_status mo_op_site_attr_ints(const mo_op_site *site, const char *key,
                               int64_t fallback, int64_t *values, int n,
                               mo_error *err)
{
    int count = 0;

    if (mo_op_site_has_attr(site, key))
        count = mo_attr_ints(site->attrs, key, values, n);
    if (count == 0) {
        for (int i = 0; i < n; i++)
            values[i] = fallback;
        return MO_OK;
    }
    if (count < 0)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "attribute '%s' is not integers", key);
    if (count != n)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "attribute '%s' has %d numbers, not %d", key,
                               count, n);
    for (int i = 0; i < n; i++)
        if (values[i] > MAX_ATTRIBUTE || values[i] < -MAX_ATTRIBUTE)
            return mo_op_site_fail(site, MO_E_LIMIT, err,
                                   "attribute '%s' is too large", key);
    return MO_OK;
}

mo_status mo_op_site_attr_int(const mo_op_site *site, const char *key,
                              int64_t fallback, int64_t *value, mo_error *err)
{
    return mo_op_site_attr_ints(site, key, fallback, value, 1, err);
}

mo_status mo_op_site_attr_real(const mo_op_site *site, const char *key,
                               double fallback, double *value, mo_error *err)
{
    const mo_attr *attr = mo_attr_find(site->attrs, key);

    *value = fallback;
    if (attr && isnan(attr->number))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "attribute '%s' is not a number", key);
    if (attr)
        *value = attr->number;
    return MO_OK;
}

bool mo_op_site_attr_bool(const mo_op_site *site, const char *key,
                          bool fallback)
{
    return mo_attr_bool(site->attrs, key, fallback);
}

bool mo_op_site_attr_equals(const mo_op_site *site, const char *key,
                            const char *text)
{
    return mo_attr_equals(site->attrs, key, text);
}

static mo_status find_value(const mo_op_site *site, int i,
                            const mo_tensor_dense **value, mo_error *err)
{
    if (i >= site->n_in)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has %d input%s, but needs its input %d",
                               site->n_in, site->n_in == 1 ? "" : "s", i);
    *value = site->value[i];
    if (!*value)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "its input %d must be a constant", i);
    return MO_OK;
}

mo_status mo_op_site_const_ints(const mo_op_site *site, int i, int64_t *values,
                                int max, int *count, mo_error *err)
{
    const mo_tensor_dense *value = NULL;
    mo_status status = find_value(site, i, &value, err);
    int64_t n;

    if (status != MO_OK)
        return status;
    n = mo_tensor_desc_elements(&value->desc);
    if (value->desc.shape.rank > 1 || n > max ||
        mo_elem_is_float(value->desc.elem)) {
        char text[MO_TENSOR_DESC_TEXT_SIZE];

        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "input %d (%s) is not a list of at most %d "
                               "integers",
                               i, mo_tensor_desc_format(&value->desc, text),
                               max);
    }
    for (int64_t k = 0; k < n; k++)
        values[k] = mo_tensor_get_int(value, k);
    *count = (int) n;
    return MO_OK;
}

mo_status mo_op_site_const_ints_exact(const mo_op_site *site, int i,
                                      int64_t *values, int n, mo_error *err)
{
    int count = 0;
    mo_status status = mo_op_site_const_ints(site, i, values, n, &count, err);

    if (status == MO_OK && count != n)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "input %d lists %d numbers, not %d", i, count,
                               n);
    return status;
}

mo_status mo_op_site_const_number(const mo_op_site *site, int i, double *value,
                                  mo_error *err)
{
    const mo_tensor_dense *dense = NULL;
    mo_status status = find_value(site, i, &dense, err);

    if (status != MO_OK)
        return status;
    if (mo_tensor_desc_elements(&dense->desc) != 1)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "input %d is not one number", i);
    *value = mo_tensor_get_double(dense, 0);
    return MO_OK;
}

mo_status mo_op_site_normalize_axis(const mo_op_site *site, int64_t axis,
                                    int rank, int *at, mo_error *err)
{
    if (axis < -rank || axis >= rank)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "axis %lld is outside of %d dimensions",
                               (long long) axis, rank);
    *at = (int) (axis < 0 ? axis + rank : axis);
    return MO_OK;
}

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

mo_status mo_op_site_check_arity(const mo_op_site *site, int min_in, int max_in,
                                 int n_out, mo_error *err)
{
    enum { ANY_NUMBER = 1000 };
    char range[64];

    if (site->n_in < min_in || site->n_in > max_in) {
        if (min_in == max_in)
            snprintf(range, sizeof range, "%d", min_in);
        else if (max_in >= ANY_NUMBER)
            snprintf(range, sizeof range, "at least %d", min_in);
        else
            snprintf(range, sizeof range, "%d to %d", min_in, max_in);
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has %d input%s, but takes %s; give it an edge "
                               "or a constant for each",
                               site->n_in, plural(site->n_in), range);
    }
    if (site->n_out != n_out)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has %d output%s, but makes %d", site->n_out,
                               plural(site->n_out), n_out);
    return MO_OK;
}

mo_status mo_op_site_check_output(const mo_op_site *site, int i,
                                  const mo_shape *shape, mo_error *err)
{
    mo_tensor_desc made = { site->out[i].elem, *shape };
    char declared[MO_TENSOR_DESC_TEXT_SIZE], found[MO_TENSOR_DESC_TEXT_SIZE];

    if (mo_shape_equal(&site->out[i].shape, shape))
        return MO_OK;
    return mo_op_site_fail(site, MO_E_INPUT, err,
                           "its output %d is said to be %s, but it makes %s", i,
                           mo_tensor_desc_format(&site->out[i], declared),
                           mo_tensor_desc_format(&made, found));
}
