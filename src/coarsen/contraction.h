/*
 * contraction.h - what the steps of mo_contract share; for this room only.
 */
#ifndef MO_COARSEN_CONTRACTION_H
#define MO_COARSEN_CONTRACTION_H

#include "coarsen/contract.h"
#include "graph/build.h"

typedef struct mo_contraction {
    const mo_graph *g;
    const mo_grouping *how;
    mo_map *groups;       /* from ops to group numbers, not to coarse ids */
    mo_builder *builder;  /* slot k is group k */
    int *leaving;         /* by tensor: which output of its group it is, or -1
                             when it stays inside or nobody is left to read it */
    int *n_leaving;       /* by group */
} mo_contraction;

/* Does this member count for types and times? */
static inline bool mo_contraction_works(const mo_contraction *c, int op)
{
    return !c->how->silent || !c->how->silent[op];
}

/* Defines slot group with all that its members add up to. */
mo_status mo_contract_op(mo_contraction *c, int group, mo_error *err);

/* The traffic between the members of a group, which need not happen. */
double mo_contract_saved_bytes(const mo_contraction *c, int group);

/* Columns, and the times of every group. */
mo_status mo_contract_times(mo_contraction *c, mo_error *err);

/* Edges between groups, with their own measurements. */
mo_status mo_contract_edges(mo_contraction *c, mo_error *err);

#endif
