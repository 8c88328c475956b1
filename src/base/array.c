/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

mo_status mo_array_reserve(void **items, size_t *room, size_t need, size_t size,
                           mo_error *err)
{
    size_t want = *room < FIRST_ROOM ? FIRST_ROOM : *room, bytes;
    void *old, *grown;

    if (need <= *room)
        return MO_OK;
    while (want < need)
        if (!mo_size_mul(want, 2, &want))
            want = need;
    if (!mo_size_mul(want, size, &bytes))
        return mo_fail_memory(err);

    /* *items is an int * or another object pointer of the caller; only a copy
     * of its bytes may be read as a void *. */
    memcpy(&old, items, sizeof old);
    grown = realloc(old, bytes);
    if (!grown)
        return mo_fail_memory(err);
    memcpy(items, &grown, sizeof grown);
    *room = want;
    return MO_OK;
}

bool mo_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

bool mo_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

bool mo_int64_mul(int64_t a, int64_t b, int64_t *out)
{
    int64_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

bool mo_int64_add(int64_t a, int64_t b, int64_t *out)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}
