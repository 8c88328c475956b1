/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices and orders are decided one after the other, what follows is followed,
 * and from every dead end a clause is learnt (exact_core.h).  When nothing is
 * left to decide, heads are start times, and from then on only what is shorter
 * counts; when the search runs into a wall, there is nothing shorter.
 *
 * In between it is asked for much less than the best so far: what is refuted
 * raises the bound, and what was learnt there still holds.
 */
#include "solvers/search/exact/exact.h"

#include <assert.h>
#include <stdlib.h>

#include "schedule/heuristic/heft.h"
#include "schedule/bound/lower_bound.h"
#include "schedule/serial_makespan.h"
#include "solvers/search/exact/destructive_bound.h"
#include "solvers/search/exact/exact_internal.h"

enum {
    MAX_TASKS = 1500,    /* beyond, there are too many orders, */
    MAX_MODES = 500000,  /* or places, and nothing is searched at all */
    STOP_EVERY = 64,     /* nodes */
    RESTART_STEP = 64,   /* conflicts, times 1, 1, 2, 1, 1, 2, 4, ... */
    LEARNT_FIRST = 4000, /* clauses */
    LEARNT_MORE = 500    /* with every time that some were forgotten */
};

typedef struct effort {
    const mo_exact_options *options;
    int64_t conflicts, restart_at;
    int n_restarts;
    size_t most_learnt;
    bool is_over;
} effort;

/* 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, ...: the one of that number,
 * from 1 on (Luby, Sinclair, Zuckerman, 1993). */
static int64_t luby(int number)
{
    for (;;) {
        int whole = 1; /* the least such beginning that it is in */

        while (whole < number)
            whole = 2 * whole + 1;
        if (whole == number)
            return (whole + 1) / 2;
        number -= whole / 2;
    }
}

static void keep_devices(mo_exact_search *s)
{
    for (int i = 0; i < s->best->n; i++)
        s->device[i] = s->best->device[i];
}

/* A schedule is found; only shorter ones are of interest from now on. */
static bool take_schedule(mo_exact_search *s)
{
    mo_schedule *found = NULL;

    s->status = mo_exact_extract_schedule(s, &found, s->err);
    if (s->status != MO_OK)
        return false;
    assert(found->makespan_ns <= s->horizon_ns);
    mo_schedule_free(s->best);
    s->best = found;
    keep_devices(s);
    mo_exact_core_backtrack(&s->core, 0);
    s->horizon_ns = found->makespan_ns - 1;
    if (s->tight_ns >= s->horizon_ns)
        s->tight = MO_EXACT_NO_LITERAL;
    return s->horizon_ns >= s->lower_ns && mo_exact_propagate_all(s);
}

static void restart(mo_exact_search *s, effort *e)
{
    mo_exact_core *c = &s->core;

    mo_exact_core_backtrack(c, 0);
    e->restart_at = e->conflicts + RESTART_STEP * luby(++e->n_restarts);
    if (c->n_clauses - c->n_given > e->most_learnt) {
        mo_exact_core_reduce_clauses(c);
        e->most_learnt += LEARNT_MORE;
    }
}

static bool is_spent(const mo_exact_search *s, const effort *e)
{
    return s->core.out_of_memory || s->status != MO_OK || s->is_stopped ||
           (e->options->nodes > 0 && s->nodes >= e->options->nodes) ||
           (s->nodes % STOP_EVERY == 0 && mo_stop_reached(e->options->stop));
}

/* A conflict that leaves a way is a step, too. */
static bool turn_back(mo_exact_search *s, effort *e)
{
    e->conflicts++;
    for (int r = 0; r < s->model.n_resources; r++)
        s->is_stale[r] = true;
    return mo_exact_core_analyze_conflict(&s->core);
}

/* Devices and orders are decided. */
static bool arrive(mo_exact_search *s)
{
    bool goes_on;
    int literal;

    if (!mo_exact_is_fixpoint(s))
        return true;
    if (mo_exact_enforce_live_memory(s, &literal, &goes_on))
        return take_schedule(s);
    if (literal != MO_EXACT_NO_LITERAL)
        mo_exact_core_decide(&s->core, literal);
    return goes_on;
}

/* One step; false when there is nothing more to find. */
static bool step(mo_exact_search *s, effort *e)
{
    mo_exact_core *c = &s->core;
    int literal = s->tight;

    if (!mo_exact_propagate(s))
        return turn_back(s, e);
    if (s->is_stopped)
        return true;
    if (e->conflicts >= e->restart_at) {
        restart(s, e);
        return true;
    }
    if (mo_exact_core_level(c) == 0) {
        mo_exact_destructive_next(s, e->conflicts);
        literal = s->tight;
    }
    if (s->lower_ns > s->horizon_ns)
        return false;
    if (literal == MO_EXACT_NO_LITERAL || c->truth[literal] != 0)
        literal = mo_exact_next_decision(s);
    if (literal == MO_EXACT_NO_LITERAL)
        return arrive(s);
    mo_exact_core_decide(c, literal);
    return true;
}

