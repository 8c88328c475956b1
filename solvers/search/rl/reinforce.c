/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <config.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/out.h"
#include "base/parallel_for.h"
#include "solvers/search/rl/nn/params.h"
#include "solvers/search/rl/nn/real.h"
#include "solvers/search/rl/reinforce.h"
#include "solvers/search/rl/evaluator.h"

/* Episodes of a batch. */
enum { BATCH_SIZE = 8 };

typedef struct episode {
    int kind;       /* below MO_RL_EPISODE_KINDS: baselines are by kind */
    int *choices;   /* n_choices of the policy */
    int *device;    /* by unit: start of the episode, then its best placement */
    int *rank;      /* by op: order of the best placement */
    double *scores; /* n_parts + 1 */
    double *returns, *advantage; /* by part */
    mo_rl_real *gradient;        /* as many as the policy has weights */
    mo_rl_episode_result result;
    mo_status status;
} episode;

static void update_baseline(const episode *batch,
                            mo_rl_return_baseline *returns)
{
    for (int j = 0; j < BATCH_SIZE; j++)
        mo_rl_return_baseline_add(returns, batch[j].kind, batch[j].returns);
}

/* State of a thread. */
typedef struct worker {
    mo_rl_tape *sample_tape; /* forward only */
    mo_rl_tape *train_tape;
    mo_rl_evaluator *evaluator;
} worker;

/* Results since the last restart. */
typedef struct run_state {
    int *best; /* by unit */
    mo_rl_evaluation best_eval;
    int64_t improved_batch; /* batch of the last improvement */
} run_state;

typedef struct trainer {
    const mo_method_task *task;
    const mo_placement_units *units;
    const mo_rl_policy *policy;
    worker *workers;
    int n_workers;
    episode episodes[BATCH_SIZE];
    mo_rl_return_baseline returns;
    mo_rl_real *gradient;
    mo_rl_adam adam;
    int64_t batch; /* its number */
    double entropy;
    bool trains;

    run_state run;
    int n_runs;
    mo_rl_real *first_weights; /* before any policy was read */
    mo_rl_real
        *best_weights; /* at the end of the run that found the best; while that
                          is the present one, they are the policy's */
    bool best_from_earlier_run;

    int *begin, *best; /* by unit */
    int *best_rank;    /* by op */
    mo_rl_evaluation begin_eval, best_eval;
    mo_out *curve;
    int64_t start_ns;
} trainer;

static size_t unit_bytes(const trainer *s)
{
    return (size_t) s->units->n * sizeof(int);
}

static size_t param_bytes(const trainer *s)
{
    return s->policy->weights->n_values * sizeof(mo_rl_real);
}

static mo_status init_workers(trainer *s, mo_error *err)
{
    mo_status status = MO_OK;

    s->n_workers =
        s->task->threads > 0 ? s->task->threads : mo_parallel_for_cores();
    if (s->n_workers > BATCH_SIZE)
        s->n_workers = BATCH_SIZE;
    s->workers = calloc((size_t) s->n_workers, sizeof *s->workers);
    if (!s->workers)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n_workers && status == MO_OK; i++) {
        worker *own = &s->workers[i];

        own->sample_tape = mo_rl_tape_new(s->policy->weights, NULL);
        own->train_tape = mo_rl_tape_new(s->policy->weights, s->gradient);
        if (!own->sample_tape || !own->train_tape)
            return mo_fail_memory(err);
        status = mo_rl_evaluator_new(s->task, s->units, &own->evaluator, err);
    }
    return status;
}

static mo_status read_policy(const trainer *s, mo_error *err)
{
    const mo_rl_policy *p = s->policy;

    if (!s->task->policy || access(s->task->policy, F_OK) != 0)
        return MO_OK;
    return mo_rl_params_read(p->weights, p->kind, p->about, p->n_about,
                             s->task->policy, err);
}

