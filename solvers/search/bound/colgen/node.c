/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/node.h"

#include <stdlib.h>
#include <string.h>

#include "solvers/search/bound/colgen/left_shift.h"

/*
 * Ops start when all that they read can be there, and early enough for what
 * comes behind them; arrivals of the shared tensor exclude each other where
 * they share a port, so that one which cannot come before another comes after
 * it; and it comes only where it is read, so not later than its last reader
 * starts.  One says something about the other, round after round, until nothing
 * new is said.
 */

enum { MAX_ROUNDS = 12, NONE = -1 };

typedef struct arrays {
    size_t devices, places; /* how long they are */
} arrays;

static arrays arrays_of(const mo_cg_problem *c)
{
    size_t devices = (size_t) c->n_devices;

    return (arrays){ devices, ((size_t) c->n_nodes + 1) * devices };
}

static mo_status allocate(const mo_cg_problem *c, mo_cg_node **state,
                          mo_error *err)
{
    arrays n = arrays_of(c);
    mo_cg_node *s = calloc(1, sizeof *s);

    if (!s)
        return mo_fail_memory(err);
    s->fate = calloc(n.devices, sizeof *s->fate);
    s->lo = calloc(n.devices, sizeof *s->lo);
    s->hi = calloc(n.devices, sizeof *s->hi);
    s->est = calloc(n.places, sizeof *s->est);
    s->lst = calloc(n.places, sizeof *s->lst);
    if (!s->fate || !s->lo || !s->hi || !s->est || !s->lst) {
        mo_cg_node_free(s);
        return mo_fail_memory(err);
    }
    *state = s;
    return MO_OK;
}

mo_status mo_cg_node_new(const mo_cg_problem *c, mo_cg_node **state,
                         mo_error *err)
{
    mo_status status = allocate(c, state, err);

    for (int k = 0; k < c->n_devices && status == MO_OK; k++) {
        bool comes = c->shared_row != NONE && k != c->a;

        (*state)->fate[k] =
            comes ? MO_CG_ARRIVAL_UNDECIDED : MO_CG_ARRIVAL_FORBIDDEN;
        (*state)->lo[k] = comes ? mo_cg_broadcast_ticks(c, k) : 0;
        (*state)->hi[k] = c->horizon;
    }
    return status;
}

mo_status mo_cg_node_copy(const mo_cg_problem *c, const mo_cg_node *s,
                          mo_cg_node **copy, mo_error *err)
{
    arrays n = arrays_of(c);
    mo_cg_node *made = NULL;
    mo_status status = allocate(c, &made, err);

    if (status != MO_OK)
        return status;
    memcpy(made->fate, s->fate, n.devices * sizeof *s->fate);
    memcpy(made->lo, s->lo, n.devices * sizeof *s->lo);
    memcpy(made->hi, s->hi, n.devices * sizeof *s->hi);
    memcpy(made->est, s->est, n.places * sizeof *s->est);
    memcpy(made->lst, s->lst, n.places * sizeof *s->lst);
    memcpy(made->limits, s->limits, sizeof s->limits);
    made->n_limits = s->n_limits;
    *copy = made;
    return MO_OK;
}

void mo_cg_node_free(mo_cg_node *s)
{
    if (!s)
        return;
    free(s->fate);
    free(s->lo);
    free(s->hi);
    free(s->est);
    free(s->lst);
    free(s);
}

static int64_t far(const mo_cg_problem *c)
{
    return c->horizon + 1;
}

/* When a node has on a device what it reads of u. */
static int64_t since_u(const mo_cg_problem *c, const mo_cg_node *s, int node,
                       int device)
{
    switch (c->from_u[node]) {
    case MO_CG_INPUT_DELAY:
    case MO_CG_INPUT_TRANSFER:
        return mo_cg_transfer_ticks(c, c->u_row[node], c->a, device);
    case MO_CG_INPUT_BROADCAST:
        if (device == c->a)
            return 0;
        return s->fate[device] == MO_CG_ARRIVAL_FORBIDDEN ? far(c)
                                                          : s->lo[device];
    case MO_CG_INPUT_NONE:
        break;
    }
    return 0;
}

/* The first moment that a device has what a node makes. */
static int64_t since_child(const mo_cg_problem *c, const mo_cg_node *s,
                           int child, int device)
{
    int64_t first = far(c);

    for (int k = 0; k < c->n_devices; k++) {
        int at = mo_cg_tree_node_device(c, child, k);
        int64_t since = s->est[at] + c->p[at] +
                        mo_cg_transfer_ticks(c, c->row[child], k, device);

        if (mo_cg_node_allows(s, at) && since < first)
            first = since;
    }
    return first;
}

static bool may_run(const mo_cg_problem *c, const mo_cg_node *s, int node,
                    int device)
{
    for (int i = 0; i < s->n_limits; i++) {
        const mo_cg_cardinality *limit = &s->limits[i];

        if (limit->node == node && limit->most == 0 &&
            (limit->device == device) != limit->elsewhere)
            return false;
    }
    return c->allowed[mo_cg_tree_node_device(c, node, device)];
}

static void find_starts(const mo_cg_problem *c, mo_cg_node *s, int node)
{
    const mo_cg_tree_node *nodes = c->tree->nodes;

    for (int k = 0; k < c->n_devices; k++) {
        int64_t *est = &s->est[mo_cg_tree_node_device(c, node, k)];

        *est = may_run(c, s, node, k) ? since_u(c, s, node, k) : far(c);
        for (int i = nodes[node].first_child; i != NONE && *est < far(c);
             i = nodes[i].next) {
            int64_t since = since_child(c, s, i, k);
            *est = since > *est ? since : *est;
        }
    }
}

/* The last moment at which a node's reader may be given what it makes on a
 * device. */