static void search(mo_exact_search *s, effort *e)
{
    bool goes_on = mo_exact_propagate_all(s) && mo_exact_propagate(s) &&
                   mo_exact_destructive_root(s);

    restart(s, e);
    while (goes_on && !e->is_over) {
        s->nodes++;
        goes_on = step(s, e);
        e->is_over = is_spent(s, e);
    }
    if (!goes_on && !s->core.out_of_memory && s->status == MO_OK) {
        e->is_over = false;
        s->lower_ns = s->horizon_ns + 1;
    }
}

static mo_status reserve(mo_exact_search *s, mo_error *err)
{
    size_t n_resources = (size_t) s->model.n_resources;
    size_t most = s->model.n_tasks;

    s->is_stale = calloc(n_resources + 1, sizeof *s->is_stale);
    s->standing = calloc(most + 1, sizeof *s->standing);
    s->by_head = calloc(most + 1, sizeof *s->by_head);
    if (!s->is_stale || !s->standing || !s->by_head)
        return mo_fail_memory(err);
    return MO_OK;
}

/* Something to begin with, if it is any good. */
static mo_status start(mo_exact_search *s, const mo_instance *x,
                       const mo_regime *regime, int64_t below_ns, mo_error *err)
{
    mo_schedule *first = NULL;
    bool fits = false;
    mo_status status;

    s->device = malloc(((size_t) x->n + 1) * sizeof *s->device);
    if (!s->device)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        s->device[i] = MO_FREE;
    status = mo_heft(x, regime, NULL, &first, err);
    if (status == MO_OK && first)
        status = mo_schedule_fits_memory(x, first, &fits, err);
    if (status == MO_OK && fits) {
        s->best = first;
        keep_devices(s);
        if (first->makespan_ns >= below_ns)
            s->best = NULL;
        else
            s->horizon_ns = first->makespan_ns - 1;
    }
    if (s->best != first)
        mo_schedule_free(first);
    return status;
}

/* All that could be of interest ends within this. */
static mo_status find_horizon(mo_exact_search *s, const mo_instance *x,
                              const mo_regime *regime, int64_t below_ns,
                              mo_error *err)
{
    mo_status status = mo_serial_makespan(x, regime, &s->horizon_ns, err);

    /* What takes no time may have to keep a distance from something else. */
    if (regime->memory == MO_MEMORY_LIVE)
        s->horizon_ns += x->n + (int64_t) x->n_flows + x->n_tensors;
    if (status == MO_OK && below_ns <= s->horizon_ns)
        s->horizon_ns = below_ns - 1;
    return status;
}

static bool is_too_large(const mo_instance *x, const mo_regime *regime)
{
    int64_t K = x->n_devices;
    int64_t n_tasks =
        x->n + (regime->tensors == MO_TENSORS_ONCE ? x->n_tensors * K
                                                   : (int64_t) x->n_flows);

    return n_tasks > MAX_TASKS || x->n_flows * K * K > MAX_MODES;
}

static mo_status find(mo_exact_search *s, const mo_instance *x,
                      const mo_regime *regime, effort *e, mo_error *err)
{
    mo_lower_bound lower = { 0 };
    mo_status status;

    if (is_too_large(x, regime)) {
        e->is_over = true;
        status = mo_bound_lower_until(x, regime, e->options->stop, &lower, err);
        s->lower_ns = lower.bound_ns;
        return status;
    }
    status = mo_exact_model_init(&s->model, &s->core, x, regime, err);
    if (status == MO_OK)
        status = reserve(s, err);
    if (status != MO_OK)
        return status;
    s->core.explain = mo_exact_explain;
    s->core.context = s;
    if (!s->model.is_impossible && s->horizon_ns >= 0)
        search(s, e);
    else
        s->lower_ns = s->horizon_ns + 1;
    return s->core.out_of_memory ? mo_fail_memory(err) : s->status;
}

static void close_search(mo_exact_search *s)
{
    mo_exact_model_clear(&s->model);
    mo_exact_core_clear(&s->core);
    free(s->is_stale);
    free(s->standing);
    free(s->by_head);
    free(s->partings);
    free(s->holdings);
    free(s->device);
}

mo_status mo_exact_solve(const mo_instance *x, const mo_regime *regime,
                         const mo_exact_options *options,
                         mo_exact_result *result, mo_error *err)
{
    mo_exact_search s = { .tight = MO_EXACT_NO_LITERAL,
                          .stop = options->stop,
                          .err = err };
    effort e = { .options = options, .most_learnt = LEARNT_FIRST };
    mo_status status = find_horizon(&s, x, regime, options->below_ns, err);

    mo_exact_core_init(&s.core);
    if (status == MO_OK)
        status = start(&s, x, regime, options->below_ns, err);
    if (status == MO_OK)
        status = find(&s, x, regime, &e, err);
    if (status == MO_OK)
        *result = (mo_exact_result){ s.best, !e.is_over, s.lower_ns, s.nodes };
    else
        mo_schedule_free(s.best);
    close_search(&s);
    return status;
}
