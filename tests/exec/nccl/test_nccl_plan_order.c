/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/transport/nccl/comm_layout.h and exec/runtime/joint: the order
 * of sends and receives, against a model of how NCCL matches them: by order
 * alone, without buffering. */
#include <config.h>

#include "base/random.h"
#include "exec/runtime/joint/joint_internal.h"
#include "exec/transport/nccl/comm_layout.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

enum { RANKS = RANDOM_PLAN_DEVICES, PLANS = 10000, BATCH = 100 };

/* What a rank does with a plan, as the joint run has it */

typedef struct rank {
    mo_nccl_comm_layout layout;
    mo_joint_state joint;
    mo_run_device devices[RANDOM_PLAN_DEVICES];
    mo_run_device *here[RANDOM_PLAN_DEVICES];
    mo_run_plan_options options;
    /* state of the simulation */
    bool *done; /* by call */
    int n_done; /* items, in sequential order */
} rank;

typedef struct job {
    random_plan made;
    const mo_exec_plan *plan;
    int rank_of[RANDOM_PLAN_DEVICES];
    int n_ranks;
    bool one_comm;
    rank ranks[RANKS];
} job;

static const mo_backend_carrier nccl;

/* The world is the layout of a rank. */
static const mo_backend_carrier *carrier_of(mo_transport_world *world,
                                            int transfer)
{
    const mo_nccl_comm_layout *layout =
        (const mo_nccl_comm_layout *) (void *) world;

    return layout->pair_of[transfer] >= 0 ? &nccl : NULL;
}

static const mo_transport transport = { .name = "model",
                                        .carrier = carrier_of };

static void *alloc_array(mo_arena *arena, size_t n, size_t size)
{
    void *memory = mo_arena_array(arena, n + 1, size);

    ck_assert_ptr_nonnull(memory);
    return memory;
}

static void assign_device(const job *j, rank *r, int d)
{
    const mo_plan_device *device = &j->plan->devices[d];
    mo_run_device *run = &r->devices[d];

    *run = (mo_run_device){ .plan = j->plan,
                            .options = &r->options,
                            .device = d,
                            .n_actions = device->n_steps,
                            .unit = (mo_backend_unit *) (void *) run };
    run->actions = alloc_array(r->joint.arena, (size_t) device->n_steps,
                               sizeof *run->actions);
    for (int i = 0; i < device->n_steps; i++) {
        mo_run_action *a = &run->actions[i];

        *a = (mo_run_action){ .kind = device->steps[i].kind,
                              .what = device->steps[i].what,
                              .value = run };
        if (a->kind != MO_PLAN_STEP_COMPUTE)
            a->sending = j->plan->transfers[a->what].from == d;
    }
    r->joint.local_of[d] = r->joint.n_local;
    r->joint.units[d] = run->unit;
    r->here[r->joint.n_local++] = run;
}

static void order_rank(job *j, int which)
{
    static const bool is_gpu[RANDOM_PLAN_DEVICES] = { true, true, true, true };
    rank *r = &j->ranks[which];
    mo_joint_state *joint = &r->joint;

    MUST(mo_nccl_comm_layout_compute(j->plan, j->rank_of, is_gpu, which,
                                     j->one_comm, &r->layout, &err));
    r->options =
        (mo_run_plan_options){ .transport = &transport,
                               .world =
                                   (mo_transport_world *) (void *) &r->layout };
    *joint = (mo_joint_state){ .plan = j->plan,
                               .options = &r->options,
                               .devices = r->here,
                               .arena = mo_arena_new() };
    ck_assert_ptr_nonnull(joint->arena);
    joint->local_of =
        alloc_array(joint->arena, RANDOM_PLAN_DEVICES, sizeof(int));
    joint->units = alloc_array(joint->arena, RANDOM_PLAN_DEVICES,
                               sizeof(mo_backend_unit *));
    joint->carried =
        alloc_array(joint->arena, (size_t) j->plan->n_transfers, sizeof(bool));
    for (int d = 0; d < j->plan->n_devices; d++) {
        joint->local_of[d] = MO_JOINT_NONE;
        if (j->rank_of[d] == which)
            assign_device(j, r, d);
    }
    /* All devices are GPUs. */
    for (int t = 0; t < j->plan->n_transfers; t++)
        joint->carried[t] = true;
    if (joint->n_local > 0)
        MUST(mo_joint_linearize(joint, &err));
}

