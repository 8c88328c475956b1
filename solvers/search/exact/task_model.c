/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/exact/task_model.h"

#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/exact/task_model_build.h"

void mo_exact_build_clause(mo_exact_model_builder *b, const int *literals,
                           int n)
{
    if (!mo_exact_core_add_root_clause(b->core, literals, n))
        b->m->is_impossible = true;
}

void mo_exact_build_binary_clause(mo_exact_model_builder *b, int l0, int l1)
{
    mo_exact_build_clause(b, (int[]){ l0, l1 }, 2);
}

mo_status mo_exact_build_task(mo_exact_model_builder *b, mo_exact_task task,
                              mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = MO_ARRAY_GROW(m->tasks, m->n_tasks, m->tasks_room, err);

    if (status != MO_OK)
        return status;
    task.first = (int) m->n_modes;
    task.n = 0;
    m->tasks[m->n_tasks++] = task;
    return MO_OK;
}

mo_status mo_exact_build_mode(mo_exact_model_builder *b,
                              mo_exact_task_mode mode, mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = MO_ARRAY_GROW(m->modes, m->n_modes, m->modes_room, err);

    if (status != MO_OK)
        return status;
    mode.task = (int) m->n_tasks - 1;
    m->tasks[mode.task].n++;
    m->modes[m->n_modes++] = mode;
    return MO_OK;
}

static bool may_be_on(const mo_exact_model *m, int unit, int device)
{
    int pin = m->units->pin[unit];

    return (pin == MO_FREE || pin == device) &&
           (m->regime.memory == MO_MEMORY_NONE ||
            m->units->bytes[unit] <= m->x->capacity_bytes[device]);
}

/* A unit is on one device. */
static void place_unit(mo_exact_model_builder *b, int unit)
{
    int *place = b->m->place + unit * b->m->x->n_devices, n = 0;

    for (int k = 0; k < b->m->x->n_devices; k++) {
        place[k] = MO_EXACT_NO_LITERAL;
        if (!may_be_on(b->m, unit, k))
            continue;
        place[k] = 2 * mo_exact_core_new_variable(b->core);
        for (int i = 0; i < n; i++)
            mo_exact_build_binary_clause(b, place[k] ^ 1, b->clause[i] ^ 1);
        b->clause[n++] = place[k];
    }
    mo_exact_build_clause(b, b->clause, n);
}

static mo_status add_op(mo_exact_model_builder *b, int op, mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = mo_exact_build_task(
        b, (mo_exact_task){ .item = op, .source = op, .to = MO_FREE }, err);

    for (int k = 0; k < m->x->n_devices; k++) {
        int literal = mo_exact_place_literal(m, op, k);
        mo_exact_task_mode mode = { .literal = literal,
                                    .from = k,
                                    .to = k,
                                    .is_real = true,
                                    .length_ns =
                                        mo_instance_p_ns(m->x, op, k) };

        m->op_mode[op * m->x->n_devices + k] = -1;
        if (literal == MO_EXACT_NO_LITERAL || status != MO_OK)
            continue;
        m->op_mode[op * m->x->n_devices + k] = (int) m->n_modes;
        status = mo_exact_build_mode(b, mode, err);
    }
    return status;
}

static mo_status build_ops(mo_exact_model_builder *b, mo_error *err)
{
    mo_status status = MO_OK;

    for (int u = 0; u < b->m->units->n; u++)
        place_unit(b, u);
    for (int i = 0; i < b->m->x->n && status == MO_OK; i++)
        status = add_op(b, i, err);
    return status;
}

static mo_status build(mo_exact_model_builder *b, mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = build_ops(b, err);

    if (status == MO_OK && m->has_sends)
        status = mo_exact_build_transfers(b, err);
    if (status == MO_OK)
        status = mo_exact_build_precedences(b, err);
    if (status == MO_OK)
        status = mo_exact_build_resource_uses(b, err);
    if (status == MO_OK)
        status = mo_exact_build_disjunctions(b, err);
    if (status == MO_OK)
        status = mo_exact_build_symmetry(b, err);
    if (status == MO_OK)
        status = mo_exact_build_adjacency(b, err);
    if (status == MO_OK)
        status = mo_exact_core_add_bounds(b->core, 2 * (int) m->n_modes, err);
    if (status == MO_OK && b->core->out_of_memory)
        status = mo_fail_memory(err);
    m->n_literals = 2 * b->core->n_variables;
    b->core->n_given = b->core->n_clauses;
    return status;
}

mo_status mo_exact_model_init(mo_exact_model *m, mo_exact_core *c,
                              const mo_instance *x, const mo_regime *regime,
                              mo_error *err)
{
    mo_exact_model_builder b = { .m = m, .core = c };
    size_t n = (size_t) x->n, n_devices = (size_t) x->n_devices;
    mo_status status;

    *m = (mo_exact_model){ .x = x, .regime = *regime };
    m->has_sends = regime->congestion != MO_CONGESTION_NONE ||
                   regime->memory == MO_MEMORY_LIVE;
    status = mo_placement_units_make(x, regime, &m->units, err);
    if (status != MO_OK)
        return status;
    m->place = malloc((n * n_devices + 1) * sizeof *m->place);
    m->op_mode = malloc((n * n_devices + 1) * sizeof *m->op_mode);
    b.clause = malloc((n + n_devices + 3) * sizeof *b.clause);
    status = m->place && m->op_mode && b.clause ? build(&b, err)
                                                : mo_fail_memory(err);
    free(b.send_mode);
    free(b.clause);
    return status;
}

static void free_lists(mo_exact_adjacency *lists)
{
    free(lists->start);
    free(lists->items);
}

void mo_exact_model_clear(mo_exact_model *m)
{
    free_lists(&m->uses_of);
    free_lists(&m->modes_of_literal);
    free_lists(&m->rules_of_literal);
    free_lists(&m->rules_of_bound);
    free_lists(&m->resources_of_mode);
    free(m->reaches);
    free(m->first_goes);
    free(m->order_of);
    free(m->ways);
    free(m->rules);
    free(m->use_modes);
    free(m->uses);
    free(m->modes);
    free(m->tasks);
    free(m->op_mode);
    free(m->place);
    mo_placement_units_free(m->units);
    *m = (mo_exact_model){ 0 };
}
