/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/evaluator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/heuristic/upward_rank.h"
#include "schedule/sim/sim.h"
#include "schedule/heuristic/single_device.h"
#include "solvers/search/baselines/baseline.h"

struct mo_rl_evaluator {
    const mo_method_task *task;
    const mo_placement_units *units;
    mo_sim *sim;
    int *device, *order, *rank; /* by op */
    int64_t *used;              /* by device */
    double unit_ns;
    int64_t simulations;
};

/* Limit on the ops simulated for a better order: in large graphs an episode
 * has time for a few swaps only. */
enum { IMPROVE_OPS = 1 << 14 };

bool mo_rl_evaluation_better(const mo_rl_evaluation *a,
                             const mo_rl_evaluation *b)
{
    if (a->fits != b->fits)
        return a->fits;
    return a->fits ? a->makespan_ns < b->makespan_ns : a->score < b->score;
}

mo_status mo_rl_evaluator_new(const mo_method_task *task,
                              const mo_placement_units *units,
                              mo_rl_evaluator **evaluator, mo_error *err)
{
    size_t n = (size_t) task->x->n + 1;
    mo_rl_evaluator *s = calloc(1, sizeof *s);
    mo_status status = MO_E_MEMORY;

    if (!s)
        return mo_fail_memory(err);
    s->task = task;
    s->units = units;
    s->device = calloc(n, sizeof *s->device);
    s->order = calloc(n, sizeof *s->order);
    s->rank = calloc(n, sizeof *s->rank);
    s->used = calloc((size_t) task->x->n_devices, sizeof *s->used);
    if (s->device && s->order && s->rank && s->used)
        status = mo_sim_new(task->x, &task->regime, &s->sim, err);
    else
        mo_fail_memory(err);
    if (status == MO_OK) {
        const mo_instance *x = s->task->x;
        int *devices = calloc((size_t) x->n_devices, sizeof *devices);
        status = devices ? mo_single_device_order(x, devices, err)
                         : mo_fail_memory(err);

        if (status == MO_OK)
            s->unit_ns = (double) mo_single_device_ns(x, devices[0]);
        if (s->unit_ns < 1)
            s->unit_ns = 1;
        free(devices);
    }
    if (status != MO_OK) {
        mo_rl_evaluator_free(s);
        return status;
    }
    *evaluator = s;
    return MO_OK;
}

void mo_rl_evaluator_free(mo_rl_evaluator *evaluator)
{
    if (!evaluator)
        return;
    mo_sim_free(evaluator->sim);
    free(evaluator->device);
    free(evaluator->order);
    free(evaluator->rank);
    free(evaluator->used);
    free(evaluator);
}

/* Live memory counts at the peak of the schedule. */
static mo_status find_live_memory(mo_rl_evaluator *s, mo_error *err)
{
    const mo_sim_plan plan = { .device = s->device, .rank = s->rank };
    mo_schedule *schedule = NULL;
    mo_status status = mo_sim_schedule(s->sim, &plan, &schedule, err);

    if (status == MO_OK)
        status = mo_schedule_peak_memory(s->task->x, schedule, s->used, err);
    mo_schedule_free(schedule);
    return status;
}

/* The memory that the plan needs on each device. */
static mo_status find_used_memory(mo_rl_evaluator *s, const int *device,
                                  mo_error *err)
{
    memset(s->used, 0, (size_t) s->task->x->n_devices * sizeof *s->used);
    switch (s->task->regime.memory) {
    case MO_MEMORY_NONE:
        break;
    case MO_MEMORY_STATIC:
        for (int u = 0; u < s->units->n; u++)
            s->used[device[u]] += s->units->bytes[u];
        break;
    case MO_MEMORY_LIVE:
        return find_live_memory(s, err);
    }
    return MO_OK;
}

static mo_status make_plan(mo_rl_evaluator *s, const int *device, mo_error *err)
{
    const mo_instance *x = s->task->x;
    mo_status status;

    for (int i = 0; i < x->n; i++)
        s->device[i] = device[s->units->of_op[i]];
    status =
        mo_upward_rank_order(x, &s->task->regime, s->device, s->order, err);
    for (int p = 0; p < x->n && status == MO_OK; p++)
        s->rank[s->order[p]] = p;
    return status;
}

static int64_t run_simulation(mo_rl_evaluator *s, int64_t cutoff_ns)
{
    const mo_sim_plan plan = { .device = s->device, .rank = s->rank };

    s->simulations++;
    return mo_sim_run(s->sim, &plan, cutoff_ns);
}

mo_status mo_rl_evaluator_evaluate(mo_rl_evaluator *evaluator,
                                   const int *device, mo_rl_evaluation *scored,
                                   mo_error *err)
{
    mo_status status = make_plan(evaluator, device, err);
    double over;

    if (status != MO_OK)
        return status;
    scored->makespan_ns = run_simulation(evaluator, INT64_MAX);
    status = find_used_memory(evaluator, device, err);
    /* The relative memory overflow, summed over the devices. */
    const mo_instance *x = evaluator->task->x;
    over = 0;

    for (int k = 0; k < x->n_devices; k++)
        if (evaluator->used[k] > x->capacity_bytes[k])
            over += (double) (evaluator->used[k] - x->capacity_bytes[k]) /
                    ((double) x->capacity_bytes[k] + 1);
    scored->fits = over <= 0;
    scored->score = (double) scored->makespan_ns / evaluator->unit_ns + over;
    return status;
}

