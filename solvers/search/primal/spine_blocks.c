/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a spine: subproblems between two ops of the chain, improved by
 * simulated annealing for given devices of both ends.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/parallel_for.h"
#include "base/random.h"
#include "schedule/heuristic/heft.h"
#include "schedule/heuristic/single_device.h"
#include "solvers/search/primal/anneal.h"
#include "solvers/search/primal/spine_internal.h"

enum {
    MAX_STATES = 6, /* with more devices only the fastest are tried at ends */
    FEW_OPS = 3,    /* so few are not annealed */
    HEFT_OP_WORK = 600 /* of an op in a list schedule (mo_stop_spend) */
};

/* Temperatures of blocks: the default start (anneal.c) with a lower end, for
 * the last microseconds. */
#define HOT  0.35
#define COLD 0.02

/* Makes the sub-instance of the segment's ops and its ends, ascending. */
static mo_status make_part(const mo_instance *x,
                           const mo_bound_segment *segment,
                           mo_primal_spine_block *block, mo_error *err)
{
    int *ops = malloc(((size_t) segment->n + 2) * sizeof *ops);
    int n = 0;
    mo_status status;

    if (!ops)
        return mo_fail_memory(err);
    if (segment->u != MO_FREE)
        ops[n++] = segment->u;
    for (int i = 0; i < segment->n; i++)
        ops[n++] = segment->ops[i];
    if (segment->v != MO_FREE)
        ops[n++] = segment->v;
    block->u = segment->u == MO_FREE ? MO_FREE : 0;
    block->v = segment->v == MO_FREE ? MO_FREE : n - 1;
    status = mo_sub_instance_make(x, ops, n, segment->u != MO_FREE,
                                  &block->part, err);
    free(ops);
    return status;
}

mo_status mo_primal_spine_blocks_new(const mo_instance *x,
                                     const mo_regime *regime,
                                     const mo_bound_chain *chain,
                                     const mo_primal_spine_options *options,
                                     mo_primal_spine_blocks **made,
                                     mo_error *err)
{
    mo_primal_spine_blocks *blocks = calloc(1, sizeof *blocks);
    size_t n_boundaries = (size_t) x->n_devices * (size_t) x->n_devices;
    mo_status status = MO_OK;

    if (!blocks)
        return mo_fail_memory(err);
    blocks->x = x;
    blocks->regime = *regime;
    blocks->regime.memory = MO_MEMORY_NONE;
    blocks->seed = options->seed;
    blocks->threads = options->threads;
    blocks->blocks = calloc((size_t) chain->n + 1, sizeof *blocks->blocks);
    if (!blocks->blocks)
        status = mo_fail_memory(err);
    for (int i = 0; i < chain->n && status == MO_OK; i++) {
        mo_primal_spine_block *block = &blocks->blocks[i];

        blocks->n = i + 1;
        status = make_part(x, &chain->segments[i], block, err);
        if (status != MO_OK)
            break;

        /* Sets shape to the first block with the same graph, itself if there is
         * none. */
        const mo_instance *instance = block->part->x;

        block->shape = i;
        for (int j = 0; j < i && instance->n > FEW_OPS && block->shape == i;
             j++) {
            const mo_instance *y = blocks->blocks[j].part->x;
            bool is_same = blocks->blocks[j].shape == j &&
                           instance->n == y->n &&
                           instance->n_flows == y->n_flows;

            for (int q = 0; q < instance->n_flows && is_same; q++)
                is_same = instance->flows[q].from == y->flows[q].from &&
                          instance->flows[q].to == y->flows[q].to;
            if (is_same)
                block->shape = j;
        }
        block->quick_ns = malloc(n_boundaries * sizeof *block->quick_ns);
        if (!block->quick_ns)
            status = mo_fail_memory(err);
        for (size_t j = 0; j < n_boundaries && block->quick_ns; j++)
            block->quick_ns[j] = INT64_MAX;
    }
    if (status == MO_OK)
        *made = blocks;
    else
        mo_primal_spine_blocks_free(blocks);
    return status;
}

