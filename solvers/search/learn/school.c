#include <config.h>

#include "solvers/search/learn/school.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/team.h"
#include "solvers/search/learn/adam.h"
#include "solvers/search/learn/returns.h"

/* Episodes of a batch. */
enum { BATCH = 8 };

/* What a thread has of its own. */
typedef struct seat {
    mo_tape *drawing; /* without derivatives */
    mo_tape *learning;
    mo_score *score;
} seat;

typedef struct episode {
    int *choices, *device;
    int *rank;      /* the best's */
    double *scores; /* n_parts + 1 */
    double *returns, *advantage;
    mo_real *gradient;
    mo_drawn drawn;
    mo_status status;
} episode;

/* What was found since it began anew. */
typedef struct life {
    int *best; /* by unit */
    mo_scored best_is;
    int64_t bettered; /* in which batch */
} life;

typedef struct school {
    const mo_task *task;
    const mo_units *units;
    const mo_pupil *pupil;
    seat *seats;
    int n_seats;
    episode episodes[BATCH];
    mo_returns returns;
    mo_real *gradient;
    mo_adam adam;
    int64_t batch; /* its number */
    double entropy;
    bool trains;

    life life;
    int n_lives;
    mo_real *first_weights; /* before any policy was read */
    mo_real *best_weights;  /* at the end of the one that found the best; while
                               that is the present one, they are the pupil's */
    bool best_is_past;

    int *begin, *best; /* by unit */
    int *best_rank;    /* by op */
    mo_scored begin_is, best_is;
    mo_out *curve;
    int64_t begun_ns;
} school;

/* ----------------------------------------------------------------- a batch */

/* Those that begin anew, and those that go on from the best. */
static int kind_of(const school *s, int job)
{
    return s->pupil->resumes ? job % MO_RETURNS_KINDS : 0;
}

static size_t unit_bytes(const school *s)
{
    return (size_t) s->units->n * sizeof(int);
}

/* An order has been looked for already for what it goes on from. */
static mo_status improve(const school *s, episode *e, mo_score *score)
{
    if (memcmp(e->device, s->life.best, unit_bytes(s)) == 0 ||
        !isfinite(e->drawn.best.score))
        return MO_OK;
    return mo_score_improve(score, e->device, e->rank, &e->drawn.best, NULL);
}

static void draw_one(void *context, int job, int thread)
{
    school *s = context;
    episode *e = &s->episodes[job];
    seat *own = &s->seats[thread];
    mo_random random = { mo_random_seed(s->task->seed,
                                        (uint64_t) (s->batch * BATCH + job)) };
    /* What is likeliest is looked at now and then. */
    bool likeliest = job == 0 && s->batch % 8 == 0;

    e->status = MO_OK;
    e->drawn = (mo_drawn){ .best = { .score = INFINITY }, .stopped = true };
    if (mo_stop_now(s->task->stop))
        return;
    e->drawn.stopped = false;
    memcpy(e->device, kind_of(s, job) == 0 ? s->begin : s->life.best,
           unit_bytes(s));
    e->status =
        s->pupil->attend(s->pupil, own->drawing, own->score, &random, likeliest,
                         e->choices, e->device, e->scores, &e->drawn, NULL);
    if (e->status == MO_OK)
        e->status = improve(s, e, own->score);
}

static void remember(school *s)
{
    for (int j = 0; j < BATCH; j++)
        mo_returns_add(&s->returns, kind_of(s, j), s->episodes[j].returns);
}

/* From each part on, what an episode gained. */
static void find_returns(school *s)
{
    for (int j = 0; j < BATCH; j++) {
        const episode *e = &s->episodes[j];

        for (int c = 0; c < s->pupil->n_parts; c++)
            e->returns[c] = e->scores[c] - e->scores[s->pupil->n_parts];
    }
}

/* The first batch has nothing before it: it is compared with itself.  Returns
 * are of one size whatever the graph: that of what they differ by. */
