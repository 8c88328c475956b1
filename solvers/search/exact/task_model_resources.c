/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources of the task model: uses, order variables of disjunctive pairs, and
 * adjacency lists for propagation.
 */
#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/exact/task_model_build.h"

/* Pairs (i, item), sorted into lists by i. */
typedef struct pair_list {
    int (*pair)[2];
    size_t n, room;
} pair_list;

static mo_status add_pair(pair_list *s, int i, int item, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(s->pair, s->n, s->room, err);

    if (status == MO_OK) {
        s->pair[s->n][0] = i;
        s->pair[s->n++][1] = item;
    }
    return status;
}

static mo_status build_adjacency(pair_list *s, int n, mo_exact_adjacency *lists,
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

static mo_status build_mode_resources(mo_exact_model *m, mo_error *err)
{
    pair_list s = { 0 };
    mo_status status = MO_OK;

    for (int i = 0; i < (int) m->n_modes && status == MO_OK; i++) {
        const mo_exact_mode *mode = &m->modes[i];
        const int *ids;
        int pair[2], n = 0;

        if (mode->task < m->x->n) {
            status = add_pair(&s, i, mode->from, err);
            continue;
        }
        if (mode->is_real)
            n = mo_resource_list(m->x, m->regime.congestion, mode->from,
                                 mode->to, pair, &ids);
        for (int r = 0; r < n && status == MO_OK; r++)
            status = add_pair(&s, i, m->x->n_devices + ids[r], err);
    }
    if (status == MO_OK)
        status =
            build_adjacency(&s, (int) m->n_modes, &m->resources_of_mode, err);
    free(s.pair);
    return status;
}

static mo_status build_uses(mo_exact_model *m,
                            const mo_exact_adjacency *modes_of, mo_error *err)
{
    pair_list s = { 0 };
    mo_status status = MO_OK;

    for (int r = 0; r < m->n_resources && status == MO_OK; r++) {
        /* Modes are sorted by task, so those of a resource are too. */
        int task = -1;

        for (int i = modes_of->start[r];
             i < modes_of->start[r + 1] && status == MO_OK; i++) {
            int mode = modes_of->items[i];

            if (m->modes[mode].task != task) {
                task = m->modes[mode].task;
                status = MO_ARRAY_GROW(m->use.uses, m->use.n, m->use.room, err);
                if (status == MO_OK)
                    status = add_pair(&s, r, (int) m->use.n, err);
                if (status == MO_OK)
                    m->use.uses[m->use.n++] =
                        (mo_exact_use){ task, (int) m->use.n_modes, 0 };
            }
            if (status == MO_OK)
                status = MO_ARRAY_GROW(m->use.modes, m->use.n_modes,
                                       m->use.modes_room, err);
            if (status == MO_OK) {
                m->use.modes[m->use.n_modes++] = mode;
                m->use.uses[m->use.n - 1].n++;
            }
        }
    }
    if (status == MO_OK)
        status = build_adjacency(&s, m->n_resources, &m->use.of_resource, err);
    free(s.pair);
    return status;
}

mo_status mo_exact_build_resource_uses(mo_exact_builder *b, mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_exact_adjacency modes_of = { 0 };
    pair_list s = { 0 };
    mo_status status;

    m->n_resources =
        m->x->n_devices + mo_resource_count(m->x, m->regime.congestion);
    status = build_mode_resources(m, err);
    for (int i = 0; i < (int) m->n_modes && status == MO_OK; i++)
        for (int r = m->resources_of_mode.start[i];
             r < m->resources_of_mode.start[i + 1] && status == MO_OK; r++)
            status = add_pair(&s, m->resources_of_mode.items[r], i, err);
    if (status == MO_OK)
        status = build_adjacency(&s, m->n_resources, &modes_of, err);
    if (status == MO_OK)
        status = build_uses(m, &modes_of, err);
    free(s.pair);
    free(modes_of.start);
    free(modes_of.items);
    return status;
}

static bool has_path(const mo_exact_model *m, int from, int to)
{
    return m->reachable[(size_t) from * (size_t) m->x->n + (size_t) to];
}

bool mo_exact_always_ends_before(const mo_exact_model *m, int task, int op)
{
    const mo_exact_task *t = &m->tasks[task];
    const mo_instance *x = m->x;

    if (task < x->n)
        return has_path(m, task, op);
    if (t->to == MO_FREE)
        return has_path(m, x->flows[t->item].to, op);
    for (int q = x->tensor_start[t->item]; q < x->tensor_start[t->item + 1];
         q++)
        if (!has_path(m, x->flows[q].to, op))
            return false;
    return true;
}

static mo_status add_order_variable(mo_exact_builder *b, int s, int t,
                                    mo_error *err)
{
    mo_exact_model *m = b->m;
    int *goes = &m->orders.literals[(size_t) s * m->n_tasks + (size_t) t];
    mo_status status;

    if (*goes != MO_EXACT_NO_LITERAL ||
        mo_exact_always_ends_before(m, s, m->tasks[t].source) ||
        mo_exact_always_ends_before(m, t, m->tasks[s].source))
        return MO_OK;
    status = MO_ARRAY_GROW(m->orders.tasks, m->orders.n, m->orders.room, err);
    if (status != MO_OK)
        return status;
    m->orders.tasks[m->orders.n][0] = s;
    m->orders.tasks[m->orders.n++][1] = t;
    *goes = 2 * mo_exact_core_new_variable(b->core);
    m->orders.literals[(size_t) t * m->n_tasks + (size_t) s] = *goes ^ 1;
    return b->core->out_of_memory ? mo_fail_memory(err) : MO_OK;
}

mo_status mo_exact_build_disjunctions(mo_exact_builder *b, mo_error *err)
{
    mo_exact_model *m = b->m;
    size_t n = m->n_tasks * m->n_tasks;
    mo_status status;
    const mo_instance *x = m->x;
    size_t count = (size_t) x->n;

    m->reachable = calloc(count * count + 1, 1);
    if (!m->reachable) {
        status = mo_fail_memory(err);
    } else {
        for (int i = x->n - 1; i >= 0; i--) {
            unsigned char *row = m->reachable + (size_t) i * count;

            row[i] = 1;
            for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++) {
                int to = x->flows[q].to;

                for (size_t j = (size_t) to; j < count; j++)
                    row[j] |= m->reachable[(size_t) to * count + j];
            }
        }
        status = MO_OK;
    }

    if (status != MO_OK)
        return status;
    m->orders.literals = malloc((n + 1) * sizeof *m->orders.literals);
    if (!m->orders.literals)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        m->orders.literals[i] = MO_EXACT_NO_LITERAL;
    m->orders.first = b->core->n_variables;
    for (int r = 0; r < m->n_resources && status == MO_OK; r++) {
        const mo_exact_adjacency *of = &m->use.of_resource;

        for (int i = of->start[r]; i < of->start[r + 1]; i++)
            for (int j = i + 1; j < of->start[r + 1] && status == MO_OK; j++)
                status =
                    add_order_variable(b, m->use.uses[of->items[i]].task,
                                       m->use.uses[of->items[j]].task, err);
    }
    return status;
}

