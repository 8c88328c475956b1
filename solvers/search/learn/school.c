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

/* Episodes of a batch; returns that the next ones are compared with; those that
 * begin anew, and those that go on from the best. */
enum { BATCH = 8, REMEMBERED = 10, KINDS = 2 };

/* What a thread has of its own. */
typedef struct seat {
    mo_tape *drawing; /* without derivatives */
    mo_tape *learning;
    mo_score *score;
} seat;

typedef struct episode {
    int *choices, *device;
    double *scores; /* n_parts + 1 */
    double *advantage;
    mo_real *gradient;
    mo_drawn drawn;
    mo_status status;
    bool done;
} episode;

typedef struct school {
    const mo_task *task;
    const mo_units *units;
    const mo_pupil *pupil;
    seat *seats;
    int n_seats;
    episode episodes[BATCH];
    /* By kind of episode and part, since from what is good already there is
     * less to gain: the last returns, REMEMBERED each; their mean that fades.
     */
    double *returns, *fading;
    int64_t n_returns[KINDS];
    mo_real *gradient;
    mo_adam adam;
    int64_t batch; /* its number */
    double entropy;
    bool trains;

    int *best; /* by unit */
    mo_scored best_is;
    mo_out *curve;
    int64_t begun_ns;
} school;

/* ----------------------------------------------------------------- a batch */

static int kind_of(const school *s, int job)
{
    return s->pupil->resumes ? job % KINDS : 0;
}

/* Where its returns are: see returns. */
static size_t place_of(const school *s, int kind, int part)
{
    return (size_t) kind * (size_t) s->pupil->n_parts + (size_t) part;
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

    e->done = false;
    e->status = MO_OK;
    e->drawn = (mo_drawn){ .best = { .score = INFINITY } };
    memcpy(e->device, kind_of(s, job) == 0 ? s->pupil->begin : s->best,
           (size_t) s->units->n * sizeof *e->device);
    if (s->batch > 0 && mo_stop_now(s->task->stop))
        return;
    e->status =
        s->pupil->attend(s->pupil, own->drawing, own->score, &random, likeliest,
                         e->choices, e->device, e->scores, &e->drawn, NULL);
    e->done = e->status == MO_OK;
}

/* From a part on, what an episode gained. */
static double return_of(const school *s, const episode *e, int part)
{
    return e->scores[part] - e->scores[s->pupil->n_parts];
}

static double mean_return(const school *s, int kind, int part)
{
    size_t place = place_of(s, kind, part);
    int64_t all = s->n_returns[kind];
    int n = all < REMEMBERED ? (int) all : REMEMBERED;
    double sum = 0;

    if (s->pupil->fades > 0)
        return s->fading[place];
    for (int i = 0; i < n; i++)
        sum += s->returns[place * REMEMBERED + (size_t) i];
    return n > 0 ? sum / n : 0;
}

/* At first a plain mean: there is nothing yet that could fade. */
static void fade(const school *s, int64_t n_returns, double *mean, double is)
{
    double weight = fmax(1 - s->pupil->fades, 1 / ((double) n_returns + 1));

    *mean += weight * (is - *mean);
}

static void remember(school *s)
{
    for (int j = 0; j < BATCH; j++) {
        int64_t *n = &s->n_returns[kind_of(s, j)];
        size_t at = (size_t) (*n % REMEMBERED);

        for (int c = 0; c < s->pupil->n_parts; c++) {
            size_t place = place_of(s, kind_of(s, j), c);
            double is = return_of(s, &s->episodes[j], c);

            s->returns[place * REMEMBERED + at] = is;
            fade(s, *n, &s->fading[place], is);
        }
        (*n)++;
    }
}

/* The first batch has nothing before it: it is compared with itself.  Returns
 * are of one size whatever the graph: that of what they differ by. */
