/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be sent, and the literals that say that it is: y says of a flow from
 * a to b that its producer is on a and its reader on b.  With tensors once, y
 * says that the producer is on a and some reader on b, and another that nothing
 * comes to b, since it is there or nobody reads it there.
 */
#include <stdlib.h>

#include "solvers/search/exact/task_model_build.h"

int *mo_exact_build_transfer_mode(const mo_exact_model_builder *b, int item,
                                  int from, int to)
{
    size_t K = (size_t) b->m->x->n_devices;

    return &b->send_mode[((size_t) item * K + (size_t) from) * K + (size_t) to];
}

static bool stays(const mo_exact_model *m, int from, int to)
{
    return m->units->of_op[from] == m->units->of_op[to];
}

static void tie_flow(mo_exact_model_builder *b, int y, int x_from, int x_to)
{
    mo_exact_build_binary_clause(b, y ^ 1, x_from);
    mo_exact_build_binary_clause(b, y ^ 1, x_to);
    mo_exact_build_clause(b, (int[]){ y, x_from ^ 1, x_to ^ 1 }, 3);
}

static mo_status add_flow(mo_exact_model_builder *b, int flow, mo_error *err)
{
    mo_exact_model *m = b->m;
    const mo_flow *f = &m->x->flows[flow];
    int K = m->x->n_devices;
    mo_status status = mo_exact_build_task(
        b, (mo_exact_task){ .item = flow, .source = f->from, .to = MO_FREE },
        err);

    for (int pair = 0; pair < K * K && status == MO_OK; pair++) {
        int from = pair / K, to = pair % K;
        int x_from = mo_exact_place_literal(m, f->from, from);
        int x_to = mo_exact_place_literal(m, f->to, to);
        mo_exact_task_mode mode = { .from = from,
                                    .to = to,
                                    .is_real = from != to };

        if (x_from == MO_EXACT_NO_LITERAL || x_to == MO_EXACT_NO_LITERAL)
            continue;
        mode.literal = 2 * mo_exact_core_new_variable(b->core);
        mode.length_ns = mo_instance_flow_ns(m->x, flow, from, to);
        tie_flow(b, mode.literal, x_from, x_to);
        *mo_exact_build_transfer_mode(b, flow, from, to) = (int) m->n_modes;
        status = mo_exact_build_mode(b, mode, err);
    }
    return status;
}

/* The clause of "some reader is there", or the other literals and each reader
 * by itself. */
static int readers_on(mo_exact_model_builder *b, int tensor, int to,
                      int *literals)
{
    const mo_instance *x = b->m->x;
    int n = 0;

    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        int literal = mo_exact_place_literal(b->m, x->flows[q].to, to);

        if (!stays(b->m, x->flows[q].from, x->flows[q].to) &&
            literal != MO_EXACT_NO_LITERAL)
            literals[n++] = literal;
    }
    return n;
}

/* y: from a, as x_from says, to where the n readers may be. */
static void tie_tensor(mo_exact_model_builder *b, int y, int x_from, int n)
{
    int *readers = b->clause;

    mo_exact_build_binary_clause(b, y ^ 1, x_from);
    for (int i = 0; i < n; i++)
        mo_exact_build_clause(b, (int[]){ y, x_from ^ 1, readers[i] ^ 1 }, 3);
    readers[n] = y ^ 1;
    mo_exact_build_clause(b, readers, n + 1);
}

/* none: nothing is sent to where x_here says that the producer is. */
static void tie_none(mo_exact_model_builder *b, int none, int x_here, int n)
{
    int *readers = b->clause;

    for (int i = 0; i < n; i++)
        if (x_here == MO_EXACT_NO_LITERAL)
            mo_exact_build_binary_clause(b, none ^ 1, readers[i] ^ 1);
        else
            mo_exact_build_clause(
                b, (int[]){ none ^ 1, x_here, readers[i] ^ 1 }, 3);
    if (x_here != MO_EXACT_NO_LITERAL)
        mo_exact_build_binary_clause(b, none, x_here ^ 1);
    readers[n] = none;
    mo_exact_build_clause(b, readers, n + 1);
}

static mo_status add_tensor_mode(mo_exact_model_builder *b, int tensor,
                                 int from, int to, int n, mo_error *err)
{
    mo_exact_model *m = b->m;
    int x_from = mo_exact_place_literal(m, m->x->tensor_from[tensor], from);
    mo_exact_task_mode mode = { .from = from, .to = to, .is_real = from != to };

    if (x_from == MO_EXACT_NO_LITERAL && from != to)
        return MO_OK;
    mode.literal = 2 * mo_exact_core_new_variable(b->core);
    mode.length_ns = mo_instance_tensor_ns(m->x, tensor, from, to);
    if (from == to)
        tie_none(b, mode.literal, x_from, n);
    else
        tie_tensor(b, mode.literal, x_from, n);
    *mo_exact_build_transfer_mode(b, tensor, from, to) = (int) m->n_modes;
    return mo_exact_build_mode(b, mode, err);
}

/* The one transfer of a tensor to a device. */
static mo_status add_tensor(mo_exact_model_builder *b, int tensor, int to,
                            mo_error *err)
{
    mo_exact_model *m = b->m;
    int n = readers_on(b, tensor, to, b->clause);
    mo_exact_task task = { .item = tensor,
                           .source = m->x->tensor_from[tensor],
                           .to = to };
    mo_status status;

    if (n == 0)
        return MO_OK;
    status = mo_exact_build_task(b, task, err);
    for (int from = 0; from < m->x->n_devices && status == MO_OK; from++)
        status = add_tensor_mode(b, tensor, from, to, n, err);
    return status;
}

mo_status mo_exact_build_transfers(mo_exact_model_builder *b, mo_error *err)
{
    const mo_instance *x = b->m->x;
    bool once = b->m->regime.tensors == MO_TENSORS_ONCE;
    size_t K = (size_t) x->n_devices;
    size_t n = (size_t) (once ? x->n_tensors : x->n_flows) * K * K;
    mo_status status = MO_OK;

    b->send_mode = malloc((n + 1) * sizeof *b->send_mode);
    if (!b->send_mode)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        b->send_mode[i] = -1;
    for (int t = 0; t < x->n_tensors && once && status == MO_OK; t++)
        for (int k = 0; k < x->n_devices && status == MO_OK; k++)
            status = add_tensor(b, t, k, err);
    for (int q = 0; q < x->n_flows && !once && status == MO_OK; q++)
        if (!stays(b->m, x->flows[q].from, x->flows[q].to))
            status = add_flow(b, q, err);
    return status;
}
