/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ejection chains (Glover, 1996): where devices are full, a unit that moves
 * there ejects others, which go to the device that it has left or to any with
 * room.  The chain is one move, and within memory as a whole.
 */
#include "solvers/search/primal/anneal_state.h"

enum {
    MOST_EJECTED = 3, /* from a device for each unit that moves there */
    HOME_OF = 4       /* all but one in so many go to the device left */
};

bool mo_primal_anneal_may_eject(mo_primal_anneal_state *w)
{
    return w->options->eject &&
           (!w->options->oscillate || mo_primal_anneal_random_below(w, 2) == 0);
}

bool mo_primal_anneal_has_moved(const mo_primal_anneal_state *w, int unit)
{
    for (int i = 0; i < w->n_moves; i++)
        if (w->moves[i].unit == unit)
            return true;
    return false;
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
            mo_primal_anneal_has_moved(w, unit))
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
    to =
        mo_primal_anneal_choose_device(w, w->units->ops[w->units->start[unit]]);
    if (mo_primal_anneal_has_room(w, unit, to))
        return to;
    to = mo_primal_anneal_random_below(w, n);
    for (int i = 0; i < n; i++, to = to + 1 < n ? to + 1 : 0)
        if (to != own && mo_primal_anneal_has_room(w, unit, to))
            return to;
    return -1;
}

static bool make_room(mo_primal_anneal_state *w, int device, int home)
{
    for (int i = 0; i < MOST_EJECTED && w->room_bytes[device] < 0; i++) {
        int unit = choose_ejected(w, device, -w->room_bytes[device]);
        int to = unit < 0 ? -1 : choose_room(w, unit, home);

        if (to < 0 || !mo_primal_anneal_move_unit(
                          w, w->units->ops[w->units->start[unit]], to))
            return false;
    }
    return w->room_bytes[device] >= 0;
}

bool mo_primal_anneal_eject(mo_primal_anneal_state *w)
{
    int n = w->n_moves;

    for (int i = 0; i < n; i++)
        if (!make_room(w, w->moves[i].to, w->moves[i].from))
            return false;
    return true;
}
