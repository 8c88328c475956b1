/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contraction.h - what the steps of mo_contract share; for this room only.
 */
#ifndef MO_COARSEN_CONTRACT_INTERNAL_H
#define MO_COARSEN_CONTRACT_INTERNAL_H

#include "base/out.h"
#include "coarsen/contract.h"
#include "graph/build.h"

/* A text of g and where the coarse graph keeps it. */
typedef struct mo_contract_copy {
    const char *from, *to;
} mo_contract_copy;

enum { MO_CONTRACT_COPIES = 256 };

typedef struct mo_contraction {
    const mo_graph *g;
    const mo_grouping *how;
    mo_coarsen_map *groups; /* from ops to group numbers, not to coarse ids */
    mo_builder *builder;    /* slot k is group k */
    mo_out *text;           /* where texts are put together */
    mo_contract_copy copies[MO_CONTRACT_COPIES]; /* the last ones, by address */

    int *output;       /* by tensor: which output of its group its data are, or
                          -1 when nobody outside reads them */
    int *outputs;      /* tensors, group by group in the order of output */
    int *output_start; /* those of group k: [output_start[k], ...[k + 1]) */
} mo_contraction;

static inline int mo_contraction_size(const mo_contraction *c, int group)
{
    return c->groups->start[group + 1] - c->groups->start[group];
}

static inline int mo_contraction_outputs(const mo_contraction *c, int group)
{
    return c->output_start[group + 1] - c->output_start[group];
}

/* Does this member count for types and times? */
static inline bool mo_contraction_counts_member(const mo_contraction *c, int op)
{
    return !c->how->silent || !c->how->silent[op];
}

/* Finds what leaves the groups: makes output, outputs and output_start. */
mo_status mo_contract_find_outputs(mo_contraction *c, mo_error *err);

/* What the outputs of a group amount to; MO_UNKNOWN when one of them is. */
int64_t mo_contract_output_bytes(const mo_contraction *c, int group);

/* A text of g in the coarse graph; NULL stays NULL. */
mo_status mo_contract_copy_text(mo_contraction *c, const char *text,
                                const char **kept, mo_error *err);

/* Types and names of a group's members, shapes and element types of its
 * outputs, as mo_op has them; NULL when one is not known. */
mo_status mo_contract_join_types(mo_contraction *c, int group,
                                 const char **types, mo_error *err);
mo_status mo_contract_join_names(mo_contraction *c, int group,
                                 const char **names, mo_error *err);
mo_status mo_contract_join_shapes(mo_contraction *c, int group,
                                  const char **shapes, mo_error *err);
mo_status mo_contract_join_dtypes(mo_contraction *c, int group,
                                  const char **dtypes, mo_error *err);

/* Defines slot group with all that its members add up to. */
mo_status mo_contract_op(mo_contraction *c, int group, mo_error *err);

/* The traffic between the members of a group, which need not happen. */
double mo_contract_saved_bytes(const mo_contraction *c, int group);

/* Columns, and the times of every group. */
mo_status mo_contract_times(mo_contraction *c, mo_error *err);

/* Edges between groups, with their own measurements. */
mo_status mo_contract_edges(mo_contraction *c, mo_error *err);

#endif