static int64_t last_end(const mo_cg_problem *c, const mo_cg_node *s, int node,
                        int device)
{
    int reader = c->tree->nodes[node].reader, row = c->row[node];
    int64_t last = -1;

    if (reader == MO_FREE)
        return row == NONE
                   ? c->horizon
                   : c->horizon - mo_cg_transfer_ticks(c, row, device, c->b);
    for (int k = 0; k < c->n_devices; k++) {
        int at = mo_cg_tree_node_device(c, reader, k);
        int64_t end = s->lst[at] - mo_cg_transfer_ticks(c, row, device, k);

        if (mo_cg_node_allows(s, at) && end > last)
            last = end;
    }
    return last;
}

/* Returns whether the node has a device left. */
static bool find_ends(const mo_cg_problem *c, mo_cg_node *s, int node)
{
    bool any = false;

    for (int k = 0; k < c->n_devices; k++) {
        int at = mo_cg_tree_node_device(c, node, k);

        s->lst[at] = last_end(c, s, node, k) - c->p[at];
        any |= mo_cg_node_allows(s, at);
    }
    return any;
}

static bool narrow_ops(const mo_cg_problem *c, mo_cg_node *s)
{
    for (int i = c->n_nodes - 1; i >= 0; i--)
        find_starts(c, s, i);
    for (int i = 0; i < c->n_nodes; i++)
        if (!find_ends(c, s, i))
            return false;
    return true;
}

/* The last moment at which the tensor is of use to somebody on a device. */
static int64_t last_use(const mo_cg_problem *c, const mo_cg_node *s, int device)
{
    int64_t last = -1;

    for (int i = 0; i < c->n_nodes; i++) {
        int at = mo_cg_tree_node_device(c, i, device);

        if (c->from_u[i] == MO_CG_INPUT_BROADCAST && mo_cg_node_allows(s, at) &&
            s->lst[at] > last)
            last = s->lst[at];
    }
    return last;
}

/* j cannot come to its device before i, which surely comes to its own. */
static void put_behind(const mo_cg_problem *c, mo_cg_node *s, int i, int j)
{
    int64_t after = s->lo[i] + mo_cg_broadcast_ticks(c, j);
    int64_t before = s->hi[j] - mo_cg_broadcast_ticks(c, j);

    if (s->lo[j] < after)
        s->lo[j] = after;
    if (s->fate[j] == MO_CG_ARRIVAL_REQUIRED && s->hi[i] > before)
        s->hi[i] = before;
}

static void order_arrivals(const mo_cg_problem *c, mo_cg_node *s)
{
    for (int i = 0; i < c->n_devices; i++) {
        if (s->fate[i] != MO_CG_ARRIVAL_REQUIRED ||
            mo_cg_broadcast_ticks(c, i) == 0)
            continue;
        for (int j = 0; j < c->n_devices; j++)
            if (j != i && s->fate[j] != MO_CG_ARRIVAL_FORBIDDEN &&
                mo_cg_broadcast_ticks(c, j) > 0 &&
                mo_cg_pairs_conflict(c, mo_cg_device_pair(c, c->a, i),
                                     mo_cg_device_pair(c, c->a, j)) &&
                s->lo[j] + mo_cg_broadcast_ticks(c, i) > s->hi[i])
                put_behind(c, s, i, j);
    }
}

/* Only when it may come if it is never sent later than it might be. */
static void make_snug(const mo_cg_problem *c, mo_cg_node *s, int device)
{
    int64_t first = mo_cg_left_shift_next(c, s, device, s->lo[device]);

    s->lo[device] = first < far(c) ? first : far(c);
    if (s->lo[device] < s->hi[device] &&
        mo_cg_left_shift_next(c, s, device, s->lo[device] + 1) > s->hi[device])
        s->hi[device] = s->lo[device];
}

static bool narrow_arrivals(const mo_cg_problem *c, mo_cg_node *s)
{
    for (int k = 0; k < c->n_devices; k++) {
        int64_t last = last_use(c, s, k);

        if (s->fate[k] != MO_CG_ARRIVAL_FORBIDDEN && s->hi[k] > last)
            s->hi[k] = last;
    }
    order_arrivals(c, s);
    for (int k = 0; k < c->n_devices; k++)
        if (s->fate[k] != MO_CG_ARRIVAL_FORBIDDEN)
            make_snug(c, s, k);
    for (int k = 0; k < c->n_devices; k++) {
        if (s->fate[k] == MO_CG_ARRIVAL_FORBIDDEN || s->lo[k] <= s->hi[k])
            continue;
        if (s->fate[k] == MO_CG_ARRIVAL_REQUIRED)
            return false;
        s->fate[k] = MO_CG_ARRIVAL_FORBIDDEN;
    }
    return true;
}

/* Becomes less with everything that is concluded. */
static int64_t room_left(const mo_cg_problem *c, const mo_cg_node *s)
{
    int64_t room = 0;

    for (int at = 0; at < c->n_nodes * c->n_devices; at++)
        room += mo_cg_node_allows(s, at);
    for (int k = 0; k < c->n_devices; k++)
        if (s->fate[k] != MO_CG_ARRIVAL_FORBIDDEN)
            room += 1 + s->hi[k] - s->lo[k];
    return room;
}

bool mo_cg_node_propagate(const mo_cg_problem *c, mo_cg_node *s)
{
    int64_t room = INT64_MAX, left;

    for (int at = 0; at < c->n_nodes * c->n_devices; at++)
        s->lst[at] = c->horizon;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        if (!narrow_ops(c, s) ||
            (c->shared_row != NONE && !narrow_arrivals(c, s)))
            return false;
        left = room_left(c, s);
        if (left == room)
            break;
        room = left;
    }
    return true;
}
