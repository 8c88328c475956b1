/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - growable arrays and overflow-checked sizes.
 *
 * An array is a plain pointer with a count and a capacity next to it, so that
 * its users index it as usual:
 *
 *     int *ids = NULL; size_t n = 0, room = 0;
 *     if (MO_ARRAY_GROW(ids, n, room, err) != MO_OK) ...
 *     ids[n++] = 7;
 *
 * The caller frees the array with free().
 */
#ifndef MO_BASE_ARRAY_H
#define MO_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Reserves capacity for at least need items of size bytes in *items, which is
 * NULL or came from malloc. Doubles, so that appending is amortised O(1).
 * Returns MO_OK, or MO_E_MEMORY with everything unchanged. */
mo_status mo_array_reserve(void **items, size_t *room, size_t need, size_t size,
                           mo_error *err);

/* Reserves capacity for one item behind the n present. */
#define MO_ARRAY_GROW(items, n, room, err)                                     \
    ((n) < (room) ? MO_OK                                                      \
                  : mo_array_reserve((void **) &(items), &(room), (n) + 1,     \
                                     sizeof *(items), (err)))

/* *out = a * b or a + b; false, with *out untouched, when that overflows. */
bool mo_size_mul(size_t a, size_t b, size_t *out);
bool mo_size_add(size_t a, size_t b, size_t *out);
bool mo_int64_mul(int64_t a, int64_t b, int64_t *out);
bool mo_int64_add(int64_t a, int64_t b, int64_t *out);

#endif
