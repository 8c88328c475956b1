/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/schedule/reference_sim.h"

#include "schedule/resource.h"
#include "tests/support/suite.h"

typedef enum phase { WAITS, RUNS, DONE } phase;

typedef struct slow {
    const mo_instance *x;
    const mo_regime *regime;
    const mo_sim_plan *plan;
    mo_schedule *s;
    phase *op, *transfer;
    int64_t now_ns;
} slow;

static int64_t op_end_ns(const slow *w, int op)
{
    return w->s->start_ns[op] + mo_instance_p_ns(w->x, op, w->s->device[op]);
}

static int item_of(const slow *w, int flow)
{
    return w->regime->tensors == MO_TENSORS_ONCE ? w->x->flows[flow].tensor
                                                 : flow;
}

/* Returns whether the transfer delivers flow q. */
static bool brings(const slow *w, const mo_transfer *t, int q)
{
    return item_of(w, q) == t->item && w->s->device[w->x->flows[q].to] == t->to;
}

static int first_flow(const slow *w, const mo_transfer *t)
{
    int q = 0;

    while (!brings(w, t, q))
        q++;
    return q;
}

static int rank_of(const slow *w, const mo_transfer *t)
{
    int rank = w->x->n;

    if (w->plan->send_rank)
        return w->plan->send_rank[t->item];
    for (int q = 0; q < w->x->n_flows; q++)
        if (brings(w, t, q) && w->plan->rank[w->x->flows[q].to] < rank)
            rank = w->plan->rank[w->x->flows[q].to];
    return rank;
}

static bool goes_before(const slow *w, const mo_transfer *t,
                        const mo_transfer *other)
{
    int a = rank_of(w, t), b = rank_of(w, other);

    return a != b ? a < b : first_flow(w, t) < first_flow(w, other);
}

static bool shares(const slow *w, const mo_transfer *t, const mo_transfer *u)
{
    int pair[2], other[2];
    const int *ids, *other_ids;
    int n = mo_resource_list(w->x, w->regime->congestion, t->from, t->to, pair,
                             &ids);
    int m = mo_resource_list(w->x, w->regime->congestion, u->from, u->to, other,
                             &other_ids);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (ids[i] == other_ids[j])
                return true;
    return false;
}

static bool is_free_of_all(const slow *w, const mo_transfer *t)
{
    return !shares(w, t, t); /* it holds no resource */
}

/* The release time. */
static int64_t until_ns(const slow *w, int op, int item)
{
    const int64_t *told_ns =
        op >= 0 ? w->plan->release_ns : w->plan->send_release_ns;
    int64_t ns = told_ns ? told_ns[op >= 0 ? op : item] : 0;

    for (int i = 0; i < w->plan->n_lags; i++) {
        const mo_sim_time_lag *it = &w->plan->lags[i];

        if (it->succ_op == op && it->succ_item == item &&
            w->op[it->op] == DONE && op_end_ns(w, it->op) + it->lag_ns > ns)
            ns = op_end_ns(w, it->op) + it->lag_ns;
    }
    return ns;
}

static bool is_sendable(const slow *w, int number)
{
    const mo_transfer *t = &w->s->transfers[number];

    if (!is_free_of_all(w, t) && until_ns(w, -1, t->item) > w->now_ns)
        return false;
    if (w->transfer[number] != WAITS ||
        w->op[w->x->flows[first_flow(w, t)].from] != DONE)
        return false;
    for (int i = 0; i < w->s->n_transfers; i++)
        if (w->transfer[i] == RUNS && shares(w, t, &w->s->transfers[i]))
            return false;
    return true;
}

static bool is_there(const slow *w, int flow)
{
    const mo_flow *f = &w->x->flows[flow];
    const mo_transfer *t =
        mo_schedule_transfer(w->s, item_of(w, flow), w->s->device[f->to]);

    if (w->s->device[f->from] == w->s->device[f->to])
        return w->op[f->from] == DONE;
    return w->transfer[t - w->s->transfers] == DONE;
}

static bool is_ready(const slow *w, int op)
{
    if (w->op[op] != WAITS || until_ns(w, op, -1) > w->now_ns)
        return false;
    for (int q = 0; q < w->x->n_flows; q++)
        if (w->x->flows[q].to == op && !is_there(w, q))
            return false;
    return true;
}