static void wait_rank(job *j, int which)
{
    mo_joint_state *joint = &j->ranks[which].joint;

    if (joint->n_local > 0)
        MUST(mo_joint_find_dependencies(joint, &err));
    ck_assert_int_le(joint->n_segments, 1);
    j->ranks[which].done =
        alloc_array(joint->arena, (size_t) joint->n_calls, sizeof(bool));
}

static void make_job(job *j, unsigned seed)
{
    mo_random random = { seed };
    int n_devices = 2 + mo_random_below(&random, RANDOM_PLAN_DEVICES - 1);

    memset(j, 0, sizeof *j);
    random_plan_make(&j->made, seed, n_devices);
    j->plan = j->made.plan;
    j->one_comm = seed % 4 == 3;
    j->n_ranks = 2 + mo_random_below(&random, n_devices - 1);
    for (int d = 0; d < n_devices; d++)
        j->rank_of[d] = mo_random_below(&random, j->n_ranks);
    for (int r = 0; r < j->n_ranks; r++)
        order_rank(j, r);
}

static void clear_job(job *j)
{
    for (int r = 0; r < j->n_ranks; r++) {
        mo_nccl_comm_layout_clear(&j->ranks[r].layout);
        mo_arena_free(j->ranks[r].joint.arena);
    }
    random_plan_clear(&j->made);
}

/* Returns an end of a transfer to another rank; or NULL. */
static const mo_backend_transfer *remote_transfer(const rank *r, int call)
{
    const mo_backend_transfer *transfer = r->joint.calls[call].transfer;

    return transfer && transfer->carrier ? transfer : NULL;
}

static const mo_nccl_pair *pair_of(const rank *r, int call)
{
    return &r->layout.pairs[r->layout.pair_of[remote_transfer(r, call)->id]];
}

/* Returns whether all predecessors are done: in its stream, its dependencies,
 * and, of what NCCL carries, all before it in the same member of a
 * communicator. */
static bool is_ready(const rank *r, int call)
{
    const mo_backend_program_call *c = &r->joint.calls[call];

    if (r->done[call])
        return false;
    for (int w = 0; w < c->n_deps; w++)
        if (!r->done[c->deps[w]])
            return false;
    for (int before = 0; before < call; before++) {
        if (r->done[before])
            continue;
        if (r->joint.tracks[before] == r->joint.tracks[call])
            return false;
        if (remote_transfer(r, call) && remote_transfer(r, before) &&
            pair_of(r, before)->own == pair_of(r, call)->own)
            return false;
    }
    return true;
}

/* Returns the call of the peer that NCCL would match with this one: the next
 * between these two members. -1: it is not ready. */
static int find_match(const job *j, const rank *r, int call, const rank **there)
{
    const mo_backend_transfer *transfer = remote_transfer(r, call);
    const mo_nccl_pair *pair = pair_of(r, call);
    int other = transfer->data ? transfer->to : transfer->from;

    *there = &j->ranks[j->rank_of[other]];
    for (int i = 0; i < (*there)->joint.n_calls; i++) {
        const mo_backend_transfer *theirs = remote_transfer(*there, i);

        if (!theirs || (*there)->done[i] || theirs->from != pair->from ||
            theirs->to != pair->to)
            continue;
        return is_ready(*there, i) ? i : -1;
    }
    return -1;
}

typedef enum outcome { ALL_DONE, DEADLOCK, MISMATCH } outcome;

