/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "exec/plan/schedule/schedule_steps.h"
#include "exec/plan/ir/value_table.h"

/*
 * Calls between two transfers run side by side where they can:
 *
 *     a -> b -> c -> f        lane 0    a   b   c   f
 *      \-> d -> e --/         lane 1        d   e          d waits for a,
 *                                                          f for e
 *
 * In the order of the plan each call goes to the lane where it can begin first,
 * by times as predicted.  Among equals it follows the one it waits for longest,
 * and leaves a lane to the heir of its last call: of those that read what that
 * call makes, the one with most work behind it.
 */
typedef struct node {
    int call;
    int64_t takes_ns, end_ns;
    int64_t tail_ns; /* until everything is done that waits for it */
    int heir;        /* node, or MO_PLAN_NONE */
    int stream;
    int seen[MO_PLAN_MAX_STREAMS]; /* by lane: its last node that is done when
                                    this one is; -1: none */
} node;

typedef struct max_streams {
    mo_exec_plan *plan;
    int n_streams;
    int64_t *takes_ns; /* by call */
    int *maker;        /* by value: the node that makes it, or MO_PLAN_NONE */
    node *nodes;       /* the calls between two transfers */
    int n;
    int last[MO_PLAN_MAX_STREAMS]; /* node, or MO_PLAN_NONE */
    int *depends_on;               /* of the call at hand */
    int n_depends_on;
} max_streams;

/* -------------------------------------------------------------------- times */

/* An item's time is shared by its calls; none takes no time at all. */
static void weigh(const mo_exec_plan *plan, int *count, int64_t *takes_ns)
{
    for (int c = 0; c < plan->n_calls; c++)
        count[plan->calls[c].timed_as]++;
    for (int c = 0; c < plan->n_calls; c++) {
        int item = plan->calls[c].timed_as;

        takes_ns[c] = plan->items[item].predicted_ns / count[item] + 1;
    }
}

/* The node that makes what operand i of a node's call is, or MO_PLAN_NONE. */
static int made_by(const max_streams *l, int of, int i)
{
    const mo_call *call = &l->plan->calls[l->nodes[of].call].call;

    return l->maker[mo_plan_value_root(l->plan->values, call->in[i])];
}

static int count_in(const max_streams *l, int of)
{
    return l->plan->calls[l->nodes[of].call].call.n_in;
}

static void find_tails(max_streams *l)
{
    for (int i = l->n - 1; i >= 0; i--) {
        node *it = &l->nodes[i];

        it->tail_ns += it->takes_ns;
        for (int k = 0; k < count_in(l, i); k++) {
            int from = made_by(l, i, k);

            if (from == MO_PLAN_NONE || l->nodes[from].tail_ns > it->tail_ns)
                continue;
            l->nodes[from].tail_ns = it->tail_ns;
            l->nodes[from].heir = i;
        }
    }
}

/* ------------------------------------------------------------------ choices */

/* The node whose end it waits for longest, or MO_PLAN_NONE. */
static int latest_before(const max_streams *l, int of)
{
    int latest = MO_PLAN_NONE;

    for (int k = 0; k < count_in(l, of); k++) {
        int from = made_by(l, of, k);

        if (from != MO_PLAN_NONE &&
            (latest == MO_PLAN_NONE ||
             l->nodes[from].end_ns > l->nodes[latest].end_ns))
            latest = from;
    }
    return latest;
}

/* What a lane has against a node: less is better. */
typedef struct score {
    int64_t begin_ns;
    bool robs;    /* the heir of its last call wants it */
    bool strange; /* its last call is not the one that is waited for */
} score;

static score judge(const max_streams *l, int of, int before, int stream)
{
    int64_t ready = before == MO_PLAN_NONE ? 0 : l->nodes[before].end_ns;
    int last = l->last[stream];
    int64_t free_at = last == MO_PLAN_NONE ? 0 : l->nodes[last].end_ns;

    return (score){
        .begin_ns = free_at > ready ? free_at : ready,
        .robs = last != MO_PLAN_NONE && l->nodes[last].heir > of,
        .strange = last != before,
    };
}

static bool is_better(score a, score b)
{
    if (a.begin_ns != b.begin_ns)
        return a.begin_ns < b.begin_ns;
    if (a.robs != b.robs)
        return b.robs;
    return !a.strange && b.strange;
}

static void choose_lane(max_streams *l, int of)
{
    int before = latest_before(l, of), best = 0;
    node *it = &l->nodes[of];

    for (int i = 1; i < l->n_streams; i++)
        if (is_better(judge(l, of, before, i), judge(l, of, before, best)))
            best = i;
    it->stream = best;
    it->end_ns = judge(l, of, before, best).begin_ns + it->takes_ns;
}

/* -------------------------------------------------------------------- waits */

static void see(node *it, const node *other)
{
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        if (other->seen[i] > it->seen[i])
            it->seen[i] = other->seen[i];
}

