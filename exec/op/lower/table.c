/* SPDX-License-Identifier: Apache-2.0 */
/* Lowerings by operator, from operators.def. */
#include <stddef.h>

#include "exec/op/lower.h"
#include "exec/op/lower/lowerings.h"
#include "exec/op/shape_check.h"
#include "ingest/operator_id.h"

#define IN(i) MO_LOWER_INPUT(i)
#define ALL   MO_LOWER_ALL_INPUTS

/* Words of the column LOWERING. */
#define LOWER_NONE             .lower = NULL
#define LOWER_LOWER(f, inputs) .lower = mo_lower_##f, .constants = inputs
#define LOWER_STEP(f, real, integer)                                           \
    .lower = mo_lower_##f, .on_reals = MO_POINT_##real,                        \
    .on_integers = MO_POINT_##integer
#define LOWER_UNARY(real, integer)        LOWER_STEP(unary, real, integer)
#define LOWER_BINARY(real, integer)       LOWER_STEP(binary, real, integer)
#define LOWER_VARIADIC(real, integer)     LOWER_STEP(variadic, real, integer)
#define LOWER_BINARY_BY(f, real, integer) LOWER_STEP(f, real, integer)
#define LOWER_LOGICAL(op)                                                      \
    .lower = mo_lower_logical, .on_integers = MO_POINT_##op
#define LOWER_BITWISE(op)                                                      \
    .lower = mo_lower_bitwise, .on_integers = MO_POINT_##op
#define LOWER_REDUCE(op)                                                       \
    .lower = mo_lower_reduce, .constants = IN(1), .reduce = MO_CALL_REDUCE_##op

static const mo_lower_entry entries[MO_OPERATORS] = {
#define OPERATOR(name, class, flops, shape, value, lowering)                   \
    { .type = #name, LOWER_##lowering },
#include "ingest/operators.def"
};

const mo_lower_entry *mo_lower_entry_at(int index)
{
    for (int i = 0; i < MO_OPERATORS; i++)
        if (entries[i].lower && index-- == 0)
            return &entries[i];
    return NULL;
}

const mo_lower_entry *mo_lower_entry_find(const char *type)
{
    mo_operator_id id = mo_operator_id_of(type);

    return id != MO_OPERATOR_NO && entries[id].lower ? &entries[id] : NULL;
}

mo_status mo_lower_operator(const mo_op_site *site, mo_arena *arena,
                            mo_lower_result *lowered, mo_error *err)
{
    const mo_lower_entry *op = mo_lower_entry_find(site->type);
    const mo_attr *refused = mo_attr_find_string(site->attrs, "refused");
    mo_status status;

    if (!op && refused && refused->string)
        return mo_op_site_fail(site, MO_E_SUPPORT, err, "cannot be run: %.*s",
                               (int) refused->string_length, refused->string);
    if (!op)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "there is no such operator to run");
    if (site->n_in < 1 || site->n_out < 1)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has %d inputs and %d outputs", site->n_in,
                               site->n_out);
    for (int i = 0; i < site->n_in; i++)
        if ((op->constants == MO_LOWER_ALL_INPUTS ||
             (i < 32 && op->constants >> i & 1u)) &&
            !site->value[i])
            return mo_op_site_fail(site, MO_E_SUPPORT, err,
                                   "its input %d must be a constant", i);
    status = mo_op_site_check_shapes(site, arena, err);
    *lowered = (mo_lower_result){ .arena = arena };
    return status == MO_OK ? op->lower(site, lowered, err) : status;
}
