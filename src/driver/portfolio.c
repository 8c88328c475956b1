/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/portfolio.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/mip_start_file.h"
#include "driver/output_files.h"
#include "driver/plugin/plugin.h"
#include "driver/progress_line.h"
#include "solvers/process/interrupt.h"
#include "solvers/registry.h"

/* Limit in seconds for querying a solver's version, so that a hanging solver
 * leaves time to solve. */
#define MOST_PATIENCE_S 20.0

const char *mo_portfolio_member_title(const mo_portfolio_member *entry)
{
    if (entry->is_start)
        return entry->origin ? entry->origin : "the start";
    return entry->solver ? entry->solver->title : "the command";
}

static bool is_command(const mo_portfolio_options *o)
{
    return o->via ? strcmp(o->via, "command") == 0 : o->command != NULL;
}

/* Copies the next name of "a,b"; returns false after the last. */
static bool next_name(const char **at, char *name, size_t size)
{
    size_t length = strcspn(*at, ",");

    if (length == 0)
        return false;
    snprintf(name, size, "%.*s", (int) length, *at);
    *at += length + ((*at)[length] == ',');
    return true;
}

static mo_status check_names(const char *names, mo_error *err)
{
    char name[32];
    int n = 0;

    while (next_name(&names, name, sizeof name)) {
        if (!mo_solver_by_name(name))
            return mo_fail(err, MO_E_USAGE,
                           "there is no solver '%s'; moirai-solve --list names "
                           "those there are",
                           name);
        if (++n > MO_PORTFOLIO_MAX)
            return mo_fail(err, MO_E_USAGE, "more than %d solvers at once",
                           MO_PORTFOLIO_MAX);
    }
    return *names || n == 0
               ? mo_fail(err, MO_E_USAGE,
                         "--solver wants names with commas between them")
               : MO_OK;
}

mo_status mo_portfolio_check_options(const mo_portfolio_options *o,
                                     mo_error *err)
{
    mo_status status = mo_plugin_load_listed(err);

    if (status != MO_OK)
        return status;
    if (is_command(o) && !o->command)
        return mo_fail(err, MO_E_USAGE,
                       "--via command needs --command 'TEMPLATE'");
    if (o->command && !is_command(o))
        return mo_fail(err, MO_E_USAGE,
                       "--command is for --via command, not %s", o->via);
    if (o->path && o->solvers && strchr(o->solvers, ','))
        return mo_fail(err, MO_E_USAGE,
                       "--solver-path is of one solver; set MOIRAI_<SOLVER> "
                       "for several");
    return o->solvers ? check_names(o->solvers, err) : MO_OK;
}

/* Whether the member's solver was found in that form. */
static bool has_via(const mo_portfolio_member *e, mo_solver_via way)
{
    return way == MO_SOLVER_VIA_PROCESS ? e->found.program != NULL
                                        : e->found.library && e->solver->solve;
}

/* Prefers the library where there is one: no other process is started. */
static bool choose_way(const mo_portfolio_options *o, mo_portfolio_member *e)
{
    if (o->via && strcmp(o->via, "process") == 0)
        e->way = MO_SOLVER_VIA_PROCESS;
    else if (o->via)
        e->way = MO_SOLVER_VIA_LIBRARY;
    else
        e->way = has_via(e, MO_SOLVER_VIA_LIBRARY) ? MO_SOLVER_VIA_LIBRARY
                                                   : MO_SOLVER_VIA_PROCESS;
    return has_via(e, e->way);
}

/* Queries the version and known defects of the member's solver, in the chosen
 * form, and logs both. */
static mo_status query_version(mo_portfolio_member *e,
                               const mo_driver_log *logger, mo_error *err)
{
    const mo_solver_install *found = &e->found;
    bool by_library = e->way == MO_SOLVER_VIA_LIBRARY;
    mo_status status =
        mo_solver_query_version(e->solver, e->way, &e->found, err);
    const char *version = by_library ? found->library_version : found->version;

    if (status != MO_OK)
        return status;
    mo_driver_log_info(logger, "%s %s, %s", e->solver->title,
                       version ? version : "of some version",
                       by_library ? found->library : found->program);
    if (found->defect && !logger->quiet)
        fprintf(stderr, "%s: %s: %s\n", logger->command, e->solver->title,
                found->defect);
    return MO_OK;
}

static mo_status refuse_solver(const mo_portfolio_options *o,
                               const mo_portfolio_member *e, mo_error *err)
{
    if (e->found.program || e->found.library)
        return mo_fail(err, MO_E_SUPPORT,
                       "%s was found, but not by way of %s; moirai-solve "
                       "--list prints the installed ones",
                       e->solver->title, o->via ? o->via : "anything");
    return mo_fail(err, MO_E_SUPPORT,
                   "%s was not found; say where it is with --solver-path, or "
                   "take another (moirai-solve --list)",
                   e->solver->title);
}

