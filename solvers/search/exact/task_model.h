/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_model.h - an instance as tasks for the exact search.
 *
 * A task is an op or something that may be sent.  It is done in one of several
 * modes: an op on a device, a transfer from one device to another, or not at
 * all.  Every mode has a literal that says so (ops of a group share theirs), a
 * length, resources that it holds meanwhile, and two bounds: its head, the time
 * before which it cannot start, and its tail, what comes at least after it has
 * ended.  Both only mean anything if the mode is the one that is taken.
 *
 * Rules tell how bounds follow from others along the flows.  Tasks that hold
 * the same resource run one after the other: for every two, a variable tells
 * which goes first.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_TASK_MODEL_H
#define MO_SOLVERS_SEARCH_EXACT_TASK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/placement_units.h"
#include "solvers/search/exact/core.h"

/* Bounds of mode m. */
#define MO_EXACT_HEAD(m) (2 * (m))
#define MO_EXACT_TAIL(m) (2 * (m) + 1)

typedef struct mo_exact_task_mode {
    int task;
    int literal;
    int from, to; /* devices; an op's are the same */
    bool is_real; /* false: nothing is sent */
    int64_t length_ns;
} mo_exact_task_mode;

typedef struct mo_exact_task {
    int first, n; /* its modes */
    int item;     /* op, flow or tensor */
    int source;   /* the op, or the producer of what is sent */
    int to;       /* of a tensor: the target; else MO_FREE */
} mo_exact_task;

/* A task on a resource: the modes in which it holds that. */
typedef struct mo_exact_resource_use {
    int task;
    int first, n; /* in use_modes */
} mo_exact_resource_use;

/* One way for a rule to be kept: bound a + add, or the larger of two such. */
typedef struct mo_exact_alternative {
    int literal;     /* the way exists unless this is false */
    int bound, also; /* also may be -1 */
    int64_t add_ns, also_add_ns;
} mo_exact_alternative;

/* target is at least the least of the ways, if both that are given hold; they
 * may be MO_EXACT_NO_LITERAL. */
typedef struct mo_exact_precedence {
    int target;
    int given, also_given;
    int first, n; /* in ways */
} mo_exact_precedence;

typedef struct mo_exact_adjacency {
    int *start, *items; /* of i: items[start[i] .. start[i + 1]) */
} mo_exact_adjacency;

typedef struct mo_exact_model {
    const mo_instance *x;
    mo_regime regime;
    mo_placement_units *units;
    bool is_impossible; /* seen at once */
    bool has_sends;     /* transfers are tasks; else only times between ops */

    int *place;   /* by unit and device: the literal, or MO_EXACT_NO_LITERAL */
    int *op_mode; /* by op and device: the mode, or -1 */

    mo_exact_task *tasks; /* ops first */
    size_t n_tasks, tasks_room;
    mo_exact_task_mode *modes;
    size_t n_modes, modes_room;

    int n_literals;             /* of the core, when all of this was made */
    int n_resources;            /* devices first */
    mo_exact_adjacency uses_of; /* by resource: uses */
    mo_exact_resource_use *uses;
    size_t n_uses, uses_room;
    int *use_modes;
    size_t n_use_modes, use_modes_room;

    mo_exact_precedence *rules;
    size_t n_rules, rules_room;
    size_t n_first_rules; /* that are told of changes; later ones look */
    mo_exact_alternative *ways;
    size_t n_ways, ways_room;

    int *first_goes; /* by two tasks: the literal that the one goes before the
                        other, if they hold the same; MO_EXACT_NO_LITERAL: order
                        is no question */
    int first_order; /* variable; the others of orders follow */
    int (*order_of)[2]; /* by variable, from that one on: the two tasks */
    size_t n_orders, orders_room;
    unsigned char *reaches; /* by two ops: is there a path? */

    mo_exact_adjacency modes_of_literal, rules_of_literal; /* by literal */
    mo_exact_adjacency rules_of_bound;
    mo_exact_adjacency resources_of_mode;
} mo_exact_model;

/* Makes variables and bounds in the core, which was just opened, and gives it
 * the clauses that tie them together.  Both are the caller's to close, on
 * failure, too. */
mo_status mo_exact_model_init(mo_exact_model *m, mo_exact_core *c,
                              const mo_instance *x, const mo_regime *regime,
                              mo_error *err);
void mo_exact_model_clear(mo_exact_model *m);

/* Literal that task a goes before task b. */
static inline int mo_exact_order_literal(const mo_exact_model *m, int a, int b)
{
    return m->first_goes[(size_t) a * m->n_tasks + (size_t) b];
}

/* Is all that the task is there for always over when the op starts, or is it
 * that op? */
bool mo_exact_always_ends_before(const mo_exact_model *m, int task, int op);

static inline int mo_exact_place_literal(const mo_exact_model *m, int op,
                                         int device)
{
    return m->place[m->units->of_op[op] * m->x->n_devices + device];
}

#endif
