/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset_pricing.h - the set of units of most value that a device can have
 * within its limits: a longest path with resources (label setting, Irnich and
 * Desaulniers, 2005) through the graph below.
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
#include "solvers/search/period/load_state.h"

/*
 * A period problem from the side of one device, for a period
 * of at most T: what a set of units costs the device that has them.
 *
 * Units between which a transfer takes longer than T are one (contraction).
 * Transfers are items: a tensor with all units that read it, or with a transfer
 * per edge what one unit sends to another.  A device with a part of the ends of
 * an item receives it, or sends it at least once; its times are the least over
 * all devices on the other side.  Devices of equal numbers are a class.
 */

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

/*
 * All sets of units as paths of a layered graph: layer by
 * layer a unit is left out or taken in (frontier-based dynamic programming, as
 * for decision diagrams).
 *
 * A node is what of the decisions so far matters to the items that have other
 * ends ahead.  An item of too many layers for the limit of nodes is left out of
 * the graph: it costs nothing then, and what is concluded from the graph
 * remains a relaxation.
 */

/* What an arc adds to the use of a device's limits: MO_SUBSET_LOAD first. */
typedef struct mo_subset_use {
    int64_t of[MO_SUBSET_LIMITS];
} mo_subset_use;

typedef struct mo_subset_graph {
    const mo_subset_units *units;
    int n;      /* layers */
    int *unit;  /* by layer */
    int *start; /* nodes of layer i: [start[i], start[i + 1]); the last layer,
                   n, has one */
    int *next;  /* by node and decision, 1: the unit is taken in */
    mo_subset_use *use; /* by class, node and decision; a load of -1: the
                           decision is excluded */
} mo_subset_graph;

/* The caller clears *g, also after a failure; units outlives it. */
mo_status mo_subset_graph_init(mo_subset_graph *g, const mo_subset_units *units,
                               int max_nodes, mo_error *err);
void mo_subset_graph_clear(mo_subset_graph *g);

/* Returns what the decision at the node uses of a device of the class. */
static inline const mo_subset_use *
mo_subset_graph_use(const mo_subset_graph *g, int c, int node, int decision)
{
    return &g->use[((int64_t) c * g->start[g->n] + node) * 2 + decision];
}

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