static void find_advantages(school *s)
{
    bool first = s->returns.n[0] == 0;

    find_returns(s);
    if (first)
        remember(s);
    for (int c = 0; c < s->pupil->n_parts; c++) {
        double square = 1e-12;

        for (int j = 0; j < BATCH; j++) {
            const episode *e = &s->episodes[j];

            e->advantage[c] =
                e->returns[c] -
                mo_returns_expected(&s->returns, kind_of(s, j), c);
            square += e->advantage[c] * e->advantage[c] / BATCH;
        }
        for (int j = 0; j < BATCH; j++)
            s->episodes[j].advantage[c] /= sqrt(square);
    }
    if (!first)
        remember(s);
}

static void learn_one(void *context, int job, int thread)
{
    school *s = context;
    episode *e = &s->episodes[job];

    if (mo_stop_now(s->task->stop))
        return;
    memset(e->gradient, 0, s->pupil->weights->n_values * sizeof *e->gradient);
    mo_tape_lead(s->seats[thread].learning, e->gradient);
    e->status = s->pupil->learn(s->pupil, s->seats[thread].learning, e->choices,
                                e->advantage, s->entropy, NULL);
}

/* What a stop left half done teaches nothing. */
static mo_status step(school *s, mo_error *err)
{
    mo_weights *weights = s->pupil->weights;

    if (mo_stop_now(s->task->stop))
        return MO_OK;
    memset(s->gradient, 0, weights->n_values * sizeof *s->gradient);
    for (int j = 0; j < BATCH; j++) {
        if (s->episodes[j].status != MO_OK)
            return mo_fail_memory(err);
        for (size_t i = 0; i < weights->n_values; i++)
            s->gradient[i] += s->episodes[j].gradient[i] / BATCH;
    }
    mo_adam_step(&s->adam, weights, s->gradient);
    s->entropy *= s->pupil->tires;
    return MO_OK;
}

/* -------------------------------------------------------------------- lives */

static size_t weight_bytes(const school *s)
{
    return s->pupil->weights->n_values * sizeof(mo_real);
}

/* Where a policy ends depends on what it begins with, so that is drawn anew. */
static void draw_weights(school *s)
{
    mo_weights *weights = s->pupil->weights;

    memcpy(weights->values, s->first_weights, weight_bytes(s));
    mo_weights_draw(weights,
                    mo_random_seed(s->task->seed, (uint64_t) s->n_lives));
}

static void begin_life(school *s)
{
    if (s->n_lives++ > 0)
        draw_weights(s);
    mo_adam_forget(&s->adam, s->pupil->weights);
    mo_returns_forget(&s->returns);
    s->entropy = s->pupil->entropy;
    memcpy(s->life.best, s->begin, unit_bytes(s));
    s->life.best_is = s->begin_is;
    s->life.bettered = s->batch;
}

/* It is over when nothing better has come for long. */
static void end_life(school *s)
{
    if (s->batch - s->life.bettered < s->pupil->patience)
        return;
    if (!s->best_is_past) {
        memcpy(s->best_weights, s->pupil->weights->values, weight_bytes(s));
        s->best_is_past = true;
    }
    begin_life(s);
}

/* ------------------------------------------------------------------ the best
 */

static void keep_better(school *s, const episode *e)
{
    if (mo_score_better(&e->drawn.best, &s->life.best_is)) {
        s->life.best_is = e->drawn.best;
        s->life.bettered = s->batch;
        memcpy(s->life.best, e->device, unit_bytes(s));
    }
    if (mo_score_better(&e->drawn.best, &s->best_is)) {
        s->best_is = e->drawn.best;
        s->best_is_past = false;
        memcpy(s->best, e->device, unit_bytes(s));
        memcpy(s->best_rank, e->rank,
               (size_t) s->task->x->n * sizeof *s->best_rank);
    }
}

static double seconds(const school *s)
{
    return (double) (mo_stop_clock_ns() - s->begun_ns) / 1e9;
}

static void tell(const school *s, double mean)
{
    char what[80];
    const mo_news news = { .makespan_ns = s->best_is.makespan_ns,
                           .seconds = seconds(s),
                           .what = what };

    if (!s->task->tell)
        return;
    snprintf(what, sizeof what, "episode %lld, mean %.3f of one device",
             (long long) (s->batch + 1) * BATCH, mean);
    s->task->tell(s->task->context, &news);
}

