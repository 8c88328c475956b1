#include "solvers/search/primal/anneal_state.h"

#include <stdlib.h>

/* One step in so many after another placement is to order it from behind. */
enum { BACK_EVERY = 16 };

static void find_room(mo_walk *w, const mo_schedule *start)
{
    mo_units_room(w->x, w->units, w->room_bytes);
    for (int u = 0; u < w->units->n; u++)
        if (w->units->pin[u] == MO_FREE)
            w->room_bytes[start->device[w->units->ops[w->units->start[u]]]] -=
                w->units->bytes[u];
}

mo_status mo_walk_open(mo_walk *w, const mo_instance *x,
                       const mo_regime *regime,
                       const mo_anneal_options *options, mo_error *err)
{
    size_t n = (size_t) x->n + 1, n_nodes = n + (size_t) x->n_flows;
    mo_status status;

    *w = (mo_walk){ .x = x,
                    .regime = *regime,
                    .options = options,
                    .random = { options->seed } };
    status = mo_units_make(x, regime, &w->units, err);
    if (status == MO_OK)
        status = mo_trial_new(x, regime, &w->trial, err);
    if (status == MO_OK)
        status = mo_back_new(x, regime, &w->back, err);
    w->key = calloc(n, sizeof *w->key);
    w->send_key = calloc(n_nodes, sizeof *w->send_key);
    w->end_ns = calloc(n_nodes, sizeof *w->end_ns);
    w->room_bytes = calloc((size_t) x->n_devices + 1, sizeof *w->room_bytes);
    w->moves = calloc(n, sizeof *w->moves);
    w->chain = calloc(n_nodes, sizeof *w->chain);
    w->set = calloc(n, sizeof *w->set);
    w->tree.is_inside = calloc(n, sizeof *w->tree.is_inside);
    if (status == MO_OK &&
        (!w->key || !w->send_key || !w->end_ns || !w->room_bytes || !w->moves ||
         !w->chain || !w->set))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        w->at = mo_trial_standing(w->trial);
    else
        mo_walk_close(w);
    return status;
}

void mo_walk_begin(mo_walk *w, const mo_schedule *start)
{
    find_room(w, start);
    mo_trial_begin(w->trial, start);
    w->n_moves = 0;
    w->n_chain = 0;
}

void mo_walk_close(mo_walk *w)
{
    free(w->tree.is_inside);
    free(w->set);
    free(w->chain);
    free(w->moves);
    free(w->room_bytes);
    mo_back_free(w->back);
    free(w->end_ns);
    free(w->send_key);
    free(w->key);
    mo_trial_free(w->trial);
    mo_units_free(w->units);
}

/* For a transfer, the op that sends or one that reads. */
static int op_of(mo_walk *w, int node)
{
    if (mo_walk_is_op(w, node))
        return node;
    return mo_walk_below(w, 2) ? mo_walk_flow(w, node)->to
                               : mo_walk_flow(w, node)->from;
}

/* The shares of the kinds of steps below, out of 16, are what did best on
 * layers of transformers and on convolutional networks; none of them matters
 * much alone.  Ops are exchanged where branches are alike: there devices are
 * full. */
static bool step_on_delay(mo_walk *w)
{
    const mo_delay *delay = mo_walk_delay(w);
    int pick = mo_walk_below(w, 16);

    if (delay->blocker != MO_WALK_NOBODY && pick < 4)
        return mo_walk_step_before(w, delay);
    if (delay->blocker != MO_WALK_NOBODY && pick < 9)
        return mo_walk_step_place(w, op_of(w, delay->blocker));
    pick = mo_walk_below(w, 16);
    if (pick < 4)
        return mo_walk_step_set(w, op_of(w, delay->node));
    if (pick < 5)
        return mo_walk_step_order(w, op_of(w, delay->node));
    if (pick < 9)
        return mo_walk_step_tree(w, op_of(w, delay->node));
    if (pick < 12 && w->options->branch_ops)
        return mo_walk_step_exchange(w, op_of(w, delay->node));
    return mo_walk_step_place(w, op_of(w, delay->node));
}

static bool step_anywhere(mo_walk *w)
{
    int op = mo_walk_below(w, w->x->n), pick = mo_walk_below(w, 16);

    if (pick < 1 || (pick < 4 && !w->options->branch_ops))
        return mo_walk_step_release(w, op);
    if (pick < 4)
        return mo_walk_step_branch(w);
    if (pick < 7)
        return mo_walk_step_order(w, op);
    if (pick < 10)
        return mo_walk_step_set(w, op);
    if (pick < 12)
        return mo_walk_step_tree(w, op);
    if (pick < 14 && w->options->branch_ops)
        return mo_walk_step_exchange(w, op);
    return mo_walk_step_place(w, op);
}

bool mo_walk_step(mo_walk *w)
{
    if (w->is_new && mo_walk_below(w, BACK_EVERY) == 0)
        return mo_walk_step_back(w);
    return mo_walk_below(w, 4) > 0 ? step_on_delay(w) : step_anywhere(w);
}
