/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/instance/derived.h"

#include <stdlib.h>

mo_instance *mo_instance_derive(const mo_instance *whole)
{
    mo_instance *x = malloc(sizeof *x);

    if (!x)
        return NULL;
    *x = *whole;
    x->arena = mo_arena_new();
    if (x->arena)
        return x;
    free(x);
    return NULL;
}

bool mo_instance_derive_reserve(mo_instance *x)
{
    size_t n = (size_t) x->n, n_flows = (size_t) x->n_flows;
    mo_arena *arena = x->arena;

    x->op_names = mo_arena_array(arena, n, sizeof *x->op_names);
    x->p_ns = mo_arena_array(arena, n * (size_t) x->n_devices, sizeof *x->p_ns);
    x->memory_bytes = mo_arena_array(arena, n, sizeof *x->memory_bytes);
    x->weight_bytes = mo_arena_array(arena, n, sizeof *x->weight_bytes);
    x->pin = mo_arena_array(arena, n, sizeof *x->pin);
    x->group = mo_arena_array(arena, n, sizeof *x->group);
    if (!x->op_names || !x->p_ns || !x->memory_bytes || !x->weight_bytes ||
        !x->pin || !x->group)
        return false;
    /* in_start has one extra element for the counting sort. */
    x->out_start = mo_arena_array(arena, n + 1, sizeof *x->out_start);
    x->in_start = mo_arena_array(arena, n + 2, sizeof *x->in_start);
    x->flows = mo_arena_array(arena, n_flows, sizeof *x->flows);
    x->comm.flow_row = mo_arena_array(arena, n_flows, sizeof *x->comm.flow_row);
    x->in_flows = mo_arena_array(arena, n_flows, sizeof *x->in_flows);
    if (!x->out_start || !x->in_start || !x->flows || !x->comm.flow_row ||
        !x->in_flows)
        return false;
    x->tensor_from = mo_arena_array(arena, n_flows, sizeof *x->tensor_from);
    x->tensor_start =
        mo_arena_array(arena, n_flows + 1, sizeof *x->tensor_start);
    x->tensor_bytes = mo_arena_array(arena, n_flows, sizeof *x->tensor_bytes);
    x->comm.tensor_row =
        mo_arena_array(arena, n_flows, sizeof *x->comm.tensor_row);
    return x->tensor_from && x->tensor_start && x->tensor_bytes &&
           x->comm.tensor_row;
}

void mo_instance_derive_sort_by_reader(mo_instance *x)
{
    int *start = x->in_start;

    for (int q = 0; q < x->n_flows; q++)
        start[x->flows[q].to + 2]++;
    for (int i = 0; i < x->n; i++)
        start[i + 2] += start[i + 1];
    for (int q = 0; q < x->n_flows; q++)
        x->in_flows[start[x->flows[q].to + 1]++] = q;
}
