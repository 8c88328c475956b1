/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/anneal_state.h"

#include <stdlib.h>

/* One step in so many after another placement is to order it from behind. */
enum { BACK_EVERY = 16 };

static void find_room(mo_primal_anneal_state *w, const mo_schedule *start)
{
    mo_placement_units_free_bytes(w->x, w->units, w->room_bytes);
    for (int u = 0; u < w->units->n; u++)
        if (w->units->pin[u] == MO_FREE)
            w->room_bytes[start->device[w->units->ops[w->units->start[u]]]] -=
                w->units->bytes[u];
}

mo_status mo_primal_anneal_state_open(mo_primal_anneal_state *w,
                                      const mo_instance *x,
                                      const mo_regime *regime,
                                      const mo_primal_anneal_options *options,
                                      mo_error *err)
{
    size_t n = (size_t) x->n + 1, n_nodes = n + (size_t) x->n_flows;
    mo_status status;

    *w = (mo_primal_anneal_state){ .x = x,
                                   .regime = *regime,
                                   .options = options,
                                   .random = { options->seed } };
    status = mo_placement_units_make(x, regime, &w->units, err);
    if (status == MO_OK)
        status = mo_incremental_sim_new(x, regime, &w->trial, err);
    if (status == MO_OK)
        status = mo_justification_new(x, regime, &w->back, err);
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
        w->at = mo_incremental_sim_current(w->trial);
    else
        mo_primal_anneal_state_close(w);
    return status;
}

void mo_primal_anneal_set_start(mo_primal_anneal_state *w,
                                const mo_schedule *start)
{
    find_room(w, start);
    mo_incremental_sim_begin(w->trial, start);
    w->n_moves = 0;
    w->n_chain = 0;
}

void mo_primal_anneal_state_close(mo_primal_anneal_state *w)
{
    free(w->tree.is_inside);
    free(w->set);
    free(w->chain);
    free(w->moves);
    free(w->room_bytes);
    mo_justification_free(w->back);
    free(w->end_ns);
    free(w->send_key);
    free(w->key);
    mo_incremental_sim_free(w->trial);
    mo_placement_units_free(w->units);
}

/* For a transfer, the op that sends or one that reads. */
static int op_of(mo_primal_anneal_state *w, int node)
{
    if (mo_primal_anneal_node_is_op(w, node))
        return node;
    return mo_primal_anneal_random_below(w, 2)
               ? mo_primal_anneal_node_flow(w, node)->to
               : mo_primal_anneal_node_flow(w, node)->from;
}

/* The shares of the kinds of steps below, out of 16, are what did best on
 * layers of transformers and on convolutional networks; none of them matters
 * much alone.  Ops are exchanged where branches are alike: there devices are
 * full. */
static bool step_on_delay(mo_primal_anneal_state *w)
{
    const mo_primal_anneal_critical_node *delay =
        mo_primal_anneal_pick_critical(w);
    int pick = mo_primal_anneal_random_below(w, 16);

    if (delay->blocker != MO_PRIMAL_ANNEAL_NO_BLOCKER && pick < 4)
        return mo_primal_anneal_move_before_blocker(w, delay);
    if (delay->blocker != MO_PRIMAL_ANNEAL_NO_BLOCKER && pick < 9)
        return mo_primal_anneal_move_op(w, op_of(w, delay->blocker));
    pick = mo_primal_anneal_random_below(w, 16);
    if (pick < 4)
        return mo_primal_anneal_move_group(w, op_of(w, delay->node));
    if (pick < 5)
        return mo_primal_anneal_move_order(w, op_of(w, delay->node));
    if (pick < 9)
        return mo_primal_anneal_move_tree(w, op_of(w, delay->node));
    if (pick < 12 && w->options->branch_ops)
        return mo_primal_anneal_move_exchange(w, op_of(w, delay->node));
    return mo_primal_anneal_move_op(w, op_of(w, delay->node));
}

static bool step_anywhere(mo_primal_anneal_state *w)
{
    int op = mo_primal_anneal_random_below(w, w->x->n),
        pick = mo_primal_anneal_random_below(w, 16);

    if (pick < 1 || (pick < 4 && !w->options->branch_ops))
        return mo_primal_anneal_move_release(w, op);
    if (pick < 4)
        return mo_primal_anneal_move_branch(w);
    if (pick < 7)
        return mo_primal_anneal_move_order(w, op);
    if (pick < 10)
        return mo_primal_anneal_move_group(w, op);
    if (pick < 12)
        return mo_primal_anneal_move_tree(w, op);
    if (pick < 14 && w->options->branch_ops)
        return mo_primal_anneal_move_exchange(w, op);
    return mo_primal_anneal_move_op(w, op);
}

bool mo_primal_anneal_propose(mo_primal_anneal_state *w)
{
    if (w->is_new && mo_primal_anneal_random_below(w, BACK_EVERY) == 0)
        return mo_primal_anneal_move_justify(w);
    return mo_primal_anneal_random_below(w, 4) > 0 ? step_on_delay(w)
                                                   : step_anywhere(w);
}
