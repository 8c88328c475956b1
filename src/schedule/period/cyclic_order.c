/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/period/cyclic_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/period/loads.h"
#include "schedule/resource.h"

/* Resources of a task, devices first; none of a task of no length. */
static int list_resources(const mo_cyclic_order *c, const mo_schedule *s,
                          int task, int pair[2], const int **ids)
{
    const mo_transfer *t;

    if (c->ns[task] == 0)
        return 0;
    if (task < c->n_ops) {
        pair[0] = s->device[task];
        *ids = pair;
        return 1;
    }
    t = &s->transfers[task - c->n_ops];
    return mo_resource_list(c->x, s->regime.congestion, t->from, t->to, pair,
                            ids);
}

static mo_status make_members(mo_cyclic_order *c, const mo_schedule *s,
                              mo_error *err)
{
    int pair[2], n = 0;
    const int *ids;

    for (int i = 0; i < c->n; i++) {
        c->member_start[i] = n;
        n += list_resources(c, s, i, pair, &ids);
    }
    c->member_start[c->n] = n;
    c->members = calloc((size_t) n + 1, sizeof *c->members);
    if (!c->members)
        return mo_fail_memory(err);
    for (int i = 0; i < c->n; i++) {
        int m = list_resources(c, s, i, pair, &ids);

        for (int j = 0; j < m; j++)
            c->members[c->member_start[i] + j] = (mo_cyclic_member){
                .task = i,
                .resource = ids[j] + (i < c->n_ops ? 0 : c->x->n_devices)
            };
    }
    return MO_OK;
}

/* Counts the precedence from a to b, in the first pass, and stores it in the
 * second. */
static void add_arc(mo_cyclic_order *c, bool stores, int a, int b)
{
    if (stores) {
        c->succ[c->succ_start[a]++] = b;
        c->pred[c->pred_start[b]++] = a;
    } else {
        c->succ_start[a + 1]++;
        c->pred_start[b + 1]++;
    }
}

static void add_arcs(mo_cyclic_order *c, const mo_schedule *s, bool stores)
{
    const mo_instance *x = c->x;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;

    for (int q = 0; q < x->n_flows; q++)
        if (s->device[x->flows[q].from] == s->device[x->flows[q].to])
            add_arc(c, stores, x->flows[q].from, x->flows[q].to);
    for (int i = 0; i < s->n_transfers; i++) {
        const mo_transfer *t = &s->transfers[i];
        int first = once ? x->tensor_start[t->item] : t->item;
        int end = once ? x->tensor_start[t->item + 1] : t->item + 1;

        add_arc(c, stores, x->flows[first].from, x->n + i);
        for (int q = first; q < end; q++)
            if (s->device[x->flows[q].to] == t->to)
                add_arc(c, stores, x->n + i, x->flows[q].to);
    }
}

static mo_status make_arcs(mo_cyclic_order *c, const mo_schedule *s,
                           mo_error *err)
{
    add_arcs(c, s, false);
    for (int i = 0; i < c->n; i++) {
        c->succ_start[i + 1] += c->succ_start[i];
        c->pred_start[i + 1] += c->pred_start[i];
    }
    c->succ = calloc((size_t) c->succ_start[c->n] + 1, sizeof *c->succ);
    c->pred = calloc((size_t) c->pred_start[c->n] + 1, sizeof *c->pred);
    if (!c->succ || !c->pred)
        return mo_fail_memory(err);
    add_arcs(c, s, true);
    /* The second pass has moved every start of a row to its end. */
    for (int i = c->n; i > 0; i--) {
        c->succ_start[i] = c->succ_start[i - 1];
        c->pred_start[i] = c->pred_start[i - 1];
    }
    c->succ_start[0] = c->pred_start[0] = 0;
    return MO_OK;
}

