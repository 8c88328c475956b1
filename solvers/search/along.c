#include "solvers/search/along.h"

#include <stdlib.h>

#include "solvers/search/along_parts.h"

/*
 * Who goes first: ops of an earlier block, in a block as it was scheduled by
 * itself.  What lies beside the chain comes just before the block that needs
 * it, so that it fills what is idle until then and no longer waits after that.
 */
typedef struct turn {
    int block;
    int64_t start_ns;
    int op;
} turn;

struct mo_along {
    mo_places places;
    mo_regime regime;
    mo_chain *chain;
    mo_along_blocks *blocks;
};

typedef struct assembly {
    const mo_instance *x;
    const mo_along_blocks *blocks;
    turn *turns;          /* by op */
    mo_along_role *roles; /* by op */
    int *group;           /* by group: its device, or -1 */
    mo_plan plan;
} assembly;

static void take_block(assembly *a, int number)
{
    const mo_along_block *block = &a->blocks->blocks[number];
    const mo_part *part = block->part;

    for (int i = 0; i < part->x->n && block->schedule; i++) {
        int op = part->op[i];

        if (i == block->u || i == block->v)
            a->roles[op].is_end = true;
        if (i == block->u && a->plan.device[op] >= 0)
            continue; /* it was the end of the block before */
        a->plan.device[op] = block->schedule->device[i];
        a->turns[op].block = a->roles[op].block = number;
        a->turns[op].start_ns = block->schedule->start_ns[i];
    }
}

static void take_blocks(assembly *a)
{
    const mo_instance *x = a->x;

    for (int i = 0; i < x->n; i++) {
        a->plan.device[i] = -1;
        a->turns[i] = (turn){ a->blocks->n, -1, i };
        a->roles[i].block = -1;
    }
    for (int i = 0; i < a->blocks->n; i++)
        take_block(a, i);
    for (int q = x->n_flows - 1; q >= 0; q--) { /* sorted by from */
        int from = x->flows[q].from, block = a->turns[x->flows[q].to].block;

        if (a->plan.device[from] < 0 && block < a->turns[from].block)
            a->turns[from].block = block;
    }
}

/* All ops of a group go where the first of them is that has a device. */
static void keep_groups(assembly *a)
{
    const mo_instance *x = a->x;

    for (int g = 0; g < x->n_groups; g++)
        a->group[g] = -1;
    for (int pass = 0; pass < 3; pass++) /* pins, others, and back to them */
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

static int compare_turns(const void *a, const void *b)
{
    const turn *s = a, *t = b;

    if (s->block != t->block)
        return s->block < t->block ? -1 : 1;
    if (s->start_ns != t->start_ns)
        return s->start_ns < t->start_ns ? -1 : 1;
    return (s->op > t->op) - (s->op < t->op);
}

static void rank_all(assembly *a)
{
    qsort(a->turns, (size_t) a->x->n, sizeof *a->turns, compare_turns);
    for (int i = 0; i < a->x->n; i++)
        a->plan.rank[a->turns[i].op] = i;
}

static mo_status assemble(assembly *a, const mo_regime *regime,
                          mo_schedule **schedule, mo_error *err)
{
    mo_sim *sim = NULL;
    mo_schedule *made = NULL;
    bool fits = false;
    mo_status status = mo_sim_new(a->x, regime, &sim, err);

    take_blocks(a);
    keep_groups(a);
    rank_all(a);
    if (status == MO_OK)
        status =
            mo_along_side(a->x, sim, a->roles, a->blocks->n, &a->plan, err);
    if (status == MO_OK)
        status = mo_sim_schedule(sim, &a->plan, &made, err);
    if (status == MO_OK)
        status = mo_schedule_fits(a->x, made, &fits, err);
    if (status == MO_OK && fits) {
        *schedule = made;
        made = NULL;
    }
    mo_schedule_free(made);
    mo_sim_free(sim);
    return status;
}

mo_status mo_along_assemble(const mo_along *along, mo_schedule **schedule,
                            mo_error *err)
{
    size_t n = (size_t) along->places.x->n + 1;
    assembly a = { .x = along->places.x, .blocks = along->blocks };
    mo_status status;

    *schedule = NULL;
    a.turns = malloc(n * sizeof *a.turns);
    a.roles = calloc(n, sizeof *a.roles);
    a.group = malloc(((size_t) a.x->n_groups + 1) * sizeof *a.group);
    a.plan.device = malloc(n * sizeof *a.plan.device);
    a.plan.rank = malloc(n * sizeof *a.plan.rank);
    if (a.turns && a.roles && a.group && a.plan.device && a.plan.rank)
        status = assemble(&a, &along->regime, schedule, err);
    else
        status = mo_fail_memory(err);
    free(a.turns);
    free(a.roles);
    free(a.group);
    free(a.plan.device);
    free(a.plan.rank);
    return status;
}

static mo_status begin(mo_along *along, const mo_along_options *options,
                       mo_error *err)
{
    const mo_instance *x = along->places.x;
    size_t size = (size_t) x->n * (size_t) x->n_devices + 1;
    mo_status status;

    along->places.allowed = calloc(size, sizeof *along->places.allowed);
    if (!along->places.allowed)
        return mo_fail_memory(err);
    status = mo_places_find(&along->places, err);
    if (status == MO_OK)
        status = mo_chain_find(&along->places, &along->chain, err);
    if (status == MO_OK)
        status = mo_along_blocks_make(x, &along->regime, along->chain, options,
                                      &along->blocks, err);
    if (status == MO_OK)
        status = mo_along_blocks_choose(along->blocks, options->stop, err);
    return status;
}

mo_status mo_along_new(const mo_instance *x, const mo_regime *regime,
                       const mo_along_options *options, mo_along **along,
                       mo_error *err)
{
    mo_along *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->places = (mo_places){ .x = x, .regime = *regime };
    made->regime = *regime;
    status = begin(made, options, err);
    if (status == MO_OK)
        *along = made;
    else
        mo_along_free(made);
    return status;
}

void mo_along_free(mo_along *along)
{
    if (!along)
        return;
    mo_along_blocks_free(along->blocks);
    mo_chain_free(along->chain);
    free(along->places.allowed);
    free(along);
}

mo_status mo_along_improve(mo_along *along, int64_t moves, const mo_stop *stop,
                           mo_error *err)
{
    return mo_along_blocks_improve(along->blocks, moves, stop, err);
}