static void find_advantages(school *s)
{
    bool first = s->n_returns[0] == 0;

    if (first)
        remember(s);
    for (int c = 0; c < s->pupil->n_parts; c++) {
        double square = 1e-12;

        for (int j = 0; j < BATCH; j++) {
            double *advantage = &s->episodes[j].advantage[c];

            *advantage = return_of(s, &s->episodes[j], c) -
                         mean_return(s, kind_of(s, j), c);
            square += *advantage * *advantage / BATCH;
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

    memset(e->gradient, 0, s->pupil->weights->n_values * sizeof *e->gradient);
    mo_tape_lead(s->seats[thread].learning, e->gradient);
    e->status = s->pupil->learn(s->pupil, s->seats[thread].learning, e->choices,
                                e->advantage, s->entropy, NULL);
}

static mo_status step(school *s, mo_error *err)
{
    mo_weights *weights = s->pupil->weights;

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

/* ------------------------------------------------------------------ the best
 */

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
        if (!e->done)
            continue;
        n++;
        mean += e->drawn.mean;
        least = fmin(least, e->drawn.best.score);
        if (!mo_score_better(&e->drawn.best, &s->best_is))
            continue;
        s->best_is = e->drawn.best;
        memcpy(s->best, e->device, (size_t) s->units->n * sizeof *s->best);
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

static mo_status know_begin(school *s, mo_error *err)
{
    memcpy(s->best, s->pupil->begin, (size_t) s->units->n * sizeof *s->best);
    return mo_score_of(s->seats[0].score, s->best, &s->best_is, err);
}

static mo_status train(school *s, mo_error *err)
{
    mo_status status = know_begin(s, err);

    for (; goes_on(s) && status == MO_OK; s->batch++) {
        bool whole = false;

        mo_team_run(s->n_seats, BATCH, draw_one, s);
        status = look_at_batch(s, &whole, err);
        if (status != MO_OK || !whole || !s->trains)
            continue;
        find_advantages(s);
        mo_team_run(s->n_seats, BATCH, learn_one, s);
        status = step(s, err);
    }
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
    e->scores = calloc(parts, sizeof *e->scores);
    e->advantage = calloc(parts, sizeof *e->advantage);
    e->gradient = calloc(s->pupil->weights->n_values + 1, sizeof *e->gradient);
    return e->choices && e->device && e->scores && e->advantage && e->gradient;
}

static mo_status read_policy(const school *s, mo_error *err)
{
    const mo_pupil *p = s->pupil;

    if (!s->task->policy || access(s->task->policy, F_OK) != 0)
        return MO_OK;
    return mo_weights_read(p->weights, p->kind, p->about, p->n_about,
                           s->task->policy, err);
}

static mo_status open_school(school *s, mo_error *err)
{
    size_t means = KINDS * (size_t) s->pupil->n_parts + 1;
    bool room = true;
    mo_status status = read_policy(s, err);

    if (status != MO_OK)
        return status;
    s->gradient = calloc(s->pupil->weights->n_values + 1, sizeof *s->gradient);
    s->best = calloc((size_t) s->units->n + 1, sizeof *s->best);
    s->returns = calloc(means * REMEMBERED, sizeof *s->returns);
    s->fading = calloc(means, sizeof *s->fading);
    for (int j = 0; j < BATCH; j++)
        room = open_episode(s, &s->episodes[j]) && room;
    if (!s->gradient || !s->best || !s->returns || !s->fading || !room)
        return mo_fail_memory(err);
    status = mo_adam_init(&s->adam, s->pupil->weights, err);
    if (status == MO_OK)
        status = open_seats(s, err);
    if (status == MO_OK && s->task->curve) {
        status = mo_out_open(s->task->curve, &s->curve, err);
        if (status == MO_OK)
            mo_out_text(s->curve,
                        "episodes,mean,least,best,best_makespan_ms\n");
    }
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
        free(s->episodes[j].scores);
        free(s->episodes[j].advantage);
        free(s->episodes[j].gradient);
    }
    mo_adam_clear(&s->adam);
    mo_out_abandon(s->curve);
    free(s->seats);
    free(s->gradient);
    free(s->best);
    free(s->returns);
    free(s->fading);
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

mo_status mo_school(const mo_task *task, const mo_units *units,
                    const mo_pupil *pupil, mo_placed *placed, mo_error *err)
{
    school s = { .task = task,
                 .units = units,
                 .pupil = pupil,
                 .adam = { .rate = pupil->rate, .most = 5 },
                 .entropy = pupil->entropy,
                 .trains = !task->no_learning,
                 .begun_ns = mo_stop_clock_ns() };
    mo_status status = open_school(&s, err);

    if (status == MO_OK)
        status = train(&s, err);
    if (status == MO_OK)
        status = write_down(&s, err);
    if (status == MO_OK)
        status = mo_score_keep(s.seats[0].score, s.best, placed, err);
    placed->rounds = (int) (s.batch < INT32_MAX ? s.batch : INT32_MAX);
    close_school(&s);
    return status;
}
