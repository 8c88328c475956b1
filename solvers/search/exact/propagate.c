/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows from what is known, until nothing new does: clauses, times along
 * the flows, modes for which there is no time, memory, and last, as they cost
 * most, resources.
 */
#include "solvers/search/exact/exact_internal.h"

/* Reasons that are asked for have a number: that of a rule, or, from here on
 * down, of a mode for which there is no time. */
#define TOO_LATE(mode) (~(mode))

enum {
    RAISES_AT_ONCE = 8, /* of each bound, on average */
    SHORT_TRAIL = 1000,
    LOOK_EVERY = 64 /* steps, at the clock: with many devices they are long */
};

int64_t mo_exact_explain_limit(mo_exact_search *s, int64_t total_ns)
{
    if (total_ns > s->horizon_ns)
        return total_ns - s->horizon_ns - 1;
    mo_exact_core_add_literal_fact(&s->core, s->tight);
    return total_ns - s->tight_ns - 1;
}

static int64_t way_ns(const mo_exact_core *c, const mo_exact_alternative *way)
{
    int64_t ns = c->value[way->bound] + way->add_ns;

    if (way->also >= 0 && c->value[way->also] + way->also_add_ns > ns)
        ns = c->value[way->also] + way->also_add_ns;
    return ns;
}

/* No value is of interest beyond what is too late anyway, so none overflows. */
static int64_t capped(const mo_exact_search *s, int64_t ns)
{
    return ns > s->horizon_ns ? s->horizon_ns + 1 : ns;
}

static bool is_given(const mo_exact_core *c, int literal)
{
    return literal == MO_EXACT_NO_LITERAL || c->truth[literal] > 0;
}

static void apply_rule(mo_exact_search *s, int number)
{
    mo_exact_core *c = &s->core;
    const mo_exact_precedence *rule = &s->model.rules[number];
    const mo_exact_task_mode *mode = &s->model.modes[rule->target >> 1];
    int64_t least = INT64_MAX;

    if (c->truth[mode->literal] < 0 || !is_given(c, rule->given) ||
        !is_given(c, rule->also_given))
        return;
    for (int i = 0; i < rule->n; i++) {
        const mo_exact_alternative *way = &s->model.ways[rule->first + i];
        int64_t ns;

        if (c->truth[way->literal] < 0)
            continue;
        ns = way_ns(c, way);
        if (ns <= c->value[rule->target])
            return;
        if (ns < least)
            least = ns;
    }
    mo_exact_core_raise_bound(c, rule->target, capped(s, least),
                              MO_EXACT_REASON_LAZY, number);
}

static void explain_way(mo_exact_search *s, const mo_exact_alternative *way,
                        int number, int64_t ns)
{
    mo_exact_core *c = &s->core;

    if (c->root_value[way->bound] + way->add_ns >= ns ||
        (way->also >= 0 && c->root_value[way->also] + way->also_add_ns >= ns))
        return;
    if (mo_exact_core_false_before(c, way->literal, number))
        mo_exact_core_add_literal_fact(c, way->literal ^ 1);
    else if (mo_exact_core_bound_before(c, way->bound, number) + way->add_ns >=
             ns)
        mo_exact_core_add_bound_fact(c, way->bound, ns - way->add_ns);
    else
        mo_exact_core_add_bound_fact(c, way->also, ns - way->also_add_ns);
}

static void explain_rule(mo_exact_search *s, int rule_number, int number,
                         int64_t ns)
{
    const mo_exact_precedence *rule = &s->model.rules[rule_number];

    if (rule->given != MO_EXACT_NO_LITERAL)
        mo_exact_core_add_literal_fact(&s->core, rule->given);
    if (rule->also_given != MO_EXACT_NO_LITERAL)
        mo_exact_core_add_literal_fact(&s->core, rule->also_given);
    for (int i = 0; i < rule->n; i++)
        explain_way(s, &s->model.ways[rule->first + i], number, ns);
}

/* Head, length and tail exceed the limit.  What they exceed it by need not be
 * explained: preferably all of the head or all of the tail. */
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
    mo_exact_core_add_bound_fact(c, MO_EXACT_HEAD(mode), head);
    mo_exact_core_add_bound_fact(c, MO_EXACT_TAIL(mode), tail);
}

void mo_exact_explain(void *context, const mo_exact_trail_entry *entry,
                      int number, int64_t value)
{
    mo_exact_search *s = context;

    if (entry->at < 0)
        explain_too_late(s, TOO_LATE(entry->at), number);
    else
        explain_rule(s, entry->at, number, value);
}

static void make_stale(mo_exact_search *s, int mode)
{
    const mo_exact_adjacency *of = &s->model.resources_of_mode;

    for (int i = of->start[mode]; i < of->start[mode + 1]; i++)
        s->is_stale[of->items[i]] = true;
}

static void make_task_stale(mo_exact_search *s, int number)
{
    const mo_exact_task *task = &s->model.tasks[number];

    for (int i = 0; i < task->n; i++)
        if (s->core.truth[s->model.modes[task->first + i].literal] >= 0)
            make_stale(s, task->first + i);
}

