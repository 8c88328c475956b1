/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_factors.h - the transfers of an instance as factors of a graphical
 * model (labelling.h): a table of costs for the devices of two units, or with
 * tensors once of a producer and all its readers where that is small.
 *
 * A tensor with too many readers for one table has a pair factor for each of
 * them with an equal part of its cost, which is a lower bound.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_TRANSFER_FACTORS_H
#define MO_SOLVERS_SEARCH_PERIOD_TRANSFER_FACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/period/labelling.h"
#include "solvers/search/period/load_state.h"

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

/* Lists the factors; their tables are zeros.  The caller clears *f, also after
 * a failure; the problem outlives it. */
mo_status mo_transfer_factors_init(mo_transfer_factors *f,
                                   const mo_period_problem *problem,
                                   mo_error *err);
void mo_transfer_factors_clear(mo_transfer_factors *f);

/* Fills the tables: a transfer from a to b costs its time in ns times
 * pair_cost[a * K + b], K devices, and its overhead there and on the host times
 * price, by resource. */
void mo_transfer_factors_price(mo_transfer_factors *f, const int64_t *price,
                               const int64_t *pair_cost);

#endif
