/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/reinforce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/search/rl/reinforce_internal.h"

/* Restarts */

/* Factor on the entropy bonus after every other restart: graphs on which the
 * usual one fails repeatedly are solved by these, and vice versa. */
static const double entropy_factor = 3;

/* Batches without improvement until a restart, beside one for each unit. */
enum { PATIENCE = 50 };

/* The result depends on the initialization, so that is drawn again. */
static void reinitialize_policy(mo_rl_trainer *s)
{
    mo_rl_params *weights = s->policy->weights;

    memcpy(weights->values, s->first_weights, mo_rl_trainer_param_bytes(s));
    mo_rl_params_randomize(weights,
                           mo_random_seed(s->task->seed, (uint64_t) s->n_runs));
}

static void start_run(mo_rl_trainer *s)
{
    if (s->n_runs++ > 0)
        reinitialize_policy(s);
    mo_rl_adam_reset(&s->adam, s->policy->weights);
    mo_rl_return_baseline_reset(&s->returns);
    s->entropy = s->policy->entropy * (s->n_runs % 2 == 0 ? entropy_factor : 1);
    memcpy(s->run.best, s->begin, mo_rl_trainer_unit_bytes(s));
    s->run.best_eval = s->begin_eval;
    s->run.improved_batch = s->batch;
}

/* Restarts after a long time without improvement. */
static void restart_if_stalled(mo_rl_trainer *s)
{
    if (s->batch - s->run.improved_batch < PATIENCE + s->units->n)
        return;
    if (!s->best_from_earlier_run) {
        memcpy(s->best_weights, s->policy->weights->values,
               mo_rl_trainer_param_bytes(s));
        s->best_from_earlier_run = true;
    }
    start_run(s);
}

/* The best */

static void keep_better(mo_rl_trainer *s, const mo_rl_episode *e)
{
    if (mo_rl_evaluation_better(&e->result.best, &s->run.best_eval)) {
        s->run.best_eval = e->result.best;
        s->run.improved_batch = s->batch;
        memcpy(s->run.best, e->device, mo_rl_trainer_unit_bytes(s));
    }
    if (mo_rl_evaluation_better(&e->result.best, &s->best_eval)) {
        s->best_eval = e->result.best;
        s->best_from_earlier_run = false;
        memcpy(s->best, e->device, mo_rl_trainer_unit_bytes(s));
        memcpy(s->best_rank, e->rank,
               (size_t) s->task->x->n * sizeof *s->best_rank);
    }
}

static double seconds(const mo_rl_trainer *s)
{
    return (double) (mo_stop_clock_ns() - s->start_ns) / 1e9;
}

static void report_progress(const mo_rl_trainer *s, double mean)
{
    char what[80];
    const mo_method_progress news = { .makespan_ns = s->best_eval.makespan_ns,
                                      .seconds = seconds(s),
                                      .what = what };

    if (!s->task->on_progress)
        return;
    snprintf(what, sizeof what, "episode %lld, mean %.3f of one device",
             (long long) (s->batch + 1) * MO_RL_BATCH_SIZE, mean);
    s->task->on_progress(s->task->context, &news);
}

/* Episodes skipped after a stop are left out. */
static mo_status process_batch(mo_rl_trainer *s, bool *whole, mo_error *err)
{
    double mean = 0, least = INFINITY;
    int n = 0;

    for (int j = 0; j < MO_RL_BATCH_SIZE; j++) {
        mo_rl_episode *e = &s->episodes[j];

        if (e->status != MO_OK)
            return mo_fail_memory(err);
        keep_better(s, e);
        if (e->result.stopped)
            continue;
        n++;
        mean += e->result.mean;
        least = fmin(least, e->result.best.score);
    }
    *whole = n == MO_RL_BATCH_SIZE;
    if (n == 0)
        return MO_OK;
    report_progress(s, mean / n);
    if (s->curve)
        mo_out_printf(s->curve, "%lld,%.6f,%.6f,%.6f,%.6f\n",
                      (long long) s->batch * MO_RL_BATCH_SIZE + n, mean / n,
                      least, s->best_eval.score,
                      (double) s->best_eval.makespan_ns / 1e6);
    return MO_OK;
}

/* Training loop */

