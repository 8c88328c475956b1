/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds what, who could get into whose way, and whom to tell of what.
 */
#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/exact/task_model_build.h"

/* Pairs (i, item) sorted into lists by i. */
typedef struct sorter {
    int (*pair)[2];
    size_t n, room;
} sorter;

static mo_status put(sorter *s, int i, int item, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(s->pair, s->n, s->room, err);

    if (status == MO_OK) {
        s->pair[s->n][0] = i;
        s->pair[s->n++][1] = item;
    }
    return status;
}

static mo_status sort(sorter *s, int n, mo_exact_adjacency *lists,
                      mo_error *err)
{
    lists->start = calloc((size_t) n + 2, sizeof *lists->start);
    lists->items = malloc((s->n + 1) * sizeof *lists->items);
    if (!lists->start || !lists->items)
        return mo_fail_memory(err);
    for (size_t i = 0; i < s->n; i++)
        lists->start[s->pair[i][0] + 2]++;
    for (int i = 0; i < n; i++)
        lists->start[i + 2] += lists->start[i + 1];
    for (size_t i = 0; i < s->n; i++)
        lists->items[lists->start[s->pair[i][0] + 1]++] = s->pair[i][1];
    return MO_OK;
}

/* What a mode holds: how many, and at *ids which, in the numbers of
 * resource.h; the devices stand in front of those. */
static int held_by(const mo_exact_model *m, const mo_exact_task_mode *mode,
                   int pair[2], const int **ids)
{
    if (!mode->is_real)
        return 0;
    return mo_resource_list(m->x, m->regime.congestion, mode->from, mode->to,
                            pair, ids);
}

static mo_status list_resources(mo_exact_model *m, mo_error *err)
{
    sorter s = { 0 };
    mo_status status = MO_OK;

    for (int i = 0; i < (int) m->n_modes && status == MO_OK; i++) {
        const mo_exact_task_mode *mode = &m->modes[i];
        const int *ids;
        int pair[2], n;

        if (mode->task < m->x->n) {
            status = put(&s, i, mode->from, err);
            continue;
        }
        n = held_by(m, mode, pair, &ids);
        for (int r = 0; r < n && status == MO_OK; r++)
            status = put(&s, i, m->x->n_devices + ids[r], err);
    }
    if (status == MO_OK)
        status = sort(&s, (int) m->n_modes, &m->resources_of_mode, err);
    free(s.pair);
    return status;
}

/* Modes stand by task, and so do those of a resource. */
static mo_status add_uses(mo_exact_model *m, const mo_exact_adjacency *modes_of,
                          int resource, sorter *s, mo_error *err)
{
    mo_status status = MO_OK;
    int task = -1;

    for (int i = modes_of->start[resource];
         i < modes_of->start[resource + 1] && status == MO_OK; i++) {
        int mode = modes_of->items[i];

        if (m->modes[mode].task != task) {
            task = m->modes[mode].task;
            status = MO_ARRAY_GROW(m->uses, m->n_uses, m->uses_room, err);
            if (status == MO_OK)
                status = put(s, resource, (int) m->n_uses, err);
            if (status == MO_OK)
                m->uses[m->n_uses++] =
                    (mo_exact_resource_use){ task, (int) m->n_use_modes, 0 };
        }
        if (status == MO_OK)
            status = MO_ARRAY_GROW(m->use_modes, m->n_use_modes,
                                   m->use_modes_room, err);
        if (status == MO_OK) {
            m->use_modes[m->n_use_modes++] = mode;
            m->uses[m->n_uses - 1].n++;
        }
    }
    return status;
}

static mo_status list_uses(mo_exact_model *m,
                           const mo_exact_adjacency *modes_of, mo_error *err)
{
    sorter s = { 0 };
    mo_status status = MO_OK;

    for (int r = 0; r < m->n_resources && status == MO_OK; r++)
        status = add_uses(m, modes_of, r, &s, err);
    if (status == MO_OK)
        status = sort(&s, m->n_resources, &m->uses_of, err);
    free(s.pair);
    return status;
}

mo_status mo_exact_build_resource_uses(mo_exact_model_builder *b, mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_exact_adjacency modes_of = { 0 };
    sorter s = { 0 };
    mo_status status;

    m->n_resources =
        m->x->n_devices + mo_resource_count(m->x, m->regime.congestion);
    status = list_resources(m, err);
    for (int i = 0; i < (int) m->n_modes && status == MO_OK; i++)
        for (int r = m->resources_of_mode.start[i];
             r < m->resources_of_mode.start[i + 1] && status == MO_OK; r++)
            status = put(&s, m->resources_of_mode.items[r], i, err);
    if (status == MO_OK)
        status = sort(&s, m->n_resources, &modes_of, err);
    if (status == MO_OK)
        status = list_uses(m, &modes_of, err);
    free(s.pair);
    free(modes_of.start);
    free(modes_of.items);
    return status;
}

static mo_status find_paths(mo_exact_model *m, mo_error *err)
{
    const mo_instance *x = m->x;
    size_t n = (size_t) x->n;

    m->reaches = calloc(n * n + 1, 1);
    if (!m->reaches)
        return mo_fail_memory(err);
    for (int i = x->n - 1; i >= 0; i--) {
        unsigned char *row = m->reaches + (size_t) i * n;

        row[i] = 1;
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++) {
            int to = x->flows[q].to;

            for (size_t j = (size_t) to; j < n; j++)
                row[j] |= m->reaches[(size_t) to * n + j];
        }
    }
    return MO_OK;
}

