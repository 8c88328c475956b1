/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a block run in turn, a warp at a time, each until it waits or
 * ends.
 */
#include <config.h>

#include <string.h>

#include "tests/standin/cuda/thread_block.h"
#include "tests/standin/cuda/kernel_builtins.h"

standin_place mo_cpu_now;

static standin_block *here;
static standin_thread *now;
static int step; /* to the next thread: 1, or -1 in reverse */

static const char *const state_names[] = { "can run", "waits for the block",
                                           "waits for the cluster",
                                           "waits for its warp", "is done" };

static void thread_main(void)
{
    here->launch->call(here->launch->args);
    now->state = STANDIN_DONE;
    standin_fiber_leave(now->fiber);
}

/* Returns when the state is STANDIN_READY again.  Switches to the next thread
 * of the block, where that waits no more, which takes half of the time of going
 * by the scheduler. */
static void give_way(standin_state state)
{
    standin_thread *own = now, *next = now + step;

    own->state = state;
    if (next >= here->threads && next < here->threads + here->n &&
        next->fiber && next->state == STANDIN_READY) {
        now = next;
        mo_cpu_now.thread = next->index;
        if (standin_fiber_hop(own->fiber, next->fiber))
            return;
        now = own;
    }
    standin_fiber_leave(own->fiber);
}

void mo_cpu_sync(void)
{
    give_way(STANDIN_AT_BARRIER);
}

void mo_cpu_cluster_sync(void)
{
    give_way(STANDIN_AT_CLUSTER);
}

void *mo_cpu_dynamic_shared(void)
{
    return here->dynamic;
}

unsigned mo_cpu_atomic_add(unsigned *at, unsigned x)
{
    unsigned before = *at;

    *at += x;
    return before;
}

static int first_of_warp(void)
{
    return (int) (now - here->threads) / STANDIN_WARP * STANDIN_WARP;
}

/* Collects the participants of the current warp, all of which wait; returns
 * false if one waits for something else. */
static bool have_met(const standin_thread *first,
                     standin_exchange *lanes[STANDIN_WARP])
{
    const standin_exchange *mine = now->exchange;

    for (int i = 0; i < STANDIN_WARP; i++) {
        standin_exchange *other = first[i].exchange;

        lanes[i] = NULL;
        if (!(mine->mask >> i & 1u))
            continue;
        if (other->act != mine->act || other->mask != mine->mask ||
            other->how != mine->how)
            return false;
        lanes[i] = other;
    }
    return true;
}

/* The last to arrive acts for all that wait. Out of line, as only it needs the
 * list on its stack. */
__attribute__((noinline)) static bool act_for_all(standin_exchange *exchange,
                                                  standin_thread *first)
{
    standin_exchange *lanes[STANDIN_WARP];

    if (!have_met(first, lanes))
        return false;
    exchange->act(lanes);
    for (int i = 0; i < STANDIN_WARP; i++)
        if (exchange->mask >> i & 1u)
            first[i].state = STANDIN_READY;
    return true;
}

void standin_meet(standin_exchange *exchange)
{
    int at = first_of_warp(), lane = (int) (now - here->threads) - at;
    unsigned *waiting = &here->waiting[at / STANDIN_WARP];

    now->exchange = exchange;
    now->state = STANDIN_IN_WARP;
    *waiting |= 1u << lane;
    if ((exchange->mask & ~*waiting) == 0 &&
        act_for_all(exchange, &here->threads[at]))
        *waiting &= ~exchange->mask;
    else
        give_way(STANDIN_IN_WARP);
}

static bool resume(standin_thread *t)
{
    if (!t->fiber)
        t->fiber = standin_fiber_new(thread_main);
    if (!t->fiber) {
        standin_report("%s: there is no memory for stacks", here->launch->name);
        return false;
    }
    now = t;
    mo_cpu_now.thread = t->index;
    standin_fiber_enter(t->fiber);
    /* Others of the warp may have run since. */
    if (now->state == STANDIN_DONE) {
        standin_fiber_free(now->fiber);
        now->fiber = NULL;
    }
    return true;
}

/* Runs a warp until none of its threads can continue. */
static bool run_warp(int warp, bool reverse)
{
    int first = warp * STANDIN_WARP, n = here->n - first;
    bool moved = true;

    n = n < STANDIN_WARP ? n : STANDIN_WARP;
    while (moved) {
        moved = false;
        for (int i = 0; i < n; i++) {
            standin_thread *t =
                &here->threads[first + (reverse ? n - 1 - i : i)];

            if (t->state != STANDIN_READY)
                continue;
            moved = true;
            if (!resume(t))
                return false;
        }
    }
    return true;
}

int standin_block_count(const standin_block *block, standin_state state)
{
    int n = 0;

    for (int i = 0; i < block->n; i++)
        n += block->threads[i].state == state;
    return n;
}

void standin_block_wake(standin_block *block, standin_state state)
{
    for (int i = 0; i < block->n; i++)
        if (block->threads[i].state == state)
            block->threads[i].state = STANDIN_READY;
}

void standin_block_tell(const standin_block *block)
{
    const char *name = block->launch->name;
    standin_dim at = block->index;
    int told = 0;

    standin_report("%s: block %u,%u,%u hangs", name, at.x, at.y, at.z);
    for (int i = 0; i < block->n && told < 8; i++) {
        const standin_thread *t = &block->threads[i];

        if (i > 0 && t->state == t[-1].state)
            continue;
        standin_report("%s: thread %u,%u,%u %s", name, t->index.x, t->index.y,
                       t->index.z, state_names[t->state]);
        told++;
    }
}

void standin_block_begin(standin_block *block)
{
    standin_dim d = block->launch->threads;

    block->n = (int) (d.x * d.y * d.z);
    memset(block->waiting, 0, sizeof block->waiting);
    for (int i = 0; i < block->n; i++) {
        unsigned at = (unsigned) i;

        block->threads[i] =
            (standin_thread){ .state = STANDIN_READY,
                              .index = { at % d.x, at / d.x % d.y,
                                         at / d.x / d.y } };
    }
}

void standin_block_abandon(standin_block *block)
{
    for (int i = 0; i < block->n; i++) {
        standin_fiber_free(block->threads[i].fiber);
        block->threads[i].fiber = NULL;
    }
}

/* Runs all threads until none can continue. */
static bool run_warps(bool reverse)
{
    int warps = (here->n + STANDIN_WARP - 1) / STANDIN_WARP;

    for (int w = 0; w < warps; w++)
        if (!run_warp(reverse ? warps - 1 - w : w, reverse))
            return false;
    return true;
}

bool standin_block_run(standin_block *block, bool reverse)
{
    here = block;
    step = reverse ? -1 : 1;
    mo_cpu_now.block = block->index;
    for (;;) {
        int waiting, done;

        if (!run_warps(reverse))
            return false;
        done = standin_block_count(block, STANDIN_DONE);
        if (done == block->n)
            return true;
        waiting = standin_block_count(block, STANDIN_AT_BARRIER);
        if (done + standin_block_count(block, STANDIN_AT_CLUSTER) == block->n)
            return true;
        if (waiting + done < block->n) {
            standin_block_tell(block);
            return false;
        }
        standin_block_wake(block, STANDIN_AT_BARRIER);
    }
}
