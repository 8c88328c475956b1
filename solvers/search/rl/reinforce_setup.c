/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel_for.h"
#include "solvers/search/rl/reinforce_internal.h"

static mo_status open_seats(mo_rl_trainer *s, mo_error *err)
{
    mo_status status = MO_OK;

    s->n_seats =
        s->task->threads > 0 ? s->task->threads : mo_parallel_for_cores();
    if (s->n_seats > MO_RL_BATCH_SIZE)
        s->n_seats = MO_RL_BATCH_SIZE;
    s->seats = calloc((size_t) s->n_seats, sizeof *s->seats);
    if (!s->seats)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n_seats && status == MO_OK; i++) {
        mo_rl_worker *own = &s->seats[i];

        own->drawing = mo_rl_tape_new(s->pupil->weights, NULL);
        own->learning = mo_rl_tape_new(s->pupil->weights, s->gradient);
        if (!own->drawing || !own->learning)
            return mo_fail_memory(err);
        status = mo_rl_evaluator_new(s->task, s->units, &own->score, err);
    }
    return status;
}

static bool open_episode(const mo_rl_trainer *s, mo_rl_episode *e)
{
    size_t parts = (size_t) s->pupil->n_parts + 1;

    e->choices = calloc((size_t) s->pupil->n_choices + 1, sizeof *e->choices);
    e->device = calloc((size_t) s->units->n + 1, sizeof *e->device);
    e->rank = calloc((size_t) s->task->x->n + 1, sizeof *e->rank);
    e->scores = calloc(parts, sizeof *e->scores);
    e->returns = calloc(parts, sizeof *e->returns);
    e->advantage = calloc(parts, sizeof *e->advantage);
    e->gradient = calloc(s->pupil->weights->n_values + 1, sizeof *e->gradient);
    return e->choices && e->device && e->rank && e->scores && e->returns &&
           e->advantage && e->gradient;
}

static mo_status read_policy(const mo_rl_trainer *s, mo_error *err)
{
    const mo_rl_policy *p = s->pupil;

    if (!s->task->policy || access(s->task->policy, F_OK) != 0)
        return MO_OK;
    return mo_rl_params_read(p->weights, p->kind, p->about, p->n_about,
                             s->task->policy, err);
}

static mo_status open_memory(mo_rl_trainer *s, mo_error *err)
{
    size_t n_units = (size_t) s->units->n + 1,
           n_ops = (size_t) s->task->x->n + 1;
    size_t n_values = s->pupil->weights->n_values + 1;
    bool room = true;

    s->gradient = calloc(n_values, sizeof *s->gradient);
    s->first_weights = calloc(n_values, sizeof *s->first_weights);
    s->best_weights = calloc(n_values, sizeof *s->best_weights);
    s->life.best = calloc(n_units, sizeof *s->life.best);
    s->begin = calloc(n_units, sizeof *s->begin);
    s->best = calloc(n_units, sizeof *s->best);
    s->best_rank = calloc(n_ops, sizeof *s->best_rank);
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++)
        room = open_episode(s, &s->episodes[j]) && room;
    return s->gradient && s->first_weights && s->best_weights && s->life.best &&
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
    mo_status status = open_memory(s, err);

    if (status == MO_OK) {
        memcpy(s->first_weights, s->pupil->weights->values,
               mo_rl_trainer_param_bytes(s));
        status = read_policy(s, err);
    }
    if (status == MO_OK)
        status = mo_rl_return_baseline_init(&s->returns, err);
    if (status == MO_OK)
        status = mo_rl_adam_init(&s->adam, s->pupil->weights, err);
    if (status == MO_OK)
        status = open_seats(s, err);
    if (status == MO_OK)
        status = open_curve(s, err);
    return status;
}

void mo_rl_trainer_clear(mo_rl_trainer *s)
{
    for (int i = 0; s->seats && i < s->n_seats; i++) {
        mo_rl_tape_free(s->seats[i].drawing);
        mo_rl_tape_free(s->seats[i].learning);
        mo_rl_evaluator_free(s->seats[i].score);
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
    free(s->seats);
    free(s->gradient);
    free(s->first_weights);
    free(s->best_weights);
    free(s->life.best);
    free(s->begin);
    free(s->best);
    free(s->best_rank);
}
