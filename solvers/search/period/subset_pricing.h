/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset_pricing.h - the set of units of most value that a device can have
 * within its limits: a longest path with resources (label setting, Irnich and
 * Desaulniers, 2005) through the graph of subset_graph.h.
 *
 * Labels are pruned by bounds of their completions, which a Lagrangian
 * relaxation of the limits gives for every node.  Of too many labels those of
 * the largest bounds are kept, and the others' bounds count in the result.  All
 * arithmetic is in integers.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_SUBSET_PRICING_H
#define MO_SOLVERS_SEARCH_PERIOD_SUBSET_PRICING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/period/subset_graph.h"

/* Values sum to no more than this in size. */
#define MO_SUBSET_TOTAL (INT64_C(1) << 44)

enum { MO_SUBSET_MAX_UNITS = 1 << 12 };

typedef struct mo_subset_pricing {
    const mo_subset_graph *graph;
    int class;
    double factor[MO_SUBSET_LIMITS]; /* of the limits, in totals */
    int64_t multiplier[MO_SUBSET_LIMITS];
    int64_t constant;     /* of the relaxation: multipliers of capacities */
    const int64_t *value; /* by unit */
    int n_levels;         /* of the use of ports */
    uint16_t *level;      /* by arc: those used, n_levels in + out */
    int64_t *rest;        /* by node and levels: most of a completion */
    bool *chosen;         /* by unit: the best set so far */
    int64_t chosen_value;
    bool *recent; /* sets found before, by set and unit */
    int n_recent, next_recent;
    struct mo_subset_label *labels, *ahead;
    size_t n_labels, label_room, ahead_room;
    struct mo_subset_step *steps; /* of all labels kept */
    size_t n_steps, step_room;
    int64_t work;        /* arcs and labels visited in all calls */
    const mo_stop *stop; /* ends a call early; NULL: never */
} mo_subset_pricing;

/* For a device of the class.  The caller clears *p, also after a failure; the
 * graph outlives it, and has at most MO_SUBSET_MAX_UNITS. */
mo_status mo_subset_pricing_init(mo_subset_pricing *p,
                                 const mo_subset_graph *graph, int class,
                                 mo_error *err);
void mo_subset_pricing_clear(mo_subset_pricing *p);

/* Sets *most to a value that no set within the limits exceeds, and p->chosen to
 * a set of about that value, which is p->chosen_value; of one that is enough,
 * and once p->stop is reached, *most may be INT64_MAX.  Not from two threads at
 * once. */
mo_status mo_subset_price(mo_subset_pricing *p, const int64_t *value,
                          int64_t enough, int max_labels, int64_t *most,
                          mo_error *err);

#endif