void mo_primal_spine_blocks_free(mo_primal_spine_blocks *blocks)
{
    if (!blocks)
        return;
    for (int i = 0; i < blocks->n && blocks->blocks; i++) {
        mo_sub_instance_free(blocks->blocks[i].part);
        mo_schedule_free(blocks->blocks[i].schedule);
        mo_schedule_free(blocks->blocks[i].next);
        free(blocks->blocks[i].quick_ns);
    }
    free(blocks->blocks);
    free(blocks);
}

/* Returns a view of the sub-instance with its ends pinned and without groups:
 * a group of an end may have ops pinned elsewhere. room has two entries for
 * each op. */
static mo_instance pin_ends_view(const mo_primal_spine_block *block, int a,
                                 int b, int *room)
{
    mo_instance x = *block->part->x;

    memcpy(room, x.pin, (size_t) x.n * sizeof *room);
    if (block->u != MO_FREE)
        room[block->u] = a;
    if (block->v != MO_FREE)
        room[block->v] = b;
    x.pin = room;
    x.group = room + x.n;
    for (int i = 0; i < x.n; i++)
        x.group[i] = MO_FREE;
    x.n_groups = 0;
    return x;
}

/* Parallel work on the blocks. */
typedef struct jobs {
    mo_primal_spine_blocks *blocks;
    const mo_stop *stop;
    const int *states; /* devices to try at ends */
    int n_states;
    int64_t moves;     /* of annealing */
    bool anneals;      /* second phase of a pass */
    mo_status *status; /* by block */
    mo_error *errors;
} jobs;

/* Runs HEFT for every feasible pair of devices at the ends; a pin counts even
 * if its device is not among the states. */
static void run_heft_at_all(void *context, int i, int thread)
{
    jobs *j = context;
    mo_primal_spine_block *block = &j->blocks->blocks[i];
    const mo_instance *x = block->part->x;
    int *room = malloc((size_t) x->n * 2 * sizeof *room);
    int u_pin = block->u == MO_FREE ? 0 : x->pin[block->u];
    int v_pin = block->v == MO_FREE ? 0 : x->pin[block->v];
    mo_status status = room ? MO_OK : mo_fail_memory(&j->errors[i]);

    (void) thread;
    for (int s = 0; s < (u_pin == MO_FREE ? j->n_states : 1); s++)
        for (int t = 0; t < (v_pin == MO_FREE ? j->n_states : 1); t++) {
            int a = u_pin == MO_FREE ? j->states[s] : u_pin;
            int b = v_pin == MO_FREE ? j->states[t] : v_pin;
            mo_schedule *made = NULL;
            mo_instance view;

            if (status != MO_OK || mo_stop_spend(j->stop, HEFT_OP_WORK * x->n))
                continue;
            view = pin_ends_view(block, a, b, room);
            status =
                mo_heft(&view, &j->blocks->regime, NULL, &made, &j->errors[i]);
            if (status == MO_OK && made)
                block->quick_ns[a * x->n_devices + b] = made->makespan_ns;
            mo_schedule_free(made);
        }
    free(room);
    j->status[i] = status;
}

static mo_status run_jobs(mo_primal_spine_blocks *blocks,
                          mo_parallel_for_fn *work, jobs *j, mo_error *err)
{
    mo_status status = MO_OK;

    j->blocks = blocks;
    j->status = calloc((size_t) blocks->n + 1, sizeof *j->status);
    j->errors = calloc((size_t) blocks->n + 1, sizeof *j->errors);
    if (!j->status || !j->errors) {
        status = mo_fail_memory(err);
    } else {
        mo_parallel_for(blocks->threads, blocks->n, work, j);
        for (int i = 0; i < blocks->n && status == MO_OK; i++) {
            status = j->status[i];
            if (status != MO_OK && err)
                *err = j->errors[i];
        }
    }
    free(j->status);
    free(j->errors);
    return status;
}

/* Shortest path over the devices of the ends; until and from are scratch by
 * block and device. */