static mo_status alloc_buffers(trainer *s, mo_error *err)
{
    size_t n_units = (size_t) s->units->n + 1,
           n_ops = (size_t) s->task->x->n + 1;
    size_t n_values = s->policy->weights->n_values + 1;
    mo_status status;

    s->gradient = calloc(n_values, sizeof *s->gradient);
    s->first_weights = calloc(n_values, sizeof *s->first_weights);
    s->best_weights = calloc(n_values, sizeof *s->best_weights);
    s->run.best = calloc(n_units, sizeof *s->run.best);
    s->begin = calloc(n_units, sizeof *s->begin);
    s->best = calloc(n_units, sizeof *s->best);
    s->best_rank = calloc(n_ops, sizeof *s->best_rank);
    status = s->gradient && s->first_weights && s->best_weights &&
                     s->run.best && s->begin && s->best && s->best_rank
                 ? MO_OK
                 : mo_fail_memory(err);
    for (int j = 0; j < BATCH_SIZE && status == MO_OK; j++) {
        /* Those from the initial placement, and those from the best. */
        s->episodes[j].kind = s->policy->resumes ? j % MO_RL_EPISODE_KINDS : 0;
        /* clear_trainer frees the arrays, also after a failure. */
        episode *e = &s->episodes[j];
        size_t parts = (size_t) s->policy->n_parts + 1;

        e->choices =
            calloc((size_t) s->policy->n_choices + 1, sizeof *e->choices);
        e->device = calloc((size_t) s->units->n + 1, sizeof *e->device);
        e->rank = calloc((size_t) s->task->x->n + 1, sizeof *e->rank);
        e->scores = calloc(parts, sizeof *e->scores);
        e->returns = calloc(parts, sizeof *e->returns);
        e->advantage = calloc(parts, sizeof *e->advantage);
        e->gradient =
            calloc(s->policy->weights->n_values + 1, sizeof *e->gradient);
        status = e->choices && e->device && e->rank && e->scores &&
                         e->returns && e->advantage && e->gradient
                     ? MO_OK
                     : mo_fail_memory(err);
    }
    return status;
}

static mo_status open_curve(trainer *s, mo_error *err)
{
    mo_status status;

    if (!s->task->curve)
        return MO_OK;
    status = mo_out_open(s->task->curve, &s->curve, err);
    if (status == MO_OK)
        mo_out_text(s->curve, "episodes,mean,least,best,best_makespan_ms\n");
    return status;
}

static void clear_trainer(trainer *s)
{
    for (int i = 0; s->workers && i < s->n_workers; i++) {
        mo_rl_tape_free(s->workers[i].sample_tape);
        mo_rl_tape_free(s->workers[i].train_tape);
        mo_rl_evaluator_free(s->workers[i].evaluator);
    }
    for (int j = 0; j < BATCH_SIZE; j++) {
        episode *e = &s->episodes[j];

        free(e->choices);
        free(e->device);
        free(e->rank);
        free(e->scores);
        free(e->returns);
        free(e->advantage);
        free(e->gradient);
    }
    mo_rl_adam_clear(&s->adam);
    mo_rl_return_baseline_clear(&s->returns);
    mo_out_abandon(s->curve);
    free(s->workers);
    free(s->gradient);
    free(s->first_weights);
    free(s->best_weights);
    free(s->run.best);
    free(s->begin);
    free(s->best);
    free(s->best_rank);
}

/* The starting placement already has an improved order. */
static mo_status improve_order(const trainer *s, episode *e,
                               mo_rl_evaluator *score)
{
    if (memcmp(e->device, s->run.best, unit_bytes(s)) == 0 ||
        !isfinite(e->result.best.score))
        return MO_OK;
    return mo_rl_evaluator_improve_order(score, e->device, e->rank,
                                         &e->result.best, NULL);
}

static void sample_one(void *context, int job, int thread)
{
    trainer *s = context;
    episode *e = &s->episodes[job];
    worker *own = &s->workers[thread];
    mo_random random = { mo_random_seed(
        s->task->seed, (uint64_t) (s->batch * BATCH_SIZE + job)) };
    /* The mode is evaluated now and then. */
    const mo_rl_sampling sampling = { .tape = own->sample_tape,
                                      .evaluator = own->evaluator,
                                      .random = &random,
                                      .greedy = job == 0 && s->batch % 8 == 0,
                                      .choices = e->choices,
                                      .device = e->device,
                                      .scores = e->scores,
                                      .result = &e->result };

    e->status = MO_OK;
    e->result = (mo_rl_episode_result){ .best = { .score = INFINITY },
                                        .stopped = true };
    if (mo_stop_reached(s->task->stop))
        return;
    e->result.stopped = false;
    memcpy(e->device, e->kind == 0 ? s->begin : s->run.best, unit_bytes(s));
    e->status = s->policy->sample(s->policy, &sampling, NULL);
    if (e->status == MO_OK)
        e->status = improve_order(s, e, own->evaluator);
}

static void train_one(void *context, int job, int thread)
{
    trainer *s = context;
    episode *e = &s->episodes[job];

    if (mo_stop_reached(s->task->stop))
        return;
    memset(e->gradient, 0, s->policy->weights->n_values * sizeof *e->gradient);
    mo_rl_tape_set_gradient(s->workers[thread].train_tape, e->gradient);
    e->status = s->policy->learn(s->policy, s->workers[thread].train_tape,
                                 e->choices, e->advantage, s->entropy, NULL);
}

