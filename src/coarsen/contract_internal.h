/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract_internal.h - the state of a contraction, shared by contract.c and
 * contract_op.c.
 */
#ifndef MO_COARSEN_CONTRACT_INTERNAL_H
#define MO_COARSEN_CONTRACT_INTERNAL_H

#include "base/out.h"
#include "coarsen/contract.h"
#include "graph/build.h"

/* A text of g and its copy in the coarse graph. */
typedef struct mo_contract_copy {
    const char *from, *to;
} mo_contract_copy;

enum { MO_CONTRACT_COPIES = 256 };

typedef struct mo_contraction {
    const mo_graph *g;
    const mo_grouping *how;
    mo_coarsen_map *groups; /* from ops to group numbers, not to coarse ids */
    mo_builder *builder;    /* slot k is group k */
    mo_out *text;           /* buffer for composed texts */
    mo_contract_copy copies[MO_CONTRACT_COPIES]; /* cache of recent copies,
                                                    hashed by address */

    int *output;  /* by tensor: the output of its group that holds its data, or
                     -1 when no op outside reads it */
    int *outputs; /* tensors, sorted by group and output */
    int *output_start; /* outputs of group k: [output_start[k], output_start[k +
                          1]) */
} mo_contraction;

static inline int mo_contraction_size(const mo_contraction *c, int group)
{
    return c->groups->start[group + 1] - c->groups->start[group];
}

static inline int mo_contraction_outputs(const mo_contraction *c, int group)
{
    return c->output_start[group + 1] - c->output_start[group];
}

/* Returns whether this member contributes its type and time. */
static inline bool mo_contraction_counts_member(const mo_contraction *c, int op)
{
    return !c->how->silent || !c->how->silent[op];
}

/* Returns the size of all outputs of a group together; MO_UNKNOWN when that of
 * one of them is unknown, or the sum overflows. */
int64_t mo_contract_output_bytes(const mo_contraction *c, int group);

/* Sets *kept to a copy of a text of g that the coarse graph owns; NULL gives
 * NULL. */
mo_status mo_contract_copy_text(mo_contraction *c, const char *text,
                                const char **kept, mo_error *err);

/* Defines slot `group` of the builder with the sums over its members.  Returns
 * MO_E_INPUT when members are pinned or colocated differently. */
mo_status mo_contract_op(mo_contraction *c, int group, mo_error *err);

/* Returns the memory traffic that fusion of the group avoids. */
double mo_contract_saved_bytes(const mo_contraction *c, int group);

/* Adds the columns of measured times, and the times of every group. */
mo_status mo_contract_times(mo_contraction *c, mo_error *err);

#endif