static void choose_end_devices(mo_primal_spine_blocks *blocks, int64_t *until,
                               int *from)
{
    int K = blocks->x->n_devices, at = 0;

    for (int i = 0; i < blocks->n; i++) {
        const mo_primal_spine_block *block = &blocks->blocks[i];
        int64_t *now = until + (size_t) i * (size_t) K;
        const int64_t *before = now - K;

        for (int b = 0; b < K; b++) {
            now[b] = INT64_MAX;
            for (int a = 0; a < K; a++) {
                int64_t ns = block->quick_ns[a * K + b];

                if (ns == INT64_MAX || (i > 0 && before[a] == INT64_MAX))
                    continue;
                ns += i > 0 ? before[a] : 0;
                if (ns < now[b]) {
                    now[b] = ns;
                    from[(size_t) i * (size_t) K + (size_t) b] = a;
                }
            }
        }
    }
    for (int b = 1; b < K && blocks->n > 0; b++) {
        const int64_t *last = until + (size_t) (blocks->n - 1) * (size_t) K;
        if (last[b] < last[at])
            at = b;
    }
    for (int i = blocks->n - 1; i >= 0; i--) {
        blocks->blocks[i].b = at;
        at = from[(size_t) i * (size_t) K + (size_t) at];
        blocks->blocks[i].a = at;
    }
}

/* Warm start from an equal block: its devices and its order. */
static mo_status warm_start_from_twin(const mo_primal_spine_blocks *blocks,
                                      const mo_primal_spine_block *block,
                                      const mo_primal_spine_block *twin,
                                      const mo_instance *x,
                                      mo_schedule **followed, mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status;

    if (!twin->schedule || twin->a != block->a || twin->b != block->b)
        return MO_OK;
    for (int i = 0; i < x->n; i++)
        if (x->pin[i] != MO_FREE && x->pin[i] != twin->schedule->device[i])
            return MO_OK;
    status =
        mo_schedule_new(x, &blocks->regime, twin->schedule->device, &s, err);
    if (status == MO_OK) {
        memcpy(s->start_ns, twin->schedule->start_ns,
               (size_t) x->n * sizeof *s->start_ns);
        for (int i = 0; i < s->n_transfers; i++) {
            const mo_transfer *t = mo_schedule_transfer(
                twin->schedule, s->transfers[i].item, s->transfers[i].to);
            if (t)
                s->transfers[i].start_ns = t->start_ns;
        }
        status = mo_schedule_left_shift(x, s, err);
    }
    if (status ==
        MO_E_INPUT) { /* times differ so much that the order is infeasible */
        mo_schedule_free(s);
        return MO_OK;
    }
    if (status == MO_OK)
        *followed = s;
    else
        mo_schedule_free(s);
    return status;
}

/* Sets block->next to the shortest of the block's schedule, warm starts from
 * equal blocks, and HEFT; other threads still read block->schedule. */
static mo_status find_start(const mo_primal_spine_blocks *blocks, int number,
                            const mo_instance *x, mo_error *err)
{
    mo_primal_spine_block *block = &blocks->blocks[number];
    mo_status status =
        block->schedule
            ? mo_schedule_copy(x, block->schedule, &block->next, err)
            : mo_heft(x, &blocks->regime, NULL, &block->next, err);

    if (mo_ablated(MO_ABLATION_spine_twins))
        return status;
    for (int i = 0; i < blocks->n && status == MO_OK; i++) {
        const mo_primal_spine_block *twin = &blocks->blocks[i];
        mo_schedule *other = NULL;

        if (i == number || twin->shape != block->shape)
            continue;
        status = warm_start_from_twin(blocks, block, twin, x, &other, err);
        mo_schedule_keep_better(&block->next, other);
    }
    return status;
}

static mo_status anneal_block(const jobs *j, int i, const mo_instance *x,
                              mo_error *err)
{
    const mo_primal_spine_blocks *blocks = j->blocks;
    mo_primal_spine_block *block = &blocks->blocks[i];
    uint64_t seed = mo_random_seed(blocks->seed, (uint64_t) blocks->passes);
    double hot = HOT / (x->n + 1);
    mo_primal_anneal_options anneal = { .seed =
                                            mo_random_seed(seed, (uint64_t) i),
                                        .moves = j->moves * x->n,
                                        .hot = hot,
                                        .cold = COLD * hot,
                                        .stop = j->stop };
    mo_primal_anneal_result made = { 0 };
    mo_status status = MO_OK;

    if (block->next && x->n > FEW_OPS && j->moves > 0)
        status = mo_primal_anneal(x, &blocks->regime, block->next, &anneal,
                                  &made, err);
    mo_schedule_keep_better(&block->next, made.schedule);
    return status;
}

