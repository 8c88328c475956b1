/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/runtime/joint/joint_internal.h"

/* A step of a device here, before transfers become one. */
typedef struct place {
    int order, kind, seat, action;
} place;

static int compare(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    /* A send comes right before its receive. */
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->seat < y->seat ? -1 : x->seat > y->seat;
}

static int count_steps(const mo_joint_state *j)
{
    int n = 0;

    for (int s = 0; s < j->n_seats; s++)
        n += j->devices[s]->n_actions;
    return n;
}

static void list_places(const mo_joint_state *j, place *places)
{
    for (int s = 0; s < j->n_seats; s++) {
        const mo_run_device *d = j->devices[s];

        for (int i = 0; i < d->n_actions; i++)
            *places++ = (place){ j->plan->devices[d->device].steps[i].order,
                                 (int) d->actions[i].kind, s, i };
    }
}

/* -------------------------------------------------------------------- items */

static const mo_run_action *action_of(const mo_joint_state *j, int seat,
                                      int action)
{
    return &j->devices[seat]->actions[action];
}

static mo_joint_item_kind kind_of(const mo_joint_state *j,
                                  const mo_run_action *a)
{
    if (a->kind == MO_PLAN_STEP_COMPUTE)
        return MO_JOINT_ITEM_CALL;
    if (!j->carried[a->what])
        return MO_JOINT_ITEM_STAGED;
    return a->kind == MO_PLAN_STEP_AWAIT ? MO_JOINT_ITEM_AWAIT
                                         : MO_JOINT_ITEM_TRANSFER;
}

/* Its receive, if that is here, adds the target. */
static void begin_carry(const mo_joint_state *j, mo_joint_item *item)
{
    const mo_run_action *a = action_of(j, item->seat, item->action);
    const mo_plan_transfer *transfer = &j->plan->transfers[a->what];
    const int64_t *hold_ns = j->options->hold_ns;

    item->carry =
        (mo_backend_transfer){ .transfer = a->what,
                               .from = transfer->from,
                               .to = transfer->to,
                               .data = a->sending ? a->value : NULL,
                               .target = a->sending ? NULL : a->value,
                               .bytes = a->bytes,
                               .from_unit = j->units[transfer->from],
                               .to_unit = j->units[transfer->to],
                               .hold_ns = hold_ns ? hold_ns[a->what] : 0 };
    if (!item->carry.from_unit || !item->carry.to_unit)
        item->carry.carrier = mo_joint_find_carrier(j->options, a->what);
}

static bool ends_carry(const mo_joint_item *item, const mo_run_action *a)
{
    return a->kind == MO_PLAN_STEP_RECEIVE &&
           item->kind == MO_JOINT_ITEM_TRANSFER &&
           item->carry.transfer == a->what;
}

static void add_item(mo_joint_state *j, const place *p)
{
    const mo_run_action *a = action_of(j, p->seat, p->action);
    mo_joint_item *item = &j->items[j->n_items];

    if (j->n_items > 0 && ends_carry(item - 1, a)) {
        item[-1].to_seat = p->seat;
        item[-1].to_action = p->action;
        item[-1].carry.target = a->value;
        return;
    }
    *item = (mo_joint_item){ .kind = kind_of(j, a),
                             .seat = p->seat,
                             .action = p->action,
                             .to_seat = MO_JOINT_NONE,
                             .to_action = MO_JOINT_NONE,
                             .call = MO_JOINT_NONE };
    if (item->kind == MO_JOINT_ITEM_TRANSFER)
        begin_carry(j, item);
    j->n_items++;
}

/* -------------------------------------------------------------------- parts */

/* What the process does is a part of its own. */
static void cut(mo_joint_state *j)
{
    for (int i = 0; i < j->n_items; i++) {
        bool is_host = j->items[i].kind == MO_JOINT_ITEM_STAGED;

        if (i == 0 || is_host || j->parts[j->n_parts - 1].is_host)
            j->parts[j->n_parts++] =
                (mo_joint_segment){ .is_host = is_host, .first = i };
        j->parts[j->n_parts - 1].n++;
    }
}

mo_status mo_joint_linearize(mo_joint_state *j, mo_error *err)
{
    int n = count_steps(j);
    size_t room = (size_t) n + 1;
    place *places = mo_arena_array(j->arena, room, sizeof *places);

    j->items = mo_arena_array(j->arena, room, sizeof *j->items);
    j->parts = mo_arena_array(j->arena, room, sizeof *j->parts);
    if (!places || !j->items || !j->parts)
        return mo_fail_memory(err);
    list_places(j, places);
    qsort(places, (size_t) n, sizeof *places, compare);
    for (int i = 0; i < n; i++)
        add_item(j, &places[i]);
    cut(j);
    return MO_OK;
}