/* Does the call if possible, with its match. */
static bool try_call(job *j, rank *r, int call, outcome *what)
{
    const rank *there = r;
    int match = call;

    if (!is_ready(r, call))
        return false;
    if (remote_transfer(r, call)) {
        match = find_match(j, r, call, &there);
        if (match < 0)
            return false;
        if (remote_transfer(there, match)->id != remote_transfer(r, call)->id)
            *what = MISMATCH;
    }
    r->done[call] = there->done[match] = true;
    return true;
}

/* Does all that is possible; returns false when there is nothing. */
static bool simulate_step(job *j, outcome *what)
{
    bool moved = false;

    for (int k = 0; k < j->n_ranks; k++)
        for (int i = 0; i < j->ranks[k].joint.n_calls; i++)
            moved |= try_call(j, &j->ranks[k], i, what);
    return moved;
}

static bool are_all_done(const job *j)
{
    for (int r = 0; r < j->n_ranks; r++)
        for (int i = 0; i < j->ranks[r].joint.n_calls; i++)
            if (!j->ranks[r].done[i])
                return false;
    return true;
}

/* As CUDA graphs: independent calls run concurrently. */
static outcome simulate(job *j)
{
    outcome what = ALL_DONE;

    while (what == ALL_DONE && simulate_step(j, &what))
        ;
    return what == ALL_DONE && !are_all_done(j) ? DEADLOCK : what;
}

/* The strictest model: every rank does one call after the other, and both ends
 * of a transfer at the same moment. */

static const mo_joint_item *next_item(const rank *r)
{
    return r->n_done < r->joint.n_items ? &r->joint.items[r->n_done] : NULL;
}

static bool is_remote(const mo_joint_item *item)
{
    return item && item->kind == MO_JOINT_ITEM_TRANSFER &&
           item->transfer.carrier;
}

static int other_rank(const job *j, const mo_joint_item *item)
{
    return j->rank_of[item->transfer.data ? item->transfer.to
                                          : item->transfer.from];
}

static bool try_next(job *j, rank *r)
{
    const mo_joint_item *item = next_item(r), *theirs;
    rank *there;

    if (!item)
        return false;
    if (is_remote(item)) {
        there = &j->ranks[other_rank(j, item)];
        theirs = next_item(there);
        if (!is_remote(theirs) || theirs->transfer.id != item->transfer.id)
            return false;
        there->n_done++;
    }
    r->n_done++;
    return true;
}

static outcome simulate_strictly(job *j)
{
    bool moved = true, left = false;

    while (moved) {
        moved = false;
        for (int k = 0; k < j->n_ranks; k++)
            moved |= try_next(j, &j->ranks[k]);
    }
    for (int k = 0; k < j->n_ranks; k++)
        left |= next_item(&j->ranks[k]) != NULL;
    return left ? DEADLOCK : ALL_DONE;
}

/* Plans of a case. */
static int batch_size(void)
{
    return how_many(BATCH, 20);
}

START_TEST(no_plan_deadlocks)
{
    int n_carried = 0;

    for (int i = 0; i < batch_size(); i++) {
        unsigned seed = (unsigned) (_i * BATCH + i);
        job j;

        make_job(&j, seed);
        ck_assert_msg(simulate_strictly(&j) == ALL_DONE, "seed %u, strictly",
                      seed);
        for (int r = 0; r < j.n_ranks; r++) {
            wait_rank(&j, r);
            for (int c = 0; c < j.ranks[r].joint.n_calls; c++)
                n_carried += remote_transfer(&j.ranks[r], c) != NULL;
        }
        ck_assert_msg(simulate(&j) == ALL_DONE, "seed %u", seed);
        clear_job(&j);
    }
    ck_assert_int_gt(n_carried, batch_size());
}
END_TEST

