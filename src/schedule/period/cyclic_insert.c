/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Insertion into a cyclic order.  The state is feasible before; every new arc
 * is at the inserted task, so that a cycle of positive length shows as a raise
 * of its own start.
 */
#include <stdlib.h>

#include "base/minmax.h"
#include "schedule/period/cyclic_order.h"

/* Places between two tasks that are tried before an idle time is taken. */
enum { PUSHES = 12 };

/* The member whose task is the last to start at or before at_ns, and its turn:
 * the number of periods that it is repeated later; -1: none is in.  The starts
 * do not decrease along the order, from turn to turn. */
static int find_turn(mo_cyclic_order *c, int resource, int64_t at_ns,
                     int64_t *turn)
{
    int m = c->hint[resource];
    int64_t start_ns;

    if (m < 0)
        return -1;
    start_ns = c->start_ns[c->members[m].task];
    *turn = (at_ns - start_ns) / c->period_ns -
            ((at_ns - start_ns) % c->period_ns < 0);
    if (at_ns - start_ns - *turn * c->period_ns > c->period_ns / 2)
        ++*turn; /* nearer from behind */
    for (;; c->work++) {
        const mo_cyclic_member *a = &c->members[m], *b = &c->members[a->next];
        int64_t next_turn = *turn + a->height;

        if (c->start_ns[a->task] + *turn * c->period_ns > at_ns) {
            m = a->prev;
            *turn -= c->members[m].height;
        } else if (c->start_ns[b->task] + next_turn * c->period_ns <= at_ns) {
            m = a->next;
            *turn = next_turn;
        } else {
            return m;
        }
    }
}

/* First time from at_ns at which the resource is idle for ns, before limit_ns;
 * INT64_MAX: none. */
static int64_t find_gap(mo_cyclic_order *c, int resource, int64_t at_ns,
                        int64_t ns, int64_t limit_ns)
{
    int64_t turn = 0;
    int m = find_turn(c, resource, at_ns, &turn);

    if (m < 0)
        return at_ns;
    for (;; c->work++) {
        const mo_cyclic_member *a = &c->members[m], *b = &c->members[a->next];
        int64_t end_ns =
            c->start_ns[a->task] + c->ns[a->task] + turn * c->period_ns;
        int64_t from_ns = mo_max_i64(at_ns, end_ns);

        turn += a->height;
        if (from_ns >= limit_ns)
            return INT64_MAX;
        if (c->start_ns[b->task] + turn * c->period_ns - from_ns >= ns)
            return from_ns;
        m = a->next;
    }
}

/* First time from ready_ns, within a period, at which all resources of the task
 * are idle; INT64_MAX: none. */
static int64_t find_idle(mo_cyclic_order *c, int task, int64_t ready_ns)
{
    int first = c->member_start[task], n = c->member_start[task + 1] - first;
    int64_t at_ns = ready_ns, limit_ns = ready_ns + c->period_ns;

    for (int met = 0, i = 0; met < n && at_ns != INT64_MAX; i = (i + 1) % n) {
        int64_t found_ns = find_gap(c, c->members[first + i].resource, at_ns,
                                    c->ns[task], limit_ns);

        met = found_ns == at_ns ? met + 1 : 1;
        at_ns = found_ns;
    }
    return c->ns[task] <= c->period_ns ? at_ns : INT64_MAX;
}

/* The next start after at_ns of a task on a resource of this one. */
static int64_t find_next(mo_cyclic_order *c, int task, int64_t at_ns)
{
    int64_t next_ns = INT64_MAX;

    for (int m = c->member_start[task]; m < c->member_start[task + 1]; m++) {
        int64_t turn = 0;
        int at = find_turn(c, c->members[m].resource, at_ns, &turn);
        const mo_cyclic_member *a = &c->members[at < 0 ? 0 : at];

        if (at >= 0)
            next_ns =
                mo_min_i64(next_ns, c->start_ns[c->members[a->next].task] +
                                        (turn + a->height) * c->period_ns);
    }
    return next_ns;
}

