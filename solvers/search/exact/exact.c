/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/exact/exact.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "schedule/bound/lower_bound.h"
#include "schedule/heuristic/heft.h"
#include "schedule/serial_makespan.h"
#include "solvers/search/exact/exact_internal.h"

/*
 * Exact search: lazy clause generation (core.h) with restarts and destructive
 * lower bounds. Devices and orders are decided one after the other, their
 * consequences are propagated, and every conflict adds a learnt clause. When
 * nothing is left to decide the heads are start times of a schedule, and from
 * then on only shorter ones are feasible; when the conflict is at level 0,
 * none is shorter.
 */

int mo_exact_chosen_mode(const mo_exact_search *s, int task)
{
    const mo_exact_task *t = &s->model.tasks[task];

    for (int i = 0; i < t->n; i++)
        if (s->core.truth[s->model.modes[t->first + i].literal] > 0)
            return t->first + i;
    return -1;
}

/* Allocates the schedule given by the heads; the caller frees it. */
static mo_status extract_schedule(const mo_exact_search *s,
                                  mo_schedule **schedule, mo_error *err)
{
    const mo_instance *x = s->model.x;
    int *device = malloc(((size_t) x->n + 1) * sizeof *device);
    mo_schedule *made = NULL;
    mo_status status;

    if (!device)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        device[i] = s->model.modes[mo_exact_chosen_mode(s, i)].from;
    status = mo_schedule_new(x, &s->model.regime, device, &made, err);
    free(device);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < made->n; i++) {
        int mode = mo_exact_chosen_mode(s, i);
        int64_t end_ns;

        made->start_ns[i] = s->core.value[MO_EXACT_HEAD(mode)];
        end_ns = made->start_ns[i] + s->model.modes[mode].length_ns;
        if (end_ns > made->makespan_ns)
            made->makespan_ns = end_ns;
    }
    if (s->model.has_transfer_tasks) {
        const mo_exact_model *m = &s->model;

        for (int t = m->x->n; t < (int) m->n_tasks; t++) {
            int number = mo_exact_chosen_mode(s, t);
            const mo_exact_mode *mode = &m->modes[number];
            mo_transfer *sent;

            if (number < 0 || !mode->is_real)
                continue;
            sent = mo_schedule_transfer(made, m->tasks[t].item, mode->to);
            sent->start_ns = s->core.value[MO_EXACT_HEAD(number)];
            sent->end_ns = sent->start_ns + mode->length_ns;
        }
    } else {
        /* Without transfer tasks, transfers start as soon as their tensor is
         * there. */
        for (int i = 0; i < made->n_transfers; i++) {
            mo_transfer *sent = &made->transfers[i];
            int from = made->regime.tensors == MO_TENSORS_ONCE
                           ? x->tensor_from[sent->item]
                           : x->flows[sent->item].from;

            sent->start_ns = made->start_ns[from] +
                             mo_instance_p_ns(x, from, made->device[from]);
            sent->end_ns = sent->start_ns +
                           mo_schedule_item_ns(x, &made->regime, sent->item,
                                               sent->from, sent->to);
        }
    }
    *schedule = made;
    return MO_OK;
}

/*
 * Destructive lower bounds (Klein and Scholl 1999): a trial deadline far below
 * the best makespan is assumed; if it is refuted, the lower bound rises.
 *
 * The deadline is a literal, decided before all others. Clauses learnt
 * meanwhile stay valid, as they contain the literal where it mattered.
 */
enum {
    FIRST_CONFLICT_LIMIT = 100, /* conflicts */
    MAX_GAP_SHIFT = 12,         /* trials at 1/2, ..., 1/4096 of the gap */
    ROOT_STEPS = 10             /* of bisection at the root node */
};

static void start_trial(mo_exact_search *s, int64_t time_ns)
{
    s->trial = 2 * mo_exact_core_new_variable(&s->core);
    s->trial_ns = time_ns;
}

