/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/exhaustive_live.h"

#include <stdbool.h>

#include "schedule/schedule.h"
#include "tests/support/exhaustive.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

enum { MAX_OPS = 8, MAX_TASKS = 32, NOT_YET = -1 };

/* Of one placement; tasks are the ops, then the transfers. */
typedef struct play {
    const mo_instance *x;
    mo_schedule *s;
    int n;
    int64_t start_ns[MAX_TASKS], length_ns[MAX_TASKS];
    uint32_t waits[MAX_TASKS];    /* tasks that must end before */
    uint32_t excludes[MAX_TASKS]; /* tasks that cannot run at the same time */
    int64_t tail_ns[MAX_TASKS];   /* longest chain of waits from its start */
    int64_t *best_ns;
} play;

static uint32_t bit(int number)
{
    return UINT32_C(1) << number;
}

static bool share_link(const mo_instance *x, const mo_transfer *t,
                       const mo_transfer *u)
{
    int n_one, n_other;
    const int *one = mo_instance_route(x, t->from, t->to, &n_one);
    const int *other = mo_instance_route(x, u->from, u->to, &n_other);

    for (int i = 0; i < n_one; i++)
        for (int j = 0; j < n_other; j++)
            if (one[i] == other[j])
                return true;
    return false;
}

static bool exclude(const play *p, const mo_transfer *t, const mo_transfer *u)
{
    switch (p->s->regime.congestion) {
    case MO_CONGESTION_PORT:
        return t->from == u->from || t->to == u->to;
    case MO_CONGESTION_CHANNEL:
        return t->from == u->from && t->to == u->to;
    case MO_CONGESTION_LINK:
        return share_link(p->x, t, u);
    case MO_CONGESTION_NONE:
        break;
    }
    return false;
}

static void find_excluded(play *p)
{
    const mo_schedule *s = p->s;

    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            if (i != j && s->device[i] == s->device[j])
                p->excludes[i] |= bit(j);
    for (int t = 0; t < s->n_transfers; t++)
        for (int u = 0; u < s->n_transfers; u++)
            if (t != u && exclude(p, &s->transfers[t], &s->transfers[u]))
                p->excludes[s->n + t] |= bit(s->n + u);
}

static void find_waits(play *p)
{
    const mo_schedule *s = p->s;

    for (int q = 0; q < p->x->n_flows; q++) {
        const mo_flow *f = &p->x->flows[q];
        int item = s->regime.tensors == MO_TENSORS_ONCE ? f->tensor : q;
        const mo_transfer *t = mo_schedule_transfer(s, item, s->device[f->to]);
        int number = t ? s->n + (int) (t - s->transfers) : 0;

        p->waits[f->to] |= bit(t ? number : f->from);
        if (t)
            p->waits[number] |= bit(f->from);
    }
}

/* Returns the longest chain of waits that begins with the task. */
static int64_t find_tail(play *p, int task)
{
    int64_t most_ns = 0;

    if (p->tail_ns[task] != NOT_YET)
        return p->tail_ns[task];
    for (int i = 0; i < p->n; i++)
        if ((p->waits[i] & bit(task)) && find_tail(p, i) > most_ns)
            most_ns = p->tail_ns[i];
    return p->tail_ns[task] = p->length_ns[task] + most_ns;
}

static void begin(play *p)
{
    const mo_schedule *s = p->s;

    p->n = s->n + s->n_transfers;
    ck_assert_int_le(p->n, MAX_TASKS);
    for (int i = 0; i < s->n; i++)
        p->length_ns[i] = mo_instance_p_ns(p->x, i, s->device[i]);
    for (int i = 0; i < s->n_transfers; i++) {
        const mo_transfer *t = &s->transfers[i];

        p->length_ns[s->n + i] =
            mo_schedule_item_ns(p->x, &s->regime, t->item, t->from, t->to);
    }
    for (int i = 0; i < p->n; i++)
        p->start_ns[i] = p->tail_ns[i] = NOT_YET;
    find_waits(p);
    find_excluded(p);
    for (int i = 0; i < p->n; i++)
        find_tail(p, i);
}

static void judge(play *p)
{
    mo_schedule *s = p->s;

    s->makespan_ns = 0;
    for (int i = 0; i < p->n; i++) {
        int64_t end_ns = p->start_ns[i] + p->length_ns[i];

        if (i < s->n) {
            s->start_ns[i] = p->start_ns[i];
            if (end_ns > s->makespan_ns)
                s->makespan_ns = end_ns;
        } else {
            s->transfers[i - s->n].start_ns = p->start_ns[i];
            s->transfers[i - s->n].end_ns = end_ns;
        }
    }
    if (s->makespan_ns < *p->best_ns && !broken_rule(p->x, s))
        *p->best_ns = s->makespan_ns;
}

