/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priced_entries.h - entries of the segments of a priced chain: lower bounds on
 * the time of a segment plus the prices of the devices of its ops, by class and
 * boundary.
 */
#ifndef MO_SCHEDULE_BOUND_PRICED_ENTRIES_H
#define MO_SCHEDULE_BOUND_PRICED_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

/* Raises *entry_ns, a lower bound on time and price of a segment of the class
 * at a boundary; price_ns is by op and device.  Sets used_bytes, by device, to
 * the bytes of its solution and returns true where it was raised. */
typedef bool mo_priced_chain_refine(void *context, int cls, int boundary,
                                    const int64_t *price_ns, int64_t *entry_ns,
                                    double *used_bytes);

/* A chain with a lower bound on every segment: from the end of its u on a to
 * the start of its v on b, table[a * K + b] of its class; INT64_MAX: not
 * possible. */
typedef struct mo_priced_chain_tables {
    const mo_bound_segment *segments;
    int n;
    const int *cls; /* by segment: equal segments have one class */
    int n_classes;
    const int *first;            /* by class: its first segment */
    const int64_t *const *table; /* by class */
    /* NULL, or called for the entries of segments with ops that are on a
     * shortest path, once for each price. */
    mo_priced_chain_refine *refine;
    void *context;
} mo_priced_chain_tables;

typedef struct mo_priced_entries mo_priced_entries;

/* price_ns, which is read at every evaluation, and the bytes of charges
 * (memory_charges.h) are by op and device; all inputs must outlive it.  The
 * caller frees *entries with mo_priced_entries_free(), which
 * accepts NULL.  One thread at a time. */
mo_status mo_priced_entries_new(const mo_allowed_devices *domains,
                                const mo_priced_chain_tables *tables,
                                const int64_t *price_ns, const int64_t *charges,
                                mo_priced_entries **entries, mo_error *err);
void mo_priced_entries_free(mo_priced_entries *entries);

/* Returns the number of steps that an evaluation takes. */
int64_t mo_priced_entries_work(const mo_priced_entries *entries);

/* Begins an evaluation: computes all entries for the present prices. */
void mo_priced_entries_evaluate(mo_priced_entries *entries);

/* Returns the entries of a class by boundary; INT64_MAX: not possible. */
const int64_t *mo_priced_entries_of(const mo_priced_entries *entries, int cls);

/* Refines an entry, once in an evaluation; returns whether it was raised. */
bool mo_priced_entries_refine(mo_priced_entries *entries, int cls,
                              int boundary);

/* Adds the bytes by device of the solution of an entry. */
void mo_priced_entries_add_used(mo_priced_entries *entries, int cls,
                                int boundary, double *used_bytes);

/* Returns the device of the least price for op. */
int mo_priced_entries_cheapest(const mo_priced_entries *entries, int op);

#endif