/* Returns whether the trial is refuted at level 0; then raises the bound. */
static bool conclude_trial(mo_exact_search *s)
{
    const mo_exact_core *c = &s->core;

    if (s->trial == MO_EXACT_NO_LITERAL || c->truth[s->trial] >= 0 ||
        c->trail[c->entry_of[s->trial >> 1]].level > 0)
        return false;
    if (s->lower_ns <= s->trial_ns)
        s->lower_ns = s->trial_ns + 1;
    s->trial = MO_EXACT_NO_LITERAL;
    return true;
}

/* At level 0, before the search: raises the bound by bisection with
 * propagation alone. Returns false if the problem is infeasible. */
static bool destructive_bound_root(mo_exact_search *s)
{
    int64_t open_ns = s->horizon_ns;

    for (int i = 0; i < ROOT_STEPS && s->lower_ns < open_ns && !s->is_stopped;
         i++) {
        int64_t time_ns = s->lower_ns + (open_ns - s->lower_ns) / 2;

        start_trial(s, time_ns);
        mo_exact_core_decide(&s->core, s->trial);
        if (mo_exact_propagate(s)) {
            mo_exact_core_backtrack(&s->core, 0);
            open_ns = time_ns;
        } else if (!mo_exact_core_analyze_conflict(&s->core) ||
                   !mo_exact_propagate(s)) {
            return false;
        }
        conclude_trial(s);
    }
    s->trial = MO_EXACT_NO_LITERAL;
    return true;
}

/* At level 0: starts the next trial, after that many conflicts so far; trials
 * alternate with search for better schedules. */
static void destructive_bound_next(mo_exact_search *s, int64_t conflicts)
{
    mo_exact_destructive_bound *d = &s->destructive;
    int64_t gap_ns = s->horizon_ns + 1 - s->lower_ns;

    if (conclude_trial(s)) {
        d->gap_shift -= d->gap_shift > 1;
    } else if (conflicts < d->until) {
        return;
    } else if (s->trial != MO_EXACT_NO_LITERAL) {
        /* Undecided: next time a smaller part of the gap, with more
         * conflicts. */
        s->trial = MO_EXACT_NO_LITERAL;
        d->until = conflicts + d->conflict_limit;
        d->gap_shift += d->gap_shift < MAX_GAP_SHIFT;
        d->conflict_limit += d->conflict_limit / 2;
        return;
    }
    if (d->conflict_limit == 0) {
        d->conflict_limit = FIRST_CONFLICT_LIMIT;
        d->gap_shift = 1;
    }
    d->until = conflicts + d->conflict_limit;
    start_trial(s, s->lower_ns + (gap_ns >> d->gap_shift));
}

/*
 * The search loop.
 */

enum {
    MAX_TASKS = 1500,    /* beyond, there are too many orders, */
    MAX_MODES = 500000,  /* or modes, and nothing is searched at all */
    STOP_EVERY = 64,     /* nodes */
    RESTART_STEP = 64,   /* conflicts, times the Luby sequence 1, 1, 2, ... */
    LEARNT_FIRST = 4000, /* clauses */
    LEARNT_MORE = 500    /* with every reduction */
};

typedef struct effort {
    const mo_exact_options *options;
    int64_t conflicts, restart_at;
    int n_restarts;
    size_t most_learnt;
    bool is_over;
    bool restarts, has_trials; /* not switched off */
} effort;

/* Luby sequence 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, ...: returns its
 * element of that number, from 1 on (Luby, Sinclair, Zuckerman, 1993). */
static int64_t luby(int number)
{
    for (;;) {
        int whole = 1; /* length of the shortest full prefix that contains it */

        while (whole < number)
            whole = 2 * whole + 1;
        if (whole == number)
            return (whole + 1) / 2;
        number -= whole / 2;
    }
}

static void save_devices(mo_exact_search *s)
{
    if (mo_ablated(MO_ABLATION_exact_phase_saving))
        return;
    for (int i = 0; i < s->best->n; i++)
        s->device[i] = s->best->device[i];
}

