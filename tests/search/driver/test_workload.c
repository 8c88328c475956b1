/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of workloads (graph/phases.h) against enumeration: every placement of
 * the ops, and for each the optimum of every phase by itself. */
#include <limits.h>
#include <stdio.h>

#include "graph/phases.h"
#include "schedule/phase_schedule.h"
#include "schedule/validate/validate.h"
#include "solvers/search/method.h"
#include "tests/support/exhaustive.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

enum { MAX_PHASES = 3, MAX_NAMES = 6, DEVICES = 3 };

/* A random workload.  Ops are the letters from a on; of each the memory, pin
 * and group are those of all phases. */
typedef struct workload {
    int n, n_names, n_devices;
    int64_t weight[MAX_PHASES];
    char *text[MAX_PHASES], *cluster;
    int memory[MAX_PHASES][MAX_NAMES]; /* by phase and op, 0 where it is not */
    int capacity[DEVICES];
    bool has_op[MAX_PHASES][MAX_NAMES];
    int pin[MAX_NAMES]; /* or MO_FREE */
    bool in_group[MAX_NAMES];
} workload;

static bool one_in(test_random *r, int many)
{
    return random_below(r, many) == 0;
}

static void put_times(test_random *r, mo_out *out, const char *key, int n)
{
    for (int k = 0; k < n; k++)
        mo_out_printf(out, " %s%c=%d", key, 'A' + k, random_below(r, 10));
}

static void put_phase(test_random *r, workload *w, int phase)
{
    bool is_chain = one_in(r, 2), is_reversed = one_in(r, 4);
    mo_out *out = text_new();
    int last = -1;

    for (int i = 0; i < w->n_names; i++) {
        /* The first phase has an op at least. */
        if (one_in(r, 5) && i > 0)
            continue;
        w->has_op[phase][i] = true;
        w->memory[phase][i] = random_below(r, 9);
        mo_out_printf(out, "%c memory=%d", 'a' + i, w->memory[phase][i]);
        put_times(r, out, "t.", w->n_devices);
        /* One phase suffices to tie an op. */
        if (w->pin[i] != MO_FREE && (phase == 0 || one_in(r, 2)))
            mo_out_printf(out, " pin=%c", 'A' + w->pin[i]);
        if (w->in_group[i])
            mo_out_text(out, " colocate=g");
        mo_out_char(out, ';');
    }
    for (int j = 0; j < w->n_names; j++) {
        for (int i = 0; i < j; i++) {
            bool is_edge = is_chain ? i == last : one_in(r, 2);

            if (!w->has_op[phase][i] || !w->has_op[phase][j] || !is_edge)
                continue;
            mo_out_printf(out, "%c>%c bytes=8", 'a' + (is_reversed ? j : i),
                          'a' + (is_reversed ? i : j));
            for (int k = 0; k < w->n_devices; k++)
                for (int l = 0; l < w->n_devices; l++)
                    if (k != l)
                        mo_out_printf(out, " c.%c.%c=%d", 'A' + k, 'A' + l,
                                      random_below(r, 5));
            mo_out_char(out, ';');
        }
        last = w->has_op[phase][j] ? j : last;
    }
    w->text[phase] = text_end(out);
}

static int memory_of(const workload *w, int op)
{
    int most = 0;

    for (int p = 0; p < w->n; p++)
        most = w->memory[p][op] > most ? w->memory[p][op] : most;
    return most;
}

static void make_workload(workload *w, unsigned seed)
{
    test_random r = { seed * UINT64_C(0xd1342543de82ef95) };
    bool is_pinned = one_in(&r, 3), has_group = one_in(&r, 3);
    bool is_tight = one_in(&r, 2);
    mo_out *out;
    int sum = 0;

    *w = (workload){ .n = 2 + random_below(&r, 2),
                     .n_devices = 2 + random_below(&r, DEVICES - 1) };
    w->n_names = (w->n == 2 ? 3 : 2) + random_below(&r, 3);
    for (int i = 0; i < w->n_names; i++) {
        w->pin[i] = is_pinned && one_in(&r, 4) ? 0 : MO_FREE;
        w->in_group[i] = has_group && one_in(&r, 2);
    }
    for (int p = 0; p < w->n; p++) {
        w->weight[p] = 1 + random_below(&r, one_in(&r, 2) ? 200 : 3);
        put_phase(&r, w, p);
    }
    for (int i = 0; i < w->n_names; i++)
        sum += memory_of(w, i);
    out = text_new();
    for (int k = 0; k < w->n_devices; k++) {
        w->capacity[k] = is_tight && k > 0 ? sum / 2 + 1 : sum + 1;
        mo_out_printf(out, "%c memory_bytes=%d;", 'A' + k, w->capacity[k]);
    }
    for (int k = 1; k < w->n_devices; k++)
        mo_out_printf(out, "%c-%c gbps=8;", 'A' + k - 1, 'A' + k);
    w->cluster = text_end(out);
}

static void clear_workload(workload *w)
{
    for (int p = 0; p < w->n; p++)
        free(w->text[p]);
    free(w->cluster);
}

static bool is_allowed(const workload *w, const int *device)
{
    int used[DEVICES] = { 0 }, group = MO_FREE;

    for (int i = 0; i < w->n_names; i++) {
        bool exists = false;

        for (int p = 0; p < w->n; p++)
            exists = exists || w->has_op[p][i];
        used[device[i]] += memory_of(w, i);
        if (w->in_group[i] && exists) {
            if (group != MO_FREE && group != device[i])
                return false;
            group = device[i];
        }
    }
    for (int k = 0; k < w->n_devices; k++)
        if (used[k] > w->capacity[k])
            return false;
    return true;
}

