/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/infer/dims.h"

#include <stdio.h>

#include "base/number.h"

mo_dims_text mo_dims_format(const mo_shape *shape)
{
    return mo_dims_format_named(shape, NULL);
}

mo_dims_text mo_dims_format_named(const mo_shape *shape,
                                  const char *const *names)
{
    mo_dims_text words;
    size_t at = 0;

    if (shape->rank == 0)
        return (mo_dims_text){ "a scalar" };
    if (shape->rank < 0)
        return (mo_dims_text){ "..." };
    for (int d = 0; d < shape->rank; d++) {
        if (d > 0)
            words.text[at++] = ',';
        if (shape->dims[d] < 0)
            at +=
                (size_t) snprintf(words.text + at, sizeof words.text - at,
                                  "%.36s", names && names[d] ? names[d] : "?");
        else
            at += mo_number_write_int(words.text + at, shape->dims[d]);
    }
    words.text[at] = '\0';
    return words;
}

void mo_dims_push(mo_shape *shape, int64_t dim)
{
    if (shape->rank < MO_MAX_RANK)
        shape->dims[shape->rank++] = dim;
    else
        shape->rank = MO_MAX_RANK + 1;
}

bool mo_dims_broadcast(const mo_shape *a, const mo_shape *b, mo_shape *merged)
{
    const mo_shape *tall = a->rank >= b->rank ? a : b;
    const mo_shape *low = tall == a ? b : a;
    int lead = tall->rank - low->rank;
    mo_shape out = *tall;

    for (int d = 0; d < low->rank; d++) {
        int64_t *dim = &out.dims[lead + d];

        if (*dim == 1)
            *dim = low->dims[d];
        else if (low->dims[d] != 1 && low->dims[d] != *dim)
            return false;
    }
    *merged = out;
    return true;
}

bool mo_dims_contradict(const mo_shape *before, const mo_shape *now)
{
    if (before->rank < 0)
        return false;
    if (before->rank != now->rank)
        return true;
    for (int d = 0; d < before->rank; d++)
        if (before->dims[d] >= 0 && before->dims[d] != now->dims[d])
            return true;
    return false;
}

mo_status mo_dims_fail_broadcast(mo_error *err, const mo_shape *a,
                                 const mo_shape *b)
{
    return mo_fail(err, MO_E_INPUT, "%s and %s do not broadcast",
                   mo_dims_format(a).text, mo_dims_format(b).text);
}
