/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/node.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

/*
 * Constraint propagation on start-time windows. An op starts when all its
 * inputs can be there, and early enough for its successors; arrivals of the
 * broadcast tensor that share a port are disjunctive, so that one which cannot
 * precede another follows it; and the tensor arrives only where it is read, so
 * not later than its last reader starts. The rules are repeated until no
 * domain shrinks.
 */

enum { MAX_ROUNDS = 12, NONE = -1 };

static mo_status allocate_node(const mo_cg_problem *c, mo_cg_node **state,
                               mo_error *err)
{
    size_t n_devices = (size_t) c->n_devices;
    size_t n_starts = ((size_t) c->n_nodes + 1) * n_devices;
    mo_cg_node *s = calloc(1, sizeof *s);

    if (!s)
        return mo_fail_memory(err);
    s->arrival = calloc(n_devices, sizeof *s->arrival);
    s->arrival_min = calloc(n_devices, sizeof *s->arrival_min);
    s->arrival_max = calloc(n_devices, sizeof *s->arrival_max);
    s->est = calloc(n_starts, sizeof *s->est);
    s->lst = calloc(n_starts, sizeof *s->lst);
    if (!s->arrival || !s->arrival_min || !s->arrival_max || !s->est ||
        !s->lst) {
        mo_cg_node_free(s);
        return mo_fail_memory(err);
    }
    *state = s;
    return MO_OK;
}

mo_status mo_cg_node_new(const mo_cg_problem *c, mo_cg_node **state,
                         mo_error *err)
{
    mo_status status = allocate_node(c, state, err);

    for (int k = 0; k < c->n_devices && status == MO_OK; k++) {
        bool comes = c->broadcast_row != NONE && k != c->u_device;

        (*state)->arrival[k] =
            comes ? MO_CG_ARRIVAL_UNDECIDED : MO_CG_ARRIVAL_FORBIDDEN;
        (*state)->arrival_min[k] = comes ? mo_cg_broadcast_ticks(c, k) : 0;
        (*state)->arrival_max[k] = c->horizon;
    }
    return status;
}

mo_status mo_cg_node_copy(const mo_cg_problem *c, const mo_cg_node *s,
                          mo_cg_node **copy, mo_error *err)
{
    size_t n_devices = (size_t) c->n_devices;
    size_t n_starts = ((size_t) c->n_nodes + 1) * n_devices;
    mo_cg_node *made = NULL;
    mo_status status = allocate_node(c, &made, err);

    if (status != MO_OK)
        return status;
    memcpy(made->arrival, s->arrival, n_devices * sizeof *s->arrival);
    memcpy(made->arrival_min, s->arrival_min,
           n_devices * sizeof *s->arrival_min);
    memcpy(made->arrival_max, s->arrival_max,
           n_devices * sizeof *s->arrival_max);
    memcpy(made->est, s->est, n_starts * sizeof *s->est);
    memcpy(made->lst, s->lst, n_starts * sizeof *s->lst);
    *copy = made;
    return MO_OK;
}

void mo_cg_node_free(mo_cg_node *s)
{
    if (!s)
        return;
    free(s->arrival);
    free(s->arrival_min);
    free(s->arrival_max);
    free(s->est);
    free(s->lst);
    free(s);
}

static int64_t beyond_horizon(const mo_cg_problem *c)
{
    return c->horizon + 1;
}

/* Returns the earliest tick at which a node has its input from u on a
 * device. */
static int64_t earliest_u_input(const mo_cg_problem *c, const mo_cg_node *s,
                                int node, int device)
{
    switch (c->u_input[node]) {
    case MO_CG_INPUT_DELAY:
    case MO_CG_INPUT_TRANSFER:
        return mo_cg_transfer_ticks(c, c->u_comm_row[node], c->u_device,
                                    device);
    case MO_CG_INPUT_BROADCAST:
        if (device == c->u_device)
            return 0;
        return s->arrival[device] == MO_CG_ARRIVAL_FORBIDDEN
                   ? beyond_horizon(c)
                   : s->arrival_min[device];
    case MO_CG_INPUT_NONE:
        break;
    }
    return 0;
}

/* Returns the earliest tick at which a device has the output of a node. */
static int64_t earliest_child_input(const mo_cg_problem *c, const mo_cg_node *s,
                                    int child, int device)
{
    int64_t first = beyond_horizon(c);

    for (int k = 0; k < c->n_devices; k++) {
        int at = mo_cg_index(c, child, k);
        int64_t since = s->est[at] + c->p[at] +
                        mo_cg_transfer_ticks(c, c->comm_row[child], k, device);

        if (mo_cg_node_allows(s, at) && since < first)
            first = since;
    }
    return first;
}

/* Returns the latest end of a node on a device that is in time for its
 * reader. */
static int64_t latest_end(const mo_cg_problem *c, const mo_cg_node *s, int node,
                          int device)
{
    int reader = c->tree->nodes[node].reader, row = c->comm_row[node];
    int64_t last = -1;

    if (reader == MO_FREE)
        return row == NONE ? c->horizon
                           : c->horizon - mo_cg_transfer_ticks(c, row, device,
                                                               c->v_device);
    for (int k = 0; k < c->n_devices; k++) {
        int at = mo_cg_index(c, reader, k);
        int64_t end = s->lst[at] - mo_cg_transfer_ticks(c, row, device, k);

        if (mo_cg_node_allows(s, at) && end > last)
            last = end;
    }
    return last;
}