static bool has_seen(const max_streams *l, const node *it, int other)
{
    return it->seen[l->nodes[other].stream] >= other;
}

/* Those that end last first: they have often seen the others. */
static int next_unseen(const max_streams *l, int of)
{
    int latest = MO_PLAN_NONE;

    for (int k = 0; k < count_in(l, of); k++) {
        int from = made_by(l, of, k);

        if (from > latest && !has_seen(l, &l->nodes[of], from))
            latest = from;
    }
    return latest;
}

static mo_status wait_for_others(max_streams *l, int of, mo_error *err)
{
    node *it = &l->nodes[of];
    mo_plan_call *call = &l->plan->calls[it->call];

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        it->seen[i] = -1;
    if (l->last[it->stream] != MO_PLAN_NONE)
        see(it, &l->nodes[l->last[it->stream]]);
    l->n_depends_on = 0;
    for (int other = next_unseen(l, of); other != MO_PLAN_NONE;
         other = next_unseen(l, of)) {
        see(it, &l->nodes[other]);
        l->depends_on[l->n_depends_on++] = l->nodes[other].call;
    }
    it->seen[it->stream] = of;
    call->stream = it->stream;
    call->n_depends_on = l->n_depends_on;
    call->depends_on = mo_arena_array(
        l->plan->arena, (size_t) l->n_depends_on + 1, sizeof *call->depends_on);
    if (!call->depends_on)
        return mo_fail_memory(err);
    memcpy(call->depends_on, l->depends_on,
           (size_t) l->n_depends_on * sizeof *call->depends_on);
    return MO_OK;
}

/* ------------------------------------------------------------------ devices */

static void note_makers(max_streams *l, int of, int maker)
{
    const mo_call *call = &l->plan->calls[l->nodes[of].call].call;

    for (int i = 0; i < call->n_out; i++)
        l->maker[mo_plan_value_root(l->plan->values, call->out[i])] = maker;
}

static mo_status spread_nodes(max_streams *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < l->n; i++)
        note_makers(l, i, i);
    find_tails(l);
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        l->last[i] = MO_PLAN_NONE;
    for (int i = 0; i < l->n && status == MO_OK; i++) {
        choose_lane(l, i);
        status = wait_for_others(l, i, err);
        l->last[l->nodes[i].stream] = i;
    }
    /* What comes behind a transfer finds all of this done. */
    for (int i = 0; i < l->n; i++)
        note_makers(l, i, MO_PLAN_NONE);
    return status;
}

static mo_status spread_device(max_streams *l, int device, mo_error *err)
{
    const mo_plan_device *on = &l->plan->devices[device];
    mo_status status = MO_OK;

    for (int i = 0; i < on->n_steps && status == MO_OK; i++) {
        l->n = 0;
        for (; i < on->n_steps && on->steps[i].kind == MO_PLAN_STEP_COMPUTE;
             i++)
            l->nodes[l->n++] =
                (node){ .call = on->steps[i].what,
                        .takes_ns = l->takes_ns[on->steps[i].what],
                        .heir = MO_PLAN_NONE };
        status = spread_nodes(l, err);
    }
    return status;
}

static mo_status spread_devices(max_streams *l, const int *wanted,
                                mo_error *err)
{
    mo_exec_plan *plan = l->plan;
    mo_status status = MO_OK;

    for (int v = 0; v < plan->n_values; v++)
        l->maker[v] = MO_PLAN_NONE;
    for (int d = 0; d < plan->n_devices && status == MO_OK; d++) {
        l->n_streams =
            wanted[d] < MO_PLAN_MAX_STREAMS ? wanted[d] : MO_PLAN_MAX_STREAMS;
        plan->devices[d].n_streams = l->n_streams;
        if (l->n_streams > 1)
            status = spread_device(l, d, err);
    }
    return status;
}

mo_status mo_plan_assign_streams(const int *wanted, mo_exec_plan *plan,
                                 mo_error *err)
{
    size_t n_calls = (size_t) plan->n_calls + 1;
    int *count = calloc((size_t) plan->n_items + 1, sizeof *count);
    max_streams l = {
        .plan = plan,
        .takes_ns = calloc(n_calls, sizeof *l.takes_ns),
        .maker = calloc((size_t) plan->n_values + 1, sizeof *l.maker),
        .nodes = calloc(n_calls, sizeof *l.nodes),
        .depends_on = calloc(n_calls, sizeof *l.depends_on),
    };
    mo_status status = MO_OK;

    if (count && l.takes_ns && l.maker && l.nodes && l.depends_on) {
        weigh(plan, count, l.takes_ns);
        status = spread_devices(&l, wanted, err);
    } else {
        status = mo_fail_memory(err);
    }
    free(l.depends_on);
    free(l.nodes);
    free(l.maker);
    free(l.takes_ns);
    free(count);
    return status;
}
