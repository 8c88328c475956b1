/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tile, and how many parts of k.  A batch of one leaves most products
 * with fewer tiles than there are SMs; smaller tiles read more, parts must be
 * added.  The model counts clocks of an SM roughly, only to tell which few
 * plans are worth trying; its numbers are of an H200.
 */
#include "exec/backend/cuda/algo/tensorcore.h"

#include <limits.h>

static const mo_cuda_tensorcore_tile tiles[] = {
    /* m, n, warp, groups, stages, blocks */
    { 128, 128, 64, 32, 1, 3, 1 }, /**/
    { 128, 64, 64, 32, 1, 4, 2 },  /**/
    { 64, 128, 32, 64, 1, 4, 2 },  /**/
    { 128, 32, 32, 32, 1, 4, 2 },  /**/
    { 32, 128, 32, 32, 1, 4, 2 },  /**/
    { 64, 64, 64, 32, 2, 4, 2 },   /**/
    { 64, 64, 32, 32, 1, 4, 3 },   /**/
    { 64, 32, 32, 32, 2, 4, 3 },   /**/
    { 32, 64, 32, 32, 2, 4, 3 },   /**/
    { 32, 32, 32, 32, 4, 4, 4 },   /**/
    { 16, 64, 16, 32, 2, 5, 4 },
};
enum { TILES = sizeof tiles / sizeof *tiles };

/* Most of a cluster that every device with clusters can have; and otherwise. */
enum { MOST_CLUSTER = 8, MOST_PARTS = 16, LEAST_STEPS = 2, PLANS_OF_TILE = 3 };

int mo_cuda_tensorcore_block_threads(const mo_cuda_tensorcore_tile *tile)
{
    return tile->m / tile->warp_m * (tile->n / tile->warp_n) * tile->groups *
           32;
}

static int step_elements(const mo_cuda_tensorcore_problem *problem)
{
    return MO_CUDA_TENSORCORE_K_STEP_BYTES / (int) mo_elem_size(problem->elem);
}

/* Elements of one operand's tile in a stage; turned ones keep 8 apart. */
static int side_elements(const mo_cuda_tensorcore_problem *problem,
                         mo_cuda_tensorcore_layout form, int outer)
{
    return step_elements(problem) *
           (form == MO_CUDA_TENSORCORE_MN_MAJOR ? outer + 8 : outer);
}

size_t
mo_cuda_tensorcore_shared_bytes(const mo_cuda_tensorcore_problem *problem,
                                const mo_cuda_tensorcore_tile *tile)
{
    size_t stage = (size_t) (side_elements(problem, problem->a_form, tile->m) +
                             side_elements(problem, problem->b_form, tile->n)) *
                   mo_elem_size(problem->elem);
    size_t copies = stage * (size_t) tile->stages;
    size_t sums =
        (size_t) (tile->groups * tile->m * (tile->n + 8)) * sizeof(float);

    return copies > sums ? copies : sums;
}

