/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset_units.h - a period problem from the side of one device, for a period
 * of at most T: what a set of units costs the device that has them.
 *
 * Units between which a transfer takes longer than T are one (contraction).
 * Transfers are items: a tensor with all units that read it, or with a transfer
 * per edge what one unit sends to another.  A device with a part of the ends of
 * an item receives it, or sends it at least once; its times are the least over
 * all devices on the other side.  Devices of equal numbers are a class.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_SUBSET_UNITS_H
#define MO_SOLVERS_SEARCH_PERIOD_SUBSET_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/period/load_state.h"

typedef struct mo_subset_item {
    int from;         /* unit */
    int *to, n;       /* other units; owned */
    int64_t *in_ns;   /* by class: of the device that receives it */
    int64_t *out_ns;  /* that sends it */
    int64_t *busy_ns; /* overhead on the device, in both cases */
} mo_subset_item;

typedef struct mo_subset_units {
    int n;
    int *of_unit;      /* by unit of the problem */
    int64_t *bytes;    /* by unit */
    int n_classes;     /* of devices */
    int *class_of;     /* by device */
    int *n_devices;    /* by class */
    int64_t *capacity; /* by class and limit: MO_SUBSET_LIMITS of them */
    int64_t *p_ns;     /* by unit and class; -1: may not be there */
    mo_subset_item *items;
    int n_items;
    bool is_infeasible; /* a unit has no device: no period is T or less */
} mo_subset_units;

/* Limits of a device. */
enum {
    MO_SUBSET_LOAD,
    MO_SUBSET_IN,
    MO_SUBSET_OUT,
    MO_SUBSET_BYTES,
    MO_SUBSET_LIMITS
};

/* joined, by unit of the problem, has the number of another that is on the same
 * device, or its own.  The caller clears *s, also after a failure. */
mo_status mo_subset_units_init(mo_subset_units *s,
                               const mo_period_problem *problem,
                               int64_t period_ns, const int *joined,
                               mo_error *err);
void mo_subset_units_clear(mo_subset_units *s);

#endif
