/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of driver/bound_job.h: bounds of a block hold, a smaller target is
 * tried where a large one fails, and an interrupted job has the same result. */
#include "solvers/search/driver/bound_job.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "solvers/search/exact/exact.h"
#include "solvers/search/driver/state.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

enum { N_DEVICES = 3, EFFORT = 3, ROOM = 1024 };

typedef struct proving {
    problem problem;
    mo_method_task task;
    mo_search_state search;
    int block, boundary; /* of the fork-join */
    mo_forkjoin *fork;
    int64_t known_ns, optimum_ns;
} proving;

/* Three equal branches of two ops between u and v, which take no time and are
 * pinned. */
static void make_problem(problem *p, unsigned seed)
{
    mo_random r = { seed };
    char text[ROOM];
    int n = snprintf(text, sizeof text,
                     "u pin=%c t.A=0 t.B=0 t.C=0; v pin=%c t.A=0 t.B=0 t.C=0",
                     'A' + mo_random_below(&r, N_DEVICES),
                     'A' + mo_random_below(&r, N_DEVICES));
    int first = 1 + mo_random_below(&r, 9), second = 1 + mo_random_below(&r, 9);
    int bytes = 500 * mo_random_below(&r, 8);

    for (int i = 0; i < 3; i++)
        n += snprintf(text + n, sizeof text - (size_t) n,
                      "; a%d t.A=%d t.B=%d t.C=%d; b%d t.A=%d t.B=%d t.C=%d;"
                      "u>a%d bytes=4000 tensor=y; a%d>b%d bytes=%d;"
                      "b%d>v bytes=1000",
                      i, first, first + 2, first + 1, i, second, second,
                      second + 3, i, i, i, bytes, i);
    ck_assert_int_lt(n, ROOM);
    problem_make(p, text, "A; B; C; A-B gbps=8; B-C gbps=8; C-A gbps=4", NULL);
}

static int64_t optimum_of(const mo_method_task *task)
{
    mo_exact_options options = { .below_ns = INT64_MAX };
    mo_exact_result result = { 0 };

    MUST(mo_exact_solve(task->x, &task->regime, &options, &result, &err));
    ck_assert(result.finished);
    mo_schedule_free(result.best);
    return result.lower_ns;
}

/* Finds the block with all ops but u and v. */
static void find_block(proving *p)
{
    const mo_chain_blocks *b = p->search.blocks;
    int u = -1, v = -1;

    for (p->block = 0; p->block < b->n; p->block++)
        if (b->blocks[p->block].segment->n == p->task.x->n - 2)
            break;
    ck_assert_int_lt(p->block, b->n);
    for (int i = 0; i < p->task.x->n; i++)
        if (p->task.x->pin[i] != MO_FREE) {
            v = p->task.x->in_start[i] < p->task.x->in_start[i + 1] ? i : v;
            u = v == i ? u : i;
        }
    p->boundary = p->task.x->pin[u] * N_DEVICES + p->task.x->pin[v];
}

static void open_proving(proving *p, unsigned seed)
{
    const mo_chain_block *block;

    *p = (proving){ 0 };
    make_problem(&p->problem, seed);
    p->task = (mo_method_task){ .x = p->problem.x,
                                .regime = { (mo_congestion) (seed % 4),
                                            (mo_tensors) (seed / 4 % 2),
                                            MO_MEMORY_NONE },
                                .threads = 1 };
    MUST(mo_search_state_open(&p->task, &p->search, &err));
    MUST(mo_chain_blocks_new(p->search.classes, 1, NULL, &p->search.blocks,
                             &err));
    find_block(p);
    block = &p->search.blocks->blocks[p->block];
    MUST(mo_forkjoin_find(&p->search.blocks->partitions[block->cls].places,
                          block->segment, &p->fork, &err));
    p->known_ns = block->lower_ns[p->boundary];
    p->optimum_ns = optimum_of(&p->task);
}

static void close_proving(proving *p)
{
    mo_forkjoin_free(p->fork);
    mo_search_state_close(&p->search);
    problem_clear(&p->problem);
}

