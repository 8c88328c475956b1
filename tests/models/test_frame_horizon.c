/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/frame/frame.h and models/compact/disjunctive_pairs.h against
 * every schedule of random problems. */
#include "models/frame/frame.h"

#include <string.h>

#include "graph/cut.h"
#include "models/compact/disjunctive_pairs.h"
#include "models/sink/scale.h"
#include "tests/models/frame_case.h"
#include "tests/support/suite.h"

START_TEST(what_is_simple_is_right)
{
    frame_world w;
    const mo_frame *f;
    mo_dag dag;
    int *cuts, n_cuts;

    frame_world_make(&w, _i, 6);
    f = w.f;
    dag = mo_instance_dag(f->x);
    MUST(mo_dag_clean_cuts(&dag, &cuts, &n_cuts, &err));
    ck_assert_int_eq(f->n_cuts, n_cuts);
    for (int c = 0; c < n_cuts; c++)
        ck_assert_int_eq(f->cuts[c], cuts[c]);
    free(cuts);
    ck_assert_int_gt(f->horizon_ns, f->upper_ns);
    ck_assert_int_lt(f->horizon_ns, f->upper_ns + f->upper_ns / 5000 + 2);
    ck_assert_int_eq(f->unit_ns, mo_scale_unit_ns(f->horizon_ns));
    for (int i = 0; i < f->x->n; i++) {
        bool any = false;
        for (int k = 0; k < f->x->n_devices; k++) {
            int pin = f->x->pin[i];
            any = any || mo_frame_allowed(f, i, k);
            if (pin != MO_FREE && pin != k)
                ck_assert(!mo_frame_allowed(f, i, k));
            for (int j = 0; j < i && f->x->group[i] != MO_FREE; j++)
                if (f->x->group[j] == f->x->group[i])
                    ck_assert(mo_frame_allowed(f, i, k) ==
                              mo_frame_allowed(f, j, k));
        }
        ck_assert_msg(any, "seed %d: op %d has no device", _i, i);
    }
    frame_world_clear(&w);
}
END_TEST

/* A schedule under construction.  Without congestion, placements and the
 * orders in which ops are appended give all schedules in which nothing could
 * start earlier (semi-active); with it there are no others that start anything
 * sooner. */
typedef struct trial {
    const frame_world *w;
    int device[8];
    int64_t start_ns[8], end_ns[8], free_ns[8];
    bool done[8];
    int64_t makespan_ns;
    int found; /* schedules within the horizon */
} trial;

static bool on_one_device(const trial *t, int i, int j)
{
    return t->device[i] == t->device[j];
}

static void check_op(const trial *t, int i)
{
    const mo_frame *f = t->w->f;
    int k = t->device[i];

    if (!mo_frame_allowed(f, i, k) || t->start_ns[i] < frame_head(f, i, k) ||
        t->end_ns[i] + frame_tail(f, i, k) > t->makespan_ns ||
        t->start_ns[i] < f->est_ns[i] || t->end_ns[i] > f->lct_ns[i])
        ck_abort_msg("seed %u: op %d on device %d", t->w->seed, i, k);
}

/* Returns whether i and j can overlap on k, both within their windows there.
 * They do when i starts less than its own time before j, and less than j's
 * after it. */
static bool may_overlap(const mo_frame *f, int i, int j, int k)
{
    int64_t p = mo_instance_p_ns(f->x, i, k), q = mo_instance_p_ns(f->x, j, k);
    int64_t first = frame_head(f, i, k),
            last = f->horizon_ns - frame_tail(f, i, k) - p;
    int64_t from = frame_head(f, j, k),
            to = f->horizon_ns - frame_tail(f, j, k) - q;
    int64_t least_after = first - to, most_after = last - from;

    return (least_after > -p ? least_after : 1 - p) <=
           (most_after < q ? most_after : q - 1);
}

