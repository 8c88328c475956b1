/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated annealing of the latency of a cyclic order, at its period.
 *
 *     ready   start         On a resource that is hardly ever idle a task waits
 *       |       |--v--|     up to a period for its place.  It is moved to an
 *       |--v--|             earlier place, or any task to another one between
 *                           its inputs and its readers: those behind it in the
 *                           order move a little, and a task that can then start
 *                           a whole period earlier does so (its stage of the
 *                           modulo schedule, and the heights of the arcs at it,
 *                           change by 1; cyclic_order.h).
 *
 * The cost is the mean start and LATENCY_WEIGHT times the latency, which alone
 * has large steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/random.h"
#include "schedule/heuristic/annealer.h"
#include "schedule/period/cyclic_order.h"

/* Weight of the latency in the cost, and temperatures, in periods. */
#define LATENCY_WEIGHT 3.0
#define HOT            0.02
#define COLD           0.0005

enum {
    PASSES = 40, /* of an evaluation, at most: more need a cycle of positive
                    length, or of nearly 0 */
    ANY_TASK = 3 /* of 8 moves: any task, not one of the path */
};

typedef struct shortener {
    mo_cyclic_order *c;
    const int64_t *tail_ns;
    mo_random random;
    int64_t latency_ns, before_ns; /* of the state, and before the move */
    int64_t best_ns, target_ns;
    double cost, new_cost; /* of the current state, and with the move */
    int *path, n_path; /* tasks of the latest path that wait for a resource */
    mo_cyclic_member *members, *best_members; /* of the current state, */
    int64_t *start_ns, *best_start_ns;        /* and of the best */
} shortener;

static bool raise_start(shortener *s, int task, int64_t ns, int64_t most_ns)
{
    mo_cyclic_order *c = s->c;

    if (c->start_ns[task] >= ns)
        return true;
    c->start_ns[task] = ns;
    c->is_queued[task] = true;
    return ns + s->tail_ns[task] <= most_ns;
}

/* Sets all starts to the earliest, by passes over the queue.  Returns false,
 * the starts undefined, where the latency exceeds most_ns, as it does with a
 * cycle of positive length, or is not known after PASSES. */
static bool compute_starts(shortener *s, int64_t most_ns)
{
    mo_cyclic_order *c = s->c;
    bool again = true, within = true;

    memset(c->start_ns, 0, (size_t) c->n * sizeof *c->start_ns);
    memset(c->is_queued, true, (size_t) c->n * sizeof *c->is_queued);
    for (int pass = 0; again && within; pass++) {
        again = false;
        within = pass < PASSES || most_ns == INT64_MAX;
        for (int k = 0; k < c->n && within; k++) {
            int a = c->queue[k];
            int64_t end_ns = c->start_ns[a] + c->ns[a];

            if (!c->is_queued[a])
                continue;
            c->is_queued[a] = false;
            again = true;
            c->work += 4;
            for (int i = c->succ_start[a]; i < c->succ_start[a + 1] && within;
                 i++)
                within = raise_start(s, c->succ[i], end_ns, most_ns);
            for (int m = c->member_start[a];
                 m < c->member_start[a + 1] && within; m++)
                within = raise_start(
                    s, c->members[c->members[m].next].task,
                    end_ns - c->members[m].height * c->period_ns, most_ns);
        }
        c->work += c->n / 8;
    }
    memset(c->is_queued, false, (size_t) c->n * sizeof *c->is_queued);
    return within;
}

/* Moves each task whole periods ahead, as far as its inputs allow; the queue is
 * sorted.  Returns whether any was moved. */
static bool advance_turns(shortener *s)
{
    mo_cyclic_order *c = s->c;
    bool any = false;

    for (int k = 0; k < c->n; k++) {
        int a = c->queue[k];
        int64_t turns =
            (c->start_ns[a] - mo_cyclic_order_ready_ns(c, a)) / c->period_ns;

        if (turns == 0)
            continue;
        any = true;
        c->start_ns[a] -= turns * c->period_ns;
        for (int m = c->member_start[a]; m < c->member_start[a + 1]; m++) {
            c->members[m].height -= turns;
            c->members[c->members[m].prev].height += turns;
        }
    }
    c->work += 4L * c->n;
    return any;
}

/* The earliest starts after turns were moved ahead. */
static mo_status settle(shortener *s, mo_error *err)
{
    mo_status status = mo_cyclic_order_sort_queue(s->c, err);

    while (status == MO_OK && advance_turns(s)) {
        status = mo_cyclic_order_sort_queue(s->c, err);
        compute_starts(s, INT64_MAX);
    }
    s->latency_ns = mo_cyclic_order_latency_ns(s->c);
    return status;
}

/* Lists the tasks that wait for a resource on the path of latest inputs, from
 * the end of the last op on. */
static void list_path(shortener *s)
{
    const mo_cyclic_order *c = s->c;
    int last = 0;

    for (int i = 0; i < c->n_ops; i++)
        if (c->start_ns[i] + c->ns[i] > c->start_ns[last] + c->ns[last])
            last = i;
    s->n_path = 0;
    for (int a = last, from; a >= 0; a = from) {
        int64_t ready_ns = 0;

        from = -1;
        for (int i = c->pred_start[a]; i < c->pred_start[a + 1]; i++) {
            int b = c->pred[i];

            if (from >= 0 && c->start_ns[b] + c->ns[b] <= ready_ns)
                continue;
            ready_ns = c->start_ns[b] + c->ns[b];
            from = b;
        }
        if (c->start_ns[a] > ready_ns)
            s->path[s->n_path++] = a;
    }
}

