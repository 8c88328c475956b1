/* SPDX-License-Identifier: Apache-2.0 */
/* Moves in the neighbourhood of placements: one op, a connected set, an
 * exchange between two devices, a copy of a branch's placement. */
#include "solvers/search/primal/anneal_state.h"

#include "base/minmax.h"

/* Largest set; a set ends with one more op with probability 1 / SET_ENDS. */
enum { LARGEST_SET = 24, SET_ENDS = 12 };

/* Of an exchange: most ops of a set, and ops drawn to find its counterpart. */
enum { LARGEST_PART = 3, CANDIDATES = 8 };

/* Renews transfer priorities by the priorities of the readers: keys of flows
 * that were not sent before are stale. */
static void renew_send_keys(mo_primal_anneal_state *w, int op)
{
    const mo_instance *x = w->x;

    for (int j = x->in_start[op]; j < x->in_start[op + 1]; j++)
        mo_incremental_sim_order_transfer(w->trial, x->in_flows[j],
                                          w->at->key[op]);
    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++)
        mo_incremental_sim_order_transfer(w->trial, q,
                                          w->at->key[x->flows[q].to]);
}

/* Returns whether the unit is in the proposal. */
static bool has_moved(const mo_primal_anneal_state *w, int unit)
{
    for (int i = 0; i < w->n_moves; i++)
        if (w->moves[i].unit == unit)
            return true;
    return false;
}

static void add_room(mo_primal_anneal_state *w, int device, int64_t bytes)
{
    w->overflow_bytes += mo_min_i64(w->room_bytes[device], 0);
    w->room_bytes[device] += bytes;
    w->overflow_bytes -= mo_min_i64(w->room_bytes[device], 0);
}

bool mo_primal_anneal_move_unit(mo_primal_anneal_state *w, int op, int device)
{
    int unit = w->units->of_op[op],
        from = mo_primal_anneal_unit_device(w, unit);

    if (w->units->pin[unit] != MO_FREE || device == from ||
        w->n_moves == w->units->n)
        return false;
    w->moves[w->n_moves++] = (mo_primal_anneal_unit_move){ unit, from, device };
    add_room(w, from, w->units->bytes[unit]);
    add_room(w, device, -w->units->bytes[unit]);
    for (int j = w->units->start[unit]; j < w->units->start[unit + 1]; j++)
        mo_incremental_sim_place_op(w->trial, w->units->ops[j], device);
    for (int j = w->units->start[unit]; j < w->units->start[unit + 1]; j++)
        renew_send_keys(w, w->units->ops[j]);
    return true;
}

bool mo_primal_anneal_assign_unit(mo_primal_anneal_state *w, int op, int device)
{
    return (mo_primal_anneal_has_room(w, w->units->of_op[op], device) ||
            w->options->oscillate) &&
           mo_primal_anneal_move_unit(w, op, device);
}

void mo_primal_anneal_accept(mo_primal_anneal_state *w)
{
    mo_incremental_sim_commit(w->trial);
    w->is_new |= w->n_moves > 0;
    w->n_moves = 0;
    w->n_chain = 0;
}

void mo_primal_anneal_reject(mo_primal_anneal_state *w)
{
    /* Takes back the bytes of the moves; the simulation restores devices. */
    while (w->n_moves > 0) {
        const mo_primal_anneal_unit_move *move = &w->moves[--w->n_moves];

        add_room(w, move->to, w->units->bytes[move->unit]);
        add_room(w, move->from, -w->units->bytes[move->unit]);
    }
    mo_incremental_sim_rollback(w->trial);
}

/* Returns another device than the op's own: that of a random input or reader,
 * or a random one. */
static int choose_device(mo_primal_anneal_state *w, int op)
{
    const mo_instance *x = w->x;
    int n_in = x->in_start[op + 1] - x->in_start[op];
    int n_out = x->out_start[op + 1] - x->out_start[op];
    int pick =
        mo_primal_anneal_random_below(w, n_in + n_out + 1 + (n_in + n_out) / 2);
    int device = w->at->device[op];

    if (pick < n_in)
        device =
            w->at->device[x->flows[x->in_flows[x->in_start[op] + pick]].from];
    else if (pick < n_in + n_out)
        device = w->at->device[x->flows[x->out_start[op] + pick - n_in].to];
    if (device == w->at->device[op])
        device += 1 + mo_primal_anneal_random_below(w, x->n_devices - 1);
    return device % x->n_devices;
}

/* Moves a random op of the device to op's device first, to make room. */
static bool swap_with_op_of(mo_primal_anneal_state *w, int op, int device)
{
    int home = w->at->device[op],
        other = mo_primal_anneal_random_below(w, w->x->n);

    for (int tries = 0; tries < w->x->n; tries++) {
        int unit = w->units->of_op[other];

        if (w->at->device[other] == device && w->units->pin[unit] == MO_FREE &&
            w->units->bytes[unit] > 0)
            break;
        other = other + 1 < w->x->n ? other + 1 : 0;
    }
    return mo_primal_anneal_assign_unit(w, other, home) &&
           mo_primal_anneal_assign_unit(w, op, device);
}