static void swap_ranks(mo_rl_evaluator *s, int p, int q)
{
    int op = s->order[p];

    s->order[p] = s->order[q];
    s->order[q] = op;
    s->rank[s->order[p]] = p;
    s->rank[s->order[q]] = q;
}

/* All pairs, by increasing distance; returns whether one improved *ns. */
static bool swap_pass(mo_rl_evaluator *s, int64_t *ns, int64_t *left)
{
    bool better = false;
    int n = s->task->x->n;

    for (int far = 1; far < n; far++)
        for (int p = 0; p + far < n; p++) {
            int64_t now_ns;

            if (*left <= 0)
                return false;
            *left -= n;
            swap_ranks(s, p, p + far);
            now_ns = run_simulation(s, *ns);
            if (now_ns < *ns) {
                *ns = now_ns;
                better = true;
            } else {
                swap_ranks(s, p, p + far);
            }
        }
    return better;
}

/* Live memory depends on the order: then it stays. */
mo_status mo_rl_evaluator_improve_order(mo_rl_evaluator *evaluator,
                                        const int *device, int *rank,
                                        mo_rl_evaluation *scored, mo_error *err)
{
    int64_t ns = scored->makespan_ns, left = IMPROVE_OPS;
    mo_status status = make_plan(evaluator, device, err);

    if (status != MO_OK)
        return status;
    if (evaluator->task->regime.memory == MO_MEMORY_LIVE)
        left = 0;
    while (swap_pass(evaluator, &ns, &left))
        ;
    scored->score -= (double) (scored->makespan_ns - ns) / evaluator->unit_ns;
    scored->makespan_ns = ns;
    memcpy(rank, evaluator->rank,
           (size_t) evaluator->task->x->n * sizeof *rank);
    return MO_OK;
}

int64_t mo_rl_evaluator_simulations(const mo_rl_evaluator *evaluator)
{
    return evaluator->simulations;
}

mo_status mo_rl_evaluator_make_schedule(mo_rl_evaluator *evaluator,
                                        const int *device, const int *rank,
                                        mo_method_result *placed, mo_error *err)
{
    mo_status status = make_plan(evaluator, device, err);

    if (status != MO_OK)
        return status;
    memcpy(evaluator->rank, rank,
           (size_t) evaluator->task->x->n * sizeof *rank);
    return mo_baseline_simulate(evaluator->task, evaluator->device,
                                evaluator->rank, placed, err);
}

enum { WINDOW = 10 };

static size_t cell_count(const mo_rl_return_baseline *r)
{
    return MO_RL_EPISODE_KINDS * (size_t) r->n_parts;
}

static size_t cell_of(const mo_rl_return_baseline *r, int kind, int part)
{
    return (size_t) kind * (size_t) r->n_parts + (size_t) part;
}

mo_status mo_rl_return_baseline_init(mo_rl_return_baseline *returns,
                                     mo_error *err)
{
    returns->last =
        calloc(cell_count(returns) * WINDOW + 1, sizeof *returns->last);
    returns->mean = calloc(cell_count(returns) + 1, sizeof *returns->mean);
    return returns->last && returns->mean ? MO_OK : mo_fail_memory(err);
}

void mo_rl_return_baseline_clear(mo_rl_return_baseline *returns)
{
    free(returns->last);
    free(returns->mean);
    returns->last = returns->mean = NULL;
}

void mo_rl_return_baseline_reset(mo_rl_return_baseline *returns)
{
    memset(returns->mean, 0, cell_count(returns) * sizeof *returns->mean);
    memset(returns->n, 0, sizeof returns->n);
}

/* A plain mean until its weight falls to 1 - baseline_decay. */
void mo_rl_return_baseline_add(mo_rl_return_baseline *returns, int kind,
                               const double *is)
{
    int64_t n = returns->n[kind]++;
    double weight = fmax(1 - returns->baseline_decay, 1 / ((double) n + 1));

    for (int c = 0; c < returns->n_parts; c++) {
        size_t cell = cell_of(returns, kind, c);

        returns->last[cell * WINDOW + (size_t) (n % WINDOW)] = is[c];
        returns->mean[cell] += weight * (is[c] - returns->mean[cell]);
    }
}

double mo_rl_return_baseline_value(const mo_rl_return_baseline *returns,
                                   int kind, int part)
{
    size_t cell = cell_of(returns, kind, part);
    int64_t all = returns->n[kind];
    int n = all < WINDOW ? (int) all : WINDOW;
    double sum = 0;

    if (returns->baseline_decay > 0)
        return returns->mean[cell];
    for (int i = 0; i < n; i++)
        sum += returns->last[cell * WINDOW + (size_t) i];
    return n > 0 ? sum / n : 0;
}