static void copy_state(const mo_cyclic_order *c, mo_cyclic_member *members,
                       int64_t *start_ns)
{
    memcpy(members, c->members,
           (size_t) c->member_start[c->n] * sizeof *members);
    memcpy(start_ns, c->start_ns, (size_t) c->n * sizeof *start_ns);
}

/* The hints of the resources remain members of their orders. */
static void restore_state(mo_cyclic_order *c, const mo_cyclic_member *members,
                          const int64_t *start_ns)
{
    memcpy(c->members, members,
           (size_t) c->member_start[c->n] * sizeof *members);
    memcpy(c->start_ns, start_ns, (size_t) c->n * sizeof *start_ns);
}

static double cost_of(const shortener *s)
{
    double sum = 0;

    for (int i = 0; i < s->c->n; i++)
        sum += (double) s->c->start_ns[i];
    return sum / s->c->n + LATENCY_WEIGHT * (double) s->latency_ns;
}

static mo_status propose_move(void *search, mo_annealer *annealer,
                              bool *accepted, mo_error *err)
{
    shortener *s = search;
    mo_cyclic_order *c = s->c;
    int64_t more_ns = mo_annealer_tolerance(annealer), before = c->work;
    mo_status status = MO_OK;

    s->before_ns = s->latency_ns;
    /* Moves a task of the path towards the end of its inputs, or any task
     * between its inputs and its readers. */
    bool any = mo_random_below(&s->random, 8) < ANY_TASK;
    int task = any ? mo_random_below(&s->random, c->n)
                   : s->path[mo_random_below(&s->random, s->n_path)];
    int64_t from_ns = mo_cyclic_order_ready_ns(c, task),
            to_ns = c->start_ns[task] - 1;

    if (any) {
        to_ns = s->latency_ns;
        for (int i = c->succ_start[task]; i < c->succ_start[task + 1]; i++)
            to_ns = mo_min_i64(to_ns, c->start_ns[c->succ[i]]);
        to_ns = mo_max_i64(from_ns, to_ns - c->ns[task]);
    } else if (mo_random_below(&s->random, 2) == 0) {
        to_ns = from_ns;
    }
    mo_cyclic_order_move(c, task,
                         from_ns + (int64_t) (mo_random_unit(&s->random) *
                                              (double) (to_ns - from_ns + 1)));
    if (compute_starts(s, s->latency_ns + c->period_ns)) {
        status = settle(s, err);
        s->new_cost = cost_of(s);
        *accepted = s->new_cost <= s->cost + (double) more_ns;
    }
    annealer->work = c->work - before;
    return status;
}

static void reject_move(void *search)
{
    shortener *s = search;

    restore_state(s->c, s->members, s->start_ns);
    s->latency_ns = s->before_ns;
}

static mo_status accept_move(void *search, mo_error *err)
{
    shortener *s = search;

    (void) err;
    s->cost = s->new_cost;
    list_path(s);
    copy_state(s->c, s->members, s->start_ns);
    if (s->latency_ns < s->best_ns) {
        s->best_ns = s->latency_ns;
        copy_state(s->c, s->best_members, s->best_start_ns);
    }
    return MO_OK;
}

static bool is_open(void *search, const mo_annealer *annealer)
{
    const shortener *s = search;

    (void) annealer;
    return s->best_ns > s->target_ns && s->n_path > 0;
}

mo_status mo_cyclic_order_shorten(mo_cyclic_order *c, const int64_t *tail_ns,
                                  int64_t target_ns, int64_t limit,
                                  mo_error *err)
{
    size_t n = (size_t) c->n + 1;
    size_t n_members = (size_t) c->member_start[c->n] + 1;
    shortener s = { .c = c, .tail_ns = tail_ns, .target_ns = target_ns };
    mo_status status = MO_OK;

    s.path = calloc(n, sizeof *s.path);
    s.members = calloc(n_members, sizeof *s.members);
    s.best_members = calloc(n_members, sizeof *s.best_members);
    s.start_ns = calloc(n, sizeof *s.start_ns);
    s.best_start_ns = calloc(n, sizeof *s.best_start_ns);
    if (!s.path || !s.members || !s.best_members || !s.start_ns ||
        !s.best_start_ns)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = settle(&s, err);
    if (status == MO_OK) {
        static const mo_annealer_moves moves = { .propose = propose_move,
                                                 .reject = reject_move,
                                                 .accept = accept_move,
                                                 .check = is_open };
        mo_annealer annealer;

        s.best_ns = s.latency_ns;
        list_path(&s);
        copy_state(c, s.members, s.start_ns);
        copy_state(c, s.best_members, s.best_start_ns);
        annealer = (mo_annealer){
            .rule = MO_ANNEALER_TOLERANCE,
            .cooling = { .hot = HOT, .cold = COLD, .power = 2, .every = 1 },
            .unit = (double) s.c->period_ns,
            .steps = limit - s.c->work,
            .random = &s.random
        };
        s.cost = cost_of(&s);
        status = mo_annealer_run(&annealer, &moves, &s, err);
        restore_state(s.c, s.best_members, s.best_start_ns);
    }
    free(s.path);
    free(s.members);
    free(s.best_members);
    free(s.start_ns);
    free(s.best_start_ns);
    return status;
}