mo_status mo_exact_build_adjacency(mo_exact_builder *b, mo_error *err)
{
    mo_exact_model *m = b->m;
    pair_list literals = { 0 }, bounds = { 0 };
    pair_list s = { 0 };
    mo_status status = MO_OK;

    for (int i = 0; i < (int) m->n_modes && status == MO_OK; i++)
        status = add_pair(&s, m->modes[i].literal, i, err);
    if (status == MO_OK)
        status = build_adjacency(&s, 2 * b->core->n_variables,
                                 &m->modes_of_literal, err);
    free(s.pair);

    for (int i = 0; i < (int) m->n_precedences && status == MO_OK; i++) {
        /* A precedence is propagated again when one of its bounds grows, one of
         * its alternatives is excluded, or its condition becomes true. */
        const mo_exact_precedence *precedence = &m->precedences[i];

        if (precedence->condition != MO_EXACT_NO_LITERAL)
            status = add_pair(&literals, precedence->condition, i, err);
        for (int w = precedence->first;
             w < precedence->first + precedence->n && status == MO_OK; w++) {
            status =
                add_pair(&literals, m->alternatives[w].literal ^ 1, i, err);
            if (status == MO_OK)
                status = add_pair(&bounds, m->alternatives[w].bound, i, err);
            if (status == MO_OK && m->alternatives[w].bound2 >= 0)
                status = add_pair(&bounds, m->alternatives[w].bound2, i, err);
        }
    }
    if (status == MO_OK)
        status = build_adjacency(&literals, 2 * b->core->n_variables,
                                 &m->precedences_of_literal, err);
    if (status == MO_OK)
        status = build_adjacency(&bounds, 2 * (int) m->n_modes,
                                 &m->precedences_of_bound, err);
    m->n_static_precedences = m->n_precedences;
    free(literals.pair);
    free(bounds.pair);
    return status;
}
