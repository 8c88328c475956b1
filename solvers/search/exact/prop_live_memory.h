/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_live.h - what devices hold for a while, in the exact search.
 *
 * A holding is the workspace of an op, a tensor where it was made, or a copy
 * that was sent.  It begins when some task starts and lasts until all that need
 * it have ended.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_PROP_LIVE_MEMORY_H
#define MO_SOLVERS_SEARCH_EXACT_PROP_LIVE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "solvers/search/exact/exact_internal.h"

typedef enum mo_exact_buffer_kind {
    MO_EXACT_BUFFER_WORKSPACE,
    MO_EXACT_BUFFER_OUTPUT,
    MO_EXACT_BUFFER_COPY
} mo_exact_buffer_kind;

typedef struct mo_exact_buffer {
    mo_exact_buffer_kind kind;
    int id;      /* op, tensor or task */
    int starter; /* task */
    int literal; /* that it is there */
    int64_t start_ns, end_ns, bytes;
    bool counts; /* among those that are too much */
} mo_exact_buffer;

/* The holding is gone from the device before the task starts there. */
typedef struct mo_exact_lifetime_order {
    mo_exact_buffer_kind kind;
    int id, device, starter;
    int literal;
} mo_exact_lifetime_order;

/* May the mode need the holding on the device: is it the one that begins it, or
 * one that must have ended before it is gone? */
bool mo_exact_mode_uses_buffer(const mo_exact_model *m,
                               const mo_exact_buffer *h, int device, int mode);

/* The parting of two holdings on a device if it is known already, or NULL. */
const mo_exact_lifetime_order *
mo_exact_find_lifetime_order(const mo_exact_search *s, const mo_exact_buffer *h,
                             int device, int starter);

/* Makes it known, with all that follows from it, at level 0; its literal, or
 * MO_EXACT_NO_LITERAL where memory ran out. */
int mo_exact_add_lifetime_order(mo_exact_search *s, const mo_exact_buffer *h,
                                int device, int starter);

#endif
