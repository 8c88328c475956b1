/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_table.h - the table of split.h: the split of least cost for given
 * prices of time and of main memory.  One thread at a time uses a table.
 */
#ifndef MO_REPORT_RUNTIME_SPLIT_TABLE_H
#define MO_REPORT_RUNTIME_SPLIT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "report/runtime/chain.h"
#include "report/runtime/knapsack.h"
#include "report/runtime/split.h"

typedef struct mo_split_entry mo_split_entry;

/* Interchangeable devices. */
typedef struct mo_split_class {
    int members[MO_CHAIN_MAX_DEVICES], n;
    int64_t stride; /* of its count in the number of a state */
} mo_split_class;

typedef struct mo_split_table {
    /* Set by the caller before each mo_split_table_solve(). */
    double byte_ns;     /* price of a byte on the host */
    double ns_share;    /* 1, or 0: prices alone count */
    mo_knapsack *moves; /* experts of a segment, to main memory */

    const mo_chain *c; /* borrowed */
    mo_split_class classes[MO_CHAIN_MAX_DEVICES];
    int n_classes, host_class; /* MO_CHAIN_NONE: the host takes no units */
    int first;                 /* unit that is placed first */
    double *time_ns;           /* weighted, by unit and device, with experts */
    double *extra_ns;    /* the same of experts in main memory: how much more */
    double *transfer_ns; /* weighted, as of a phase */
    double *segment_ns;  /* by class and its ends */
    mo_split_entry *entries;
    int64_t n_states;
} mo_split_table;

/* Whether the rules let units be on a device that is allowed. */
bool mo_split_may_use(const mo_chain *c, const bool *allowed, int device);

/* Makes the table of a chain, which it borrows.  The caller frees it. */
mo_status mo_split_table_new(const mo_chain *c, const bool *allowed,
                             mo_split_table **table, mo_error *err);
void mo_split_table_free(mo_split_table *table);

/* Makes the split of least cost, with its figures; returns its cost, or
 * INFINITY where there is none.  Where moves->fractional is set, the cost is a
 * bound, and split is left as it is. */
double mo_split_table_solve(mo_split_table *table, mo_split *split);

#endif
