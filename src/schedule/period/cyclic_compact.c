/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least period of a cyclic order: the largest ratio of length to height of a
 * cycle, by Newton's method from below.  At each period the starts are longest
 * paths (Bellman and Ford); a cycle of positive length has a larger ratio,
 * which is the next period.
 */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/period/cyclic_order.h"

/* Ratio of a cycle or path: its length and its height. */
typedef struct path_ratio {
    int64_t length_ns, height;
} path_ratio;

/* Adds the arc to the task from its parent; returns the parent. */
static int add_parent_arc(const mo_cyclic_order *c, int task, path_ratio *path)
{
    int by = c->parent[task], m = c->parent_member[task];

    path->length_ns += c->ns[by];
    path->height += m < 0 ? 0 : c->members[m].height;
    return by;
}

/* Finds a cycle of parents, which has a positive length, by marks of this call:
 * those from first on. */
static bool find_cycle(mo_cyclic_order *c, path_ratio *cycle)
{
    int64_t first = c->n_marks + 1;

    for (int i = 0; i < c->n; i++) {
        int a = i;

        c->n_marks++;
        while (a >= 0 && c->mark[a] < first) {
            c->mark[a] = c->n_marks;
            a = c->parent[a];
        }
        if (a < 0 || c->mark[a] != c->n_marks)
            continue;
        *cycle = (path_ratio){ 0 };
        for (int b = add_parent_arc(c, a, cycle); b != a;)
            b = add_parent_arc(c, b, cycle);
        return true;
    }
    return false;
}

static bool raise_start(mo_cyclic_order *c, int task, int64_t ns, int by,
                        int member)
{
    if (c->start_ns[task] >= ns)
        return false;
    c->start_ns[task] = ns;
    c->parent[task] = by;
    c->parent_member[task] = member;
    return true;
}

/* Relaxes all arcs once, in the order of the queue. */
static bool relax_arcs(mo_cyclic_order *c)
{
    bool raised = false;

    for (int k = 0; k < c->n; k++) {
        int a = c->queue[k];
        int64_t end_ns = c->start_ns[a] + c->ns[a];

        for (int i = c->succ_start[a]; i < c->succ_start[a + 1]; i++)
            raised |= raise_start(c, c->succ[i], end_ns, a, -1);
        for (int m = c->member_start[a]; m < c->member_start[a + 1]; m++)
            raised |=
                raise_start(c, c->members[c->members[m].next].task,
                            end_ns - c->members[m].height * c->period_ns, a, m);
    }
    return raised;
}

mo_status mo_cyclic_order_compact(mo_cyclic_order *c, int64_t least_ns,
                                  int max_in_flight, bool *fits, mo_error *err)
{
    mo_status status = mo_cyclic_order_sort_queue(c, err);

    c->period_ns = mo_max_i64(least_ns, 1);
    *fits = true;
    while (status == MO_OK) {
        path_ratio path = { 0 };

        memset(c->start_ns, 0, (size_t) c->n * sizeof *c->start_ns);
        memset(c->parent, -1, (size_t) c->n * sizeof *c->parent);
        while (relax_arcs(c))
            if (find_cycle(c, &path))
                break;
        if (path.length_ns == 0 && max_in_flight > 0) {
            int last = 0;

            path = (path_ratio){ 0 };
            for (int i = 0; i < c->n_ops; i++)
                if (c->start_ns[i] + c->ns[i] > c->start_ns[last] + c->ns[last])
                    last = i;
            path.length_ns = c->ns[last];
            for (int a = last; c->parent[a] >= 0;)
                a = add_parent_arc(c, a, &path);
            path.height += max_in_flight;
            if (path.length_ns <= path.height * c->period_ns)
                break;
        } else if (path.length_ns == 0) {
            break;
        }
        if (path.height <= 0) {
            *fits = false;
            break;
        }
        c->period_ns = mo_ceil_div(path.length_ns, path.height);
    }
    return status;
}