static bool reaches(const mo_exact_model *m, int from, int to)
{
    return m->reaches[(size_t) from * (size_t) m->x->n + (size_t) to];
}

bool mo_exact_always_ends_before(const mo_exact_model *m, int task, int op)
{
    const mo_exact_task *t = &m->tasks[task];
    const mo_instance *x = m->x;

    if (task < x->n)
        return reaches(m, task, op);
    if (t->to == MO_FREE)
        return reaches(m, x->flows[t->item].to, op);
    for (int q = x->tensor_start[t->item]; q < x->tensor_start[t->item + 1];
         q++)
        if (!reaches(m, x->flows[q].to, op))
            return false;
    return true;
}

static mo_status add_order(mo_exact_model_builder *b, int s, int t,
                           mo_error *err)
{
    mo_exact_model *m = b->m;
    int *goes = &m->first_goes[(size_t) s * m->n_tasks + (size_t) t];
    mo_status status;

    if (*goes != MO_EXACT_NO_LITERAL ||
        mo_exact_always_ends_before(m, s, m->tasks[t].source) ||
        mo_exact_always_ends_before(m, t, m->tasks[s].source))
        return MO_OK;
    status = MO_ARRAY_GROW(m->order_of, m->n_orders, m->orders_room, err);
    if (status != MO_OK)
        return status;
    m->order_of[m->n_orders][0] = s;
    m->order_of[m->n_orders++][1] = t;
    *goes = 2 * mo_exact_core_new_variable(b->core);
    m->first_goes[(size_t) t * m->n_tasks + (size_t) s] = *goes ^ 1;
    return b->core->out_of_memory ? mo_fail_memory(err) : MO_OK;
}

static mo_status add_orders(mo_exact_model_builder *b, int resource,
                            mo_error *err)
{
    const mo_exact_model *m = b->m;
    const mo_exact_adjacency *of = &m->uses_of;
    mo_status status = MO_OK;

    for (int i = of->start[resource]; i < of->start[resource + 1]; i++)
        for (int j = i + 1; j < of->start[resource + 1] && status == MO_OK; j++)
            status = add_order(b, m->uses[of->items[i]].task,
                               m->uses[of->items[j]].task, err);
    return status;
}

mo_status mo_exact_build_disjunctions(mo_exact_model_builder *b, mo_error *err)
{
    mo_exact_model *m = b->m;
    size_t n = m->n_tasks * m->n_tasks;
    mo_status status = find_paths(m, err);

    if (status != MO_OK)
        return status;
    m->first_goes = malloc((n + 1) * sizeof *m->first_goes);
    if (!m->first_goes)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        m->first_goes[i] = MO_EXACT_NO_LITERAL;
    m->first_order = b->core->n_variables;
    for (int r = 0; r < m->n_resources && status == MO_OK; r++)
        status = add_orders(b, r, err);
    return status;
}

static mo_status list_modes(mo_exact_model_builder *b, mo_error *err)
{
    mo_exact_model *m = b->m;
    sorter s = { 0 };
    mo_status status = MO_OK;

    for (int i = 0; i < (int) m->n_modes && status == MO_OK; i++)
        status = put(&s, m->modes[i].literal, i, err);
    if (status == MO_OK)
        status = sort(&s, 2 * b->core->n_variables, &m->modes_of_literal, err);
    free(s.pair);
    return status;
}

/* A rule looks again when a bound of its grows, one of its ways is denied, or
 * what it needs is given. */
static mo_status put_rule(const mo_exact_model *m, int number, sorter *literals,
                          sorter *bounds, mo_error *err)
{
    const mo_exact_precedence *rule = &m->rules[number];
    mo_status status = MO_OK;

    if (rule->given != MO_EXACT_NO_LITERAL)
        status = put(literals, rule->given, number, err);
    for (int w = rule->first; w < rule->first + rule->n && status == MO_OK;
         w++) {
        status = put(literals, m->ways[w].literal ^ 1, number, err);
        if (status == MO_OK)
            status = put(bounds, m->ways[w].bound, number, err);
        if (status == MO_OK && m->ways[w].also >= 0)
            status = put(bounds, m->ways[w].also, number, err);
    }
    return status;
}

mo_status mo_exact_build_adjacency(mo_exact_model_builder *b, mo_error *err)
{
    mo_exact_model *m = b->m;
    sorter literals = { 0 }, bounds = { 0 };
    mo_status status = list_modes(b, err);

    for (int i = 0; i < (int) m->n_rules && status == MO_OK; i++)
        status = put_rule(m, i, &literals, &bounds, err);
    if (status == MO_OK)
        status = sort(&literals, 2 * b->core->n_variables, &m->rules_of_literal,
                      err);
    if (status == MO_OK)
        status = sort(&bounds, 2 * (int) m->n_modes, &m->rules_of_bound, err);
    m->n_first_rules = m->n_rules;
    free(literals.pair);
    free(bounds.pair);
    return status;
}
