#include "solvers/search/learn/score.h"

#include <stdlib.h>

#include "schedule/rank.h"
#include "schedule/sim.h"
#include "schedule/single.h"
#include "solvers/search/baseline.h"

struct mo_score {
    const mo_task *task;
    const mo_units *units;
    mo_sim *sim;
    int *device, *order, *rank; /* by op */
    int64_t *used;              /* by device */
    double unit_ns;
};

bool mo_score_better(const mo_scored *a, const mo_scored *b)
{
    if (a->fits != b->fits)
        return a->fits;
    return a->fits ? a->makespan_ns < b->makespan_ns : a->score < b->score;
}

static mo_status find_unit(mo_score *s, mo_error *err)
{
    const mo_instance *x = s->task->x;
    int *devices = calloc((size_t) x->n_devices, sizeof *devices);
    mo_status status =
        devices ? mo_single_order(x, devices, err) : mo_fail_memory(err);

    if (status == MO_OK)
        s->unit_ns = (double) mo_single_ns(x, devices[0]);
    if (s->unit_ns < 1)
        s->unit_ns = 1;
    free(devices);
    return status;
}

mo_status mo_score_new(const mo_task *task, const mo_units *units,
                       mo_score **score, mo_error *err)
{
    size_t n = (size_t) task->x->n + 1;
    mo_score *s = calloc(1, sizeof *s);
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
    if (status == MO_OK)
        status = find_unit(s, err);
    if (status != MO_OK) {
        mo_score_free(s);
        return status;
    }
    *score = s;
    return MO_OK;
}

void mo_score_free(mo_score *score)
{
    if (!score)
        return;
    mo_sim_free(score->sim);
    free(score->device);
    free(score->order);
    free(score->rank);
    free(score->used);
    free(score);
}

/* How many times its memory a device is short of, all of them together. */
static double overflow(mo_score *s, const int *device)
{
    const mo_instance *x = s->task->x;
    double over = 0;

    if (s->task->regime.memory == MO_MEMORY_NONE)
        return 0;
    for (int k = 0; k < x->n_devices; k++)
        s->used[k] = 0;
    for (int u = 0; u < s->units->n; u++)
        s->used[device[u]] += s->units->bytes[u];
    for (int k = 0; k < x->n_devices; k++)
        if (s->used[k] > x->capacity_bytes[k])
            over += (double) (s->used[k] - x->capacity_bytes[k]) /
                    ((double) x->capacity_bytes[k] + 1);
    return over;
}

static mo_status make_plan(mo_score *s, const int *device, mo_error *err)
{
    const mo_instance *x = s->task->x;
    mo_status status;

    for (int i = 0; i < x->n; i++)
        s->device[i] = device[s->units->of_op[i]];
    status = mo_rank_order(x, &s->task->regime, s->device, s->order, err);
    for (int p = 0; p < x->n && status == MO_OK; p++)
        s->rank[s->order[p]] = p;
    return status;
}

mo_status mo_score_of(mo_score *score, const int *device, mo_scored *scored,
                      mo_error *err)
{
    const mo_plan plan = { .device = score->device, .rank = score->rank };
    double over = overflow(score, device);
    mo_status status = make_plan(score, device, err);

    if (status != MO_OK)
        return status;
    scored->makespan_ns = mo_sim_run(score->sim, &plan, INT64_MAX);
    scored->fits = over <= 0;
    scored->score = (double) scored->makespan_ns / score->unit_ns + over;
    return MO_OK;
}

mo_status mo_score_keep(mo_score *score, const int *device, mo_placed *placed,
                        mo_error *err)
{
    mo_status status = make_plan(score, device, err);

    return status == MO_OK ? mo_baseline_simulate(score->task, score->device,
                                                  score->rank, placed, err)
                           : status;
}
