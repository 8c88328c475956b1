/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.h - workloads: several graphs (phases) with weights that share ops,
 * composed in series to one graph.
 *
 * Ops of different phases with one name are the same op: they get one device,
 * and their memory counts once.  The makespan of the composed graph is the sum
 * of weight times makespan over the phases, since no phase runs beside another:
 *
 *     prefill:  a -> b -> c           decode:  a -> b -> c
 *
 *     a . b . c | a' . b' . c'        | gate     ' copy in the second phase
 *
 * A gate is an op without time or work that the ops behind it wait for.
 * Transfers to it take no time.
 *
 * Phases are cut where all of them have the same clean cut (graph/cut.h), and
 * the pieces between two cuts stand together, so that the copies of an op are
 * close to each other and the composed graph has clean cuts as well:
 *
 *     a . b  | a' . b'  | c  | c'     cut b; the second half begins at gates,
 *                                     which send what b and b' have made
 *
 * The time between two cuts depends on the devices of the cuts and of the ops
 * between them only, so the sum is the same in this order.  A gate behind a cut
 * is on the device of the cut.
 */
#ifndef MO_GRAPH_PHASES_H
#define MO_GRAPH_PHASES_H

#include <stdint.h>

#include "base/error.h"
#include "graph/graph.h"

enum { MO_MAX_PHASES = 64, MO_MAX_PHASE_WEIGHT = 1000000000 };

typedef struct mo_phase {
    const char *name;
    int64_t weight;  /* times that it runs in a request, at least 1 */
    mo_graph *graph; /* owned */
    int *op_of;      /* by op of graph: its op in the composed graph */
} mo_phase;

struct mo_phases {
    mo_phase *items;
    int n;

    /* By op of the composed graph. */
    int *phase_of;
    int *source; /* the op of the phase's graph; MO_UNKNOWN: a gate */
    int *cut;    /* of a gate: the op of the phase's graph whose tensors it
                    sends; MO_UNKNOWN: none */
    int *piece;  /* in order of execution, from 0 on */
    int n_pieces;
};

/* Composes the phases, each with name, weight and graph, which no composed
 * graph may be.  The texts are copied.  The ops of a phase have their names,
 * but "NAME@PHASE" where an earlier phase has the name.
 *
 * On success *graph owns the graphs of the phases.  Fails with MO_E_INPUT if a
 * name that results occurs twice. */
mo_status mo_phases_compose(const char *name, const mo_phase *phases, int n,
                            mo_graph **graph, mo_error *err);

/* Frees the graphs of the phases, too; NULL is allowed. */
void mo_phases_free(mo_phases *phases);

/* Fails with MO_E_SUPPORT if g is a workload: it cannot be run, or written as a
 * graph. */
mo_status mo_phases_refuse(const mo_graph *g, mo_error *err);

/* Returns the number of times that a transfer between two ops of the composed
 * graph is made: the weight of the phase; 0 to a gate. */
int64_t mo_phases_transfer_weight(const mo_phases *phases, int from, int to);

#endif
