/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of schedules that differ only in which twin does what, one is enough: that in
 * which twins stand in the order of their devices, as words in a dictionary,
 * and, where those are the same, of the starts of their first ops.  Every other
 * becomes this one by exchanging twins.
 */
#include "solvers/search/exact/task_model_build.h"
#include "solvers/search/exact/symmetry_detect.h"

/* If the words have been the same so far (MO_EXACT_NO_LITERAL: this is the
 * beginning), a's next device is not behind b's.  Returns the literal that they
 * still are the same. */
static int order_ops(mo_exact_model_builder *b, int same, int op_a, int op_b)
{
    const mo_exact_model *m = b->m;
    int still = 2 * mo_exact_core_new_variable(b->core);
    int clause[4], n = 0;

    if (same != MO_EXACT_NO_LITERAL)
        clause[n++] = same ^ 1;
    for (int k = 0; k < m->x->n_devices; k++) {
        int x_a = mo_exact_place_literal(m, op_a, k);

        if (x_a == MO_EXACT_NO_LITERAL)
            continue;
        clause[n] = x_a ^ 1;
        for (int l = 0; l <= k; l++) {
            int x_b = mo_exact_place_literal(m, op_b, l);

            if (x_b == MO_EXACT_NO_LITERAL)
                continue;
            clause[n + 1] = x_b ^ 1;
            clause[n + 2] = still;
            mo_exact_build_clause(b, clause, l < k ? n + 2 : n + 3);
        }
    }
    return still;
}

static void order_twins(mo_exact_model_builder *b, const int *ops_a,
                        const int *ops_b, int n)
{
    int same = MO_EXACT_NO_LITERAL, first;

    for (int i = 0; i < n; i++)
        same = order_ops(b, same, ops_a[i], ops_b[i]);
    first = mo_exact_order_literal(b->m, ops_a[0], ops_b[0]);
    if (first != MO_EXACT_NO_LITERAL)
        mo_exact_build_binary_clause(b, same ^ 1, first);
}

mo_status mo_exact_build_symmetry(mo_exact_model_builder *b, mo_error *err)
{
    mo_exact_symmetry twins = { 0 };
    mo_status status =
        mo_exact_symmetry_find(b->m->x, b->m->reaches, &twins, err);

    for (int i = 0; i + 1 < twins.n && status == MO_OK; i++)
        if (twins.kind[i] == twins.kind[i + 1])
            order_twins(b, twins.ops + twins.start[i],
                        twins.ops + twins.start[i + 1],
                        twins.start[i + 1] - twins.start[i]);
    mo_exact_symmetry_clear(&twins);
    return status;
}
