#include <config.h>

#include "driver/portfolio.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "driver/progress_line.h"
#include "driver/mip_start_file.h"
#include "solvers/process/interrupt.h"

/* A solver that does not stop by itself at its limit is killed so much
 * later. */
#define GRACE_S 1.5

/* No less time is given to a solver. */
#define LEAST_S 0.1

typedef struct race {
    const mo_contest_options *options;
    const char *model;
    const mo_workdir *folder;
    const mo_talk *talk;
    mo_contest *contest;
    mo_live live;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool decided;
} race;

typedef struct runner {
    race *race;
    mo_entry *entry;
    pthread_t thread;
    bool started;
} runner;

static mo_status make_folder(const char *path, mo_error *err)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return mo_fail_errno(err, path, "cannot make the folder");
    return MO_OK;
}

static mo_status run_way(race *r, mo_entry *e, const mo_job *job)
{
    const mo_run_options options = { .way = e->way,
                                     .command = r->options->command,
                                     .grace_s = GRACE_S,
                                     .scratch = mo_workdir_path(r->folder),
                                     .progress = mo_live_step,
                                     .line = mo_live_line,
                                     .context = &r->live };

    return mo_run(e->solver, &e->found, job, &options, &e->outcome, &e->err);
}

/* A library that would not (Gurobi's without a licence for it) is no reason to
 * leave the program untried. */
static bool try_program(const race *r, const mo_entry *e)
{
    return !r->options->via && e->way == MO_WAY_LIBRARY &&
           mo_entry_has_way(e, MO_WAY_PROCESS) && !e->outcome.solution &&
           e->outcome.claim == MO_CLAIM_NO_SOLUTION &&
           e->outcome.end == MO_CHILD_EXITED && mo_interrupt_last() == 0;
}

/* Leaves job what is left of its time; false when that is not worth it. */
static bool has_time(mo_job *job, double begin_s)
{
    if (job->time_s == 0)
        return true;
    job->time_s -= mo_talk_seconds() - begin_s;
    return job->time_s > LEAST_S;
}

static double time_left_s(const race *r)
{
    double limit = r->options->time_s;

    return limit > 0 ? fmax(limit - r->contest->finding_s, LEAST_S) : 0;
}

/* The program has not been asked for anything yet. */
static mo_status solve_by_program(race *r, mo_entry *e, mo_job *job,
                                  double begin_s)
{
    mo_status status;

    mo_talk_say(r->talk, "%s; its program is tried", e->outcome.text);
    e->way = MO_WAY_PROCESS;
    status = mo_entry_ask(e, r->talk, &e->err);
    if (status != MO_OK || !has_time(job, begin_s))
        return status;
    job->presolve = job->presolve && !e->found.no_presolve;
    mo_outcome_clear(&e->outcome);
    return run_way(r, e, job);
}

static mo_status solve(race *r, mo_entry *e, const char *folder)
{
    const mo_contest_options *o = r->options;
    char *start = NULL;
    mo_job job = { .model = r->model,
                   .folder = folder,
                   .time_s = time_left_s(r),
                   .gap = o->gap,
                   .threads = (int) o->threads,
                   .memory_mib = (int) o->memory_mib,
                   .presolve = r->contest->presolve && !e->found.no_presolve };
    mo_status status = make_folder(folder, &e->err);
    double begin = mo_talk_seconds();

    if (status == MO_OK && o->start)
        status = mo_start_file_copy(o->start, e->solver, folder, r->talk,
                                    &start, &e->err);
    job.start = start;
    if (status == MO_OK)
        status = run_way(r, e, &job);
    if (status == MO_OK && try_program(r, e))
        status = solve_by_program(r, e, &job, begin);
    free(start);
    return status;
}

static void *run_entry(void *context)
{
    runner *it = context;
    race *r = it->race;
    char name[32];
    char *folder;

    snprintf(name, sizeof name, "%d", (int) (it->entry - r->contest->entries));
    folder = mo_workdir_file(r->folder, name);
    it->entry->status =
        folder ? solve(r, it->entry, folder) : mo_fail_memory(&it->entry->err);
    free(folder);
    pthread_mutex_lock(&r->lock);
    it->entry->ended = true;
    pthread_cond_signal(&r->news);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void start_runners(race *r, runner *runners)
{
    for (int i = 0; i < r->contest->n; i++) {
        runner *it = &runners[i];

        *it = (runner){ .race = r, .entry = &r->contest->entries[i] };
        it->started = pthread_create(&it->thread, NULL, run_entry, it) == 0;
        if (!it->started) {
            it->entry->ended = true;
            it->entry->status = mo_fail_memory(&it->entry->err);
        }
    }
}

/* An entry that has ended and was not heard of; NULL: none. */
static mo_entry *next_ended(const race *r, const bool *heard)
{
    for (int i = 0; i < r->contest->n; i++)
        if (r->contest->entries[i].ended && !heard[i])
            return &r->contest->entries[i];
    return NULL;
}

static void hear_all(race *r, mo_contest_hear *hear, void *context)
{
    bool heard[MO_CONTEST_MOST] = { false };

    for (int left = r->contest->n; left > 0; left--) {
        mo_entry *e;

        pthread_mutex_lock(&r->lock);
        while (!(e = next_ended(r, heard)))
            pthread_cond_wait(&r->news, &r->lock);
        pthread_mutex_unlock(&r->lock);
        heard[e - r->contest->entries] = true;
        if (hear(context, e) && !r->decided && left > 1) {
            r->decided = true;
            mo_interrupt_all();
        }
    }
}

mo_status mo_contest_run(const mo_contest_options *options, const char *model,
                         int64_t unit_ns, const mo_workdir *folder,
                         const mo_talk *talk, mo_contest_hear *hear,
                         void *context, mo_contest *c, mo_error *err)
{
    race r = { .options = options,
               .model = model,
               .folder = folder,
               .talk = talk,
               .contest = c,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .news = PTHREAD_COND_INITIALIZER };
    runner runners[MO_CONTEST_MOST];
    double begin = mo_talk_seconds();
    mo_status status = MO_E_SUPPORT;

    mo_live_begin(&r.live, unit_ns, talk);
    start_runners(&r, runners);
    hear_all(&r, hear, context);
    for (int i = 0; i < c->n; i++)
        if (runners[i].started)
            pthread_join(runners[i].thread, NULL);
    mo_live_end(&r.live);
    c->seconds = mo_talk_seconds() - begin;

    /* One that could be run is enough. */
    for (int i = 0; i < c->n && status != MO_OK; i++)
        status = c->entries[i].status;
    if (status != MO_OK && err)
        *err = c->entries[0].err;
    return status;
}
