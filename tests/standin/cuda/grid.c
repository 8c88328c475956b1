/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grids of the stand-in: one cluster after the other, and the blocks of a
 * cluster in turn; every second cluster in reverse, since a kernel must not
 * depend on the order. Most clusters are one block.
 */
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/standin/cuda/thread_block.h"
#include "tests/standin/cuda/kernel_builtins.h"
#include "tests/standin/cuda/green_ctx.h"

enum { DYNAMIC_ALIGN = 1024 };

static const standin_launch *launch;
static standin_block blocks[STANDIN_CLUSTER];
static int n_blocks;
static standin_block *loaded; /* the block with its shared variables in place */

/* Shared variables have one address for all blocks, which are swapped in and
 * out. */
static void load_statics(standin_block *block)
{
    if (loaded == block || launch->n_statics == 0)
        return;
    if (loaded)
        memcpy(loaded->statics, launch->statics, launch->n_statics);
    memcpy(launch->statics, block->statics, launch->n_statics);
    loaded = block;
}

const void *mo_cpu_cluster_at(const void *own, int rank)
{
    const standin_block *there = &blocks[rank];
    const char *at = own, *dynamic = mo_cpu_dynamic_shared();

    if (rank < 0 || rank >= n_blocks)
        return NULL;
    if (at >= dynamic && at < dynamic + launch->dynamic)
        return there->dynamic + (at - dynamic);
    if (at >= launch->statics && at < launch->statics + launch->n_statics)
        return there == loaded ? at : there->statics + (at - launch->statics);
    return NULL;
}

unsigned mo_cpu_sm(void)
{
    standin_dim at = mo_cpu_now.block, of = mo_cpu_now.blocks;

    return standin_green_sm(launch->green,
                            ((uint64_t) at.z * of.y + at.y) * of.x + at.x);
}

static bool run_blocks(bool reverse)
{
    for (int i = 0; i < n_blocks; i++) {
        standin_block *block = &blocks[reverse ? n_blocks - 1 - i : i];

        load_statics(block);
        if (!standin_block_run(block, reverse))
            return false;
    }
    return true;
}

static int count_done(void)
{
    int n = 0;

    for (int i = 0; i < n_blocks; i++)
        n += standin_block_count(&blocks[i], STANDIN_DONE) == blocks[i].n;
    return n;
}

static void begin_cluster(standin_dim first)
{
    standin_dim c = launch->cluster;

    loaded = NULL;
    for (int i = 0; i < n_blocks; i++) {
        unsigned at = (unsigned) i;
        standin_block *block = &blocks[i];

        block->launch = launch;
        block->index =
            (standin_dim){ first.x + at % c.x, first.y + at / c.x % c.y,
                           first.z + at / c.x / c.y };
        standin_block_begin(block);
        memset(block->statics, STANDIN_PATTERN, launch->n_statics);
        memset(block->dynamic, STANDIN_PATTERN, launch->dynamic);
    }
}

/* Whether the padding behind the dynamic shared memory is unchanged. */
static bool is_sound(const standin_block *block)
{
    size_t end =
        (launch->dynamic + DYNAMIC_ALIGN - 1) / DYNAMIC_ALIGN * DYNAMIC_ALIGN;

    for (size_t i = launch->dynamic; i < end; i++)
        if (block->dynamic[i] != 0) {
            standin_report("%s: a block wrote past its %zu bytes of dynamic "
                           "shared memory",
                           launch->name, launch->dynamic);
            return false;
        }
    return true;
}

static bool run_cluster(bool reverse)
{
    bool sound = true;

    while (count_done() < n_blocks) {
        if (!run_blocks(reverse)) {
            for (int i = 0; i < n_blocks; i++)
                standin_block_abandon(&blocks[i]);
            return false;
        }
        for (int i = 0; i < n_blocks; i++)
            standin_block_wake(&blocks[i], STANDIN_AT_CLUSTER);
    }
    for (int i = 0; i < n_blocks; i++)
        sound &= is_sound(&blocks[i]);
    return sound;
}

static bool run_grid(void)
{
    standin_dim d = launch->blocks, c = launch->cluster;
    int turn = 0;

    mo_cpu_now.threads = launch->threads;
    mo_cpu_now.blocks = d;
    for (unsigned z = 0; z < d.z; z += c.z)
        for (unsigned y = 0; y < d.y; y += c.y)
            for (unsigned x = 0; x < d.x; x += c.x) {
                begin_cluster((standin_dim){ x, y, z });
                if (!run_cluster(turn++ % 2))
                    return false;
            }
    return true;
}

/* Reports the thread with the invalid access, then lets it crash. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    standin_dim t = mo_cpu_now.thread, b = mo_cpu_now.block;
    char text[512];
    int n = snprintf(text, sizeof text,
                     "stand-in: %s: thread %u,%u,%u of block %u,%u,%u faults "
                     "at %p\n",
                     launch->name, t.x, t.y, t.z, b.x, b.y, b.z, info->si_addr);

    (void) context;
    if (write(STDERR_FILENO, text, (size_t) n) < 0)
        _exit(1);
    signal(signal_number, SIG_DFL);
}

static bool run_guarded(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    enum { N_SIGNALS = sizeof signals / sizeof *signals };
    struct sigaction mine = { .sa_flags = SA_SIGINFO }, before[N_SIGNALS];
    bool done;

    mine.sa_sigaction = on_fault;
    sigemptyset(&mine.sa_mask);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &mine, &before[i]);
    done = run_grid();
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    return done;
}

static bool take_memory(void)
{
    bool taken = true;

    for (int i = 0; i < n_blocks; i++) {
        blocks[i].dynamic = standin_fenced_new(launch->dynamic, DYNAMIC_ALIGN);
        blocks[i].statics = malloc(launch->n_statics + 1);
        taken &= blocks[i].dynamic && blocks[i].statics;
    }
    if (!taken)
        standin_report("%s: there is no memory", launch->name);
    return taken;
}

static void give_memory(void)
{
    for (int i = 0; i < n_blocks; i++) {
        standin_fenced_free(blocks[i].dynamic, launch->dynamic, DYNAMIC_ALIGN);
        free(blocks[i].statics);
    }
}

bool standin_run(const standin_launch *what)
{
    bool done;

    launch = what;
    n_blocks = (int) (what->cluster.x * what->cluster.y * what->cluster.z);
    done = take_memory() && run_guarded();
    give_memory();
    return done;
}