/* Episodes that a stop left out are not there. */
static mo_status look_at_batch(school *s, bool *whole, mo_error *err)
{
    double mean = 0, least = INFINITY;
    int n = 0;

    for (int j = 0; j < BATCH; j++) {
        episode *e = &s->episodes[j];

        if (e->status != MO_OK)
            return mo_fail_memory(err);
        keep_better(s, e);
        if (e->drawn.stopped)
            continue;
        n++;
        mean += e->drawn.mean;
        least = fmin(least, e->drawn.best.score);
    }
    *whole = n == BATCH;
    if (n == 0)
        return MO_OK;
    tell(s, mean / n);
    if (s->curve)
        mo_out_printf(s->curve, "%lld,%.6f,%.6f,%.6f,%.6f\n",
                      (long long) s->batch * BATCH + n, mean / n, least,
                      s->best_is.score, (double) s->best_is.makespan_ns / 1e6);
    return MO_OK;
}

/* -------------------------------------------------------------------- school
 */

static bool goes_on(const school *s)
{
    if (s->batch == 0)
        return true;
    if (s->task->rounds > 0 && s->batch >= s->task->rounds)
        return false;
    return !mo_stop_now(s->task->stop);
}

static mo_status begin_on(school *s, int device, mo_error *err)
{
    int *on = s->episodes[0].device;
    mo_scored is;
    mo_status status;

    for (int u = 0; u < s->units->n; u++)
        on[u] = s->units->pin[u] == MO_FREE ? device : s->units->pin[u];
    status = mo_score_of(s->seats[0].score, on, &is, err);
    if (status == MO_OK && mo_score_better(&is, &s->begin_is)) {
        s->begin_is = is;
        memcpy(s->begin, on, unit_bytes(s));
    }
    return status;
}

/* Where the quickest device has no room for all another one may have. */
static mo_status know_begin(school *s, mo_error *err)
{
    mo_score *score = s->seats[0].score;
    mo_status status;

    memcpy(s->begin, s->pupil->begin, unit_bytes(s));
    status = mo_score_of(score, s->begin, &s->begin_is, err);
    for (int k = 0; k < s->task->x->n_devices && !s->begin_is.fits; k++)
        if (status == MO_OK)
            status = begin_on(s, k, err);
    if (status == MO_OK)
        status =
            mo_score_improve(score, s->begin, s->best_rank, &s->begin_is, err);
    memcpy(s->best, s->begin, unit_bytes(s));
    s->best_is = s->begin_is;
    return status;
}

static mo_status train(school *s, mo_error *err)
{
    mo_status status = know_begin(s, err);

    if (status == MO_OK)
        begin_life(s);
    for (; goes_on(s) && status == MO_OK; s->batch++) {
        bool whole = false;

        mo_team_run(s->n_seats, BATCH, draw_one, s);
        status = look_at_batch(s, &whole, err);
        if (status != MO_OK || !whole || !s->trains)
            continue;
        find_advantages(s);
        mo_team_run(s->n_seats, BATCH, learn_one, s);
        status = step(s, err);
        end_life(s);
    }
    if (s->best_is_past)
        memcpy(s->pupil->weights->values, s->best_weights, weight_bytes(s));
    return status;
}

static mo_status open_seats(school *s, mo_error *err)
{
    mo_status status = MO_OK;

    s->n_seats = s->task->threads > 0 ? s->task->threads : mo_team_cores();
    if (s->n_seats > BATCH)
        s->n_seats = BATCH;
    s->seats = calloc((size_t) s->n_seats, sizeof *s->seats);
    if (!s->seats)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n_seats && status == MO_OK; i++) {
        seat *own = &s->seats[i];

        own->drawing = mo_tape_new(s->pupil->weights, NULL);
        own->learning = mo_tape_new(s->pupil->weights, s->gradient);
        if (!own->drawing || !own->learning)
            return mo_fail_memory(err);
        status = mo_score_new(s->task, s->units, &own->score, err);
    }
    return status;
}