/* Links the task into the orders of its resources where at_ns falls, and sets
 * its start to the earliest from there. */
static void link_task(mo_cyclic_order *c, int task, int64_t at_ns)
{
    c->start_ns[task] = at_ns;
    c->is_in[task] = true;
    for (int m = c->member_start[task]; m < c->member_start[task + 1]; m++) {
        mo_cyclic_member *v = &c->members[m], *a;
        int64_t turn = 0;
        int at = find_turn(c, v->resource, at_ns, &turn);

        c->hint[v->resource] = m;
        if (at < 0) {
            v->next = v->prev = m;
            v->height = 1;
            continue;
        }
        a = &c->members[at];
        v->next = a->next;
        v->prev = at;
        v->height = a->height + turn;
        c->members[a->next].prev = m;
        a->next = m;
        a->height = -turn;
        c->start_ns[task] = mo_max_i64(c->start_ns[task],
                                       c->start_ns[a->task] + c->ns[a->task] +
                                           turn * c->period_ns);
    }
}

static void unlink_task(mo_cyclic_order *c, int task)
{
    c->is_in[task] = false;
    for (int m = c->member_start[task]; m < c->member_start[task + 1]; m++) {
        mo_cyclic_member *v = &c->members[m];

        if (c->hint[v->resource] == m)
            c->hint[v->resource] = v->prev == m ? -1 : v->prev;
        c->members[v->prev].next = v->next;
        c->members[v->prev].height += v->height;
        c->members[v->next].prev = v->prev;
    }
}

void mo_cyclic_order_move(mo_cyclic_order *c, int task, int64_t at_ns)
{
    unlink_task(c, task);
    link_task(c, task, at_ns);
}

static void raise_start(mo_cyclic_order *c, int task, int64_t ns, int *end)
{
    if (c->mark[task] != c->n_marks) {
        c->mark[task] = c->n_marks;
        c->changed[c->n_changed] = task;
        c->before_ns[c->n_changed++] = c->start_ns[task];
    }
    c->start_ns[task] = ns;
    if (!c->is_queued[task]) {
        c->is_queued[task] = true;
        c->queue[*end] = task;
        *end = *end < c->n ? *end + 1 : 0;
    }
}

/* Raises starts behind the task.  Returns false at a cycle of positive length,
 * which raises the task itself, or at a start after its deadline. */
static bool push_others(mo_cyclic_order *c, int task)
{
    int begin = 0, end = 1;
    bool fits = true;

    c->n_marks++;
    c->queue[0] = task;
    c->is_queued[task] = true;
    while (begin != end) {
        int a = c->queue[begin];
        int64_t end_ns = c->start_ns[a] + c->ns[a];

        begin = begin < c->n ? begin + 1 : 0;
        c->is_queued[a] = false;
        fits = fits && c->start_ns[a] <= c->deadline_ns[a] &&
               (a != task || c->n_changed == 0 || c->mark[a] != c->n_marks);
        if (!fits)
            continue;
        c->work++;
        for (int i = c->succ_start[a];
             i < c->succ_start[a + 1] && !c->is_packing; i++)
            if (c->is_in[c->succ[i]] && c->start_ns[c->succ[i]] < end_ns)
                raise_start(c, c->succ[i], end_ns, &end);
        for (int m = c->member_start[a]; m < c->member_start[a + 1]; m++) {
            int b = c->members[c->members[m].next].task;
            int64_t ns = end_ns - c->members[m].height * c->period_ns;

            if (b != a && c->start_ns[b] < ns)
                raise_start(c, b, ns, &end);
        }
    }
    return fits;
}