/* Runs with so many steps per call; *times is the number of continuations. */
static mo_search_bound_job prove_by_bits(const proving *p, int64_t target_ns,
                                         int64_t steps, int *times)
{
    mo_search_bound_job proof = { .block = p->block,
                                  .boundary = p->boundary,
                                  .how = MO_SEARCH_BOUND_COLGEN,
                                  .target_ns = target_ns,
                                  .effort = EFFORT,
                                  .steps = steps,
                                  .fork = p->fork,
                                  .failed_ns = INT64_MAX };

    *times = 0;
    do {
        MUST(mo_search_bound_job_run(p->search.blocks, &proof, NULL, &err));
        ++*times;
    } while (proof.ladder);
    return proof;
}

static mo_search_bound_job prove(const proving *p, int64_t target_ns)
{
    int times;
    mo_search_bound_job proof = prove_by_bits(p, target_ns, INT64_MAX, &times);

    ck_assert_int_eq(times, 1);
    mo_search_bound_job_clear(&proof);
    return proof;
}

START_TEST(nothing_above_the_optimum_is_proven)
{
    proving p;
    mo_search_bound_job proof;

    open_proving(&p, (unsigned) _i);
    proof = prove(&p, 2 * p.optimum_ns);
    ck_assert_int_le(proof.lower_ns, p.optimum_ns);
    ck_assert_int_le(proof.failed_ns, 2 * p.optimum_ns);
    ck_assert_int_lt(proof.lower_ns, proof.failed_ns);
    close_proving(&p);
}
END_TEST

/* Targets of four times and twice the bound fail, then the true one is proven,
 * whenever it can be proven at once. */
START_TEST(a_quarter_of_a_target_is_tried)
{
    int at_once = 0, at_last = 0, n = is_watched() ? 8 : 40;

    for (int seed = 0; seed < n; seed++) {
        proving p;
        int64_t room_ns;

        open_proving(&p, (unsigned) seed);
        room_ns = p.optimum_ns - p.known_ns;
        if (room_ns > 0 && p.known_ns > 0) {
            mo_search_bound_job proof = prove(&p, p.optimum_ns);

            ck_assert_int_eq(proof.failed_ns == INT64_MAX,
                             proof.lower_ns == p.optimum_ns);
            at_once += proof.lower_ns == p.optimum_ns;
            proof = prove(&p, p.known_ns + 4 * room_ns);
            at_last += proof.lower_ns == p.optimum_ns;
        }
        close_proving(&p);
    }
    ck_assert_int_gt(at_once, 0);
    ck_assert_int_eq(at_last, at_once);
}
END_TEST

START_TEST(interrupted_jobs_prove_the_same)
{
    int64_t n_bits = 0, n_proofs = 0;

    for (int seed = 0; seed < 8; seed++) {
        proving p;
        mo_search_bound_job whole, bits;
        int times;

        open_proving(&p, (unsigned) seed);
        whole = prove(&p, p.optimum_ns + p.optimum_ns / 8);
        bits = prove_by_bits(&p, p.optimum_ns + p.optimum_ns / 8, 0, &times);
        ck_assert_int_eq(bits.lower_ns, whole.lower_ns);
        ck_assert_int_eq(bits.failed_ns, whole.failed_ns);
        mo_search_bound_job_clear(&bits);
        n_bits += times;
        n_proofs++;
        close_proving(&p);
    }
    ck_assert_int_gt(n_bits, n_proofs);
}
END_TEST

/* An interrupted job can be cleared. */
START_TEST(interrupted_jobs_can_be_cleared)
{
    bool any = false;

    for (int seed = 0; seed < 8; seed++) {
        proving p;
        mo_search_bound_job proof;

        open_proving(&p, (unsigned) seed);
        proof =
            (mo_search_bound_job){ .block = p.block,
                                   .boundary = p.boundary,
                                   .how = MO_SEARCH_BOUND_COLGEN,
                                   .target_ns = p.optimum_ns + p.optimum_ns / 8,
                                   .effort = EFFORT,
                                   .fork = p.fork,
                                   .failed_ns = INT64_MAX };
        MUST(mo_search_bound_job_run(p.search.blocks, &proof, NULL, &err));
        any |= proof.ladder != NULL;
        mo_search_bound_job_clear(&proof);
        ck_assert_ptr_null(proof.ladder);
        ck_assert_ptr_null(proof.hint.device);
        close_proving(&p);
    }
    ck_assert(any);
}
END_TEST

SUITE(bound_job)
{
    TEST(interrupted_jobs_prove_the_same);
    TEST(interrupted_jobs_can_be_cleared);
    SOME(nothing_above_the_optimum_is_proven, 80, 16);
    TEST(a_quarter_of_a_target_is_tried);
}
