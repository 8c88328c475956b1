/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge of the steps of all local devices into one total order, cut into
 * segments.
 */
#include <stdlib.h>

#include "exec/runtime/joint/joint_internal.h"

/* A step of a local device, before the two ends of transfers are merged. */
typedef struct ordered_step {
    int order, kind, local, action;
} ordered_step;

static int compare_steps(const void *a, const void *b)
{
    const ordered_step *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    /* A send comes right before its receive: MO_PLAN_STEP_SEND is less. */
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->local < y->local ? -1 : x->local > y->local;
}

static int count_steps(const mo_joint_state *j)
{
    int n = 0;

    for (int s = 0; s < j->n_local; s++)
        n += j->devices[s]->n_actions;
    return n;
}

static void collect_steps(const mo_joint_state *j, ordered_step *steps)
{
    for (int s = 0; s < j->n_local; s++) {
        const mo_run_device *d = j->devices[s];

        for (int i = 0; i < d->n_actions; i++)
            *steps++ =
                (ordered_step){ j->plan->devices[d->device].steps[i].order,
                                (int) d->actions[i].kind, s, i };
    }
}

static const mo_run_action *find_action(const mo_joint_state *j, int local,
                                        int action)
{
    return &j->devices[local]->actions[action];
}

static mo_joint_item_kind item_kind(const mo_joint_state *j,
                                    const mo_run_action *a)
{
    if (a->kind == MO_PLAN_STEP_COMPUTE)
        return MO_JOINT_ITEM_CALL;
    if (!j->carried[a->what])
        return MO_JOINT_ITEM_STAGED;
    return a->kind == MO_PLAN_STEP_AWAIT ? MO_JOINT_ITEM_AWAIT
                                         : MO_JOINT_ITEM_TRANSFER;
}

/* The receive, if it is local, adds the target (add_item). */
static void init_transfer(const mo_joint_state *j, mo_joint_item *item)
{
    const mo_run_action *a = find_action(j, item->local, item->action);
    const mo_plan_transfer *transfer = &j->plan->transfers[a->what];
    const int64_t *min_ns = j->options->min_transfer_ns;

    item->transfer =
        (mo_backend_transfer){ .id = a->what,
                               .from = transfer->from,
                               .to = transfer->to,
                               .data = a->sending ? a->value : NULL,
                               .target = a->sending ? NULL : a->value,
                               .bytes = a->bytes,
                               .from_unit = j->units[transfer->from],
                               .to_unit = j->units[transfer->to],
                               .min_ns = min_ns ? min_ns[a->what] : 0 };
    if (!item->transfer.from_unit || !item->transfer.to_unit)
        item->transfer.carrier = mo_joint_find_carrier(j->options, a->what);
}

static bool completes_transfer(const mo_joint_item *item,
                               const mo_run_action *a)
{
    return a->kind == MO_PLAN_STEP_RECEIVE &&
           item->kind == MO_JOINT_ITEM_TRANSFER && item->transfer.id == a->what;
}

static void add_item(mo_joint_state *j, const ordered_step *p)
{
    const mo_run_action *a = find_action(j, p->local, p->action);
    mo_joint_item *item = &j->items[j->n_items];

    if (j->n_items > 0 && completes_transfer(item - 1, a)) {
        item[-1].to_local = p->local;
        item[-1].to_action = p->action;
        item[-1].transfer.target = a->value;
        return;
    }
    *item = (mo_joint_item){ .kind = item_kind(j, a),
                             .local = p->local,
                             .action = p->action,
                             .to_local = MO_JOINT_NONE,
                             .to_action = MO_JOINT_NONE,
                             .call = MO_JOINT_NONE };
    if (item->kind == MO_JOINT_ITEM_TRANSFER)
        init_transfer(j, item);
    j->n_items++;
}

mo_status mo_joint_linearize(mo_joint_state *j, mo_error *err)
{
    int n = count_steps(j);
    size_t room = (size_t) n + 1;
    ordered_step *steps = mo_arena_array(j->arena, room, sizeof *steps);

    j->items = mo_arena_array(j->arena, room, sizeof *j->items);
    j->segments = mo_arena_array(j->arena, room, sizeof *j->segments);
    if (!steps || !j->items || !j->segments)
        return mo_fail_memory(err);
    collect_steps(j, steps);
    qsort(steps, (size_t) n, sizeof *steps, compare_steps);
    for (int i = 0; i < n; i++)
        add_item(j, &steps[i]);
    /* A host step is a segment of its own. */
    for (int i = 0; i < j->n_items; i++) {
        bool is_host = j->items[i].kind == MO_JOINT_ITEM_STAGED;

        if (i == 0 || is_host || j->segments[j->n_segments - 1].is_host)
            j->segments[j->n_segments++] =
                (mo_joint_segment){ .is_host = is_host, .first = i };
        j->segments[j->n_segments - 1].n++;
    }
    return MO_OK;
}
