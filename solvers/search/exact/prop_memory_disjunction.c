/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of two things that a device holds, one is gone before the other begins: the
 * other's starter waits for all that need the one.  What takes no time is there
 * at its moment, so the starters themselves must not start at the same one.
 */
#include "base/array.h"
#include "solvers/search/exact/prop_live_memory.h"

/* Does the task send the tensor? */
static bool sends(const mo_exact_model *m, int task, int tensor)
{
    const mo_exact_task *t = &m->tasks[task];

    return t->to != MO_FREE ? t->item == tensor
                            : m->x->flows[t->item].tensor == tensor;
}

static bool reads(const mo_instance *x, int op, int tensor)
{
    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1]; q++)
        if (x->flows[q].to == op)
            return true;
    return false;
}

/* Is what the task brings for the op? */
static bool is_for(const mo_exact_model *m, int task, int op)
{
    const mo_exact_task *t = &m->tasks[task];

    return t->to == MO_FREE ? m->x->flows[t->item].to == op
                            : reads(m->x, op, t->item);
}

bool mo_exact_mode_uses_buffer(const mo_exact_model *m,
                               const mo_exact_buffer *h, int device, int mode)
{
    const mo_exact_task_mode *it = &m->modes[mode];
    bool is_op = it->task < m->x->n;

    if (!it->is_real)
        return false;
    if (it->task == h->starter)
        return it->to == device;
    if (is_op && it->to != device)
        return false;
    switch (h->kind) {
    case MO_EXACT_BUFFER_WORKSPACE:
        break;
    case MO_EXACT_BUFFER_OUTPUT:
        return is_op ? reads(m->x, it->task, h->id)
                     : it->from == device && sends(m, it->task, h->id);
    case MO_EXACT_BUFFER_COPY:
        return is_op && is_for(m, h->id, it->task);
    }
    return false;
}

const mo_exact_lifetime_order *
mo_exact_find_lifetime_order(const mo_exact_search *s, const mo_exact_buffer *h,
                             int device, int starter)
{
    for (size_t i = 0; i < s->n_partings; i++) {
        const mo_exact_lifetime_order *p = &s->partings[i];

        if (p->kind == h->kind && p->id == h->id && p->device == device &&
            p->starter == starter)
            return p;
    }
    return NULL;
}

static bool add_rule(mo_exact_search *s, mo_exact_precedence rule,
                     mo_exact_alternative way)
{
    mo_exact_model *m = &s->model;

    if (MO_ARRAY_GROW(m->rules, m->n_rules, m->rules_room, NULL) != MO_OK ||
        MO_ARRAY_GROW(m->ways, m->n_ways, m->ways_room, NULL) != MO_OK)
        return !(s->core.out_of_memory = true);
    rule.first = (int) m->n_ways;
    rule.n = 1;
    m->rules[m->n_rules++] = rule;
    m->ways[m->n_ways++] = way;
    return true;
}

/* If the literal is true and both modes are taken, first has ended, and so long
 * ago, when then starts. */
static void separate(mo_exact_search *s, int literal, int first, int then,
                     int64_t pause_ns)
{
    const mo_exact_task_mode *a = &s->model.modes[first],
                             *b = &s->model.modes[then];
    mo_exact_alternative forth = { .literal = a->literal,
                                   .bound = MO_EXACT_HEAD(first),
                                   .also = -1,
                                   .add_ns = a->length_ns + pause_ns };
    mo_exact_alternative back = { .literal = b->literal,
                                  .bound = MO_EXACT_TAIL(then),
                                  .also = -1,
                                  .add_ns = b->length_ns + pause_ns };

    add_rule(s,
             (mo_exact_precedence){ .target = MO_EXACT_HEAD(then),
                                    .given = literal,
                                    .also_given = a->literal },
             forth);
    add_rule(s,
             (mo_exact_precedence){ .target = MO_EXACT_TAIL(first),
                                    .given = literal,
                                    .also_given = b->literal },
             back);
}

/* The task of the mode is over before that of the other starts, anyway. */
static bool goes_before(const mo_exact_model *m, int mode, int other)
{
    int task = m->modes[mode].task, then = m->modes[other].task;

    return task == then ||
           mo_exact_always_ends_before(m, task, m->tasks[then].source) ||
           (task >= m->x->n && then < m->x->n && is_for(m, task, then));
}

/* The mode needs what is to be gone when the starter's mode begins.  If it
 * comes behind that anyway, this can only be if neither takes time. */
static void separate_modes(mo_exact_search *s, const mo_exact_buffer *h,
                           int literal, int mode, int starter_mode)
{
    const mo_exact_model *m = &s->model;
    const mo_exact_task_mode *needs = &m->modes[mode],
                             *starter = &m->modes[starter_mode];
    bool begins = needs->task == h->starter;

    if ((needs->length_ns > 0 || starter->length_ns > 0) &&
        goes_before(m, starter_mode, mode))
        mo_exact_core_add_root_clause(
            &s->core,
            (int[]){ literal ^ 1, needs->literal ^ 1, starter->literal ^ 1 },
            3);
    else if (mode != starter_mode)
        separate(s, literal, mode, starter_mode,
                 begins && needs->length_ns == 0);
}

int mo_exact_add_lifetime_order(mo_exact_search *s, const mo_exact_buffer *h,
                                int device, int starter)
{
    const mo_exact_model *m = &s->model;
    const mo_exact_lifetime_order *known =
        mo_exact_find_lifetime_order(s, h, device, starter);
    mo_exact_lifetime_order parting = { h->kind, h->id, device, starter, 0 };

    if (known)
        return known->literal;
    if (MO_ARRAY_GROW(s->partings, s->n_partings, s->partings_room, NULL) !=
        MO_OK) {
        s->core.out_of_memory = true;
        return MO_EXACT_NO_LITERAL;
    }
    parting.literal = 2 * mo_exact_core_new_variable(&s->core);
    s->partings[s->n_partings++] = parting;
    for (int i = 0; i < (int) m->n_modes; i++) {
        const mo_exact_task *task = &m->tasks[starter];

        if (!mo_exact_mode_uses_buffer(m, h, device, i))
            continue;
        for (int j = task->first; j < task->first + task->n; j++)
            if (m->modes[j].is_real && m->modes[j].to == device)
                separate_modes(s, h, parting.literal, i, j);
    }
    return parting.literal;
}