static int64_t parts_of(int64_t whole, int64_t part)
{
    return (whole + part - 1) / part;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* Registers: three products keep sums twice; a thread keeps two numbers for
 * every window that it copies from. */
static bool tile_suits(const mo_backend_unit *unit,
                       const mo_cuda_tensorcore_problem *p,
                       const mo_cuda_tensorcore_tile *t)
{
    int columns = step_elements(p) / p->a_count;
    int rows = t->m * columns / mo_cuda_tensorcore_block_threads(t);

    return mo_cuda_tensorcore_shared_bytes(p, t) <= unit->max_shared_bytes &&
           (p->kind != MO_CUDA_TENSORCORE_3XTF32 ||
            t->warp_m * t->warp_n <= 1024) &&
           (p->a_form != MO_CUDA_TENSORCORE_IM2COL || rows <= 16) &&
           (t->m <= 32 || p->arguments.m > t->m / 2) &&
           (t->n <= 64 || p->arguments.n > t->n / 2);
}

/* Clocks of an SM for one step of one block when it has others to turn to. */
static double step_clocks(const mo_cuda_tensorcore_problem *p,
                          const mo_cuda_tensorcore_tile *t)
{
    static const double rates[] = { [MO_CUDA_TENSORCORE_TF32] = 600,
                                    [MO_CUDA_TENSORCORE_3XTF32] = 180,
                                    [MO_CUDA_TENSORCORE_F16] = 1200,
                                    [MO_CUDA_TENSORCORE_BF16] = 1200 };
    double bytes = (double) (t->m + t->n) * MO_CUDA_TENSORCORE_K_STEP_BYTES;
    double products = (double) t->m * t->n * step_elements(p) / rates[p->kind];
    double pieces = (double) t->m / t->warp_m * t->n / t->warp_n * 4 *
                    (t->warp_m + t->warp_n) / 16;

    return most(most(bytes / 48, products), pieces * 4 + bytes / 128);
}

static double cost_of(const mo_backend_unit *unit,
                      const mo_cuda_tensorcore_problem *p,
                      const mo_cuda_tensorcore_config *plan)
{
    enum { ALONE = 350, START = 2500, CLUSTER = 900, LAST = 2200 };
    const mo_cuda_tensorcore_tile *t = &plan->tile;
    const mo_cuda_tensorcore_args *a = &p->arguments;
    int64_t steps = parts_of(parts_of(a->k, step_elements(p)), plan->parts);
    int64_t blocks =
        parts_of(a->m, t->m) * parts_of(a->n, t->n) * p->batches * plan->parts;
    int64_t each = parts_of(blocks, unit->sms);
    int64_t room =
        (int64_t) (unit->max_shared_bytes / mo_cuda_tensorcore_shared_bytes(p, t));
    double busy = (double) (each * steps) * step_clocks(p, t);
    double waits, bytes;

    room = room < t->blocks ? room : t->blocks;
    waits = (double) (parts_of(each, room < 1 ? 1 : room) * steps) * ALONE;
    bytes = (double) (blocks * steps) * (t->m + t->n) *
            MO_CUDA_TENSORCORE_K_STEP_BYTES;
    return most(most(busy, waits), bytes / 2500) + START +
           (double) t->m * t->n / 16 +
           (plan->parts == 1  ? 0
            : plan->clustered ? CLUSTER
                              : LAST + plan->parts * t->m * t->n / 16.0);
}

/* Keeps the best in order. */
static void insert(mo_cuda_tensorcore_config *plans, int *n, int room,
                   const mo_cuda_tensorcore_config *plan)
{
    int at = *n;

    if (*n == room && plans[room - 1].cost <= plan->cost)
        return;
    if (*n < room)
        (*n)++;
    else
        at = room - 1;
    for (; at > 0 && plans[at - 1].cost > plan->cost; at--)
        plans[at] = plans[at - 1];
    plans[at] = *plan;
}

/* The best few numbers of parts for one tile. */
static int plans_of_tile(const mo_backend_unit *unit, bool clusters,
                         const mo_cuda_tensorcore_problem *p,
                         const mo_cuda_tensorcore_tile *tile,
                         mo_cuda_tensorcore_config plans[PLANS_OF_TILE])
{
    static const int parts[] = { 1, 2, 3, 4, 5, 6, 8, 12, 16 };
    int64_t steps = parts_of(p->arguments.k, step_elements(p));
    int n = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        mo_cuda_tensorcore_config plan = { .tile = *tile, .parts = parts[i] };

        if (parts[i] > 1 &&
            (steps < (int64_t) LEAST_STEPS * parts[i] ||
             parts_of(steps, parts_of(steps, parts[i])) != parts[i]))
            continue;
        plan.clustered = clusters && parts[i] > 1 && parts[i] <= MOST_CLUSTER &&
                         parts[i] <= unit->sms;
        plan.cost = cost_of(unit, p, &plan);
        insert(plans, &n, PLANS_OF_TILE, &plan);
    }
    return n;
}

int mo_cuda_tensorcore_find_configs(const mo_backend_unit *unit, bool clusters,
                                    const mo_cuda_tensorcore_problem *problem,
                                    mo_cuda_tensorcore_config *plans, int room)
{
    mo_cuda_tensorcore_config some[PLANS_OF_TILE];
    int n = 0;

    for (int i = 0; i < TILES; i++) {
        int found =
            tile_suits(unit, problem, &tiles[i])
                ? plans_of_tile(unit, clusters, problem, &tiles[i], some)
                : 0;

        for (int j = 0; j < found; j++)
            insert(plans, &n, room, &some[j]);
    }
    return n;
}
