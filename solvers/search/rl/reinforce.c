/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/reinforce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/search/rl/reinforce_internal.h"

/* -------------------------------------------------------------------- lives */

/* How much more evenness is worth in every other life: graphs that the usual
 * worth leads astray time and again are found by these, and the other way
 * round. */
static const double bolder = 3;

/* Batches without a better placement until it begins anew, beside one for each
 * unit. */
enum { PATIENCE = 50 };

/* Where a policy ends depends on what it begins with, so that is drawn anew. */
static void draw_weights(mo_rl_trainer *s)
{
    mo_rl_params *weights = s->pupil->weights;

    memcpy(weights->values, s->first_weights, mo_rl_trainer_param_bytes(s));
    mo_rl_params_randomize(
        weights, mo_random_seed(s->task->seed, (uint64_t) s->n_lives));
}

static void begin_life(mo_rl_trainer *s)
{
    if (s->n_lives++ > 0)
        draw_weights(s);
    mo_rl_adam_reset(&s->adam, s->pupil->weights);
    mo_rl_return_baseline_reset(&s->returns);
    s->entropy = s->pupil->entropy * (s->n_lives % 2 == 0 ? bolder : 1);
    memcpy(s->life.best, s->begin, mo_rl_trainer_unit_bytes(s));
    s->life.best_is = s->begin_is;
    s->life.bettered = s->batch;
}

/* It is over when nothing better has come for long. */
static void end_life(mo_rl_trainer *s)
{
    if (s->batch - s->life.bettered < PATIENCE + s->units->n)
        return;
    if (!s->best_is_past) {
        memcpy(s->best_weights, s->pupil->weights->values,
               mo_rl_trainer_param_bytes(s));
        s->best_is_past = true;
    }
    begin_life(s);
}

/* ------------------------------------------------------------------ the best
 */

static void keep_better(mo_rl_trainer *s, const mo_rl_episode *e)
{
    if (mo_rl_evaluation_better(&e->drawn.best, &s->life.best_is)) {
        s->life.best_is = e->drawn.best;
        s->life.bettered = s->batch;
        memcpy(s->life.best, e->device, mo_rl_trainer_unit_bytes(s));
    }
    if (mo_rl_evaluation_better(&e->drawn.best, &s->best_is)) {
        s->best_is = e->drawn.best;
        s->best_is_past = false;
        memcpy(s->best, e->device, mo_rl_trainer_unit_bytes(s));
        memcpy(s->best_rank, e->rank,
               (size_t) s->task->x->n * sizeof *s->best_rank);
    }
}

static double seconds(const mo_rl_trainer *s)
{
    return (double) (mo_stop_clock_ns() - s->begun_ns) / 1e9;
}

static void tell(const mo_rl_trainer *s, double mean)
{
    char what[80];
    const mo_method_progress news = { .makespan_ns = s->best_is.makespan_ns,
                                      .seconds = seconds(s),
                                      .what = what };

    if (!s->task->on_progress)
        return;
    snprintf(what, sizeof what, "episode %lld, mean %.3f of one device",
             (long long) (s->batch + 1) * MO_RL_BATCH_SIZE, mean);
    s->task->on_progress(s->task->context, &news);
}

/* Episodes that a stop left out are not there. */
static mo_status look_at_batch(mo_rl_trainer *s, bool *whole, mo_error *err)
{
    double mean = 0, least = INFINITY;
    int n = 0;

    for (int j = 0; j < MO_RL_BATCH_SIZE; j++) {
        mo_rl_episode *e = &s->episodes[j];

        if (e->status != MO_OK)
            return mo_fail_memory(err);
        keep_better(s, e);
        if (e->drawn.stopped)
            continue;
        n++;
        mean += e->drawn.mean;
        least = fmin(least, e->drawn.best.score);
    }
    *whole = n == MO_RL_BATCH_SIZE;
    if (n == 0)
        return MO_OK;
    tell(s, mean / n);
    if (s->curve)
        mo_out_printf(s->curve, "%lld,%.6f,%.6f,%.6f,%.6f\n",
                      (long long) s->batch * MO_RL_BATCH_SIZE + n, mean / n,
                      least, s->best_is.score,
                      (double) s->best_is.makespan_ns / 1e6);
    return MO_OK;
}

