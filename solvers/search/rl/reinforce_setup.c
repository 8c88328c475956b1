/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel_for.h"
#include "solvers/search/rl/reinforce_internal.h"

static mo_status init_workers(mo_rl_trainer *s, mo_error *err)
{
    mo_status status = MO_OK;

    s->n_workers =
        s->task->threads > 0 ? s->task->threads : mo_parallel_for_cores();
    if (s->n_workers > MO_RL_BATCH_SIZE)
        s->n_workers = MO_RL_BATCH_SIZE;
    s->workers = calloc((size_t) s->n_workers, sizeof *s->workers);
    if (!s->workers)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n_workers && status == MO_OK; i++) {
        mo_rl_worker *own = &s->workers[i];

        own->sample_tape = mo_rl_tape_new(s->policy->weights, NULL);
        own->train_tape = mo_rl_tape_new(s->policy->weights, s->gradient);
        if (!own->sample_tape || !own->train_tape)
            return mo_fail_memory(err);
        status = mo_rl_evaluator_new(s->task, s->units, &own->evaluator, err);
    }
    return status;
}

static bool alloc_episode(const mo_rl_trainer *s, mo_rl_episode *e)
{
    size_t parts = (size_t) s->policy->n_parts + 1;

    e->choices = calloc((size_t) s->policy->n_choices + 1, sizeof *e->choices);
    e->device = calloc((size_t) s->units->n + 1, sizeof *e->device);
    e->rank = calloc((size_t) s->task->x->n + 1, sizeof *e->rank);
    e->scores = calloc(parts, sizeof *e->scores);
    e->returns = calloc(parts, sizeof *e->returns);
    e->advantage = calloc(parts, sizeof *e->advantage);
    e->gradient = calloc(s->policy->weights->n_values + 1, sizeof *e->gradient);
    return e->choices && e->device && e->rank && e->scores && e->returns &&
           e->advantage && e->gradient;
}

static mo_status read_policy(const mo_rl_trainer *s, mo_error *err)
{
    const mo_rl_policy *p = s->policy;

    if (!s->task->policy || access(s->task->policy, F_OK) != 0)
        return MO_OK;
    return mo_rl_params_read(p->weights, p->kind, p->about, p->n_about,
                             s->task->policy, err);
}

static mo_status alloc_buffers(mo_rl_trainer *s, mo_error *err)
{
    size_t n_units = (size_t) s->units->n + 1,
           n_ops = (size_t) s->task->x->n + 1;
    size_t n_values = s->policy->weights->n_values + 1;
    bool room = true;

    s->gradient = calloc(n_values, sizeof *s->gradient);
    s->first_weights = calloc(n_values, sizeof *s->first_weights);
    s->best_weights = calloc(n_values, sizeof *s->best_weights);
    s->run.best = calloc(n_units, sizeof *s->run.best);
    s->begin = calloc(n_units, sizeof *s->begin);
    s->best = calloc(n_units, sizeof *s->best);
    s->best_rank = calloc(n_ops, sizeof *s->best_rank);
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++)
        room = alloc_episode(s, &s->episodes[j]) && room;
    return s->gradient && s->first_weights && s->best_weights && s->run.best &&
                   s->begin && s->best && s->best_rank && room
               ? MO_OK
               : mo_fail_memory(err);
}

static mo_status open_curve(mo_rl_trainer *s, mo_error *err)
{
    mo_status status;

    if (!s->task->curve)
        return MO_OK;
    status = mo_out_open(s->task->curve, &s->curve, err);
    if (status == MO_OK)
        mo_out_text(s->curve, "episodes,mean,least,best,best_makespan_ms\n");
    return status;
}

mo_status mo_rl_trainer_init(mo_rl_trainer *s, mo_error *err)
{
    mo_status status = alloc_buffers(s, err);

    if (status == MO_OK) {
        memcpy(s->first_weights, s->policy->weights->values,
               mo_rl_trainer_param_bytes(s));
        status = read_policy(s, err);
    }
    if (status == MO_OK)
        status = mo_rl_return_baseline_init(&s->returns, err);
    if (status == MO_OK)
        status = mo_rl_adam_init(&s->adam, s->policy->weights, err);
    if (status == MO_OK)
        status = init_workers(s, err);
    if (status == MO_OK)
        status = open_curve(s, err);
    return status;
}

void mo_rl_trainer_clear(mo_rl_trainer *s)
{
    for (int i = 0; s->workers && i < s->n_workers; i++) {
        mo_rl_tape_free(s->workers[i].sample_tape);
        mo_rl_tape_free(s->workers[i].train_tape);
        mo_rl_evaluator_free(s->workers[i].evaluator);
    }
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++) {
        free(s->episodes[j].choices);
        free(s->episodes[j].device);
        free(s->episodes[j].rank);
        free(s->episodes[j].scores);
        free(s->episodes[j].returns);
        free(s->episodes[j].advantage);
        free(s->episodes[j].gradient);
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
