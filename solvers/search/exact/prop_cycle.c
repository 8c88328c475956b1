/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that wait for each other in a circle push each other's heads up, by the
 * length of the circle each time round, until the limit is passed: that may
 * take for ever.  Where heads rise suspiciously often, circles are looked for
 * among what is decided (Bellman and Ford), and one that takes time is a
 * conflict.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "solvers/search/exact/exact_internal.h"

/* then starts at least so long after first. */
typedef struct arc {
    int first, then; /* modes that are taken */
    int literal;     /* why, or MO_EXACT_NO_LITERAL: the graph says so */
    int64_t ns;
} arc;

typedef struct finder {
    mo_exact_search *s;
    arc *arcs;
    size_t n, room;
    int64_t *start_ns; /* by mode */
    int *by;           /* by mode: the last arc that raised it, or -1 */
} finder;

static void add(finder *f, int first, int then, int literal, int64_t pause_ns)
{
    if (first < 0 || then < 0)
        return;
    if (MO_ARRAY_GROW(f->arcs, f->n, f->room, NULL) != MO_OK) {
        f->s->core.out_of_memory = true;
        return;
    }
    f->arcs[f->n++] = (arc){ first, then, literal,
                             f->s->model.modes[first].length_ns + pause_ns };
}

/* Between tasks whose modes are taken, flows say who comes first.  Rules hold
 * them all: a way that is taken leads from one to the other. */
static void add_rule(finder *f, const mo_exact_precedence *rule)
{
    const mo_exact_model *m = &f->s->model;
    const mo_exact_core *c = &f->s->core;
    int then = rule->target >> 1;

    if (rule->target & 1 || c->truth[m->modes[then].literal] <= 0 ||
        (rule->given != MO_EXACT_NO_LITERAL && c->truth[rule->given] <= 0))
        return;
    for (int i = rule->first; i < rule->first + rule->n; i++) {
        int first = m->ways[i].bound >> 1;

        if (c->truth[m->modes[first].literal] > 0)
            add(f, first, then, rule->given,
                m->ways[i].add_ns - m->modes[first].length_ns);
    }
}

static void add_orders(finder *f)
{
    mo_exact_search *s = f->s;

    for (int r = 0; r < s->model.n_resources; r++) {
        mo_exact_collect_uses(s, r);
        for (int i = 0; i < s->n_standing; i++)
            for (int j = 0; j < s->n_standing; j++) {
                const mo_exact_use_state *a = &s->standing[i],
                                         *b = &s->standing[j];
                int literal = mo_exact_order_literal(&s->model, a->use->task,
                                                     b->use->task);

                if (i == j || literal == MO_EXACT_NO_LITERAL ||
                    s->core.truth[literal] <= 0 ||
                    a->length_ns + b->length_ns == 0)
                    continue;
                add(f, mo_exact_chosen_mode(s, a->use->task),
                    mo_exact_chosen_mode(s, b->use->task), literal, 0);
            }
    }
}

/* Raises starts once over all arcs; returns the last mode that was raised. */
static int relax(finder *f)
{
    int raised = -1;

    for (size_t i = 0; i < f->n; i++) {
        const arc *a = &f->arcs[i];
        int64_t ns = f->start_ns[a->first] + a->ns;

        if (ns <= f->start_ns[a->then])
            continue;
        f->start_ns[a->then] = ns;
        f->by[a->then] = (int) i;
        raised = a->then;
    }
    return raised;
}

/* From a mode that rises for ever, as many steps back as there are tasks lead
 * onto a circle. */
static void blame_circle(finder *f, int mode)
{
    mo_exact_search *s = f->s;
    int at;

    for (size_t i = 0; i < s->model.n_tasks; i++)
        mode = f->arcs[f->by[mode]].first;
    at = mode;
    mo_exact_core_clear_facts(&s->core);
    do {
        const arc *a = &f->arcs[f->by[at]];

        mo_exact_core_add_literal_fact(&s->core, s->model.modes[at].literal);
        if (a->literal != MO_EXACT_NO_LITERAL)
            mo_exact_core_add_literal_fact(&s->core, a->literal);
        at = a->first;
    } while (at != mode);
}

static bool find(finder *f)
{
    mo_exact_model *m = &f->s->model;
    int raised = -1;

    memset(f->by, 0xff, m->n_modes * sizeof *f->by);
    for (size_t i = 0; i < m->n_rules; i++)
        add_rule(f, &m->rules[i]);
    add_orders(f);
    for (size_t i = 0; i <= m->n_tasks && !f->s->core.out_of_memory; i++)
        if ((raised = relax(f)) < 0)
            return false;
    if (raised >= 0)
        blame_circle(f, raised);
    return raised >= 0;
}

bool mo_exact_has_positive_cycle(mo_exact_search *s)
{
    finder f = { .s = s };
    bool found = false;

    f.start_ns = calloc(s->model.n_modes + 1, sizeof *f.start_ns);
    f.by = malloc((s->model.n_modes + 1) * sizeof *f.by);
    if (f.start_ns && f.by)
        found = find(&f);
    else
        s->core.out_of_memory = true;
    free(f.arcs);
    free(f.start_ns);
    free(f.by);
    return found;
}