static bool should_continue(const mo_rl_trainer *s)
{
    if (s->batch == 0)
        return true;
    if (s->task->rounds > 0 && s->batch >= s->task->rounds)
        return false;
    return !mo_stop_reached(s->task->stop);
}

static mo_status try_single_device(mo_rl_trainer *s, int device, mo_error *err)
{
    int *on = s->episodes[0].device;
    mo_rl_evaluation is;
    mo_status status;

    for (int u = 0; u < s->units->n; u++)
        on[u] = s->units->pin[u] == MO_FREE ? device : s->units->pin[u];
    status = mo_rl_evaluator_evaluate(s->workers[0].evaluator, on, &is, err);
    if (status == MO_OK && mo_rl_evaluation_better(&is, &s->begin_eval)) {
        s->begin_eval = is;
        memcpy(s->begin, on, mo_rl_trainer_unit_bytes(s));
    }
    return status;
}

/* Where the fastest device has no room for all another one may have. */
static mo_status evaluate_initial(mo_rl_trainer *s, mo_error *err)
{
    mo_rl_evaluator *score = s->workers[0].evaluator;
    mo_status status;

    memcpy(s->begin, s->policy->begin, mo_rl_trainer_unit_bytes(s));
    status = mo_rl_evaluator_evaluate(score, s->begin, &s->begin_eval, err);
    for (int k = 0; k < s->task->x->n_devices && !s->begin_eval.fits; k++)
        if (status == MO_OK)
            status = try_single_device(s, k, err);
    if (status == MO_OK)
        status = mo_rl_evaluator_improve_order(score, s->begin, s->best_rank,
                                               &s->begin_eval, err);
    memcpy(s->best, s->begin, mo_rl_trainer_unit_bytes(s));
    s->best_eval = s->begin_eval;
    return status;
}

static mo_status run_training(mo_rl_trainer *s, mo_error *err)
{
    mo_status status = evaluate_initial(s, err);

    if (status == MO_OK)
        start_run(s);
    for (; should_continue(s) && status == MO_OK; s->batch++) {
        bool whole = false;

        mo_rl_trainer_sample_batch(s);
        status = process_batch(s, &whole, err);
        if (status != MO_OK || !whole || !s->trains)
            continue;
        status = mo_rl_trainer_update(s, err);
        restart_if_stalled(s);
    }
    if (s->best_from_earlier_run)
        memcpy(s->policy->weights->values, s->best_weights,
               mo_rl_trainer_param_bytes(s));
    return status;
}

/* Policy and curve are written however training ended. */
static mo_status write_outputs(mo_rl_trainer *s, mo_error *err)
{
    const mo_rl_policy *p = s->policy;
    mo_status status = MO_OK;

    if (s->curve) {
        status = mo_out_commit(s->curve, err);
        s->curve = NULL;
    }
    if (status == MO_OK && s->task->policy && s->trains)
        status = mo_rl_params_write(p->weights, p->kind, p->about, p->n_about,
                                    s->task->policy, err);
    return status;
}

static int64_t simulations(const mo_rl_trainer *s)
{
    int64_t sum = 0;

    for (int i = 0; i < s->n_workers; i++)
        sum += mo_rl_evaluator_simulations(s->workers[i].evaluator);
    return sum;
}

/* The result is valid even where the policy cannot be written. */
mo_status mo_rl_train(const mo_method_task *task,
                      const mo_placement_units *units,
                      const mo_rl_policy *policy, mo_method_result *placed,
                      mo_error *err)
{
    mo_rl_trainer s = { .task = task,
                        .units = units,
                        .policy = policy,
                        .returns = { .n_parts = policy->n_parts,
                                     .baseline_decay = policy->baseline_decay },
                        .adam = { .rate = policy->rate, .max_norm = 5 },
                        .trains = !task->no_learning,
                        .start_ns = mo_stop_clock_ns() };
    mo_status status = mo_rl_trainer_init(&s, err);

    if (status == MO_OK)
        status = run_training(&s, err);
    if (status == MO_OK) {
        placed->simulations = simulations(&s);
        status = mo_rl_evaluator_make_schedule(s.workers[0].evaluator, s.best,
                                               s.best_rank, placed, err);
    }
    if (status == MO_OK)
        status = write_outputs(&s, err);
    placed->rounds = (int) (s.batch < INT32_MAX ? s.batch : INT32_MAX);
    mo_rl_trainer_clear(&s);
    return status;
}
