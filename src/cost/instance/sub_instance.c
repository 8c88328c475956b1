/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/instance/sub_instance.h"

#include <stdlib.h>
#include <string.h>

#include "cost/instance/derived.h"

typedef struct maker {
    const mo_instance *whole;
    mo_instance *x;
    mo_sub_instance *part;
    int first, last; /* the smallest and largest op of the whole */
    int *number; /* by op of the whole, from first on: its number in the part,
                    or -1; small for a small part of a large instance */
} maker;

static bool is_inside(const maker *m, int flow)
{
    int to = m->whole->flows[flow].to;

    return to >= m->first && to <= m->last && m->number[to - m->first] >= 0;
}

static int count_flows(const maker *m)
{
    int n = 0;

    for (int i = 0; i < m->x->n; i++) {
        int op = m->part->op[i];
        for (int q = m->whole->out_start[op]; q < m->whole->out_start[op + 1];
             q++)
            n += is_inside(m, q);
    }
    return n;
}

static void copy_op(maker *m, int i)
{
    const mo_instance *whole = m->whole;
    mo_instance *x = m->x;
    int op = m->part->op[i], K = x->n_devices;

    x->op_names[i] = whole->op_names[op];
    memcpy(x->p_ns + (size_t) i * (size_t) K,
           whole->p_ns + (size_t) op * (size_t) K,
           (size_t) K * sizeof *x->p_ns);
    x->memory_bytes[i] = whole->memory_bytes[op];
    x->weight_bytes[i] = whole->weight_bytes[op];
    x->pin[i] = whole->pin[op];
    x->group[i] = whole->group[op];
}

/* A tensor keeps its row, the longest of all its readers', including those
 * outside the part. */
static void copy_flows(maker *m)
{
    const mo_instance *whole = m->whole;
    mo_instance *x = m->x;
    int n = 0, last = -1;

    x->n_tensors = 0;
    for (int i = 0; i < x->n; i++) {
        int op = m->part->op[i];
        x->out_start[i] = n;
        for (int q = whole->out_start[op]; q < whole->out_start[op + 1]; q++) {
            int tensor = whole->flows[q].tensor, t;
            if (!is_inside(m, q))
                continue;
            if (tensor != last) {
                t = x->n_tensors++;
                x->tensor_from[t] = i;
                x->tensor_start[t] = n;
                x->tensor_bytes[t] = whole->tensor_bytes[tensor];
                x->tensor_row[t] = whole->tensor_row[tensor];
                last = tensor;
            }
            x->flows[n] =
                (mo_flow){ i, m->number[whole->flows[q].to - m->first],
                           x->n_tensors - 1 };
            x->flow_row[n] = whole->flow_row[q];
            m->part->flow[n++] = q;
        }
    }
    x->out_start[x->n] = n;
    x->tensor_start[x->n_tensors] = n;
}

static mo_status fill(maker *m, const int *ops, bool from_end, mo_error *err)
{
    mo_instance *x = m->x;
    int n = x->n;

    m->part->op = mo_arena_array(x->arena, (size_t) n, sizeof *m->part->op);
    if (!m->part->op)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++) {
        m->part->op[i] = ops[i];
        m->number[ops[i] - m->first] = i;
    }
    x->n_flows = count_flows(m);
    m->part->flow =
        mo_arena_array(x->arena, (size_t) x->n_flows, sizeof *m->part->flow);
    if (!m->part->flow || !mo_instance_derive_reserve(x))
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        copy_op(m, i);
    if (from_end) {
        /* The part begins at the end of its first op. */
        memset(x->p_ns, 0, (size_t) x->n_devices * sizeof *x->p_ns);
        x->memory_bytes[0] = x->weight_bytes[0] = 0;
    }
    copy_flows(m);
    mo_instance_derive_sort_by_reader(x);
    return MO_OK;
}

mo_status mo_sub_instance_make(const mo_instance *whole, const int *ops, int n,
                               bool from_end, mo_sub_instance **part,
                               mo_error *err)
{
    maker m = { .whole = whole,
                .first = n > 0 ? ops[0] : 0,
                .last = n > 0 ? ops[n - 1] : 0 };
    size_t span = (size_t) m.last - (size_t) m.first + 1;
    mo_status status;

    m.part = calloc(1, sizeof *m.part);
    m.number = malloc(span * sizeof *m.number);
    m.x = mo_instance_derive(whole);
    if (m.part)
        m.part->x = m.x;
    if (!m.part || !m.number || !m.x) {
        status = mo_fail_memory(err);
    } else {
        m.x->n = n;
        memset(m.number, 0xff, span * sizeof *m.number);
        status = fill(&m, ops, from_end, err);
    }
    free(m.number);
    if (status == MO_OK) {
        *part = m.part;
        return MO_OK;
    }
    if (!m.part)
        mo_instance_free(m.x);
    mo_sub_instance_free(m.part);
    return status;
}

void mo_sub_instance_free(mo_sub_instance *part)
{
    if (!part)
        return;
    mo_instance_free(part->x);
    free(part);
}