static bool open_episode(const school *s, episode *e)
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

static mo_status read_policy(const school *s, mo_error *err)
{
    const mo_pupil *p = s->pupil;

    if (!s->task->policy || access(s->task->policy, F_OK) != 0)
        return MO_OK;
    return mo_weights_read(p->weights, p->kind, p->about, p->n_about,
                           s->task->policy, err);
}

static mo_status open_memory(school *s, mo_error *err)
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
    for (int j = 0; j < BATCH; j++)
        room = open_episode(s, &s->episodes[j]) && room;
    return s->gradient && s->first_weights && s->best_weights && s->life.best &&
                   s->begin && s->best && s->best_rank && room
               ? MO_OK
               : mo_fail_memory(err);
}

static mo_status open_curve(school *s, mo_error *err)
{
    mo_status status;

    if (!s->task->curve)
        return MO_OK;
    status = mo_out_open(s->task->curve, &s->curve, err);
    if (status == MO_OK)
        mo_out_text(s->curve, "episodes,mean,least,best,best_makespan_ms\n");
    return status;
}

static mo_status open_school(school *s, mo_error *err)
{
    mo_status status = open_memory(s, err);

    if (status == MO_OK) {
        memcpy(s->first_weights, s->pupil->weights->values, weight_bytes(s));
        status = read_policy(s, err);
    }
    if (status == MO_OK)
        status = mo_returns_init(&s->returns, err);
    if (status == MO_OK)
        status = mo_adam_init(&s->adam, s->pupil->weights, err);
    if (status == MO_OK)
        status = open_seats(s, err);
    if (status == MO_OK)
        status = open_curve(s, err);
    return status;
}

static void close_school(school *s)
{
    for (int i = 0; s->seats && i < s->n_seats; i++) {
        mo_tape_free(s->seats[i].drawing);
        mo_tape_free(s->seats[i].learning);
        mo_score_free(s->seats[i].score);
    }
    for (int j = 0; j < BATCH; j++) {
        free(s->episodes[j].choices);
        free(s->episodes[j].device);
        free(s->episodes[j].rank);
        free(s->episodes[j].scores);
        free(s->episodes[j].returns);
        free(s->episodes[j].advantage);
        free(s->episodes[j].gradient);
    }
    mo_adam_clear(&s->adam);
    mo_returns_clear(&s->returns);
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

/* What was learned and how is written whatever ended it. */
static mo_status write_down(school *s, mo_error *err)
{
    const mo_pupil *p = s->pupil;
    mo_status status = MO_OK;

    if (s->curve) {
        status = mo_out_commit(s->curve, err);
        s->curve = NULL;
    }
    if (status == MO_OK && s->task->policy && s->trains)
        status = mo_weights_write(p->weights, p->kind, p->about, p->n_about,
                                  s->task->policy, err);
    return status;
}

static int64_t simulations(const school *s)
{
    int64_t sum = 0;

    for (int i = 0; i < s->n_seats; i++)
        sum += mo_score_simulations(s->seats[i].score);
    return sum;
}

/* The answer stands, even where what was learned cannot be written. */
mo_status mo_school(const mo_task *task, const mo_units *units,
                    const mo_pupil *pupil, mo_placed *placed, mo_error *err)
{
    school s = { .task = task,
                 .units = units,
                 .pupil = pupil,
                 .returns = { .n_parts = pupil->n_parts,
                              .fades = pupil->fades },
                 .adam = { .rate = pupil->rate, .most = 5 },
                 .trains = !task->no_learning,
                 .begun_ns = mo_stop_clock_ns() };
    mo_status status = open_school(&s, err);

    if (status == MO_OK)
        status = train(&s, err);
    if (status == MO_OK) {
        placed->simulations = simulations(&s);
        status =
            mo_score_keep(s.seats[0].score, s.best, s.best_rank, placed, err);
    }
    if (status == MO_OK)
        status = write_down(&s, err);
    placed->rounds = (int) (s.batch < INT32_MAX ? s.batch : INT32_MAX);
    close_school(&s);
    return status;
}