/* Swaps the first two consecutive carries with the same peer. */
static bool swap_two(job *j)
{
    for (int k = 0; k < j->n_ranks; k++) {
        mo_joint_state *joint = &j->ranks[k].joint;
        mo_joint_item *before = NULL;
        int other_before = -1;

        for (int i = 0; i < joint->n_items; i++) {
            mo_joint_item *item = &joint->items[i], was;
            int other;

            if (!is_remote(item))
                continue;
            other = other_rank(j, item);
            if (before && other == other_before) {
                was = *before;
                *before = *item;
                *item = was;
                return true;
            }
            before = item;
            other_before = other;
        }
    }
    return false;
}

START_TEST(another_order_is_found_out)
{
    int n_swapped = 0;

    for (int i = 0; i < batch_size(); i++) {
        unsigned seed = (unsigned) (_i * BATCH + i);
        job j;

        make_job(&j, seed);
        if (swap_two(&j)) {
            n_swapped++;
            ck_assert_msg(simulate_strictly(&j) == DEADLOCK, "seed %u", seed);
        }
        clear_job(&j);
    }
    ck_assert_int_gt(n_swapped, batch_size() / 10);
}
END_TEST

/* Both of one pair: NCCL would match the wrong values. */
static bool swap_on_a_pair(job *j)
{
    for (int k = 0; k < j->n_ranks; k++) {
        mo_joint_state *joint = &j->ranks[k].joint;

        for (int a = 0; a < joint->n_items; a++)
            for (int b = a + 1; b < joint->n_items; b++) {
                mo_joint_item *x = &joint->items[a], *y = &joint->items[b];
                mo_backend_transfer was = x->transfer;

                if (!is_remote(x) || !is_remote(y) ||
                    x->transfer.from != y->transfer.from ||
                    x->transfer.to != y->transfer.to)
                    continue;
                x->transfer = y->transfer;
                y->transfer = was;
                return true;
            }
    }
    return false;
}

START_TEST(values_that_change_places_are_found_out)
{
    int n_swapped = 0;

    for (int i = 0; i < batch_size(); i++) {
        unsigned seed = (unsigned) (_i * BATCH + i);
        job j;

        make_job(&j, seed);
        if (swap_on_a_pair(&j)) {
            n_swapped++;
            for (int r = 0; r < j.n_ranks; r++)
                wait_rank(&j, r);
            ck_assert_msg(simulate(&j) != ALL_DONE, "seed %u", seed);
        }
        clear_job(&j);
    }
    ck_assert_int_gt(n_swapped, batch_size() / 10);
}
END_TEST

/* Every communicator has one member for each device that uses it. */
START_TEST(members_fit_together)
{
    for (int i = 0; i < batch_size(); i++) {
        unsigned seed = (unsigned) (_i * BATCH + i);
        job j;

        make_job(&j, seed);
        for (int l = 0; l < j.ranks[0].layout.n; l++) {
            const mo_nccl_pair *pair = &j.ranks[0].layout.pairs[l];
            const mo_nccl_comm_layout *sends =
                &j.ranks[j.rank_of[pair->from]].layout;
            const mo_nccl_comm_layout *receives =
                &j.ranks[j.rank_of[pair->to]].layout;
            const mo_nccl_pair *out = &sends->pairs[l];
            const mo_nccl_pair *in = &receives->pairs[l];
            const mo_nccl_member *a = &sends->members[out->own];
            const mo_nccl_member *b = &receives->members[in->own];

            ck_assert_int_eq(a->device, pair->from);
            ck_assert_int_eq(b->device, pair->to);
            ck_assert_int_eq(a->id, b->id);
            ck_assert_int_eq(a->comm_size, b->comm_size);
            ck_assert_int_eq(out->peer, b->comm_rank);
            ck_assert_int_eq(in->peer, a->comm_rank);
            ck_assert_int_ne(a->comm_rank, b->comm_rank);
        }
        clear_job(&j);
    }
}
END_TEST

SUITE(nccl_plan_order)
{
    SOME(no_plan_deadlocks, at_length(PLANS, 3000) / BATCH, 1);
    SOME(another_order_is_found_out, 3, 1);
    SOME(values_that_change_places_are_found_out, 3, 1);
    SOME(members_fit_together, 3, 1);
}
