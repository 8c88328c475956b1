/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "solvers/search/rl/reinforce_internal.h"

/* Those that begin anew, and those that go on from the best. */
static int kind_of(const mo_rl_trainer *s, int job)
{
    return s->pupil->resumes ? job % MO_RL_EPISODE_KINDS : 0;
}

/* An order has been looked for already for what it goes on from. */
static mo_status improve(const mo_rl_trainer *s, mo_rl_episode *e,
                         mo_rl_evaluator *score)
{
    if (memcmp(e->device, s->life.best, mo_rl_trainer_unit_bytes(s)) == 0 ||
        !isfinite(e->drawn.best.score))
        return MO_OK;
    return mo_rl_evaluator_improve_order(score, e->device, e->rank,
                                         &e->drawn.best, NULL);
}

static void draw_one(void *context, int job, int thread)
{
    mo_rl_trainer *s = context;
    mo_rl_episode *e = &s->episodes[job];
    mo_rl_worker *own = &s->seats[thread];
    mo_random random = { mo_random_seed(
        s->task->seed, (uint64_t) (s->batch * MO_RL_BATCH_SIZE + job)) };
    /* What is likeliest is looked at now and then. */
    bool likeliest = job == 0 && s->batch % 8 == 0;

    e->status = MO_OK;
    e->drawn = (mo_rl_episode_result){ .best = { .score = INFINITY },
                                       .stopped = true };
    if (mo_stop_reached(s->task->stop))
        return;
    e->drawn.stopped = false;
    memcpy(e->device, kind_of(s, job) == 0 ? s->begin : s->life.best,
           mo_rl_trainer_unit_bytes(s));
    e->status =
        s->pupil->attend(s->pupil, own->drawing, own->score, &random, likeliest,
                         e->choices, e->device, e->scores, &e->drawn, NULL);
    if (e->status == MO_OK)
        e->status = improve(s, e, own->score);
}

static void remember(mo_rl_trainer *s)
{
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++)
        mo_rl_return_baseline_add(&s->returns, kind_of(s, j),
                                  s->episodes[j].returns);
}

/* From each part on, what an episode gained. */
static void find_returns(mo_rl_trainer *s)
{
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++) {
        const mo_rl_episode *e = &s->episodes[j];

        for (int c = 0; c < s->pupil->n_parts; c++)
            e->returns[c] = e->scores[c] - e->scores[s->pupil->n_parts];
    }
}

/* The first batch has nothing before it: it is compared with itself.  Returns
 * are of one size whatever the graph: that of what they differ by. */
static void find_advantages(mo_rl_trainer *s)
{
    bool first = s->returns.n[0] == 0;

    find_returns(s);
    if (first)
        remember(s);
    for (int c = 0; c < s->pupil->n_parts; c++) {
        double square = 1e-12;

        for (int j = 0; j < MO_RL_BATCH_SIZE; j++) {
            const mo_rl_episode *e = &s->episodes[j];

            e->advantage[c] =
                e->returns[c] -
                mo_rl_return_baseline_value(&s->returns, kind_of(s, j), c);
            square += e->advantage[c] * e->advantage[c] / MO_RL_BATCH_SIZE;
        }
        for (int j = 0; j < MO_RL_BATCH_SIZE; j++)
            s->episodes[j].advantage[c] /= sqrt(square);
    }
    if (!first)
        remember(s);
}

static void learn_one(void *context, int job, int thread)
{
    mo_rl_trainer *s = context;
    mo_rl_episode *e = &s->episodes[job];

    if (mo_stop_reached(s->task->stop))
        return;
    memset(e->gradient, 0, s->pupil->weights->n_values * sizeof *e->gradient);
    mo_rl_tape_set_gradient(s->seats[thread].learning, e->gradient);
    e->status = s->pupil->learn(s->pupil, s->seats[thread].learning, e->choices,
                                e->advantage, s->entropy, NULL);
}

/* What a stop left half done teaches nothing. */
static mo_status step(mo_rl_trainer *s, mo_error *err)
{
    mo_rl_params *weights = s->pupil->weights;

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
    s->entropy *= s->pupil->tires;
    return MO_OK;
}

void mo_rl_trainer_sample_batch(mo_rl_trainer *s)
{
    mo_parallel_for(s->n_seats, MO_RL_BATCH_SIZE, draw_one, s);
}

mo_status mo_rl_trainer_update(mo_rl_trainer *s, mo_error *err)
{
    find_advantages(s);
    mo_parallel_for(s->n_seats, MO_RL_BATCH_SIZE, learn_one, s);
    return step(s, err);
}
