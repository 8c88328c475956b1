/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream assignment: independent calls between two transfers run concurrently
 * on several streams:
 *
 *     a -> b -> c -> f        stream 0  a   b   c   f
 *      \-> d -> e --/         stream 1      d   e          d waits for a,
 *                                                          f for e
 *
 * List scheduling in the order of the plan: each call goes to the stream where
 * it can start first, by predicted times. Ties: it follows the call it waits
 * for longest, and leaves a stream to the successor of its last call on the
 * critical path: of those that read that call's result, the one with the
 * longest tail.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/plan/schedule/schedule_steps.h"
#include "exec/plan/ir/value_table.h"

typedef struct node {
    int call;
    int64_t duration_ns, end_ns;
    int64_t tail_ns; /* longest path to the end (critical path) */
    int heir; /* successor with the longest tail: node, or MO_PLAN_NONE */
    int stream;
    int seen[MO_PLAN_MAX_STREAMS]; /* vector clock: by stream the last node that
                                      is complete when this one is; -1: none */
} node;

typedef struct stream_state {
    mo_exec_plan *plan;
    int n_streams;
    int64_t *duration_ns; /* by call */
    int *maker;  /* by value: the node that produces it, or MO_PLAN_NONE */
    node *nodes; /* the calls between two transfers */
    int n;
    int last[MO_PLAN_MAX_STREAMS]; /* node, or MO_PLAN_NONE */
    int *depends_on;               /* of the current call */
    int n_depends_on;
} stream_state;

/* The node that produces operand i of a node's call, or MO_PLAN_NONE. */
static int producer_node(const stream_state *l, int of, int i)
{
    const mo_call *call = &l->plan->calls[l->nodes[of].call].call;

    return l->maker[mo_plan_value_root(l->plan->values, call->in[i])];
}

static int count_in(const stream_state *l, int of)
{
    return l->plan->calls[l->nodes[of].call].call.n_in;
}

/* The cost of a stream for a node: less is better. */
typedef struct score {
    int64_t begin_ns;
    bool takes_from_heir; /* the heir of its last call needs it */
    bool breaks_chain; /* its last call is not the predecessor that ends last */
} score;

static score rate_stream(const stream_state *l, int of, int before, int stream)
{
    int64_t ready = before == MO_PLAN_NONE ? 0 : l->nodes[before].end_ns;
    int last = l->last[stream];
    int64_t free_at = last == MO_PLAN_NONE ? 0 : l->nodes[last].end_ns;

    return (score){
        .begin_ns = free_at > ready ? free_at : ready,
        .takes_from_heir = last != MO_PLAN_NONE && l->nodes[last].heir > of,
        .breaks_chain = last != before,
    };
}

static bool is_better(score a, score b)
{
    if (a.begin_ns != b.begin_ns)
        return a.begin_ns < b.begin_ns;
    if (a.takes_from_heir != b.takes_from_heir)
        return b.takes_from_heir;
    return !a.breaks_chain && b.breaks_chain;
}

static void choose_stream(stream_state *l, int of)
{
    int before, best = 0;
    node *it = &l->nodes[of];

    /* The predecessor that ends last, or MO_PLAN_NONE. */
    before = MO_PLAN_NONE;
    for (int k = 0; k < count_in(l, of); k++) {
        int from = producer_node(l, of, k);

        if (from != MO_PLAN_NONE &&
            (before == MO_PLAN_NONE ||
             l->nodes[from].end_ns > l->nodes[before].end_ns))
            before = from;
    }
    for (int i = 1; i < l->n_streams; i++)
        if (is_better(rate_stream(l, of, before, i),
                      rate_stream(l, of, before, best)))
            best = i;
    it->stream = best;
    it->end_ns = rate_stream(l, of, before, best).begin_ns + it->duration_ns;
}

static void merge_clock(node *it, const node *other)
{
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        if (other->seen[i] > it->seen[i])
            it->seen[i] = other->seen[i];
}

/* The latest first: its clock often covers the others. */
static int next_uncovered(const stream_state *l, int of)
{
    int latest = MO_PLAN_NONE;

    for (int k = 0; k < count_in(l, of); k++) {
        int from = producer_node(l, of, k);

        if (from > latest && l->nodes[of].seen[l->nodes[from].stream] < from)
            latest = from;
    }
    return latest;
}