/* Returns the least time of a phase with its ops on those devices. */
static int64_t phase_ns(const problem *p, const mo_regime *regime,
                        const int *device)
{
    mo_regime any_memory = *regime;
    int pins[MAX_NAMES];
    int64_t ns;

    any_memory.memory = MO_MEMORY_NONE;
    for (int i = 0; i < p->x->n; i++) {
        pins[i] = p->x->pin[i];
        p->x->pin[i] = device[p->x->op_names[i][0] - 'a'];
        if (pins[i] != MO_FREE && pins[i] != p->x->pin[i])
            any_memory.memory = MO_MEMORY_LIVE; /* marks a contradiction */
    }
    ns = any_memory.memory == MO_MEMORY_LIVE
             ? EXHAUSTIVE_NONE
             : exhaustive_optimum(p->x, &any_memory);
    for (int i = 0; i < p->x->n; i++)
        p->x->pin[i] = pins[i];
    return ns;
}

static int64_t optimum_of(const workload *w, const problem *phases,
                          const mo_regime *regime)
{
    int64_t best = EXHAUSTIVE_NONE;
    int n_placements = 1;

    for (int i = 0; i < w->n_names; i++)
        n_placements *= w->n_devices;
    for (int number = 0; number < n_placements; number++) {
        int device[MAX_NAMES], rest = number;
        int64_t sum = 0;

        for (int i = 0; i < w->n_names; i++, rest /= w->n_devices)
            device[i] = rest % w->n_devices;
        if (!is_allowed(w, device))
            continue;
        for (int p = 0; p < w->n && sum >= 0; p++) {
            int64_t ns = phase_ns(&phases[p], regime, device);

            sum = ns == EXHAUSTIVE_NONE ? -1 : sum + w->weight[p] * ns;
        }
        if (sum >= 0 && (best == EXHAUSTIVE_NONE || sum < best))
            best = sum;
    }
    return best;
}

static mo_graph *composed(const workload *w)
{
    static const char *const names[] = { "p", "q", "r" };
    mo_phase phases[MAX_PHASES];
    mo_graph *g = NULL;

    for (int p = 0; p < w->n; p++)
        phases[p] = (mo_phase){ .name = names[p],
                                .weight = w->weight[p],
                                .graph = problem_graph(w->text[p]) };
    MUST(mo_phases_compose("w", phases, w->n, &g, &err));
    return g;
}

/* The phases by themselves add up to the schedule of them all. */
static void check_phases(const workload *w, const problem *all,
                         const problem *phases, const mo_schedule *s)
{
    int64_t sum = 0;

    for (int p = 0; p < w->n; p++) {
        mo_schedule *alone = NULL;
        mo_verdict *verdict = NULL;

        MUST(mo_phase_schedule_make(all->g->phases, p, all->x, s, phases[p].x,
                                    &alone, &err));
        alone->regime.memory = MO_MEMORY_NONE;
        MUST(mo_validate(phases[p].x, alone, 1, &verdict, &err));
        ck_assert_msg(verdict->n == 0, "%s", verdict->violations[0].text);
        mo_verdict_free(verdict);
        sum += w->weight[p] * alone->makespan_ns;
        mo_schedule_free(alone);
    }
    ck_assert_int_eq(sum, s->makespan_ns);
}

START_TEST(workloads_are_solved)
{
    unsigned seed = (unsigned) _i;
    problem phases[MAX_PHASES] = { 0 }, all = { 0 };
    workload w;
    mo_regime regime;
    mo_method_task task = { .seed = seed, .threads = 1 };
    mo_method_result placed = { 0 };
    int number = (int) (seed % N_REGIMES);
    int64_t optimum;

    make_workload(&w, seed);
    regime = regime_of(number);
    if (regime.memory == MO_MEMORY_LIVE)
        regime.memory = MO_MEMORY_STATIC;
    if (regime.memory == MO_MEMORY_NONE)
        for (int k = 0; k < w.n_devices; k++)
            w.capacity[k] = INT_MAX;
    MUST(problem_try_graph(&all, composed(&w), w.cluster, NULL));
    for (int p = 0; p < w.n; p++)
        problem_make(&phases[p], w.text[p], w.cluster, NULL);
    optimum = optimum_of(&w, phases, &regime);
    task.x = all.x;
    task.regime = regime;
    MUST(mo_method_moirai.place(&task, &placed, &err));
    ck_assert_msg((placed.schedule ? placed.schedule->makespan_ns
                                   : EXHAUSTIVE_NONE) == optimum,
                  "seed %u: %lld, not %lld", seed,
                  placed.schedule ? (long long) placed.schedule->makespan_ns
                                  : -1,
                  (long long) optimum);
    if (placed.schedule) {
        ck_assert_msg(placed.lower_ns == optimum, "seed %u: bound %lld of %lld",
                      seed, (long long) placed.lower_ns, (long long) optimum);
        check_phases(&w, &all, phases, placed.schedule);
    }
    mo_method_result_clear(&placed);
    for (int p = 0; p < w.n; p++)
        problem_clear(&phases[p]);
    problem_clear(&all);
    clear_workload(&w);
}
END_TEST

SUITE(workload)
{
    SOME(workloads_are_solved, at_length(2000, 300), 10);
}