mo_status mo_cyclic_order_init(mo_cyclic_order *c, const mo_instance *x,
                               const mo_schedule *s, mo_error *err)
{
    size_t n = (size_t) x->n + (size_t) s->n_transfers + 2;
    mo_status status;

    *c = (mo_cyclic_order){
        .x = x,
        .n_ops = x->n,
        .n = x->n + s->n_transfers,
        .n_resources = x->n_devices + mo_resource_count(x, s->regime.congestion)
    };
    c->ns = calloc(n, sizeof *c->ns);
    c->start_ns = calloc(n, sizeof *c->start_ns);
    c->succ_start = calloc(n, sizeof *c->succ_start);
    c->pred_start = calloc(n, sizeof *c->pred_start);
    c->member_start = calloc(n, sizeof *c->member_start);
    c->hint = calloc((size_t) c->n_resources + 1, sizeof *c->hint);
    c->is_in = calloc(n, sizeof *c->is_in);
    c->deadline_ns = calloc(n, sizeof *c->deadline_ns);
    c->queue = calloc(n, sizeof *c->queue);
    c->parent = calloc(n, sizeof *c->parent);
    c->parent_member = calloc(n, sizeof *c->parent_member);
    c->is_queued = calloc(n, sizeof *c->is_queued);
    c->before_ns = calloc(n, sizeof *c->before_ns);
    c->changed = calloc(n, sizeof *c->changed);
    c->mark = calloc(n, sizeof *c->mark);
    if (!c->ns || !c->start_ns || !c->succ_start || !c->pred_start ||
        !c->member_start || !c->hint || !c->is_in || !c->deadline_ns ||
        !c->queue || !c->parent || !c->parent_member || !c->is_queued ||
        !c->before_ns || !c->changed || !c->mark)
        return mo_fail_memory(err);
    for (int i = 0; i < c->n; i++) {
        const mo_transfer *t = i < x->n ? NULL : &s->transfers[i - x->n];

        c->ns[i] =
            t ? mo_schedule_item_ns(x, &s->regime, t->item, t->from, t->to)
              : mo_instance_p_ns(x, i, s->device[i]);
        c->deadline_ns[i] = INT64_MAX;
    }
    mo_period_add_overheads(x, s, c->ns, c->ns);
    status = make_members(c, s, err);
    if (status == MO_OK)
        status = make_arcs(c, s, err);
    if (status == MO_OK)
        mo_cyclic_order_reset(c, 1);
    return status;
}

void mo_cyclic_order_clear(mo_cyclic_order *c)
{
    free(c->ns);
    free(c->start_ns);
    free(c->succ);
    free(c->succ_start);
    free(c->pred);
    free(c->pred_start);
    free(c->members);
    free(c->member_start);
    free(c->hint);
    free(c->is_in);
    free(c->deadline_ns);
    free(c->queue);
    free(c->parent);
    free(c->parent_member);
    free(c->is_queued);
    free(c->before_ns);
    free(c->changed);
    free(c->mark);
    *c = (mo_cyclic_order){ 0 };
}

void mo_cyclic_order_reset(mo_cyclic_order *c, int64_t period_ns)
{
    c->period_ns = period_ns;
    for (int r = 0; r < c->n_resources; r++)
        c->hint[r] = -1;
    memset(c->is_in, 0, (size_t) c->n * sizeof *c->is_in);
    memset(c->start_ns, 0, (size_t) c->n * sizeof *c->start_ns);
}

int64_t mo_cyclic_order_latency_ns(const mo_cyclic_order *c)
{
    int64_t end_ns = 0;

    for (int i = 0; i < c->n_ops; i++)
        end_ns = mo_max_i64(end_ns, c->start_ns[i] + c->ns[i]);
    return end_ns;
}

int64_t mo_cyclic_order_tails(const mo_cyclic_order *c, const int *order,
                              int64_t *tail_ns)
{
    int64_t longest_ns = 0;

    for (int k = c->n - 1; k >= 0; k--) {
        int a = order[k];

        tail_ns[a] = 0;
        for (int i = c->succ_start[a]; i < c->succ_start[a + 1]; i++)
            tail_ns[a] = mo_max_i64(tail_ns[a], tail_ns[c->succ[i]]);
        tail_ns[a] += c->ns[a];
        longest_ns = mo_max_i64(longest_ns, tail_ns[a]);
    }
    return longest_ns;
}

int64_t mo_cyclic_order_ready_ns(const mo_cyclic_order *c, int task)
{
    int64_t ready_ns = 0;

    for (int i = c->pred_start[task]; i < c->pred_start[task + 1]; i++)
        ready_ns =
            mo_max_i64(ready_ns, c->start_ns[c->pred[i]] + c->ns[c->pred[i]]);
    return ready_ns;
}

typedef struct start_entry {
    int64_t start_ns;
    int task;
} start_entry;

static int compare_starts(const void *a, const void *b)
{
    const start_entry *s = a, *t = b;

    if (s->start_ns != t->start_ns)
        return s->start_ns < t->start_ns ? -1 : 1;
    return s->task - t->task;
}

mo_status mo_cyclic_order_sort_queue(mo_cyclic_order *c, mo_error *err)
{
    start_entry *entries = calloc((size_t) c->n + 1, sizeof *entries);

    if (!entries)
        return mo_fail_memory(err);
    for (int i = 0; i < c->n; i++)
        entries[i] = (start_entry){ c->start_ns[i], i };
    qsort(entries, (size_t) c->n, sizeof *entries, compare_starts);
    for (int i = 0; i < c->n; i++)
        c->queue[i] = entries[i].task;
    free(entries);
    return MO_OK;
}

