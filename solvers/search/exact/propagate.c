/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constraint propagation to a fixed point: precedences, deadlines, resources.
 *
 * Tasks in a precedence cycle raise each other's heads by the length of the
 * cycle each time round, until the deadline is passed: that may take very
 * long. Where heads rise suspiciously often, propagation is interrupted, and
 * the search goes on with what was derived.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "solvers/search/exact/exact_internal.h"

/*
 * Propagation to a fixpoint, cheapest constraints first: clauses, precedences
 * along the flows, deadlines of modes, memory, and last the resources.
 */

/* Lazy reasons are numbered: the index of a precedence, or, negative, of a
 * mode that misses the deadline. */
#define TOO_LATE(mode) (~(mode))

enum {
    RAISES_AT_ONCE = 8, /* of each bound, on average */
    SHORT_TRAIL = 1000,
    STOP_CHECK_EVERY = 64, /* steps between checks of the clock: with many
                              devices they are long */
    STEP_WORK = 400        /* of a step (mo_stop_spend) */
};

int64_t mo_exact_explain_limit(mo_exact_search *s, int64_t total_ns)
{
    if (total_ns > s->horizon_ns)
        return total_ns - s->horizon_ns - 1;
    mo_exact_explain_literal(&s->core, s->trial);
    return total_ns - s->trial_ns - 1;
}

static bool condition_holds(const mo_exact_core *c, int literal)
{
    return literal == MO_EXACT_NO_LITERAL || c->truth[literal] > 0;
}

static void propagate_precedence(mo_exact_search *s, int number)
{
    mo_exact_core *c = &s->core;
    const mo_exact_precedence *precedence = &s->model.precedences[number];
    const mo_exact_mode *mode = &s->model.modes[precedence->target >> 1];
    int64_t least = INT64_MAX;

    if (c->truth[mode->literal] < 0 ||
        !condition_holds(c, precedence->condition) ||
        !condition_holds(c, precedence->condition2))
        return;
    for (int i = 0; i < precedence->n; i++) {
        const mo_exact_alternative *alternative =
            &s->model.alternatives[precedence->first + i];
        int64_t ns;

        if (c->truth[alternative->literal] < 0)
            continue;
        ns = c->value[alternative->bound] + alternative->add_ns;

        if (alternative->bound2 >= 0 &&
            c->value[alternative->bound2] + alternative->add2_ns > ns)
            ns = c->value[alternative->bound2] + alternative->add2_ns;
        if (ns <= c->value[precedence->target])
            return;
        if (ns < least)
            least = ns;
    }
    /* Caps a value just beyond the horizon, so that sums do not overflow. */
    mo_exact_core_raise_bound(c, precedence->target,
                              least > s->horizon_ns ? s->horizon_ns + 1 : least,
                              MO_EXACT_REASON_LAZY, number);
}

/* Head, length and tail exceed the deadline. The slack need not be explained:
 * preferably all of the head or all of the tail is left out. */
static void explain_too_late(mo_exact_search *s, int mode, int number)
{
    mo_exact_core *c = &s->core;
    int64_t head = mo_exact_core_bound_before(c, MO_EXACT_HEAD(mode), number);
    int64_t tail = mo_exact_core_bound_before(c, MO_EXACT_TAIL(mode), number);
    int64_t total = head + s->model.modes[mode].length_ns + tail;
    int64_t spare = mo_exact_explain_limit(s, total);
    int64_t most = head - c->root_value[MO_EXACT_HEAD(mode)];

    if (spare >= most) {
        head -= most;
        tail -= spare - most;
    } else if (spare >= tail - c->root_value[MO_EXACT_TAIL(mode)]) {
        most = tail - c->root_value[MO_EXACT_TAIL(mode)];
        tail -= most;
        head -= spare - most;
    } else {
        head -= spare;
    }
    mo_exact_explain_bound(c, MO_EXACT_HEAD(mode), head);
    mo_exact_explain_bound(c, MO_EXACT_TAIL(mode), tail);
}

void mo_exact_explain(void *context, const mo_exact_trail_entry *entry,
                      int number, int64_t value)
{
    mo_exact_search *s = context;

    if (entry->reason_index < 0)
        explain_too_late(s, TOO_LATE(entry->reason_index), number);
    else {
        const mo_exact_precedence *precedence =
            &s->model.precedences[entry->reason_index];

        if (precedence->condition != MO_EXACT_NO_LITERAL)
            mo_exact_explain_literal(&s->core, precedence->condition);
        if (precedence->condition2 != MO_EXACT_NO_LITERAL)
            mo_exact_explain_literal(&s->core, precedence->condition2);
        for (int i = 0; i < precedence->n; i++) {
            const mo_exact_alternative *alternative =
                &s->model.alternatives[precedence->first + i];
            mo_exact_core *c = &s->core;

            if (c->root_value[alternative->bound] + alternative->add_ns >=
                    value ||
                (alternative->bound2 >= 0 &&
                 c->root_value[alternative->bound2] + alternative->add2_ns >=
                     value))
                continue;
            if (mo_exact_core_false_before(c, alternative->literal, number))
                mo_exact_explain_literal(c, alternative->literal ^ 1);
            else if (mo_exact_core_bound_before(c, alternative->bound, number) +
                         alternative->add_ns >=
                     value)
                mo_exact_explain_bound(c, alternative->bound,
                                       value - alternative->add_ns);
            else
                mo_exact_explain_bound(c, alternative->bound2,
                                       value - alternative->add2_ns);
        }
    }
}

