/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/point_builder.h"
#include "exec/op/lower/lowerings.h"

/* A curve through integers gives the nearest ones. */
static int rounded(mo_point_builder *draft, mo_point_op op, int x)
{
    int curve =
        mo_point_builder_unary(draft, op, mo_point_builder_to_real(draft, x));

    return mo_point_builder_unary(draft, MO_POINT_ROUND_AWAY, curve);
}

mo_status mo_lower_unary(const mo_op_site *site, mo_arena *arena,
                         mo_lower_result *lowered, mo_error *err)
{
    mo_point_builder draft = mo_point_builder_init(site);
    const mo_lower_entry *op = mo_lower_entry_find(site->type);
    int x = mo_point_builder_input(&draft, 0);

    if (mo_point_builder_is_real(&draft, x))
        x = mo_point_builder_unary(&draft, op->on_reals, x);
    else if (op->on_integers == MO_POINT_AS_REAL)
        x = rounded(&draft, op->on_reals, x);
    else if (op->on_integers != MO_POINT_KEEP)
        x = mo_point_builder_unary(&draft, (mo_point_op) op->on_integers, x);
    mo_point_builder_store(&draft, x);
    return mo_point_builder_finish_call(&draft, arena, lowered, err);
}
