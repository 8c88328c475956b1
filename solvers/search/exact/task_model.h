/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_model.h - constraint model of an instance: a multi-mode scheduling
 * problem with unary resources.
 *
 * A task is an op or a possible transfer. It has several modes: an op on a
 * device, a transfer from one device to another, or no transfer. Every mode
 * has a literal that selects it (ops of a group share theirs), a length,
 * resources that it uses meanwhile, and two bounds: its head, a lower bound on
 * the start, and its tail, a lower bound on the time from its end to the end
 * of the schedule (as in Carlier's one-machine problem). Both hold if the mode
 * is selected.
 *
 * Precedences derive bounds from others along the flows. Tasks that use the
 * same resource are disjunctive: for every two, a variable decides the order.
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

typedef struct mo_exact_mode {
    int task;
    int literal;
    int from, to; /* devices; equal for an op */
    bool is_real; /* false: no transfer takes place */
    int64_t length_ns;
} mo_exact_mode;

typedef struct mo_exact_task {
    int first, n; /* its modes */
    int item;     /* op, flow or tensor */
    int source;   /* the op, or the producer of the transferred tensor */
    int to;       /* of a tensor: the target device; else MO_FREE */
} mo_exact_task;

/* A task on a resource: the modes in which it uses it. */
typedef struct mo_exact_use {
    int task;
    int first, n; /* in mo_exact_uses.modes */
} mo_exact_use;

/* One alternative of a precedence: bound + add, or the larger of two such. */
typedef struct mo_exact_alternative {
    int literal;       /* excluded if this is false */
    int bound, bound2; /* bound2 may be -1 */
    int64_t add_ns, add2_ns;
} mo_exact_alternative;

/* target >= min over the alternatives, if both conditions are true; each may
 * be MO_EXACT_NO_LITERAL. */
typedef struct mo_exact_precedence {
    int target;
    int condition, condition2;
    int first, n; /* in alternatives */
} mo_exact_precedence;

typedef struct mo_exact_adjacency {
    int *start, *items; /* of i: items[start[i] .. start[i + 1]) */
} mo_exact_adjacency;

typedef struct mo_exact_uses {
    mo_exact_adjacency of_resource; /* by resource: uses */
    mo_exact_use *uses;
    size_t n, room;
    int *modes; /* of all uses, one after the other */
    size_t n_modes, modes_room;
} mo_exact_uses;

typedef struct mo_exact_orders {
    int *literals;   /* by two tasks: literal of "first before second";
                        MO_EXACT_NO_LITERAL: no shared resource, or fixed
                        order */
    int first;       /* first order variable; the others follow */
    int (*tasks)[2]; /* by order variable: the two tasks */
    size_t n, room;
} mo_exact_orders;

typedef struct mo_exact_model {
    const mo_instance *x;
    mo_regime regime;
    mo_placement_units *units;
    bool is_impossible;      /* infeasible already while built */
    bool has_transfer_tasks; /* else transfers are mere delays between ops */

    int *place_literal; /* by unit and device: the literal, or
                           MO_EXACT_NO_LITERAL */
    int *op_mode;       /* by op and device: the mode, or -1 */

    mo_exact_task *tasks; /* ops first */
    size_t n_tasks, tasks_room;
    mo_exact_mode *modes;
    size_t n_modes, modes_room;

    int n_literals;  /* of the core after building */
    int n_resources; /* devices first */
    mo_exact_uses use;

    mo_exact_precedence *precedences;
    size_t n_precedences, precedences_room;
    size_t n_static_precedences; /* in the adjacency lists; later ones are
                                    checked in a loop */
    mo_exact_alternative *alternatives;
    size_t n_alternatives, alternatives_room;

    mo_exact_orders orders;
    unsigned char *reachable; /* by two ops: transitive closure */

    mo_exact_adjacency modes_of_literal,
        precedences_of_literal; /* by literal */
    mo_exact_adjacency precedences_of_bound;
    mo_exact_adjacency resources_of_mode;
} mo_exact_model;

/* Builds the model: variables, bounds and clauses in the core, which has just
 * been initialized. The caller clears both, on failure too. x is borrowed. */
mo_status mo_exact_model_init(mo_exact_model *m, mo_exact_core *c,
                              const mo_instance *x, const mo_regime *regime,
                              mo_error *err);
void mo_exact_model_clear(mo_exact_model *m);

/* Returns the literal of "task a before task b". */
static inline int mo_exact_order_literal(const mo_exact_model *m, int a, int b)
{
    return m->orders.literals[(size_t) a * m->n_tasks + (size_t) b];
}

/* Returns whether the task, and all that reads it, always ends before the op
 * starts, or is that op. */
bool mo_exact_always_ends_before(const mo_exact_model *m, int task, int op);

/* Returns the literal of "op on device", or MO_EXACT_NO_LITERAL. */
static inline int mo_exact_place_literal(const mo_exact_model *m, int op,
                                         int device)
{
    return m->place_literal[m->units->of_op[op] * m->x->n_devices + device];
}

#endif