static mo_status find_one(const mo_portfolio_options *o,
                          const mo_solver *solver, bool needed,
                          const mo_driver_log *logger, mo_portfolio *c,
                          mo_error *err)
{
    mo_portfolio_member *e = &c->entries[c->n];
    mo_status status;

    *e = (mo_portfolio_member){ .solver = solver };
    if (solver->command_template) {
        e->way = MO_SOLVER_VIA_COMMAND;
        c->n++;
        return MO_OK;
    }
    status = solver->find(o->path, &e->found, err);
    if (status == MO_OK && !choose_way(o, e)) {
        if (needed)
            status = refuse_solver(o, e, err);
        mo_solver_install_clear(&e->found);
        return status;
    }
    if (o->time_s > 0)
        e->found.query_timeout_s = fmin(o->time_s / 2, MOST_PATIENCE_S);
    if (status == MO_OK)
        status = query_version(e, logger, err);
    c->n++;
    return status;
}

static mo_status find_named(const mo_portfolio_options *o,
                            const mo_driver_log *logger, mo_portfolio *c,
                            mo_error *err)
{
    const char *names = o->solvers;
    char name[32];
    mo_status status = MO_OK;

    while (status == MO_OK && next_name(&names, name, sizeof name))
        status = find_one(o, mo_solver_by_name(name), true, logger, c, err);
    return status;
}

static mo_status find_any(const mo_portfolio_options *o,
                          const mo_driver_log *logger, mo_portfolio *c,
                          mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; mo_solver_table[i] && status == MO_OK && c->n == 0; i++)
        status = find_one(o, mo_solver_table[i], false, logger, c, err);
    if (status == MO_OK && c->n == 0)
        status = mo_fail(err, MO_E_SUPPORT,
                         "no solver was found; install HiGHS, SCIP, CBC, GLPK "
                         "or Gurobi, or say where one is with --solver and "
                         "--solver-path");
    return status;
}

mo_status mo_portfolio_find_solvers(const mo_portfolio_options *o,
                                    const mo_driver_log *logger,
                                    mo_portfolio *c, mo_error *err)
{
    double begin = mo_driver_clock_s();
    mo_status status;

    *c = (mo_portfolio){ .presolve = true };
    if (is_command(o)) {
        c->entries[c->n++] =
            (mo_portfolio_member){ .way = MO_SOLVER_VIA_COMMAND };
        return MO_OK;
    }
    status = o->solvers ? find_named(o, logger, c, err)
                        : find_any(o, logger, c, err);
    c->finding_s = mo_driver_clock_s() - begin;
    return status;
}

void mo_portfolio_clear(mo_portfolio *c)
{
    for (int i = 0; i < c->n; i++) {
        mo_solver_install_clear(&c->entries[i].found);
        mo_solver_outcome_clear(&c->entries[i].outcome);
        mo_answer_evaluation_clear(&c->entries[i].evaluation);
    }
    c->n = 0;
}

/* Seconds after the time limit at which a solver that does not stop by itself
 * is killed. */
#define GRACE_S 1.5

/* Minimum time for a solver. */
#define LEAST_S 0.1

typedef struct portfolio_run {
    const mo_portfolio_options *options;
    const char *model;
    const mo_workdir *folder;
    const mo_driver_log *logger;
    mo_portfolio *portfolio;
    mo_progress_line live;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool decided;
} portfolio_run;

typedef struct runner {
    portfolio_run *portfolio_run;
    mo_portfolio_member *entry;
    pthread_t thread;
    bool started;
} runner;

static mo_status run_way(portfolio_run *r, mo_portfolio_member *e,
                         const mo_solver_job *job)
{
    const char *command = e->solver && e->solver->command_template
                              ? e->solver->command_template
                              : r->options->command;
    const mo_solver_run_options options = { .way = e->way,
                                            .command = command,
                                            .grace_s = GRACE_S,
                                            .scratch =
                                                mo_workdir_path(r->folder),
                                            .progress = mo_progress_line_update,
                                            .line = mo_progress_line_log,
                                            .context = &r->live };

    return mo_solver_run(e->solver, &e->found, job, &options, &e->outcome,
                         &e->err);
}

/* A library that refuses (Gurobi's without a licence for it) does not exclude
 * the program. */
static bool try_program(const portfolio_run *r, const mo_portfolio_member *e)
{
    return !r->options->via && e->way == MO_SOLVER_VIA_LIBRARY &&
           has_via(e, MO_SOLVER_VIA_PROCESS) && !e->outcome.solution &&
           e->outcome.claim == MO_SOLUTION_STATUS_NO_SOLUTION &&
           e->outcome.end == MO_CHILD_EXITED && mo_interrupt_last_signal() == 0;
}

/* Reduces the time limit of job by the time used; returns false if too little
 * is left. */