/* Returns whether the node has a device left. */
static bool compute_latest_starts(const mo_cg_problem *c, mo_cg_node *s,
                                  int node)
{
    bool any = false;

    for (int k = 0; k < c->n_devices; k++) {
        int at = mo_cg_index(c, node, k);

        s->lst[at] = latest_end(c, s, node, k) - c->p[at];
        any |= mo_cg_node_allows(s, at);
    }
    return any;
}

static bool propagate_starts(const mo_cg_problem *c, mo_cg_node *s)
{
    for (int i = c->n_nodes - 1; i >= 0; i--) {
        const mo_cg_tree_node *nodes = c->tree->nodes;

        for (int k = 0; k < c->n_devices; k++) {
            int at = mo_cg_index(c, i, k);
            int64_t *est = &s->est[at];

            *est = c->allowed[at] ? earliest_u_input(c, s, i, k)
                                  : beyond_horizon(c);
            for (int j = nodes[i].first_child;
                 j != NONE && *est < beyond_horizon(c); j = nodes[j].next) {
                int64_t since = earliest_child_input(c, s, j, k);
                *est = since > *est ? since : *est;
            }
        }
    }
    for (int i = 0; i < c->n_nodes; i++)
        if (!compute_latest_starts(c, s, i))
            return false;
    return true;
}

static void order_arrivals(const mo_cg_problem *c, mo_cg_node *s)
{
    for (int i = 0; i < c->n_devices; i++) {
        if (s->arrival[i] != MO_CG_ARRIVAL_REQUIRED ||
            mo_cg_broadcast_ticks(c, i) == 0)
            continue;
        for (int j = 0; j < c->n_devices; j++)
            if (j != i && s->arrival[j] != MO_CG_ARRIVAL_FORBIDDEN &&
                mo_cg_broadcast_ticks(c, j) > 0 &&
                mo_cg_pairs_conflict(c, mo_cg_pair(c, c->u_device, i),
                                     mo_cg_pair(c, c->u_device, j)) &&
                s->arrival_min[j] + mo_cg_broadcast_ticks(c, i) >
                    s->arrival_max[i]) {
                /* Disjunctive rule: j cannot arrive before i, and i is
                 * required, so i precedes j. */
                int64_t after = s->arrival_min[i] + mo_cg_broadcast_ticks(c, j);
                int64_t before =
                    s->arrival_max[j] - mo_cg_broadcast_ticks(c, j);

                if (s->arrival_min[j] < after)
                    s->arrival_min[j] = after;
                if (s->arrival[j] == MO_CG_ARRIVAL_REQUIRED &&
                    s->arrival_max[i] > before)
                    s->arrival_max[i] = before;
            }
    }
}

static bool propagate_arrivals(const mo_cg_problem *c, mo_cg_node *s)
{
    for (int k = 0; k < c->n_devices; k++) {
        /* The latest start of a reader of the broadcast tensor on k, -1 if
         * there is none. */
        int64_t last = -1;

        for (int i = 0; i < c->n_nodes; i++) {
            int at = mo_cg_index(c, i, k);

            if (c->u_input[i] == MO_CG_INPUT_BROADCAST &&
                mo_cg_node_allows(s, at) && s->lst[at] > last)
                last = s->lst[at];
        }

        if (s->arrival[k] != MO_CG_ARRIVAL_FORBIDDEN &&
            s->arrival_max[k] > last)
            s->arrival_max[k] = last;
    }
    order_arrivals(c, s);
    for (int k = 0; k < c->n_devices; k++)
        if (s->arrival[k] != MO_CG_ARRIVAL_FORBIDDEN)
            s->arrival_min[k] =
                mo_min_i64(s->arrival_min[k], beyond_horizon(c));
    for (int k = 0; k < c->n_devices; k++) {
        if (s->arrival[k] == MO_CG_ARRIVAL_FORBIDDEN ||
            s->arrival_min[k] <= s->arrival_max[k])
            continue;
        if (s->arrival[k] == MO_CG_ARRIVAL_REQUIRED)
            return false;
        s->arrival[k] = MO_CG_ARRIVAL_FORBIDDEN;
    }
    return true;
}

bool mo_cg_node_propagate(const mo_cg_problem *c, mo_cg_node *s)
{
    int64_t size = INT64_MAX, left;

    for (int at = 0; at < c->n_nodes * c->n_devices; at++)
        s->lst[at] = c->horizon;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        if (!propagate_starts(c, s) ||
            (c->broadcast_row != NONE && !propagate_arrivals(c, s)))
            return false;
        /* A measure that every tightening of a domain decreases. */
        left = 0;

        for (int at = 0; at < c->n_nodes * c->n_devices; at++)
            left += mo_cg_node_allows(s, at);
        for (int k = 0; k < c->n_devices; k++)
            if (s->arrival[k] != MO_CG_ARRIVAL_FORBIDDEN)
                left += 1 + s->arrival_max[k] - s->arrival_min[k];
        if (left == size)
            break;
        size = left;
    }
    return true;
}
