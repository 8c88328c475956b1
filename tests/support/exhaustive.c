/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/exhaustive.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/suite.h"

enum { MAX_OPS = 10, MAX_TASKS = 64, MAX_RESOURCES = 64 };

/* An op or a transfer.  Sets are bits by number. */
typedef struct task {
    int64_t length_ns;
    uint64_t holds; /* resources, for its whole length */
    uint64_t waits; /* tasks that must end before */
    int64_t start_ns;
    int64_t
        tail_ns; /* tail: least time from its end to the end of the schedule */
} task;

/* The tasks of one placement; the ops come first. */
typedef struct plan {
    int n;
    task tasks[MAX_TASKS];
} plan;

typedef struct placement {
    signed char device[MAX_OPS];
    int64_t bound_ns;
} placement;

typedef struct search {
    const mo_instance *x;
    const mo_regime *regime;
    placement *placements;
    size_t n_placements, room;
    int64_t best_ns; /* INT64_MAX until one is found */
} search;

static uint64_t bit(int number)
{
    ck_assert_int_lt(number, MAX_RESOURCES);
    return UINT64_C(1) << number;
}

static bool is_in(uint64_t set, int number)
{
    return set >> number & 1;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint64_t links_between(const mo_instance *x, int a, int b)
{
    int n;
    const int *route = mo_instance_route(x, a, b, &n);
    uint64_t links = 0;

    for (int r = 0; r < n; r++)
        links |= bit(x->n_devices + route[r]);
    return links;
}

/* Devices are the first resources; ports, channels or links follow. */
static uint64_t held_between(const search *s, int a, int b)
{
    int k = s->x->n_devices;

    switch (s->regime->congestion) {
    case MO_CONGESTION_PORT:
        return bit(k + a) | bit(2 * k + b);
    case MO_CONGESTION_CHANNEL:
        return bit(k + a * k + b);
    case MO_CONGESTION_LINK:
        return links_between(s->x, a, b);
    case MO_CONGESTION_NONE:
        break;
    }
    return 0;
}

static int add_transfer(const search *s, plan *p, int from, int a, int b,
                        int64_t length_ns)
{
    ck_assert_int_lt(p->n, MAX_TASKS);
    p->tasks[p->n] = (task){ .length_ns = length_ns,
                             .holds = held_between(s, a, b),
                             .waits = bit(from) };
    return p->n++;
}

static void add_flows(const search *s, const placement *where, plan *p)
{
    for (int q = 0; q < s->x->n_flows; q++) {
        const mo_flow *flow = &s->x->flows[q];
        int a = where->device[flow->from], b = where->device[flow->to];

        p->tasks[flow->to].waits |= bit(flow->from);
        if (a != b)
            p->tasks[flow->to].waits |= bit(add_transfer(
                s, p, flow->from, a, b, mo_instance_flow_ns(s->x, q, a, b)));
    }
}

/* Adds the one transfer of the tensor to b, if a reader is there. */
static void add_tensor(const search *s, const placement *where, plan *p,
                       int tensor, int b)
{
    int from = s->x->tensor_from[tensor], a = where->device[from];
    int sent = -1;

    for (int q = 0; q < s->x->n_flows; q++) {
        const mo_flow *flow = &s->x->flows[q];

        if (flow->tensor != tensor || where->device[flow->to] != b)
            continue;
        p->tasks[flow->to].waits |= bit(from);
        if (a != b && sent < 0)
            sent = add_transfer(s, p, from, a, b,
                                mo_instance_tensor_ns(s->x, tensor, a, b));
        if (a != b)
            p->tasks[flow->to].waits |= bit(sent);
    }
}

static void make_plan(const search *s, const placement *where, plan *p)
{
    const mo_instance *x = s->x;

    p->n = x->n;
    for (int i = 0; i < x->n; i++)
        p->tasks[i] = (task){
            .length_ns = mo_instance_p_ns(x, i, where->device[i]),
            .holds = bit(where->device[i]),
        };
    if (s->regime->tensors == MO_TENSORS_PER_EDGE)
        add_flows(s, where, p);
    else
        for (int t = 0; t < x->n_tensors; t++)
            for (int b = 0; b < x->n_devices; b++)
                add_tensor(s, where, p, t, b);
}

/* Topological order of the tasks; returns false when there is a cycle. */
static bool sort_tasks(const plan *p, int *order)
{
    uint64_t done = 0;

    for (int n = 0; n < p->n;) {
        int before = n;

        for (int v = 0; v < p->n; v++)
            if (!is_in(done, v) && (p->tasks[v].waits & ~done) == 0) {
                done |= bit(v);
                order[n++] = v;
            }
        if (n == before)
            return false;
    }
    return true;
}

/* Longest paths, forward for the starts and backward for the tails. */
static void time_tasks(plan *p, const int *order)
{
    for (int i = 0; i < p->n; i++) {
        task *v = &p->tasks[order[i]];

        v->start_ns = v->tail_ns = 0;
        for (int u = 0; u < p->n; u++)
            if (is_in(v->waits, u))
                v->start_ns = later(v->start_ns, p->tasks[u].start_ns +
                                                     p->tasks[u].length_ns);
    }
    for (int i = p->n - 1; i >= 0; i--) {
        const task *v = &p->tasks[order[i]];

        for (int u = 0; u < p->n; u++)
            if (is_in(v->waits, u))
                p->tasks[u].tail_ns =
                    later(p->tasks[u].tail_ns, v->length_ns + v->tail_ns);
    }
}

/* Load bound of a resource: its tasks run one after the other, between the
 * least head and the least tail. */
static int64_t load_ns(const plan *p, int resource)
{
    int64_t first = INT64_MAX, last = INT64_MAX, sum = 0;

    for (int v = 0; v < p->n; v++)
        if (is_in(p->tasks[v].holds, resource)) {
            const task *t = &p->tasks[v];

            first = t->start_ns < first ? t->start_ns : first;
            last = t->tail_ns < last ? t->tail_ns : last;
            sum += t->length_ns;
        }
    return first == INT64_MAX ? 0 : first + sum + last;
}

/* Lower bound on the schedules that respect the waits; INT64_MAX if there are
 * none. */
static int64_t bound_ns(plan *p)
{
    int order[MAX_TASKS];
    int64_t bound = 0;

    if (!sort_tasks(p, order))
        return INT64_MAX;
    time_tasks(p, order);
    for (int v = 0; v < p->n; v++)
        bound = later(bound, p->tasks[v].start_ns + p->tasks[v].length_ns);
    for (int r = 0; r < MAX_RESOURCES; r++)
        bound = later(bound, load_ns(p, r));
    return bound;
}

static bool overlap(const task *u, const task *v)
{
    return u->start_ns < v->start_ns + v->length_ns &&
           v->start_ns < u->start_ns + u->length_ns;
}

/* The first two tasks in the schedule that hold a resource at the same time;
 * returns false when there are none. */
static bool find_conflict(const plan *p, int *first, int *second)
{
    int64_t earliest = INT64_MAX;

    for (int v = 0; v < p->n; v++)
        for (int u = 0; u < v; u++) {
            const task *a = &p->tasks[u], *b = &p->tasks[v];
            int64_t at = later(a->start_ns, b->start_ns);

            if ((a->holds & b->holds) == 0 || !overlap(a, b) || at >= earliest)
                continue;
            earliest = at;
            *first = a->start_ns <= b->start_ns ? u : v;
            *second = *first == u ? v : u;
        }
    return earliest < INT64_MAX;
}

static void branch(search *s, plan *p);

static void branch_with(search *s, plan *p, int first, int second)
{
    p->tasks[second].waits |= bit(first);
    branch(s, p);
    p->tasks[second].waits &= ~bit(first);
}

/* Branch and bound: everything as early as the waits allow; on a conflict, one
 * of the two has to wait for the other. */
static void branch(search *s, plan *p)
{
    int64_t bound = bound_ns(p);
    int first, second;

    if (bound >= s->best_ns)
        return;
    if (!find_conflict(p, &first, &second)) {
        s->best_ns = bound;
        return;
    }
    branch_with(s, p, first, second);
    branch_with(s, p, second, first);
}

static bool fits_static(const mo_instance *x, const placement *where)
{
    for (int k = 0; k < x->n_devices; k++) {
        int64_t sum = 0;

        for (int i = 0; i < x->n; i++)
            sum += where->device[i] == k ? x->memory_bytes[i] : 0;
        if (sum > x->capacity_bytes[k])
            return false;
    }
    return true;
}

/* Returns whether op is a clean cut: comparable with every other, and bypassed
 * by no edge. */
static bool is_cut(const mo_instance *x, int op)
{
    uint64_t before = 0, after = 0; /* ancestors, descendants */

    for (int q = x->n_flows - 1; q >= 0; q--)
        if (x->flows[q].to == op || is_in(before, x->flows[q].to))
            before |= bit(x->flows[q].from);
    for (int q = 0; q < x->n_flows; q++)
        if (x->flows[q].from == op || is_in(after, x->flows[q].from))
            after |= bit(x->flows[q].to);
    for (int q = 0; q < x->n_flows; q++)
        if (is_in(before, x->flows[q].from) && is_in(after, x->flows[q].to))
            return false;
    return (before | after | bit(op)) == bit(x->n) - 1;
}

/* The number of copies of the tensor on the device. */
static int copies_on(const search *s, const placement *where, int tensor,
                     int device)
{
    int n = 0;

    if (where->device[s->x->tensor_from[tensor]] == device)
        return 1;
    for (int q = 0; q < s->x->n_flows; q++)
        n += s->x->flows[q].tensor == tensor &&
             where->device[s->x->flows[q].to] == device;
    return s->regime->tensors == MO_TENSORS_ONCE && n > 1 ? 1 : n;
}

/* Upper bound on the memory of the device while the ops from first to last
 * run: all weights, the largest workspace, and all their tensors. */
static int64_t live_bytes(const search *s, const placement *where, int device,
                          int first, int last)
{
    const mo_instance *x = s->x;
    int64_t weights = 0, space = 0, tensors = 0;

    for (int i = 0; i < x->n; i++)
        if (where->device[i] == device) {
            weights += x->weight_bytes[i];
            space = later(space, x->memory_bytes[i] - x->weight_bytes[i]);
        }
    for (int t = 0; t < x->n_tensors; t++)
        if (x->tensor_from[t] >= first && x->tensor_from[t] <= last &&
            x->tensor_bytes[t] > 0)
            tensors += x->tensor_bytes[t] * copies_on(s, where, t, device);
    return weights + space + tensors;
}

static bool takes_time(const mo_instance *x, int op)
{
    for (int k = 0; k < x->n_devices; k++)
        if (mo_instance_p_ns(x, op, k) == 0)
            return false;
    return true;
}

/* Between each two clean cuts that take time, those included. */
static bool fits_live(const search *s, const placement *where)
{
    int first = 0;

    for (int last = 0; last < s->x->n; last++) {
        if (last + 1 < s->x->n &&
            !(is_cut(s->x, last) && takes_time(s->x, last)))
            continue;
        for (int k = 0; k < s->x->n_devices; k++)
            if (live_bytes(s, where, k, first, last) > s->x->capacity_bytes[k])
                return false;
        first = last;
    }
    return true;
}

static bool fits_memory(const search *s, const placement *where)
{
    switch (s->regime->memory) {
    case MO_MEMORY_STATIC:
        return fits_static(s->x, where);
    case MO_MEMORY_LIVE:
        return fits_live(s, where);
    case MO_MEMORY_NONE:
        break;
    }
    return true;
}

static bool may_be_on(const mo_instance *x, const placement *where, int op,
                      int device)
{
    if (x->pin[op] != MO_FREE && x->pin[op] != device)
        return false;
    for (int i = 0; i < op && x->group[op] != MO_FREE; i++)
        if (x->group[i] == x->group[op] && where->device[i] != device)
            return false;
    return true;
}

static void keep_placement(search *s, const placement *where)
{
    plan p;

    if (!fits_memory(s, where))
        return;
    if (s->n_placements == s->room) {
        s->room = 2 * s->room + 64;
        s->placements = realloc(s->placements, s->room * sizeof *s->placements);
        ck_assert_ptr_nonnull(s->placements);
    }
    make_plan(s, where, &p);
    s->placements[s->n_placements] = *where;
    s->placements[s->n_placements++].bound_ns = bound_ns(&p);
}

static void enumerate(search *s, placement *where, int op)
{
    if (op == s->x->n) {
        keep_placement(s, where);
        return;
    }
    for (int k = 0; k < s->x->n_devices; k++)
        if (may_be_on(s->x, where, op, k)) {
            where->device[op] = (signed char) k;
            enumerate(s, where, op + 1);
        }
}

static int compare_bounds(const void *a, const void *b)
{
    const placement *one = a, *other = b;

    return (one->bound_ns > other->bound_ns) -
           (one->bound_ns < other->bound_ns);
}

int64_t exhaustive_optimum(const mo_instance *x, const mo_regime *regime)
{
    search s = { .x = x, .regime = regime, .best_ns = INT64_MAX };
    placement where = { .bound_ns = 0 };
    plan p;

    ck_assert_int_le(x->n, MAX_OPS);
    enumerate(&s, &where, 0);
    if (s.n_placements > 0)
        qsort(s.placements, s.n_placements, sizeof *s.placements,
              compare_bounds);
    for (size_t i = 0; i < s.n_placements; i++) {
        make_plan(&s, &s.placements[i], &p);
        branch(&s, &p);
    }
    free(s.placements);
    return s.best_ns == INT64_MAX ? EXHAUSTIVE_NONE : s.best_ns;
}