static void check_pair(const trial *t, int i, int j)
{
    mo_disjunction meeting =
        mo_disjunction_on_device(t->w->f, i, j, t->device[i]);
    bool forward = t->end_ns[i] <= t->start_ns[j];
    bool backward = t->end_ns[j] <= t->start_ns[i];

    ck_assert(forward || backward);
    if (meeting == MO_DISJUNCTION_NONE ||
        meeting == MO_DISJUNCTION_INFEASIBLE ||
        (meeting == MO_DISJUNCTION_FORWARD && !forward) ||
        (meeting == MO_DISJUNCTION_BACKWARD && !backward))
        ck_abort_msg("seed %u: ops %d and %d on device %d", t->w->seed, i, j,
                     t->device[i]);
}

static void check_schedule(trial *t)
{
    const mo_frame *f = t->w->f;

    t->found++;
    for (int i = 0; i < f->x->n; i++)
        check_op(t, i);
    for (int i = 0; i < f->x->n; i++)
        for (int j = i + 1; j < f->x->n; j++)
            if (on_one_device(t, i, j) && mo_frame_incomparable(f, i, j))
                check_pair(t, i, j);
}

/* The time when all inputs of op are on its device; -1: some input does not
 * exist yet. */
static int64_t inputs_at(const trial *t, int op)
{
    const mo_instance *x = t->w->f->x;
    int64_t at = 0;

    for (int q = 0; q < x->n_flows; q++) {
        int from = x->flows[q].from, a = t->device[from], b = t->device[op];
        int64_t arrival;
        if (x->flows[q].to != op)
            continue;
        if (!t->done[from])
            return -1;
        arrival = t->end_ns[from] +
                  (t->w->regime.tensors == MO_TENSORS_ONCE
                       ? mo_instance_tensor_ns(x, x->flows[q].tensor, a, b)
                       : mo_instance_flow_ns(x, q, a, b));
        if (arrival > at)
            at = arrival;
    }
    return at;
}

static void append_ops(trial *t, int n_done)
{
    const mo_instance *x = t->w->f->x;

    if (n_done == x->n) {
        check_schedule(t);
        return;
    }
    for (int i = 0; i < x->n; i++) {
        int k = t->device[i];
        int64_t at = t->done[i] ? -1 : inputs_at(t, i);
        int64_t before = t->free_ns[k], makespan = t->makespan_ns;
        if (at < 0)
            continue;
        t->start_ns[i] = at > before ? at : before;
        t->end_ns[i] = t->start_ns[i] + mo_instance_p_ns(x, i, k);
        if (t->end_ns[i] > t->w->f->horizon_ns)
            continue;
        t->free_ns[k] = t->end_ns[i];
        if (t->end_ns[i] > makespan)
            t->makespan_ns = t->end_ns[i];
        t->done[i] = true;
        append_ops(t, n_done + 1);
        t->done[i] = false;
        t->makespan_ns = makespan;
        t->free_ns[k] = before;
    }
}

static bool fits_memory(const trial *t)
{
    const mo_instance *x = t->w->f->x;

    for (int k = 0; k < x->n_devices; k++) {
        int64_t sum = 0;
        for (int i = 0; i < x->n; i++)
            if (t->device[i] == k)
                sum += t->w->regime.memory == MO_MEMORY_STATIC
                           ? x->memory_bytes[i]
                           : x->weight_bytes[i];
        if (sum > x->capacity_bytes[k])
            return false;
    }
    return true;
}

static bool may_be_placed(const trial *t)
{
    const mo_instance *x = t->w->f->x;

    for (int i = 0; i < x->n; i++) {
        if (x->pin[i] != MO_FREE && x->pin[i] != t->device[i])
            return false;
        for (int j = 0; j < i && x->group[i] != MO_FREE; j++)
            if (x->group[j] == x->group[i] && !on_one_device(t, i, j))
                return false;
    }
    return t->w->regime.memory == MO_MEMORY_NONE || fits_memory(t);
}

/* Enumerates the placements; returns false behind the last. */
static bool next_placement(trial *t)
{
    const mo_instance *x = t->w->f->x;

    for (int i = 0; i < x->n; i++) {
        if (++t->device[i] < x->n_devices)
            return true;
        t->device[i] = 0;
    }
    return false;
}

/* Checks the frame against every schedule within its horizon; returns how many
 * there are. */
static int try_all(const frame_world *w)
{
    trial t = { .w = w };

    do
        if (may_be_placed(&t))
            append_ops(&t, 0);
    while (next_placement(&t));
    if (w->f->start)
        ck_assert_msg(t.found > 0, "seed %u", w->seed);
    return t.found;
}