bool mo_primal_anneal_move_op(mo_primal_anneal_state *w, int op)
{
    int device = choose_device(w, op);
    int unit = w->units->of_op[op];

    if (mo_primal_anneal_has_room(w, unit, device) ||
        w->units->pin[unit] != MO_FREE ||
        device == mo_primal_anneal_unit_device(w, unit))
        return mo_primal_anneal_assign_unit(w, op, device);
    if (mo_primal_anneal_may_eject(w))
        return mo_primal_anneal_move_unit(w, op, device) &&
               mo_primal_anneal_eject(w);
    return w->options->oscillate ? mo_primal_anneal_assign_unit(w, op, device)
                                 : swap_with_op_of(w, op, device);
}

static int random_neighbour(mo_primal_anneal_state *w, int op)
{
    const mo_instance *x = w->x;
    int n_in = x->in_start[op + 1] - x->in_start[op];
    int n_out = x->out_start[op + 1] - x->out_start[op];
    int pick;

    if (n_in + n_out == 0)
        return op;
    pick = mo_primal_anneal_random_below(w, n_in + n_out);
    return pick < n_in ? x->flows[x->in_flows[x->in_start[op] + pick]].from
                       : x->flows[x->out_start[op] + pick - n_in].to;
}

/* Random neighbours along flows in either direction. */
static int grow_any_direction(mo_primal_anneal_state *w, int op, int most)
{
    int n = 0;

    w->set[n++] = op;
    for (int tries = 2 * most; tries > 0 && n < most; tries--) {
        int other =
            random_neighbour(w, w->set[mo_primal_anneal_random_below(w, n)]);
        bool skip = w->at->device[other] != w->at->device[op];

        for (int i = 0; i < n && !skip; i++)
            skip = w->set[i] == other;
        if (!skip)
            w->set[n++] = other;
    }
    return n;
}

/* Along the only reader of each op. */
static int grow_forward(mo_primal_anneal_state *w, int op, int most)
{
    const mo_instance *x = w->x;
    int n = 0, device = w->at->device[op];

    while (n < most && w->at->device[op] == device) {
        w->set[n++] = op;
        if (x->out_start[op + 1] != x->out_start[op] + 1)
            break;
        op = x->flows[x->out_start[op]].to;
    }
    return n;
}

/* Producers with a single reader in the set, recursively. */
static int grow_backward(mo_primal_anneal_state *w, int op, int most)
{
    const mo_instance *x = w->x;
    int n = 0, device = w->at->device[op];

    w->set[n++] = op;
    for (int at = 0; at < n; at++)
        for (int j = x->in_start[w->set[at]];
             j < x->in_start[w->set[at] + 1] && n < most; j++) {
            int from = x->flows[x->in_flows[j]].from;

            if (w->at->device[from] == device &&
                x->out_start[from + 1] == x->out_start[from] + 1)
                w->set[n++] = from;
        }
    return n;
}

/* Returns the size of a random connected set of ops on one device, in
 * w->set. */
static int grow_set(mo_primal_anneal_state *w, int op, int most)
{
    switch (mo_primal_anneal_random_below(w, 3)) {
    case 0:
        return grow_forward(w, op, most);
    case 1:
        return grow_backward(w, op, most);
    default:
        return grow_any_direction(w, op, most);
    }
}

/* Returns how many ops of the set move. */
static int move_set(mo_primal_anneal_state *w, int n, int device)
{
    int moved = 0;

    for (int i = 0; i < n; i++)
        moved += mo_primal_anneal_assign_unit(w, w->set[i], device);
    return moved;
}

bool mo_primal_anneal_move_group(mo_primal_anneal_state *w, int op)
{
    int most = 2, n, device;

    if (!w->draws.group)
        return mo_primal_anneal_move_op(w, op);
    while (most < LARGEST_SET && mo_primal_anneal_random_below(w, SET_ENDS) > 0)
        most++;
    n = grow_set(w, op, most);
    device = choose_device(w, w->set[mo_primal_anneal_random_below(w, n)]);
    if (!mo_primal_anneal_may_eject(w))
        return move_set(w, n, device) > 0;
    for (int i = 0; i < n; i++)
        mo_primal_anneal_move_unit(w, w->set[i], device);
    return w->n_moves > 0 && mo_primal_anneal_eject(w);
}

/* Returns, of CANDIDATES random ops, a movable one on the device with about
 * the same times as the set; -1: none. */
static int find_counterpart(mo_primal_anneal_state *w, int device, int home,
                            int64_t there_ns, int64_t home_ns)
{
    int64_t least_ns = INT64_MAX;
    int best = -1;

    for (int i = 0; i < CANDIDATES; i++) {
        int op = mo_primal_anneal_random_below(w, w->x->n);
        int64_t more_ns = mo_instance_p_ns(w->x, op, home) - home_ns;
        int64_t less_ns = there_ns - mo_instance_p_ns(w->x, op, device);
        int64_t worst_ns = mo_max_i64(more_ns, less_ns);

        if (w->at->device[op] != device || has_moved(w, w->units->of_op[op]) ||
            w->units->pin[w->units->of_op[op]] != MO_FREE ||
            worst_ns >= least_ns)
            continue;
        least_ns = worst_ns;
        best = op;
    }
    return best;
}

