/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/spine.h"

#include <stdlib.h>

#include "base/array.h"
#include "schedule/sim/inserted_idle.h"
#include "solvers/search/primal/spine_internal.h"

/*
 * Priority of an op in the whole: ops of earlier blocks first, in a block by
 * start. An op beside the chain comes just before the first block that needs
 * it: it fills idle time until then and is not delayed after that.
 */
typedef struct priority {
    int block;
    int64_t start_ns;
    bool takes_time; /* ops without duration precede others with the same start
                      */
    int op;          /* or item */
} priority;

struct mo_primal_spine {
    mo_allowed_devices places;
    mo_regime regime;
    const mo_stop *stop;
    mo_bound_chain *chain;
    mo_primal_spine_blocks *blocks;
};

typedef struct assembly {
    const mo_instance *x;
    const mo_stop *stop;
    const mo_primal_spine_blocks *blocks;
    bool once;                   /* items are tensors, not flows */
    priority *priorities;        /* by op, later by rank */
    priority *sends;             /* by item */
    mo_primal_spine_role *roles; /* by op */
    int *group;                  /* by group: its device, or -1 */
    mo_sim_plan plan;
    mo_sim_time_lag *lags; /* inserted idle time of the blocks */
    size_t n_lags, lags_room;
    int64_t *release_ns, *send_release_ns; /* of a block: by op, by flow */
} assembly;

static void place_blocks(assembly *a)
{
    const mo_instance *x = a->x;

    for (int i = 0; i < x->n; i++) {
        a->plan.device[i] = -1;
        a->priorities[i] = (priority){ a->blocks->n, -1, false, i };
        a->roles[i].block = -1;
    }
    for (int i = 0; i < a->blocks->n; i++) {
        const mo_primal_spine_block *block = &a->blocks->blocks[i];
        const mo_sub_instance *part = block->part;

        for (int j = 0; j < part->x->n && block->schedule; j++) {
            int op = part->op[j];

            if (j == block->u || j == block->v)
                a->roles[op].is_end = true;
            if (j == block->u && a->plan.device[op] >= 0)
                continue; /* already placed as the end of the block before */
            a->plan.device[op] = block->schedule->device[j];
            a->priorities[op].block = a->roles[op].block = i;
            a->priorities[op].start_ns = block->schedule->start_ns[j];
            a->priorities[op].takes_time =
                mo_instance_p_ns(a->x, op, block->schedule->device[j]) > 0;
        }
    }
    for (int q = x->n_flows - 1; q >= 0; q--) { /* sorted by from */
        int from = x->flows[q].from,
            block = a->priorities[x->flows[q].to].block;

        if (a->plan.device[from] < 0 && block < a->priorities[from].block)
            a->priorities[from].block = block;
    }
}

/* Places all ops of a group on the device of the first that has one. */
static void unite_groups(assembly *a)
{
    const mo_instance *x = a->x;

    for (int g = 0; g < x->n_groups; g++)
        a->group[g] = -1;
    for (int pass = 0; pass < 3; pass++) /* pins, other ops, then assignment */
        for (int i = 0; i < x->n; i++) {
            int g = x->group[i];
            int device = pass == 0 ? x->pin[i] : a->plan.device[i];

            if (g == MO_FREE)
                continue;
            if (pass < 2 && a->group[g] < 0 && device >= 0)
                a->group[g] = device;
            if (pass == 2 && a->group[g] >= 0)
                a->plan.device[i] = a->group[g];
        }
}

static int compare_priorities(const void *a, const void *b)
{
    const priority *s = a, *t = b;

    if (s->block != t->block)
        return s->block < t->block ? -1 : 1;
    if (s->start_ns != t->start_ns)
        return s->start_ns < t->start_ns ? -1 : 1;
    if (s->takes_time != t->takes_time)
        return s->takes_time ? 1 : -1;
    return (s->op > t->op) - (s->op < t->op);
}

static int count_items(const assembly *a)
{
    return a->once ? a->x->n_tensors : a->x->n_flows;
}

static mo_status add_time_lag(assembly *a, mo_sim_time_lag after, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(a->lags, a->n_lags, a->lags_room, err);

    if (status == MO_OK)
        a->lags[a->n_lags++] = after;
    return status;
}

