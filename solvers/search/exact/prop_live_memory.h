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

typedef enum mo_holding_kind {
    MO_HOLDS_WORKSPACE,
    MO_HOLDS_HOME,
    MO_HOLDS_COPY
} mo_holding_kind;

typedef struct mo_exact_holding {
    mo_holding_kind kind;
    int id;      /* op, tensor or task */
    int starter; /* task */
    int literal; /* that it is there */
    int64_t start_ns, end_ns, bytes;
    bool counts; /* among those that are too much */
} mo_exact_holding;

/* The holding is gone from the device before the task starts there. */
typedef struct mo_exact_parting {
    mo_holding_kind kind;
    int id, device, starter;
    int literal;
} mo_exact_parting;

/* May the mode need the holding on the device: is it the one that begins it, or
 * one that must have ended before it is gone? */
bool mo_exact_needs(const mo_exact_model *m, const mo_exact_holding *h,
                    int device, int mode);

/* The parting of two holdings on a device if it is known already, or NULL. */
const mo_exact_parting *mo_exact_find_parting(const mo_exact_search *s,
                                              const mo_exact_holding *h,
                                              int device, int starter);

/* Makes it known, with all that follows from it, at level 0; its literal, or
 * MO_NO_LITERAL where memory ran out. */
int mo_exact_add_parting(mo_exact_search *s, const mo_exact_holding *h,
                         int device, int starter);

#endif