typedef struct headed_member {
    int resource, task;
    int64_t head_ns;
} headed_member;

/* By resource, the latest first. */
static int compare_heads(const void *a, const void *b)
{
    const headed_member *s = a, *t = b;

    if (s->resource != t->resource)
        return s->resource - t->resource;
    if (s->head_ns != t->head_ns)
        return s->head_ns > t->head_ns ? -1 : 1;
    return s->task - t->task;
}

mo_status mo_cyclic_order_latency_bound(const mo_cyclic_order *c,
                                        const int *order,
                                        const int64_t *tail_ns,
                                        int64_t *bound_ns, mo_error *err)
{
    int n = c->member_start[c->n];
    int64_t *head_ns = calloc((size_t) c->n + 1, sizeof *head_ns);
    headed_member *members = calloc((size_t) n + 1, sizeof *members);
    int64_t sum_ns = 0, behind_ns = 0;
    mo_status status = head_ns && members ? MO_OK : mo_fail_memory(err);

    *bound_ns = 0;
    for (int k = 0; k < c->n && status == MO_OK; k++) {
        int a = order[k];

        for (int i = c->pred_start[a]; i < c->pred_start[a + 1]; i++)
            head_ns[a] =
                mo_max_i64(head_ns[a], head_ns[c->pred[i]] + c->ns[c->pred[i]]);
        *bound_ns = mo_max_i64(*bound_ns, head_ns[a] + tail_ns[a]);
        for (int m = c->member_start[a]; m < c->member_start[a + 1]; m++)
            members[m] =
                (headed_member){ c->members[m].resource, a, head_ns[a] };
    }
    if (status == MO_OK && n > 1)
        qsort(members, (size_t) n, sizeof *members, compare_heads);
    for (int i = 0; i < n && status == MO_OK; i++) {
        int a = members[i].task;
        bool first = i == 0 || members[i].resource != members[i - 1].resource;
        int64_t own_ns = tail_ns[a] - c->ns[a];

        sum_ns = (first ? 0 : sum_ns) + c->ns[a];
        behind_ns = first ? own_ns : mo_min_i64(behind_ns, own_ns);
        *bound_ns =
            mo_max_i64(*bound_ns, members[i].head_ns + sum_ns + behind_ns);
    }
    free(head_ns);
    free(members);
    return status;
}

void mo_cyclic_order_export(const mo_cyclic_order *c, mo_schedule *s)
{
    for (int i = 0; i < c->n_ops; i++)
        s->start_ns[i] = c->start_ns[i];
    for (int i = c->n_ops; i < c->n; i++) {
        mo_transfer *t = &s->transfers[i - c->n_ops];

        t->start_ns = c->start_ns[i];
        t->end_ns = c->start_ns[i] + c->ns[i];
    }
    s->makespan_ns = mo_cyclic_order_latency_ns(c);
}

typedef struct import_entry {
    int resource, member;
    int64_t phase_ns, stage;
} import_entry;

static int compare_entries(const void *a, const void *b)
{
    const import_entry *s = a, *t = b;

    if (s->resource != t->resource)
        return s->resource - t->resource;
    if (s->phase_ns != t->phase_ns)
        return s->phase_ns < t->phase_ns ? -1 : 1;
    return s->member - t->member;
}

mo_status mo_cyclic_order_import(mo_cyclic_order *c, const mo_schedule *s,
                                 int64_t period_ns, mo_error *err)
{
    size_t n = (size_t) c->member_start[c->n];
    import_entry *entries = calloc(n + 1, sizeof *entries);

    if (!entries)
        return mo_fail_memory(err);
    mo_cyclic_order_reset(c, period_ns);
    for (int i = 0; i < c->n; i++) {
        c->start_ns[i] =
            i < c->n_ops ? s->start_ns[i] : s->transfers[i - c->n_ops].start_ns;
        c->is_in[i] = true;
        for (int m = c->member_start[i]; m < c->member_start[i + 1]; m++)
            entries[m] = (import_entry){ c->members[m].resource, m,
                                         c->start_ns[i] % period_ns,
                                         c->start_ns[i] / period_ns };
    }
    qsort(entries, n, sizeof *entries, compare_entries);
    for (size_t first = 0, end; first < n; first = end) {
        end = first;
        while (end < n && entries[end].resource == entries[first].resource)
            end++;
        c->hint[entries[first].resource] = entries[first].member;
        for (size_t i = first; i < end; i++) {
            size_t j = i + 1 < end ? i + 1 : first;

            c->members[entries[i].member].next = entries[j].member;
            c->members[entries[j].member].prev = entries[i].member;
            c->members[entries[i].member].height =
                entries[i].stage - entries[j].stage + (j == first);
        }
    }
    free(entries);
    return MO_OK;
}
