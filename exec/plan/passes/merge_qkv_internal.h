/*
 * attend_merging.h - the inside of mo_plan_merge: products that become one.
 */
#ifndef MO_EXEC_PLAN_PASSES_MERGE_QKV_INTERNAL_H
#define MO_EXEC_PLAN_PASSES_MERGE_QKV_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/passes/fuse_attention_internal.h"
#include "exec/plan/value_table.h"

typedef struct mo_merging {
    mo_plan *plan;
    mo_values values;
    mo_uses uses; /* of the values that were there before */
    bool *gone;   /* by call: it is a part of another */
} mo_merging;

/* Products of the same rows, with constant weights and alike in all but how
 * many columns they have. */
enum { MO_MERGE_PARTS = 3 };

typedef struct mo_merge_group {
    int n;
    int calls[MO_MERGE_PARTS];
    int operands[MO_MERGE_PARTS]; /* which ones of the attention they make */
    int last;                     /* the last of the calls */
    int64_t columns;              /* of all together */
} mo_merge_group;

static inline const mo_plan_value *mo_merge_value(const mo_merging *m,
                                                  int value)
{
    return &m->values.items[value];
}

/* The constant that value is, maybe under another shape; NULL: none. */
const mo_dense *mo_merge_constant(const mo_merging *m, int value);

/* The call that they become; makes the values that it needs. */
mo_status mo_merge_join(mo_merging *m, const mo_merge_group *g, mo_call *joined,
                        mo_error *err);

#endif