/* One phase of a pass, for one block. */
static void improve_block_phase(void *context, int i, int thread)
{
    jobs *j = context;
    const mo_primal_spine_block *block = &j->blocks->blocks[i];
    int *room = malloc((size_t) block->part->x->n * 2 * sizeof *room);
    mo_instance x;

    (void) thread;
    if (!room) {
        j->status[i] = mo_fail_memory(&j->errors[i]);
        return;
    }
    x = pin_ends_view(block, block->a, block->b, room);
    j->status[i] = j->anneals ? anneal_block(j, i, &x, &j->errors[i])
                              : find_start(j->blocks, i, &x, &j->errors[i]);
    free(room);
}

mo_status mo_primal_spine_blocks_choose_ends(mo_primal_spine_blocks *blocks,
                                             const mo_stop *stop, mo_error *err)
{
    size_t size = (size_t) blocks->n * (size_t) blocks->x->n_devices + 1;
    int64_t *until = calloc(size, sizeof *until);
    int *from = calloc(size, sizeof *from);
    int K = blocks->x->n_devices;
    int *states = calloc((size_t) K + 1, sizeof *states);
    jobs j = { .stop = stop,
               .states = states,
               .n_states = K < MAX_STATES ? K : MAX_STATES };
    mo_status status = until && from && states
                           ? mo_single_device_order(blocks->x, states, err)
                           : mo_fail_memory(err);

    if (status == MO_OK)
        status = run_jobs(blocks, run_heft_at_all, &j, err);
    if (status == MO_OK)
        choose_end_devices(blocks, until, from);
    free(until);
    free(from);
    free(states);
    return status;
}

mo_status mo_primal_spine_blocks_improve(mo_primal_spine_blocks *blocks,
                                         int64_t moves, const mo_stop *stop,
                                         mo_error *err)
{
    jobs j = { .stop = stop,
               .moves = mo_ablated(MO_ABLATION_spine_anneal) ? 0 : moves };
    mo_status status = run_jobs(blocks, improve_block_phase, &j, err);

    j.anneals = true;
    if (status == MO_OK)
        status = run_jobs(blocks, improve_block_phase, &j, err);
    for (int i = 0; i < blocks->n; i++) {
        mo_schedule_keep_better(&blocks->blocks[i].schedule,
                                blocks->blocks[i].next);
        blocks->blocks[i].next = NULL;
    }
    blocks->passes++;
    return status;
}

bool mo_primal_spine_blocks_adopt_ends(mo_primal_spine_blocks *blocks,
                                       const mo_schedule *schedule)
{
    bool *marked = calloc((size_t) blocks->x->n + 1, sizeof *marked);
    bool any = false;

    for (int i = 0; i < blocks->n && marked; i++) {
        const mo_primal_spine_block *block = &blocks->blocks[i];

        if (block->part->x->n <= FEW_OPS)
            continue;
        if (block->u != MO_FREE)
            marked[block->part->op[block->u]] = true;
        if (block->v != MO_FREE)
            marked[block->part->op[block->v]] = true;
    }
    for (int i = 0; i < blocks->n && marked; i++) {
        mo_primal_spine_block *block = &blocks->blocks[i];
        const int *op = block->part->op;
        int a = block->a, b = block->b;

        if (block->u != MO_FREE && marked[op[block->u]])
            block->a = schedule->device[op[block->u]];
        if (block->v != MO_FREE && marked[op[block->v]])
            block->b = schedule->device[op[block->v]];
        if (a == block->a && b == block->b)
            continue;
        mo_schedule_free(block->schedule);
        block->schedule = NULL;
        any = true;
    }
    free(marked);
    return any;
}