static void restart_search(mo_exact_search *s, effort *e)
{
    mo_exact_core *c = &s->core;

    mo_exact_core_backtrack(c, 0);
    e->restart_at = e->restarts
                        ? e->conflicts + RESTART_STEP * luby(++e->n_restarts)
                        : INT64_MAX;
    if (c->db.n - c->db.n_given > e->most_learnt) {
        mo_exact_core_reduce_clauses(c);
        e->most_learnt += LEARNT_MORE;
    }
}

/* All devices and orders are decided. */
static bool complete_assignment(mo_exact_search *s)
{
    bool goes_on;
    int literal;

    if (!mo_exact_is_fixpoint(s))
        return true;
    if (mo_exact_enforce_live_memory(s, &literal, &goes_on)) {
        /* Stores the schedule found as the best and tightens the horizon;
         * false: the problem is solved. */
        mo_schedule *found = NULL;

        s->status = extract_schedule(s, &found, s->err);
        if (s->status != MO_OK)
            return false;
        assert(found->makespan_ns <= s->horizon_ns);
        mo_schedule_free(s->best);
        s->best = found;
        save_devices(s);
        mo_exact_core_backtrack(&s->core, 0);
        s->horizon_ns = found->makespan_ns - 1;
        if (s->trial_ns >= s->horizon_ns)
            s->trial = MO_EXACT_NO_LITERAL;
        return s->horizon_ns >= s->lower_ns && mo_exact_propagate_all(s);
    }
    if (literal != MO_EXACT_NO_LITERAL)
        mo_exact_core_decide(&s->core, literal);
    return goes_on;
}

/* One step; returns false when the search space is exhausted. */
static bool search_step(mo_exact_search *s, effort *e)
{
    mo_exact_core *c = &s->core;
    int literal = s->trial;

    if (!mo_exact_propagate(s)) {
        /* A conflict that leaves a way out counts as a step. */
        e->conflicts++;
        for (int r = 0; r < s->model.n_resources; r++)
            s->is_stale[r] = true;
        return mo_exact_core_analyze_conflict(&s->core);
    }
    if (s->is_stopped)
        return true;
    if (e->conflicts >= e->restart_at) {
        restart_search(s, e);
        return true;
    }
    if (mo_exact_core_level(c) == 0 && e->has_trials) {
        destructive_bound_next(s, e->conflicts);
        literal = s->trial;
    }
    if (s->lower_ns > s->horizon_ns)
        return false;
    if (literal == MO_EXACT_NO_LITERAL || c->truth[literal] != 0)
        literal = mo_exact_next_decision(s);
    if (literal == MO_EXACT_NO_LITERAL)
        return complete_assignment(s);
    mo_exact_core_decide(c, literal);
    return true;
}

/* Initial upper bound by HEFT, if it fits memory and is below below_ns. */
static mo_status find_initial_schedule(mo_exact_search *s, const mo_instance *x,
                                       const mo_regime *regime,
                                       int64_t below_ns, mo_error *err)
{
    mo_schedule *first = NULL;
    bool fits = false;
    mo_status status;

    s->device = malloc(((size_t) x->n + 1) * sizeof *s->device);
    if (!s->device)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        s->device[i] = MO_FREE;
    status = mo_ablated(MO_ABLATION_exact_initial_schedule)
                 ? MO_OK
                 : mo_heft(x, regime, NULL, &first, err);
    if (status == MO_OK && first)
        status = mo_schedule_fits_memory(x, first, &fits, err);
    if (status == MO_OK && fits) {
        s->best = first;
        save_devices(s);
        if (first->makespan_ns >= below_ns)
            s->best = NULL;
        else
            s->horizon_ns = first->makespan_ns - 1;
    }
    if (s->best != first)
        mo_schedule_free(first);
    return status;
}