bool mo_primal_anneal_move_exchange(mo_primal_anneal_state *w, int op)
{
    int home = w->at->device[op], n, other;
    int device = choose_device(w, op);
    int64_t home_ns = 0, there_ns = 0;

    n = grow_set(w, op, 1 + mo_primal_anneal_random_below(w, LARGEST_PART));
    if (move_set(w, n, device) < n)
        return false;
    for (int i = 0; i < n; i++) {
        home_ns += mo_instance_p_ns(w->x, w->set[i], home);
        there_ns += mo_instance_p_ns(w->x, w->set[i], device);
    }
    other = find_counterpart(w, device, home, there_ns, home_ns);
    return other >= 0 && mo_primal_anneal_assign_unit(w, other, home);
}

bool mo_primal_anneal_move_branch(mo_primal_anneal_state *w)
{
    const mo_primal_anneal_options *o = w->options;
    const int *to, *from;
    int first, last, kind = mo_primal_anneal_random_below(w, 3);
    bool moved = false;

    if (!o->branch_ops || o->n_branches < 2 || o->branch_n < 1)
        return false;
    to =
        o->branch_ops +
        (int64_t) mo_primal_anneal_random_below(w, o->n_branches) * o->branch_n;
    from =
        o->branch_ops +
        (int64_t) mo_primal_anneal_random_below(w, o->n_branches) * o->branch_n;
    first = kind == 0 ? 0 : mo_primal_anneal_random_below(w, o->branch_n);
    last =
        kind == 0
            ? o->branch_n
            : first + 1 + mo_primal_anneal_random_below(w, o->branch_n - first);
    for (int j = first; j < last; j++)
        moved |= mo_primal_anneal_assign_unit(w, to[j], w->at->device[from[j]]);
    return moved;
}

/*
 * Ejection chains (Glover, 1996): where devices are full, a unit that moves
 * there ejects others, which go to the device that it has left or to any with
 * room.  The chain is one move, and within memory as a whole.
 */

enum {
    MOST_EJECTED = 3, /* from a device for each unit that moves there */
    HOME_OF = 4       /* all but one in so many go to the device left */
};

bool mo_primal_anneal_may_eject(mo_primal_anneal_state *w)
{
    return w->options->eject &&
           (!w->options->oscillate || mo_primal_anneal_random_below(w, 2) == 0);
}

/* Returns a random unit of the device that has at least so many bytes and is
 * not in the proposal, else one with fewer; -1: none. */
static int choose_ejected(mo_primal_anneal_state *w, int device, int64_t bytes)
{
    const mo_placement_units *units = w->units;
    int first = mo_primal_anneal_random_below(w, units->n), less = -1;

    for (int i = 0; i < units->n; i++) {
        int unit = first + i < units->n ? first + i : first + i - units->n;

        if (units->bytes[unit] == 0 || units->pin[unit] != MO_FREE ||
            mo_primal_anneal_unit_device(w, unit) != device ||
            has_moved(w, unit))
            continue;
        if (units->bytes[unit] >= bytes)
            return unit;
        less = less < 0 ? unit : less;
    }
    return less;
}

/* Returns a device with room for the unit: home, that of a neighbour, or a
 * random one; -1: none. */
static int choose_room(mo_primal_anneal_state *w, int unit, int home)
{
    int own = mo_primal_anneal_unit_device(w, unit), n = w->x->n_devices, to;

    if (mo_primal_anneal_has_room(w, unit, home) &&
        mo_primal_anneal_random_below(w, HOME_OF) > 0)
        return home;
    to = choose_device(w, w->units->ops[w->units->start[unit]]);
    if (mo_primal_anneal_has_room(w, unit, to))
        return to;
    to = mo_primal_anneal_random_below(w, n);
    for (int i = 0; i < n; i++, to = to + 1 < n ? to + 1 : 0)
        if (to != own && mo_primal_anneal_has_room(w, unit, to))
            return to;
    return -1;
}

bool mo_primal_anneal_eject(mo_primal_anneal_state *w)
{
    int n = w->n_moves;

    for (int i = 0; i < n; i++) {
        int device = w->moves[i].to, home = w->moves[i].from;

        for (int j = 0; j < MOST_EJECTED && w->room_bytes[device] < 0; j++) {
            int unit = choose_ejected(w, device, -w->room_bytes[device]);
            int to = unit < 0 ? -1 : choose_room(w, unit, home);

            if (to < 0 || !mo_primal_anneal_move_unit(
                              w, w->units->ops[w->units->start[unit]], to))
                return false;
        }
        if (w->room_bytes[device] < 0)
            return false;
    }
    return true;
}