static mo_status find_dependencies(stream_state *l, int of, mo_error *err)
{
    node *it = &l->nodes[of];
    mo_plan_call *call = &l->plan->calls[it->call];

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        it->seen[i] = -1;
    if (l->last[it->stream] != MO_PLAN_NONE)
        merge_clock(it, &l->nodes[l->last[it->stream]]);
    l->n_depends_on = 0;
    for (int other = next_uncovered(l, of); other != MO_PLAN_NONE;
         other = next_uncovered(l, of)) {
        merge_clock(it, &l->nodes[other]);
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

static void record_producers(stream_state *l, int of, int maker)
{
    const mo_call *call = &l->plan->calls[l->nodes[of].call].call;

    for (int i = 0; i < call->n_out; i++)
        l->maker[mo_plan_value_root(l->plan->values, call->out[i])] = maker;
}

static mo_status assign_nodes(stream_state *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < l->n; i++)
        record_producers(l, i, i);

    for (int i = l->n - 1; i >= 0; i--) {
        node *it = &l->nodes[i];

        it->tail_ns += it->duration_ns;
        for (int k = 0; k < count_in(l, i); k++) {
            int from = producer_node(l, i, k);

            if (from == MO_PLAN_NONE || l->nodes[from].tail_ns > it->tail_ns)
                continue;
            l->nodes[from].tail_ns = it->tail_ns;
            l->nodes[from].heir = i;
        }
    }
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        l->last[i] = MO_PLAN_NONE;
    for (int i = 0; i < l->n && status == MO_OK; i++) {
        choose_stream(l, i);
        status = find_dependencies(l, i, err);
        l->last[l->nodes[i].stream] = i;
    }
    /* A transfer is a barrier: later calls need not wait for these. */
    for (int i = 0; i < l->n; i++)
        record_producers(l, i, MO_PLAN_NONE);
    return status;
}

static mo_status assign_devices(stream_state *l, const int *wanted,
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
        if (l->n_streams > 1) {
            const mo_plan_device *on = &l->plan->devices[d];
            status = MO_OK;

            for (int i = 0; i < on->n_steps && status == MO_OK; i++) {
                l->n = 0;
                for (; i < on->n_steps &&
                       on->steps[i].kind == MO_PLAN_STEP_COMPUTE;
                     i++)
                    l->nodes[l->n++] =
                        (node){ .call = on->steps[i].what,
                                .duration_ns =
                                    l->duration_ns[on->steps[i].what],
                                .heir = MO_PLAN_NONE };
                status = assign_nodes(l, err);
            }
        }
    }
    return status;
}

mo_status mo_plan_assign_streams(const int *wanted, mo_exec_plan *plan,
                                 mo_error *err)
{
    size_t n_calls = (size_t) plan->n_calls + 1;
    int *count = calloc((size_t) plan->n_items + 1, sizeof *count);
    stream_state l = {
        .plan = plan,
        .duration_ns = calloc(n_calls, sizeof *l.duration_ns),
        .maker = calloc((size_t) plan->n_values + 1, sizeof *l.maker),
        .nodes = calloc(n_calls, sizeof *l.nodes),
        .depends_on = calloc(n_calls, sizeof *l.depends_on),
    };
    mo_status status = MO_OK;

    if (count && l.duration_ns && l.maker && l.nodes && l.depends_on) {
        /* An item's time is divided among its calls; each takes at least 1 ns.
         */
        for (int c = 0; c < plan->n_calls; c++)
            count[plan->calls[c].timed_as]++;
        for (int c = 0; c < plan->n_calls; c++) {
            int item = plan->calls[c].timed_as;

            l.duration_ns[c] = plan->items[item].predicted_ns / count[item] + 1;
        }
        status = assign_devices(&l, wanted, err);
    } else {
        status = mo_fail_memory(err);
    }
    free(l.depends_on);
    free(l.nodes);
    free(l.maker);
    free(l.duration_ns);
    free(count);
    return status;
}