static mo_status build_and_search(mo_exact_search *s, const mo_instance *x,
                                  const mo_regime *regime, effort *e,
                                  mo_error *err)
{
    mo_lower_bound lower = { 0 };
    mo_status status;

    int64_t K = x->n_devices;
    int64_t n_tasks =
        x->n + (regime->tensors == MO_TENSORS_ONCE ? x->n_tensors * K
                                                   : (int64_t) x->n_flows);
    if ((n_tasks > MAX_TASKS || x->n_flows * K * K > MAX_MODES) ||
        mo_ablated(MO_ABLATION_exact)) {
        e->is_over = true;
        status = mo_bound_lower_until(x, regime, e->options->stop, &lower, err);
        s->lower_ns = lower.bound_ns;
        return status;
    }
    status = mo_exact_model_init(&s->model, &s->core, x, regime, err);
    if (status == MO_OK) {
        size_t n_resources = (size_t) s->model.n_resources;
        size_t most = s->model.n_tasks;

        s->is_stale = calloc(n_resources + 1, sizeof *s->is_stale);
        s->use_states = calloc(most + 1, sizeof *s->use_states);
        s->by_head = calloc(most + 1, sizeof *s->by_head);
        if (!s->is_stale || !s->use_states || !s->by_head)
            status = mo_fail_memory(err);
    }
    if (status != MO_OK)
        return status;
    s->core.explain = mo_exact_explain;
    s->core.context = s;
    if (!s->model.is_impossible && s->horizon_ns >= 0) {
        bool goes_on = mo_exact_propagate_all(s) && mo_exact_propagate(s) &&
                       (!e->has_trials || destructive_bound_root(s));

        restart_search(s, e);
        while (goes_on && !e->is_over) {
            s->nodes++;
            goes_on = search_step(s, e);
            e->is_over =
                s->core.out_of_memory || s->status != MO_OK || s->is_stopped ||
                (e->options->nodes > 0 && s->nodes >= e->options->nodes) ||
                (s->nodes % STOP_EVERY == 0 &&
                 mo_stop_reached(e->options->stop));
        }
        if (!goes_on && !s->core.out_of_memory && s->status == MO_OK) {
            e->is_over = false;
            s->lower_ns = s->horizon_ns + 1;
        }
    } else {
        s->lower_ns = s->horizon_ns + 1;
    }
    return s->core.out_of_memory ? mo_fail_memory(err) : s->status;
}

mo_status mo_exact_solve(const mo_instance *x, const mo_regime *regime,
                         const mo_exact_options *options,
                         mo_exact_result *result, mo_error *err)
{
    mo_exact_search s = { .trial = MO_EXACT_NO_LITERAL,
                          .stop = options->stop,
                          .err = err,
                          .has_edge_finding =
                              !mo_ablated(MO_ABLATION_exact_edge_finding) };
    effort e = { .options = options,
                 .most_learnt = LEARNT_FIRST,
                 .restarts = !mo_ablated(MO_ABLATION_exact_restarts),
                 .has_trials =
                     !mo_ablated(MO_ABLATION_exact_destructive_bound) };
    /* Upper bound on every schedule of interest. */
    mo_status status = mo_serial_makespan(x, regime, &s.horizon_ns, err);

    /* With live memory, tasks of length 0 may need a distance of 1 ns from
     * others. */
    if (regime->memory == MO_MEMORY_LIVE)
        s.horizon_ns += x->n + (int64_t) x->n_flows + x->n_tensors;
    if (status == MO_OK && options->below_ns <= s.horizon_ns)
        s.horizon_ns = options->below_ns - 1;
    mo_exact_core_init(&s.core);
    if (status == MO_OK)
        status = find_initial_schedule(&s, x, regime, options->below_ns, err);
    if (status == MO_OK)
        status = build_and_search(&s, x, regime, &e, err);
    if (status == MO_OK)
        *result = (mo_exact_result){ s.best, !e.is_over, s.lower_ns, s.nodes };
    else
        mo_schedule_free(s.best);
    mo_exact_model_clear(&s.model);
    mo_exact_core_clear(&s.core);
    free(s.is_stale);
    free(s.use_states);
    free(s.by_head);
    free(s.lifetime_orders);
    free(s.buffers);
    free(s.device);
    return status;
}