/* -------------------------------------------------------------------- school
 */

static bool goes_on(const mo_rl_trainer *s)
{
    if (s->batch == 0)
        return true;
    if (s->task->rounds > 0 && s->batch >= s->task->rounds)
        return false;
    return !mo_stop_reached(s->task->stop);
}

static mo_status begin_on(mo_rl_trainer *s, int device, mo_error *err)
{
    int *on = s->episodes[0].device;
    mo_rl_evaluation is;
    mo_status status;

    for (int u = 0; u < s->units->n; u++)
        on[u] = s->units->pin[u] == MO_FREE ? device : s->units->pin[u];
    status = mo_rl_evaluator_evaluate(s->seats[0].score, on, &is, err);
    if (status == MO_OK && mo_rl_evaluation_better(&is, &s->begin_is)) {
        s->begin_is = is;
        memcpy(s->begin, on, mo_rl_trainer_unit_bytes(s));
    }
    return status;
}

/* Where the quickest device has no room for all another one may have. */
static mo_status know_begin(mo_rl_trainer *s, mo_error *err)
{
    mo_rl_evaluator *score = s->seats[0].score;
    mo_status status;

    memcpy(s->begin, s->pupil->begin, mo_rl_trainer_unit_bytes(s));
    status = mo_rl_evaluator_evaluate(score, s->begin, &s->begin_is, err);
    for (int k = 0; k < s->task->x->n_devices && !s->begin_is.fits; k++)
        if (status == MO_OK)
            status = begin_on(s, k, err);
    if (status == MO_OK)
        status = mo_rl_evaluator_improve_order(score, s->begin, s->best_rank,
                                               &s->begin_is, err);
    memcpy(s->best, s->begin, mo_rl_trainer_unit_bytes(s));
    s->best_is = s->begin_is;
    return status;
}

static mo_status train(mo_rl_trainer *s, mo_error *err)
{
    mo_status status = know_begin(s, err);

    if (status == MO_OK)
        begin_life(s);
    for (; goes_on(s) && status == MO_OK; s->batch++) {
        bool whole = false;

        mo_rl_trainer_sample_batch(s);
        status = look_at_batch(s, &whole, err);
        if (status != MO_OK || !whole || !s->trains)
            continue;
        status = mo_rl_trainer_update(s, err);
        end_life(s);
    }
    if (s->best_is_past)
        memcpy(s->pupil->weights->values, s->best_weights,
               mo_rl_trainer_param_bytes(s));
    return status;
}

/* What was learned and how is written whatever ended it. */
static mo_status write_down(mo_rl_trainer *s, mo_error *err)
{
    const mo_rl_policy *p = s->pupil;
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

    for (int i = 0; i < s->n_seats; i++)
        sum += mo_rl_evaluator_simulations(s->seats[i].score);
    return sum;
}

/* The answer stands, even where what was learned cannot be written. */
mo_status mo_rl_train(const mo_method_task *task,
                      const mo_placement_units *units,
                      const mo_rl_policy *pupil, mo_method_result *placed,
                      mo_error *err)
{
    mo_rl_trainer s = { .task = task,
                        .units = units,
                        .pupil = pupil,
                        .returns = { .n_parts = pupil->n_parts,
                                     .fades = pupil->fades },
                        .adam = { .rate = pupil->rate, .most = 5 },
                        .trains = !task->no_learning,
                        .begun_ns = mo_stop_clock_ns() };
    mo_status status = mo_rl_trainer_init(&s, err);

    if (status == MO_OK)
        status = train(&s, err);
    if (status == MO_OK) {
        placed->simulations = simulations(&s);
        status = mo_rl_evaluator_make_schedule(s.seats[0].score, s.best,
                                               s.best_rank, placed, err);
    }
    if (status == MO_OK)
        status = write_down(&s, err);
    placed->rounds = (int) (s.batch < INT32_MAX ? s.batch : INT32_MAX);
    mo_rl_trainer_clear(&s);
    return status;
}
