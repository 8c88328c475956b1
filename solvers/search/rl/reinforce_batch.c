#include <math.h>
#include <string.h>

#include "base/parallel_for.h"
#include "solvers/search/rl/reinforce_internal.h"

/* Those that begin anew, and those that go on from the best. */
static int kind_of(const mo_school_run *s, int job)
{
    return s->pupil->resumes ? job % MO_RETURNS_KINDS : 0;
}

/* An order has been looked for already for what it goes on from. */
static mo_status improve(const mo_school_run *s, mo_episode *e, mo_score *score)
{
    if (memcmp(e->device, s->life.best, mo_school_unit_bytes(s)) == 0 ||
        !isfinite(e->drawn.best.score))
        return MO_OK;
    return mo_score_improve(score, e->device, e->rank, &e->drawn.best, NULL);
}

static void draw_one(void *context, int job, int thread)
{
    mo_school_run *s = context;
    mo_episode *e = &s->episodes[job];
    mo_seat *own = &s->seats[thread];
    mo_random random = { mo_random_seed(
        s->task->seed, (uint64_t) (s->batch * MO_SCHOOL_BATCH + job)) };
    /* What is likeliest is looked at now and then. */
    bool likeliest = job == 0 && s->batch % 8 == 0;

    e->status = MO_OK;
    e->drawn = (mo_drawn){ .best = { .score = INFINITY }, .stopped = true };
    if (mo_stop_now(s->task->stop))
        return;
    e->drawn.stopped = false;
    memcpy(e->device, kind_of(s, job) == 0 ? s->begin : s->life.best,
           mo_school_unit_bytes(s));
    e->status =
        s->pupil->attend(s->pupil, own->drawing, own->score, &random, likeliest,
                         e->choices, e->device, e->scores, &e->drawn, NULL);
    if (e->status == MO_OK)
        e->status = improve(s, e, own->score);
}

static void remember(mo_school_run *s)
{
    for (int j = 0; j < MO_SCHOOL_BATCH; j++)
        mo_returns_add(&s->returns, kind_of(s, j), s->episodes[j].returns);
}

/* From each part on, what an episode gained. */
static void find_returns(mo_school_run *s)
{
    for (int j = 0; j < MO_SCHOOL_BATCH; j++) {
        const mo_episode *e = &s->episodes[j];

        for (int c = 0; c < s->pupil->n_parts; c++)
            e->returns[c] = e->scores[c] - e->scores[s->pupil->n_parts];
    }
}

/* The first batch has nothing before it: it is compared with itself.  Returns
 * are of one size whatever the graph: that of what they differ by. */
static void find_advantages(mo_school_run *s)
{
    bool first = s->returns.n[0] == 0;

    find_returns(s);
    if (first)
        remember(s);
    for (int c = 0; c < s->pupil->n_parts; c++) {
        double square = 1e-12;

        for (int j = 0; j < MO_SCHOOL_BATCH; j++) {
            const mo_episode *e = &s->episodes[j];

            e->advantage[c] =
                e->returns[c] -
                mo_returns_expected(&s->returns, kind_of(s, j), c);
            square += e->advantage[c] * e->advantage[c] / MO_SCHOOL_BATCH;
        }
        for (int j = 0; j < MO_SCHOOL_BATCH; j++)
            s->episodes[j].advantage[c] /= sqrt(square);
    }
    if (!first)
        remember(s);
}

static void learn_one(void *context, int job, int thread)
{
    mo_school_run *s = context;
    mo_episode *e = &s->episodes[job];

    if (mo_stop_now(s->task->stop))
        return;
    memset(e->gradient, 0, s->pupil->weights->n_values * sizeof *e->gradient);
    mo_tape_lead(s->seats[thread].learning, e->gradient);
    e->status = s->pupil->learn(s->pupil, s->seats[thread].learning, e->choices,
                                e->advantage, s->entropy, NULL);
}

/* What a stop left half done teaches nothing. */
static mo_status step(mo_school_run *s, mo_error *err)
{
    mo_weights *weights = s->pupil->weights;

    if (mo_stop_now(s->task->stop))
        return MO_OK;
    memset(s->gradient, 0, weights->n_values * sizeof *s->gradient);
    for (int j = 0; j < MO_SCHOOL_BATCH; j++) {
        if (s->episodes[j].status != MO_OK)
            return mo_fail_memory(err);
        for (size_t i = 0; i < weights->n_values; i++)
            s->gradient[i] += s->episodes[j].gradient[i] / MO_SCHOOL_BATCH;
    }
    mo_adam_step(&s->adam, weights, s->gradient);
    s->entropy *= s->pupil->tires;
    return MO_OK;
}

void mo_school_draw(mo_school_run *s)
{
    mo_team_run(s->n_seats, MO_SCHOOL_BATCH, draw_one, s);
}

mo_status mo_school_learn(mo_school_run *s, mo_error *err)
{
    find_advantages(s);
    mo_team_run(s->n_seats, MO_SCHOOL_BATCH, learn_one, s);
    return step(s, err);
}