static bool has_time(mo_solver_job *job, double begin_s)
{
    if (job->time_s == 0)
        return true;
    job->time_s -= mo_driver_clock_s() - begin_s;
    return job->time_s > LEAST_S;
}

static double time_left_s(const portfolio_run *r)
{
    double limit = r->options->time_s;

    return limit > 0 ? fmax(limit - r->portfolio->finding_s, LEAST_S) : 0;
}

/* The version of the program has not been queried yet. */
static mo_status solve_by_program(portfolio_run *r, mo_portfolio_member *e,
                                  mo_solver_job *job, double begin_s)
{
    mo_status status;

    mo_driver_log_info(r->logger, "%s; its program is tried", e->outcome.text);
    e->way = MO_SOLVER_VIA_PROCESS;
    status = query_version(e, r->logger, &e->err);
    if (status != MO_OK || !has_time(job, begin_s))
        return status;
    job->presolve = job->presolve && !e->found.no_presolve;
    mo_solver_outcome_clear(&e->outcome);
    return run_way(r, e, job);
}

static mo_status solve_member(portfolio_run *r, mo_portfolio_member *e,
                              const char *folder)
{
    const mo_portfolio_options *o = r->options;
    char *start = NULL;
    mo_solver_job job = { .model = r->model,
                          .folder = folder,
                          .time_s = time_left_s(r),
                          .gap = o->gap,
                          .threads = (int) o->threads,
                          .memory_mib = (int) o->memory_mib,
                          .presolve =
                              r->portfolio->presolve && !e->found.no_presolve };
    mo_status status = mo_output_files_make_folder(folder, 0700, &e->err);
    double begin = mo_driver_clock_s();

    if (status == MO_OK && o->start)
        status = mo_mip_start_file_convert(o->start, e->solver, folder,
                                           r->logger, &start, &e->err);
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
    portfolio_run *r = it->portfolio_run;
    char name[32];
    char *folder;

    snprintf(name, sizeof name, "%d",
             (int) (it->entry - r->portfolio->entries));
    folder = mo_workdir_file(r->folder, name);
    it->entry->status = folder ? solve_member(r, it->entry, folder)
                               : mo_fail_memory(&it->entry->err);
    free(folder);
    pthread_mutex_lock(&r->lock);
    it->entry->ended = true;
    pthread_cond_signal(&r->news);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* Returns a member that has finished and was not reported yet, or NULL. */
static mo_portfolio_member *next_ended(const portfolio_run *r,
                                       const bool *heard)
{
    for (int i = 0; i < r->portfolio->n; i++)
        if (r->portfolio->entries[i].ended && !heard[i])
            return &r->portfolio->entries[i];
    return NULL;
}

static void report_finished(portfolio_run *r, mo_portfolio_callback *on_finish,
                            void *context)
{
    bool heard[MO_PORTFOLIO_MAX] = { false };

    for (int left = r->portfolio->n; left > 0; left--) {
        mo_portfolio_member *e;

        pthread_mutex_lock(&r->lock);
        while (!(e = next_ended(r, heard)))
            pthread_cond_wait(&r->news, &r->lock);
        pthread_mutex_unlock(&r->lock);
        heard[e - r->portfolio->entries] = true;
        if (on_finish(context, e) && !r->decided && left > 1) {
            r->decided = true;
            mo_interrupt_all();
        }
    }
}

mo_status mo_portfolio_run(const mo_portfolio_options *options,
                           const char *model, int64_t unit_ns,
                           const mo_workdir *folder,
                           const mo_driver_log *logger,
                           mo_portfolio_callback *on_finish, void *context,
                           mo_portfolio *c, mo_error *err)
{
    portfolio_run r = { .options = options,
                        .model = model,
                        .folder = folder,
                        .logger = logger,
                        .portfolio = c,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .news = PTHREAD_COND_INITIALIZER };
    runner runners[MO_PORTFOLIO_MAX];
    double begin = mo_driver_clock_s();
    mo_status status = MO_E_SUPPORT;

    mo_progress_line_begin(&r.live, unit_ns, logger);
    for (int i = 0; i < r.portfolio->n; i++) {
        runner *it = &runners[i];

        *it =
            (runner){ .portfolio_run = &r, .entry = &r.portfolio->entries[i] };
        it->started = pthread_create(&it->thread, NULL, run_entry, it) == 0;
        if (!it->started) {
            it->entry->ended = true;
            it->entry->status = mo_fail_memory(&it->entry->err);
        }
    }
    report_finished(&r, on_finish, context);
    for (int i = 0; i < c->n; i++)
        if (runners[i].started)
            pthread_join(runners[i].thread, NULL);
    mo_progress_line_end(&r.live);
    c->seconds = mo_driver_clock_s() - begin;

    /* One member that ran suffices. */
    for (int i = 0; i < c->n && status != MO_OK; i++)
        status = c->entries[i].status;
    if (status != MO_OK && err)
        *err = c->entries[0].err;
    return status;
}