/* Transfers within a block keep its order and its inserted idle time. */
static mo_status keep_block_transfers(assembly *a, int number, int u,
                                      mo_error *err)
{
    const mo_primal_spine_block *block = &a->blocks->blocks[number];
    const mo_schedule *s = block->schedule;
    const mo_sub_instance *part = block->part;
    mo_status status = MO_OK;

    for (int i = 0; i < s->n_transfers && status == MO_OK; i++) {
        const mo_transfer *t = &s->transfers[i];
        int first = a->once ? part->x->tensor_start[t->item] : t->item;
        int flow = part->flow[first];
        int item = a->once ? a->x->flows[flow].tensor : flow;

        a->sends[item] =
            (priority){ number, t->start_ns, t->end_ns > t->start_ns, item };
        while (s->device[part->x->flows[first].to] != t->to)
            first++;
        if (a->send_release_ns[first] > 0)
            status = add_time_lag(
                a, (mo_sim_time_lag){ u, -1, item, a->send_release_ns[first] },
                err);
    }
    return status;
}

/* Ops of a block keep its inserted idle time. */
static mo_status keep_block_order(assembly *a, int number, mo_error *err)
{
    const mo_primal_spine_block *block = &a->blocks->blocks[number];
    const mo_sub_instance *part = block->part;
    int u = block->u == MO_FREE ? MO_FREE : part->op[block->u];
    mo_inserted_idle *waits = NULL;
    mo_status status = mo_inserted_idle_new(part->x, &waits, err);

    if (status != MO_OK)
        return status;
    mo_inserted_idle_find(waits, block->schedule, a->release_ns,
                          a->send_release_ns);
    mo_inserted_idle_free(waits);
    for (int i = 0; i < part->x->n && status == MO_OK; i++)
        if (a->release_ns[i] > 0)
            status = add_time_lag(
                a, (mo_sim_time_lag){ u, part->op[i], -1, a->release_ns[i] },
                err);
    return status == MO_OK ? keep_block_transfers(a, number, u, err) : status;
}

static mo_status assemble_plan(assembly *a, const mo_regime *regime,
                               mo_schedule **schedule, mo_error *err)
{
    int n;
    mo_sim *sim = NULL;
    mo_schedule *made = NULL;
    bool fits = false;
    mo_status status = mo_sim_new(a->x, regime, &sim, err);

    place_blocks(a);
    unite_groups(a);
    qsort(a->priorities, (size_t) a->x->n, sizeof *a->priorities,
          compare_priorities);
    for (int i = 0; i < a->x->n; i++)
        a->plan.rank[a->priorities[i].op] = i;
    /* A transfer gets the priority of its first reader. */
    const mo_instance *x = a->x;

    for (int i = 0; i < count_items(a); i++)
        a->sends[i] = (priority){ .block = a->blocks->n + 1, .op = i };
    for (int q = 0; q < x->n_flows; q++) {
        int item = a->once ? x->flows[q].tensor : q;
        const priority *own = &a->priorities[a->plan.rank[x->flows[q].to]];

        if (compare_priorities(own, &a->sends[item]) < 0) {
            a->sends[item] = *own;
            a->sends[item].op = item;
        }
    }
    if (status == MO_OK) {
        for (int i = 0; i < a->blocks->n && status == MO_OK; i++)
            if (a->blocks->blocks[i].schedule)
                status = keep_block_order(a, i, err);
        a->plan.lags = a->lags;
        a->plan.n_lags = (int) a->n_lags;
    }
    n = count_items(a);
    qsort(a->sends, (size_t) n, sizeof *a->sends, compare_priorities);
    for (int i = 0; i < n; i++)
        a->plan.send_rank[a->sends[i].op] = i;
    if (status == MO_OK)
        status = mo_primal_group_moves(
            &(mo_primal_group_problem){ a->x, regime, a->stop, a->roles,
                                        a->blocks->n },
            sim, &a->plan, err);
    if (status == MO_OK)
        status = mo_sim_schedule(sim, &a->plan, &made, err);
    if (status == MO_OK)
        status = mo_schedule_fits_memory(a->x, made, &fits, err);
    if (status == MO_OK && fits) {
        *schedule = made;
        made = NULL;
    }
    mo_schedule_free(made);
    mo_sim_free(sim);
    return status;
}