START_TEST(no_schedule_within_the_horizon_is_lost)
{
    frame_world w;

    frame_world_make(&w, _i, 5);
    try_all(&w);
    frame_world_clear(&w);
}
END_TEST

START_TEST(with_slack_no_schedule_up_to_so_many_times_is_lost)
{
    frame_world plain, open;
    int n_plain, n_open;

    frame_world_make(&plain, _i, 5);
    frame_world_make_open(&open, _i, 5, 2);
    ck_assert_int_eq(open.f->upper_ns, 2 * plain.f->upper_ns);
    ck_assert_int_ge(open.f->horizon_ns, open.f->upper_ns);
    for (int k = 0; k < open.f->x->n_devices; k++)
        ck_assert_int_eq(open.f->symmetric_to[k], MO_FREE);
    n_plain = try_all(&plain);
    n_open = try_all(&open);
    ck_assert_msg(n_open >= n_plain, "seed %d: %d, %d", _i, n_open, n_plain);
    if (open.f->start)
        ck_assert_int_eq(open.f->start->makespan_ns, plain.f->upper_ns);
    frame_world_clear(&open);
    frame_world_clear(&plain);
}
END_TEST

/* Counts each kind of disjunction, device by device. */
static void count_meetings(const frame_world *w, int i, int j,
                           int count[MO_DISJUNCTION_INFEASIBLE + 1])
{
    memset(count, 0, (MO_DISJUNCTION_INFEASIBLE + 1) * sizeof *count);
    for (int k = 0; k < w->f->x->n_devices; k++) {
        mo_disjunction meeting = mo_disjunction_on_device(w->f, i, j, k);

        count[meeting]++;
        if (meeting == MO_DISJUNCTION_SETTLED)
            ck_assert_msg(!may_overlap(w->f, i, j, k),
                          "seed %u: ops %d and %d on device %d", w->seed, i, j,
                          k);
    }
}

/* Returns whether i, j is a pair by the definition; if so it must be in pairs
 * with the same properties. */
static bool check_listed(const frame_world *w, int i, int j,
                         const mo_disjunctive_pairs *pairs)
{
    int count[MO_DISJUNCTION_INFEASIBLE + 1];
    bool forward, backward;

    if (!mo_frame_incomparable(w->f, i, j))
        return false;
    count_meetings(w, i, j, count);
    if (count[MO_DISJUNCTION_NONE] + count[MO_DISJUNCTION_SETTLED] ==
        w->f->x->n_devices)
        return false;
    forward = count[MO_DISJUNCTION_FORWARD] + count[MO_DISJUNCTION_EITHER] > 0;
    backward =
        count[MO_DISJUNCTION_BACKWARD] + count[MO_DISJUNCTION_EITHER] > 0;
    ck_assert_msg(pairs->i == i && pairs->j == j && pairs->forward == forward &&
                      pairs->backward == backward,
                  "seed %u: ops %d and %d", w->seed, i, j);
    return true;
}

START_TEST(pairs_are_those_with_something_to_decide)
{
    frame_world w;
    mo_disjunctive_pairs pairs;
    bool more;

    frame_world_make(&w, _i, 6);
    mo_disjunctive_pairs_begin(w.f, &pairs);
    more = mo_disjunctive_pairs_next(&pairs);
    for (int i = 0; i < w.p.x->n; i++)
        for (int j = i + 1; j < w.p.x->n; j++)
            if (check_listed(&w, i, j, &pairs)) {
                ck_assert(more);
                more = mo_disjunctive_pairs_next(&pairs);
            }
    ck_assert(!more);
    frame_world_clear(&w);
}
END_TEST

SUITE(frame_horizon)
{
    SOME(what_is_simple_is_right, at_length(480, 160), 24);
    SOME(no_schedule_within_the_horizon_is_lost, at_length(480, 160), 24);
    SOME(with_slack_no_schedule_up_to_so_many_times_is_lost,
         at_length(480, 160), 24);
    SOME(pairs_are_those_with_something_to_decide, at_length(480, 160), 24);
}