static void mark_stale(mo_exact_search *s, int mode)
{
    const mo_exact_adjacency *of = &s->model.resources_of_mode;

    for (int i = of->start[mode]; i < of->start[mode + 1]; i++)
        s->is_stale[of->items[i]] = true;
}

static void mark_task_stale(mo_exact_search *s, int number)
{
    const mo_exact_task *task = &s->model.tasks[number];

    for (int i = 0; i < task->n; i++)
        if (s->core.truth[s->model.modes[task->first + i].literal] >= 0)
            mark_stale(s, task->first + i);
}

static bool check_deadline(mo_exact_search *s, int mode)
{
    mo_exact_core *c = &s->core;
    const mo_exact_mode *it = &s->model.modes[mode];
    int64_t total_ns = c->value[MO_EXACT_HEAD(mode)] + it->length_ns +
                       c->value[MO_EXACT_TAIL(mode)];

    if (total_ns <= mo_exact_limit_ns(s) || !it->is_real ||
        c->truth[it->literal] < 0)
        return true;
    return mo_exact_core_imply(c, it->literal ^ 1, MO_EXACT_REASON_LAZY,
                               TOO_LATE(mode));
}

static void propagate_precedences(mo_exact_search *s,
                                  const mo_exact_adjacency *of, int i)
{
    for (int r = of->start[i]; r < of->start[i + 1]; r++)
        propagate_precedence(s, of->items[r]);
}

static bool check_all_deadlines(mo_exact_search *s)
{
    for (int m = 0; m < (int) s->model.n_modes; m++)
        if (!check_deadline(s, m))
            return false;
    for (int r = 0; r < s->model.n_resources; r++)
        s->is_stale[r] = true;
    return true;
}

static bool propagate_literal(mo_exact_search *s, int literal)
{
    const mo_exact_adjacency *modes = &s->model.modes_of_literal;
    bool is_place = false;

    if (!mo_exact_core_propagate_clauses(&s->core, literal))
        return false;
    if (literal >= s->model.n_literals)
        return literal == s->trial ? check_all_deadlines(s) : true;
    int number = (literal >> 1) - s->model.orders.first;
    if (number >= 0 && number < (int) s->model.orders.n) {
        mark_task_stale(
            s,
            s->model.orders.tasks[(literal >> 1) - s->model.orders.first][0]);
        return true;
    }
    for (int side = 0; side < 2; side++)
        for (int i = modes->start[literal ^ side];
             i < modes->start[(literal ^ side) + 1]; i++) {
            mark_task_stale(s, s->model.modes[modes->items[i]].task);
            is_place = s->model.modes[modes->items[i]].task < s->model.x->n;
        }
    if (is_place && (literal & 1) == 0 && !mo_exact_propagate_memory(s))
        return false;
    propagate_precedences(s, &s->model.precedences_of_literal, literal);
    return true;
}

static bool propagate_bound(mo_exact_search *s, int bound)
{
    int mode = bound >> 1;

    if (s->core.truth[s->model.modes[mode].literal] < 0)
        return true;
    mark_stale(s, mode);
    propagate_precedences(s, &s->model.precedences_of_bound, bound);
    return check_deadline(s, mode);
}

/* Returns whether the trail has grown too long for one call, or the search is
 * stopped. */
static bool is_interrupted(mo_exact_search *s, size_t begin)
{
    if (!s->is_stopped && ++s->stop_checks % STOP_CHECK_EVERY == 0)
        s->is_stopped = mo_stop_spend(s->stop, STEP_WORK * STOP_CHECK_EVERY);
    return s->is_stopped ||
           s->core.n_trail - begin >
               (size_t) s->core.n_bounds * RAISES_AT_ONCE + SHORT_TRAIL;
}

static bool propagate_trail(mo_exact_search *s, size_t begin)
{
    mo_exact_core *c = &s->core;

    while (c->n_propagated < c->n_trail && !is_interrupted(s, begin)) {
        int what = c->trail[c->n_propagated++].what;

        if (!(what >= 0 ? propagate_literal(s, what)
                        : propagate_bound(s, ~what)) ||
            c->out_of_memory)
            return false;
    }
    return true;
}

bool mo_exact_is_fixpoint(const mo_exact_search *s)
{
    return s->core.n_propagated == s->core.n_trail;
}

bool mo_exact_propagate(mo_exact_search *s)
{
    size_t begin = s->core.n_trail;

    do {
        /* Propagates stale resources. */
        for (int r = 0; r < s->model.n_resources && !is_interrupted(s, begin);
             r++) {
            if (!propagate_trail(s, begin))
                return false;
            if (!s->is_stale[r])
                continue;
            s->is_stale[r] = false;
            if (!mo_exact_propagate_disjunctive(s, r))
                return false;
            r = -1;
        }
        if (!propagate_trail(s, begin))
            return false;
        if (is_interrupted(s, begin))
            return true;
        /* Those added during the search, of which there are few. */
        for (size_t i = s->model.n_static_precedences;
             i < s->model.n_precedences; i++)
            propagate_precedence(s, (int) i);
    } while (!mo_exact_is_fixpoint(s));
    return true;
}

bool mo_exact_propagate_all(mo_exact_search *s)
{
    for (int i = 0; i < (int) s->model.n_precedences; i++)
        propagate_precedence(s, i);
    return check_all_deadlines(s) && mo_exact_propagate_memory(s);
}