static bool try_place(mo_cyclic_order *c, int task, int64_t at_ns)
{
    link_task(c, task, at_ns);
    c->n_changed = 0;
    if (push_others(c, task))
        return true;
    while (c->n_changed > 0) {
        c->n_changed--;
        c->start_ns[c->changed[c->n_changed]] = c->before_ns[c->n_changed];
    }
    unlink_task(c, task);
    return false;
}

/* The end of the predecessors; of a packing, that of the task placed last on
 * the same resource. */
static int64_t ready_at(const mo_cyclic_order *c, int task)
{
    int first = c->member_start[task], last;

    if (!c->is_packing)
        return mo_cyclic_order_ready_ns(c, task);
    if (first == c->member_start[task + 1])
        return 0;
    last = c->hint[c->members[first].resource];
    return last < 0 ? 0
                    : c->start_ns[c->members[last].task] +
                          c->ns[c->members[last].task];
}

bool mo_cyclic_order_insert(mo_cyclic_order *c, int task)
{
    int64_t ready_ns = ready_at(c, task), at_ns = ready_ns;
    int64_t idle_ns = find_idle(c, task, ready_ns);
    int64_t last_ns =
        mo_min_i64(c->deadline_ns[task], ready_ns + c->period_ns - 1);

    for (int i = 0; i < PUSHES && at_ns < idle_ns && at_ns <= last_ns; i++) {
        if (try_place(c, task, at_ns))
            return true;
        at_ns = find_next(c, task, at_ns);
    }
    return idle_ns <= last_ns && try_place(c, task, idle_ns);
}

/* Lists the tasks in the way of this one at at_ns: those that overlap it on its
 * resources, some twice, and successors that start before its end. */
static int list_in_way(mo_cyclic_order *c, int task, int64_t at_ns, int *list)
{
    int64_t end_ns = at_ns + c->ns[task];
    int n = 0;

    for (int m = c->member_start[task]; m < c->member_start[task + 1]; m++) {
        int64_t turn = 0, start_ns;
        int first = find_turn(c, c->members[m].resource, at_ns, &turn);
        int at = first;
        bool is_back = false;

        /* The first also comes last, in its next turn. */
        for (bool again = true; again && at >= 0; c->work++) {
            const mo_cyclic_member *a = &c->members[at];

            start_ns = c->start_ns[a->task] + turn * c->period_ns;
            if (start_ns >= end_ns)
                break;
            if (start_ns + c->ns[a->task] > at_ns)
                list[n++] = a->task;
            turn += a->height;
            again = at != first || !is_back;
            is_back = true;
            at = a->next;
        }
    }
    for (int i = c->succ_start[task];
         i < c->succ_start[task + 1] && !c->is_packing; i++)
        if (c->is_in[c->succ[i]] && c->start_ns[c->succ[i]] < end_ns)
            list[n++] = c->succ[i];
    return n;
}

int mo_cyclic_order_force(mo_cyclic_order *c, int task, int64_t *penalty,
                          int *ejected)
{
    int64_t ready_ns = ready_at(c, task), best_ns = ready_ns;
    int64_t last_ns =
        mo_min_i64(c->deadline_ns[task], ready_ns + c->period_ns - 1);
    int64_t least = INT64_MAX;
    int n, n_ejected = 0;

    penalty[task]++;
    for (int64_t at_ns = ready_ns; at_ns <= last_ns;
         at_ns = find_next(c, task, at_ns)) {
        int64_t sum = 0;

        n = list_in_way(c, task, at_ns, ejected);
        for (int i = 0; i < n; i++)
            sum += penalty[ejected[i]];
        if (sum < least) {
            least = sum;
            best_ns = at_ns;
        }
    }
    n = list_in_way(c, task, best_ns, ejected);
    for (int i = 0; i < n; i++)
        if (c->is_in[ejected[i]]) {
            unlink_task(c, ejected[i]);
            ejected[n_ejected++] = ejected[i];
        }
    link_task(c, task, best_ns);
    return n_ejected;
}