static bool may_start(const play *p, int task, int64_t now_ns)
{
    for (int i = 0; i < p->n; i++) {
        int64_t end_ns = p->start_ns[i] + p->length_ns[i];

        if ((p->waits[task] & bit(i)) &&
            (p->start_ns[i] == NOT_YET || end_ns > now_ns))
            return false;
        if ((p->excludes[task] & bit(i)) && p->start_ns[i] != NOT_YET &&
            end_ns > now_ns &&
            (p->length_ns[task] > 0 || p->start_ns[i] < now_ns))
            return false;
    }
    return true;
}

/* Whether all that has not started may still end before the best does. */
static bool may_improve(const play *p, int64_t now_ns)
{
    for (int i = 0; i < p->n; i++)
        if (p->start_ns[i] == NOT_YET && p->tail_ns[i] >= *p->best_ns - now_ns)
            return false;
    return true;
}

/* The next end of a task, or just after one that took no time. */
static int64_t next_moment(const play *p, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;

    for (int i = 0; i < p->n; i++) {
        int64_t end_ns = p->start_ns[i] + p->length_ns[i];

        if (p->start_ns[i] == NOT_YET)
            continue;
        if (end_ns == now_ns && p->length_ns[i] == 0)
            end_ns++;
        if (end_ns > now_ns && end_ns < next_ns)
            next_ns = end_ns;
    }
    return next_ns;
}

/* At one moment, tasks that take time start in the order of their numbers, so
 * that no choice is made twice. */
static void go_on(play *p, int64_t now_ns, int last, int n_started)
{
    int64_t next_ns;

    if (n_started == p->n) {
        judge(p);
        return;
    }
    if (!may_improve(p, now_ns))
        return;
    for (int i = 0; i < p->n; i++) {
        bool takes_time = p->length_ns[i] > 0;

        if (p->start_ns[i] != NOT_YET || (takes_time && i < last) ||
            !may_start(p, i, now_ns))
            continue;
        p->start_ns[i] = now_ns;
        go_on(p, now_ns, takes_time ? i : last, n_started + 1);
        p->start_ns[i] = NOT_YET;
    }
    next_ns = next_moment(p, now_ns);
    if (next_ns < *p->best_ns)
        go_on(p, next_ns, 0, n_started);
}

static void try_placement(const mo_instance *x, const mo_regime *regime,
                          const int *device, int64_t *best_ns)
{
    play p = { .x = x, .best_ns = best_ns };

    MUST(mo_schedule_new(x, regime, device, &p.s, &err));
    begin(&p);
    go_on(&p, 0, 0, 0);
    mo_schedule_free(p.s);
}

/* What an op holds while it runs, in any schedule. */
static int64_t held_by(const mo_instance *x, int op)
{
    int64_t sum = x->memory_bytes[op] - x->weight_bytes[op];

    for (int t = 0; t < x->n_tensors; t++)
        if (x->tensor_from[t] == op && x->tensor_bytes[t] > 0)
            sum += x->tensor_bytes[t];
    return sum;
}

/* Whether weights and any single op fit their devices. */
static bool fits_alone(const mo_instance *x, const int *device)
{
    for (int i = 0; i < x->n; i++) {
        int64_t sum = held_by(x, i);

        for (int j = 0; j < x->n; j++)
            sum += device[j] == device[i] ? x->weight_bytes[j] : 0;
        if (sum > x->capacity_bytes[device[i]])
            return false;
    }
    return true;
}

/* Whether ops are where they are pinned, and groups together. */
static bool is_allowed(const mo_instance *x, const int *device)
{
    for (int i = 0; i < x->n; i++) {
        if (x->pin[i] != MO_FREE && x->pin[i] != device[i])
            return false;
        for (int j = 0; j < i; j++)
            if (x->group[i] != MO_FREE && x->group[i] == x->group[j] &&
                device[i] != device[j])
                return false;
    }
    return true;
}

int64_t exhaustive_live_optimum(const mo_instance *x, const mo_regime *regime)
{
    int device[MAX_OPS] = { 0 }, at = 0;
    int64_t best_ns = INT64_MAX;

    ck_assert_int_le(x->n, MAX_OPS);
    while (at < x->n) {
        if (is_allowed(x, device) &&
            (regime->memory != MO_MEMORY_LIVE || fits_alone(x, device)))
            try_placement(x, regime, device, &best_ns);
        for (at = 0; at < x->n && ++device[at] == x->n_devices; at++)
            device[at] = 0;
    }
    return best_ns == INT64_MAX ? EXHAUSTIVE_NONE : best_ns;
}
