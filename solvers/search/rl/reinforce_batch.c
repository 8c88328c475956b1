/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "solvers/search/rl/reinforce_internal.h"

/* Those from the initial placement, and those from the best. */
static int episode_kind(const mo_rl_trainer *s, int job)
{
    return s->policy->resumes ? job % MO_RL_EPISODE_KINDS : 0;
}

/* The starting placement already has an improved order. */
static mo_status improve_order(const mo_rl_trainer *s, mo_rl_episode *e,
                               mo_rl_evaluator *score)
{
    if (memcmp(e->device, s->run.best, mo_rl_trainer_unit_bytes(s)) == 0 ||
        !isfinite(e->result.best.score))
        return MO_OK;
    return mo_rl_evaluator_improve_order(score, e->device, e->rank,
                                         &e->result.best, NULL);
}

static void sample_one(void *context, int job, int thread)
{
    mo_rl_trainer *s = context;
    mo_rl_episode *e = &s->episodes[job];
    mo_rl_worker *own = &s->workers[thread];
    mo_random random = { mo_random_seed(
        s->task->seed, (uint64_t) (s->batch * MO_RL_BATCH_SIZE + job)) };
    /* The mode is evaluated now and then. */
    bool greedy = job == 0 && s->batch % 8 == 0;

    e->status = MO_OK;
    e->result = (mo_rl_episode_result){ .best = { .score = INFINITY },
                                        .stopped = true };
    if (mo_stop_reached(s->task->stop))
        return;
    e->result.stopped = false;
    memcpy(e->device, episode_kind(s, job) == 0 ? s->begin : s->run.best,
           mo_rl_trainer_unit_bytes(s));
    e->status = s->policy->sample(s->policy, own->sample_tape, own->evaluator,
                                  &random, greedy, e->choices, e->device,
                                  e->scores, &e->result, NULL);
    if (e->status == MO_OK)
        e->status = improve_order(s, e, own->evaluator);
}

static void update_baseline(mo_rl_trainer *s)
{
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++)
        mo_rl_return_baseline_add(&s->returns, episode_kind(s, j),
                                  s->episodes[j].returns);
}

/* The return from each part on. */
static void find_returns(mo_rl_trainer *s)
{
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++) {
        const mo_rl_episode *e = &s->episodes[j];

        for (int c = 0; c < s->policy->n_parts; c++)
            e->returns[c] = e->scores[c] - e->scores[s->policy->n_parts];
    }
}

/* The first batch is its own baseline.  Advantages are normalized by their
 * root mean square. */
static void find_advantages(mo_rl_trainer *s)
{
    bool first = s->returns.n[0] == 0;

    find_returns(s);
    if (first)
        update_baseline(s);
    for (int c = 0; c < s->policy->n_parts; c++) {
        double square = 1e-12;

        for (int j = 0; j < MO_RL_BATCH_SIZE; j++) {
            const mo_rl_episode *e = &s->episodes[j];

            e->advantage[c] =
                e->returns[c] -
                mo_rl_return_baseline_value(&s->returns, episode_kind(s, j), c);
            square += e->advantage[c] * e->advantage[c] / MO_RL_BATCH_SIZE;
        }
        for (int j = 0; j < MO_RL_BATCH_SIZE; j++)
            s->episodes[j].advantage[c] /= sqrt(square);
    }
    if (!first)
        update_baseline(s);
}

static void train_one(void *context, int job, int thread)
{
    mo_rl_trainer *s = context;
    mo_rl_episode *e = &s->episodes[job];

    if (mo_stop_reached(s->task->stop))
        return;
    memset(e->gradient, 0, s->policy->weights->n_values * sizeof *e->gradient);
    mo_rl_tape_set_gradient(s->workers[thread].train_tape, e->gradient);
    e->status = s->policy->learn(s->policy, s->workers[thread].train_tape,
                                 e->choices, e->advantage, s->entropy, NULL);
}

/* A batch interrupted by a stop makes no step. */
static mo_status gradient_step(mo_rl_trainer *s, mo_error *err)
{
    mo_rl_params *weights = s->policy->weights;

    if (mo_stop_reached(s->task->stop))
        return MO_OK;
    memset(s->gradient, 0, weights->n_values * sizeof *s->gradient);
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++) {
        if (s->episodes[j].status != MO_OK)
            return mo_fail_memory(err);
        for (size_t i = 0; i < weights->n_values; i++)
            s->gradient[i] += s->episodes[j].gradient[i] / MO_RL_BATCH_SIZE;
    }
    mo_rl_adam_step(&s->adam, weights, s->gradient);
    s->entropy *= s->policy->entropy_decay;
    return MO_OK;
}

void mo_rl_trainer_sample_batch(mo_rl_trainer *s)
{
    mo_parallel_for(s->n_workers, MO_RL_BATCH_SIZE, sample_one, s);
}

mo_status mo_rl_trainer_update(mo_rl_trainer *s, mo_error *err)
{
    find_advantages(s);
    mo_parallel_for(s->n_workers, MO_RL_BATCH_SIZE, train_one, s);
    return gradient_step(s, err);
}