/* A batch interrupted by a stop makes no step. */
static mo_status gradient_step(trainer *s, mo_error *err)
{
    mo_rl_params *weights = s->policy->weights;

    if (mo_stop_reached(s->task->stop))
        return MO_OK;
    memset(s->gradient, 0, weights->n_values * sizeof *s->gradient);
    for (int j = 0; j < BATCH_SIZE; j++) {
        if (s->episodes[j].status != MO_OK)
            return mo_fail_memory(err);
        for (size_t i = 0; i < weights->n_values; i++)
            s->gradient[i] += s->episodes[j].gradient[i] / BATCH_SIZE;
    }
    mo_rl_adam_step(&s->adam, weights, s->gradient);
    s->entropy *= s->policy->entropy_decay;
    return MO_OK;
}

/* Factor on the entropy bonus after every other restart: graphs on which the
 * usual one fails repeatedly are solved by these, and vice versa. */
static const double entropy_factor = 3;

/* Batches without improvement until a restart, beside one for each unit. */
enum { PATIENCE = 50 };

static void start_run(trainer *s)
{
    if (s->n_runs++ > 0) {
        /* The result depends on the initialization, so that is drawn again. */
        mo_rl_params *weights = s->policy->weights;

        memcpy(weights->values, s->first_weights, param_bytes(s));
        mo_rl_params_randomize(
            weights, mo_random_seed(s->task->seed, (uint64_t) s->n_runs));
    }
    mo_rl_adam_reset(&s->adam, s->policy->weights);
    mo_rl_return_baseline_reset(&s->returns);
    s->entropy = s->policy->entropy * (s->n_runs % 2 == 0 ? entropy_factor : 1);
    memcpy(s->run.best, s->begin, unit_bytes(s));
    s->run.best_eval = s->begin_eval;
    s->run.improved_batch = s->batch;
}

static void report_progress(const trainer *s, double mean)
{
    char what[80];
    const mo_method_progress news = {
        .makespan_ns = s->best_eval.makespan_ns,
        .seconds = (double) (mo_stop_clock_ns() - s->start_ns) / 1e9,
        .what = what
    };

    if (!s->task->on_progress)
        return;
    snprintf(what, sizeof what, "episode %lld, mean %.3f of one device",
             (long long) (s->batch + 1) * BATCH_SIZE, mean);
    s->task->on_progress(s->task->context, &news);
}

/* Episodes skipped after a stop are left out. */
static mo_status process_batch(trainer *s, bool *whole, mo_error *err)
{
    double mean = 0, least = INFINITY;
    int n = 0;

    for (int j = 0; j < BATCH_SIZE; j++) {
        episode *e = &s->episodes[j];

        if (e->status != MO_OK)
            return mo_fail_memory(err);
        if (mo_rl_evaluation_better(&e->result.best, &s->run.best_eval)) {
            s->run.best_eval = e->result.best;
            s->run.improved_batch = s->batch;
            memcpy(s->run.best, e->device, unit_bytes(s));
        }
        if (mo_rl_evaluation_better(&e->result.best, &s->best_eval)) {
            s->best_eval = e->result.best;
            s->best_from_earlier_run = false;
            memcpy(s->best, e->device, unit_bytes(s));
            memcpy(s->best_rank, e->rank,
                   (size_t) s->task->x->n * sizeof *s->best_rank);
        }
        if (e->result.stopped)
            continue;
        n++;
        mean += e->result.mean;
        least = fmin(least, e->result.best.score);
    }
    *whole = n == BATCH_SIZE;
    if (n == 0)
        return MO_OK;
    report_progress(s, mean / n);
    if (s->curve)
        mo_out_printf(s->curve, "%lld,%.6f,%.6f,%.6f,%.6f\n",
                      (long long) s->batch * BATCH_SIZE + n, mean / n, least,
                      s->best_eval.score,
                      (double) s->best_eval.makespan_ns / 1e6);
    return MO_OK;
}

/* Where the fastest device has no room for all another one may have. */
static mo_status evaluate_initial(trainer *s, mo_error *err)
{
    mo_rl_evaluator *score = s->workers[0].evaluator;
    mo_status status;

    memcpy(s->begin, s->policy->begin, unit_bytes(s));
    status = mo_rl_evaluator_evaluate(score, s->begin, &s->begin_eval, err);
    for (int k = 0; k < s->task->x->n_devices && !s->begin_eval.fits; k++)
        if (status == MO_OK) {
            int *on = s->episodes[0].device;
            mo_rl_evaluation is;

            for (int u = 0; u < s->units->n; u++)
                on[u] = s->units->pin[u] == MO_FREE ? k : s->units->pin[u];
            status =
                mo_rl_evaluator_evaluate(s->workers[0].evaluator, on, &is, err);
            if (status == MO_OK &&
                mo_rl_evaluation_better(&is, &s->begin_eval)) {
                s->begin_eval = is;
                memcpy(s->begin, on, unit_bytes(s));
            }
        }
    if (status == MO_OK)
        status = mo_rl_evaluator_improve_order(score, s->begin, s->best_rank,
                                               &s->begin_eval, err);
    memcpy(s->best, s->begin, unit_bytes(s));
    s->best_eval = s->begin_eval;
    return status;
}

