/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priced_labelling.h - placements of least cost at prices of the resources and
 * of memory: the subproblem of the Lagrangian relaxation of the period.
 *
 * For prices u_r >= 0 of the resources, and v_k >= 0 of the devices' memory,
 * every placement x within memory of period T has
 *
 *     T sum_r u_r  >=  sum_r u_r load_r(x) + sum_k v_k (used_k(x) - capacity_k)
 *
 * The least value of the right side over all placements is a labelling of the
 * units with devices (labelling.h): ops have costs by device, flows by pair of
 * devices.  It is computed exactly, in integers, so every price vector gives a
 * valid bound.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_PRICED_LABELLING_H
#define MO_SOLVERS_SEARCH_PERIOD_PRICED_LABELLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/period/labelling.h"
#include "solvers/search/period/load_state.h"

/*
 * The transfers of an instance as factors of a graphical model: a table of
 * costs for the devices of two units, or with tensors once of a producer and
 * all its readers where that is small.  A tensor with too many readers for one
 * table has a pair factor for each of them with an equal part of its cost,
 * which is a lower bound.
 */

/* A contribution to the table of a factor: a flow, or with tensors once a
 * tensor. */
typedef struct mo_transfer_cost {
    int item, factor;
    bool is_reversed; /* the producer is the second variable of a pair */
    int share;        /* the cost is divided by it */
} mo_transfer_cost;

typedef struct mo_transfer_factors {
    const mo_period_problem *problem;
    mo_labelling_factor *factors;
    int (*pairs)[2]; /* variables of pair factors */
    int64_t **tables;
    int n_factors;
    mo_transfer_cost *items; /* in the order of their factors */
    size_t n_items, item_room;
} mo_transfer_factors;

typedef struct mo_priced_labelling {
    const mo_period_problem *problem;
    mo_period_state state;   /* of the last placement */
    int n_prices;            /* resources, then limited memories */
    int *limited, n_limited; /* devices whose memory may bind */
    double *memory_unit;     /* by device: ns for a byte */
    mo_transfer_factors transfers;
    mo_labelling *labelling;
    int64_t *unary;
    int64_t *price;      /* by resource */
    int64_t *pair_cost;  /* by pair of devices: sum of the prices */
    int *label, *device; /* by unit, by op */
    double scale;        /* of prices */
    int64_t total_bytes; /* of all units */
} mo_priced_labelling;

/* upper_ns is the period of a known placement.  The caller clears *l, also
 * after a failure; the problem outlives it. */
mo_status mo_priced_labelling_init(mo_priced_labelling *l,
                                   const mo_period_problem *problem,
                                   int64_t upper_ns, mo_error *err);
void mo_priced_labelling_clear(mo_priced_labelling *l);

/* Largest sum of the prices of resources; the optimum has 1. */
#define MO_PRICED_MAX_SUM 16

/*
 * Places by prices, those of resources, then those of the limited memories in
 * units of memory_unit; device and state are set to a placement of least cost.
 * Returns the bound of the period that the prices prove, and sets *least to the
 * cost less that of the capacities; INT64_MIN, with nothing set, where a price
 * is beyond any use.  Not from two threads at once.
 */
int64_t mo_priced_labelling_minimize(mo_priced_labelling *l,
                                     const double *prices, double *least);

#endif