mo_status mo_primal_spine_assemble(const mo_primal_spine *spine,
                                   mo_schedule **schedule, mo_error *err)
{
    assembly a = { .x = spine->places.x,
                   .stop = spine->stop,
                   .blocks = spine->blocks,
                   .once = spine->regime.tensors == MO_TENSORS_ONCE };
    size_t n = (size_t) a.x->n + 1, n_flows = (size_t) a.x->n_flows + 1;

    a.priorities = malloc(n * sizeof *a.priorities);
    a.sends = malloc(n_flows * sizeof *a.sends);
    a.roles = calloc(n, sizeof *a.roles);
    a.group = malloc(((size_t) a.x->n_groups + 1) * sizeof *a.group);
    a.plan.device = malloc(n * sizeof *a.plan.device);
    a.plan.rank = malloc(n * sizeof *a.plan.rank);
    a.plan.release_ns = calloc(n, sizeof *a.plan.release_ns);
    a.plan.send_rank = malloc(n_flows * sizeof *a.plan.send_rank);
    a.plan.send_release_ns = calloc(n_flows, sizeof *a.plan.send_release_ns);
    a.release_ns = malloc(n * sizeof *a.release_ns);
    a.send_release_ns = malloc(n_flows * sizeof *a.send_release_ns);
    mo_status status =
        a.priorities && a.sends && a.roles && a.group && a.plan.device &&
                a.plan.rank && a.plan.release_ns && a.plan.send_rank &&
                a.plan.send_release_ns && a.release_ns && a.send_release_ns
            ? MO_OK
            : mo_fail_memory(err);

    *schedule = NULL;
    if (status == MO_OK)
        status = assemble_plan(&a, &spine->regime, schedule, err);
    free(a.priorities);
    free(a.sends);
    free(a.roles);
    free(a.group);
    free(a.plan.device);
    free(a.plan.rank);
    free(a.plan.release_ns);
    free(a.plan.send_rank);
    free(a.plan.send_release_ns);
    free(a.lags);
    free(a.release_ns);
    free(a.send_release_ns);
    return status;
}

mo_status mo_primal_spine_new(const mo_instance *x, const mo_regime *regime,
                              const mo_primal_spine_options *options,
                              mo_primal_spine **spine, mo_error *err)
{
    mo_primal_spine *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->places = (mo_allowed_devices){ .x = x, .regime = *regime };
    made->regime = *regime;
    made->stop = options->stop;

    const mo_instance *instance = made->places.x;
    size_t size = (size_t) instance->n * (size_t) instance->n_devices + 1;

    made->places.allowed = calloc(size, sizeof *made->places.allowed);
    if (!made->places.allowed) {
        status = mo_fail_memory(err);
    } else {
        status = mo_allowed_devices_find(&made->places, err);
        if (status == MO_OK)
            status = mo_bound_chain_find(&made->places, &made->chain, err);
        if (status == MO_OK)
            status =
                mo_primal_spine_blocks_new(instance, &made->regime, made->chain,
                                           options, &made->blocks, err);
        if (status == MO_OK)
            status = mo_primal_spine_blocks_choose_ends(made->blocks,
                                                        options->stop, err);
    }
    if (status == MO_OK)
        *spine = made;
    else
        mo_primal_spine_free(made);
    return status;
}

void mo_primal_spine_free(mo_primal_spine *spine)
{
    if (!spine)
        return;
    mo_primal_spine_blocks_free(spine->blocks);
    mo_bound_chain_free(spine->chain);
    free(spine->places.allowed);
    free(spine);
}

mo_status mo_primal_spine_improve(mo_primal_spine *spine, int64_t moves,
                                  const mo_stop *stop, mo_error *err)
{
    return mo_primal_spine_blocks_improve(spine->blocks, moves, stop, err);
}

bool mo_primal_spine_adopt_ends(mo_primal_spine *spine,
                                const mo_schedule *schedule)
{
    return mo_primal_spine_blocks_adopt_ends(spine->blocks, schedule);
}