static mo_status run_training(trainer *s, mo_error *err)
{
    mo_status status = evaluate_initial(s, err);

    if (status == MO_OK)
        start_run(s);
    for (; status == MO_OK; s->batch++) {
        bool whole = false;

        if (s->batch > 0 &&
            ((s->task->rounds > 0 && s->batch >= s->task->rounds) ||
             mo_stop_reached(s->task->stop)))
            break;
        mo_parallel_for(s->n_workers, BATCH_SIZE, sample_one, s);
        status = process_batch(s, &whole, err);
        if (status != MO_OK || !whole || !s->trains)
            continue;

        /* Sets the returns and advantages of a batch from its scores, and adds
         * the returns to the baselines. The first batch is its own baseline.
         * Advantages of a part are normalized by their root mean square. */
        episode *batch = s->episodes;
        int n_parts = s->policy->n_parts;
        bool first = s->returns.n[0] == 0;

        /* The return from each part on. */
        for (int j = 0; j < BATCH_SIZE; j++)
            for (int c = 0; c < n_parts; c++)
                batch[j].returns[c] =
                    batch[j].scores[c] - batch[j].scores[n_parts];
        if (first)
            update_baseline(batch, &s->returns);
        for (int c = 0; c < n_parts; c++) {
            double square = 1e-12;

            for (int j = 0; j < BATCH_SIZE; j++) {
                const episode *e = &batch[j];

                e->advantage[c] = e->returns[c] - mo_rl_return_baseline_value(
                                                      &s->returns, e->kind, c);
                square += e->advantage[c] * e->advantage[c] / BATCH_SIZE;
            }
            for (int j = 0; j < BATCH_SIZE; j++)
                batch[j].advantage[c] /= sqrt(square);
        }
        if (!first)
            update_baseline(batch, &s->returns);
        mo_parallel_for(s->n_workers, BATCH_SIZE, train_one, s);
        status = gradient_step(s, err);
        /* Restarts after a long time without improvement. */
        if (s->batch - s->run.improved_batch < PATIENCE + s->units->n)
            continue;
        if (!s->best_from_earlier_run) {
            memcpy(s->best_weights, s->policy->weights->values, param_bytes(s));
            s->best_from_earlier_run = true;
        }
        start_run(s);
    }
    if (s->best_from_earlier_run)
        memcpy(s->policy->weights->values, s->best_weights, param_bytes(s));
    return status;
}

/* The result is valid even where the policy cannot be written. */
mo_status mo_rl_train(const mo_method_task *task,
                      const mo_placement_units *units,
                      const mo_rl_policy *policy, mo_method_result *placed,
                      mo_error *err)
{
    trainer s = { .task = task,
                  .units = units,
                  .policy = policy,
                  .returns = { .n_parts = policy->n_parts,
                               .baseline_decay = policy->baseline_decay },
                  .adam = { .rate = policy->rate, .max_norm = 5 },
                  .trains = !task->no_learning,
                  .start_ns = mo_stop_clock_ns() };
    mo_status status = alloc_buffers(&s, err);

    if (status == MO_OK) {
        memcpy(s.first_weights, s.policy->weights->values, param_bytes(&s));
        status = read_policy(&s, err);
    }
    if (status == MO_OK)
        status = mo_rl_return_baseline_init(&s.returns, err);
    if (status == MO_OK)
        status = mo_rl_adam_init(&s.adam, s.policy->weights, err);
    if (status == MO_OK)
        status = init_workers(&s, err);
    if (status == MO_OK)
        status = open_curve(&s, err);

    if (status == MO_OK)
        status = run_training(&s, err);
    if (status == MO_OK) {
        int64_t sum = 0;

        for (int i = 0; i < s.n_workers; i++)
            sum += mo_rl_evaluator_simulations(s.workers[i].evaluator);
        placed->simulations = sum;
        status = mo_rl_evaluator_make_schedule(s.workers[0].evaluator, s.best,
                                               s.best_rank, placed, err);
    }
    if (status == MO_OK) {
        /* Policy and curve are written however training ended. */
        if (s.curve) {
            status = mo_out_commit(s.curve, err);
            s.curve = NULL;
        }
        if (status == MO_OK && s.task->policy && s.trains)
            status = mo_rl_params_write(s.policy->weights, s.policy->kind,
                                        s.policy->about, s.policy->n_about,
                                        s.task->policy, err);
    }
    placed->rounds = (int) (s.batch < INT32_MAX ? s.batch : INT32_MAX);
    clear_trainer(&s);
    return status;
}