static bool is_order(const mo_exact_search *s, int literal)
{
    int number = (literal >> 1) - s->model.first_order;

    return number >= 0 && number < (int) s->model.n_orders;
}

static bool check_time(mo_exact_search *s, int mode)
{
    mo_exact_core *c = &s->core;
    const mo_exact_task_mode *it = &s->model.modes[mode];
    int64_t total_ns = c->value[MO_EXACT_HEAD(mode)] + it->length_ns +
                       c->value[MO_EXACT_TAIL(mode)];

    if (total_ns <= mo_exact_limit_ns(s) || !it->is_real ||
        c->truth[it->literal] < 0)
        return true;
    return mo_exact_core_imply(c, it->literal ^ 1, MO_EXACT_REASON_LAZY,
                               TOO_LATE(mode));
}

static void apply_rules(mo_exact_search *s, const mo_exact_adjacency *of, int i)
{
    for (int r = of->start[i]; r < of->start[i + 1]; r++)
        apply_rule(s, of->items[r]);
}

static bool check_all_times(mo_exact_search *s)
{
    for (int m = 0; m < (int) s->model.n_modes; m++)
        if (!check_time(s, m))
            return false;
    for (int r = 0; r < s->model.n_resources; r++)
        s->is_stale[r] = true;
    return true;
}

static bool follow_literal(mo_exact_search *s, int literal)
{
    const mo_exact_adjacency *modes = &s->model.modes_of_literal;
    bool is_place = false;

    if (!mo_exact_core_propagate_clauses(&s->core, literal))
        return false;
    if (literal >= s->model.n_literals)
        return literal == s->tight ? check_all_times(s) : true;
    if (is_order(s, literal)) {
        make_task_stale(
            s, s->model.order_of[(literal >> 1) - s->model.first_order][0]);
        return true;
    }
    for (int side = 0; side < 2; side++)
        for (int i = modes->start[literal ^ side];
             i < modes->start[(literal ^ side) + 1]; i++) {
            make_task_stale(s, s->model.modes[modes->items[i]].task);
            is_place = s->model.modes[modes->items[i]].task < s->model.x->n;
        }
    if (is_place && (literal & 1) == 0 && !mo_exact_propagate_memory(s))
        return false;
    apply_rules(s, &s->model.rules_of_literal, literal);
    return true;
}

static bool follow_bound(mo_exact_search *s, int bound)
{
    int mode = bound >> 1;

    if (s->core.truth[s->model.modes[mode].literal] < 0)
        return true;
    make_stale(s, mode);
    apply_rules(s, &s->model.rules_of_bound, bound);
    return check_time(s, mode);
}

static bool is_stopped(mo_exact_search *s)
{
    if (!s->is_stopped && ++s->looks % LOOK_EVERY == 0)
        s->is_stopped = mo_stop_reached(s->stop);
    return s->is_stopped;
}

/* Is the trail too long for one time, or time over? */
static bool is_long(mo_exact_search *s, size_t begin)
{
    return is_stopped(s) ||
           s->core.n_trail - begin >
               (size_t) s->core.n_bounds * RAISES_AT_ONCE + SHORT_TRAIL;
}

static bool follow_trail(mo_exact_search *s, size_t begin)
{
    mo_exact_core *c = &s->core;

    while (c->n_propagated < c->n_trail && !is_long(s, begin)) {
        int what = c->trail[c->n_propagated++].what;

        if (!(what >= 0 ? follow_literal(s, what) : follow_bound(s, ~what)) ||
            c->out_of_memory)
            return false;
    }
    return true;
}

/* Those that were made on the way, of which there are few. */
static void apply_later_rules(mo_exact_search *s)
{
    for (size_t i = s->model.n_first_rules; i < s->model.n_rules; i++)
        apply_rule(s, (int) i);
}

/* Whatever is still stale has to be looked at; false: conflict. */
static bool follow_resources(mo_exact_search *s, size_t begin)
{
    for (int r = 0; r < s->model.n_resources && !is_long(s, begin); r++) {
        if (!follow_trail(s, begin))
            return false;
        if (!s->is_stale[r])
            continue;
        s->is_stale[r] = false;
        if (!mo_exact_propagate_disjunctive(s, r))
            return false;
        r = -1;
    }
    return follow_trail(s, begin);
}

bool mo_exact_is_fixpoint(const mo_exact_search *s)
{
    return s->core.n_propagated == s->core.n_trail;
}

bool mo_exact_propagate(mo_exact_search *s)
{
    size_t begin = s->core.n_trail;

    do {
        if (!follow_resources(s, begin))
            return false;
        if (is_long(s, begin))
            return s->is_stopped || !mo_exact_has_positive_cycle(s);
        apply_later_rules(s);
    } while (!mo_exact_is_fixpoint(s));
    return true;
}

bool mo_exact_propagate_all(mo_exact_search *s)
{
    for (int i = 0; i < (int) s->model.n_rules; i++)
        apply_rule(s, i);
    return check_all_times(s) && mo_exact_propagate_memory(s);
}