static void end_what_ends(slow *w)
{
    for (int i = 0; i < w->x->n; i++)
        if (w->op[i] == RUNS && op_end_ns(w, i) == w->now_ns)
            w->op[i] = DONE;
    for (int i = 0; i < w->s->n_transfers; i++)
        if (w->transfer[i] == RUNS && w->s->transfers[i].end_ns == w->now_ns)
            w->transfer[i] = DONE;
}

static void start_transfer(slow *w, int number)
{
    mo_transfer *t = &w->s->transfers[number];

    t->start_ns = w->now_ns;
    t->end_ns = w->now_ns +
                mo_schedule_item_ns(w->x, w->regime, t->item, t->from, t->to);
    w->transfer[number] = RUNS;
}

/* Transfers without resources start at the end of their op. */
static void start_what_holds_nothing(slow *w)
{
    for (int i = 0; i < w->s->n_transfers; i++)
        if (is_free_of_all(w, &w->s->transfers[i]) && is_sendable(w, i)) {
            start_transfer(w, i);
            if (w->s->transfers[i].end_ns == w->now_ns)
                w->transfer[i] = DONE;
        }
}

static bool is_idle(const slow *w, int device)
{
    for (int i = 0; i < w->x->n; i++)
        if (w->op[i] == RUNS && w->s->device[i] == device)
            return false;
    return true;
}

static void start_ops(slow *w)
{
    for (int k = 0; k < w->x->n_devices; k++) {
        int best = -1;

        if (!is_idle(w, k))
            continue;
        for (int i = 0; i < w->x->n; i++)
            if (w->s->device[i] == k && is_ready(w, i) &&
                (best < 0 || w->plan->rank[i] < w->plan->rank[best]))
                best = i;
        if (best >= 0) {
            w->op[best] = RUNS;
            w->s->start_ns[best] = w->now_ns;
        }
    }
}

static void start_transfers(slow *w)
{
    int best;

    do {
        best = -1;
        for (int i = 0; i < w->s->n_transfers; i++)
            if (is_sendable(w, i) &&
                (best < 0 ||
                 goes_before(w, &w->s->transfers[i], &w->s->transfers[best])))
                best = i;
        if (best >= 0)
            start_transfer(w, best);
    } while (best >= 0);
}

static void lower(int64_t *ns, int64_t to_ns)
{
    *ns = to_ns < *ns ? to_ns : *ns;
}

/* The next moment at which anything could happen, perhaps this one again. */
static int64_t next_ns(const slow *w)
{
    int64_t ns = INT64_MAX;

    for (int i = 0; i < w->x->n; i++) {
        if (w->op[i] == RUNS)
            lower(&ns, op_end_ns(w, i));
        if (w->op[i] == WAITS && until_ns(w, i, -1) > w->now_ns)
            lower(&ns, until_ns(w, i, -1));
    }
    for (int i = 0; i < w->s->n_transfers; i++) {
        int64_t until = until_ns(w, -1, w->s->transfers[i].item);

        if (w->transfer[i] == RUNS)
            lower(&ns, w->s->transfers[i].end_ns);
        if (w->transfer[i] == WAITS && until > w->now_ns)
            lower(&ns, until);
    }
    return ns;
}

mo_schedule *slow_sim(const mo_instance *x, const mo_regime *regime,
                      const mo_sim_plan *plan)
{
    slow w = { .x = x, .regime = regime, .plan = plan };

    MUST(mo_schedule_new(x, regime, plan->device, &w.s, &err));
    w.op = calloc((size_t) x->n + 1, sizeof *w.op);
    w.transfer = calloc((size_t) w.s->n_transfers + 1, sizeof *w.transfer);
    ck_assert(w.op && w.transfer);
    while (w.now_ns < INT64_MAX) {
        end_what_ends(&w);
        start_what_holds_nothing(&w);
        start_ops(&w);
        start_transfers(&w);
        w.now_ns = next_ns(&w);
    }
    for (int i = 0; i < x->n; i++) {
        ck_assert_int_eq(w.op[i], DONE);
        if (op_end_ns(&w, i) > w.s->makespan_ns)
            w.s->makespan_ns = op_end_ns(&w, i);
    }
    free(w.transfer);
    free(w.op);
    return w.s;
}
