/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - growable arrays and sizes that do not wrap around.
 *
 * An array is a plain pointer with a count and a capacity next to it, so that
 * its users index it as usual:
 *
 *     int *ids = NULL; size_t n = 0, room = 0;
 *     if (MO_ARRAY_GROW(ids, n, room, err) != MO_OK) ...
 *     ids[n++] = 7;
 */
#ifndef MO_BASE_ARRAY_H
#define MO_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Makes room for at least need items of the given size in *items, which is
 * NULL or came from malloc.  Doubles, so that pushing is amortised O(1).  On
 * failure nothing has changed. */
mo_status mo_array_reserve(void **items, size_t *room, size_t need, size_t size,
                           mo_error *err);

/* Room for one more behind the n that are there. */
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
