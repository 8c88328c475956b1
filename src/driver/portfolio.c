/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/portfolio.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/utf8.h"
#include "driver/output_files.h"
#include "driver/plugin/plugin.h"
#include "driver/search_progress.h"
#include "solvers/formats/solution.h"
#include "solvers/process/interrupt.h"
#include "solvers/process/path_util.h"
#include "solvers/registry.h"

/* Limit in seconds for querying a solver's version, so that a hanging solver
 * leaves time to solve. */
#define MOST_PATIENCE_S 20.0

/* Seconds after the time limit at which a solver that does not stop by itself
 * is killed. */
#define GRACE_S 1.5

/* Minimum time for a solver. */
#define LEAST_S 0.1

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
        if (needed && (e->found.program || e->found.library))
            status = mo_fail(err, MO_E_SUPPORT,
                             "%s was found, but not by way of %s; moirai-solve "
                             "--list prints the installed ones",
                             e->solver->title, o->via ? o->via : "anything");
        else if (needed)
            status = mo_fail(err, MO_E_SUPPORT,
                             "%s was not found; say where it is with "
                             "--solver-path, or take another (moirai-solve "
                             "--list)",
                             e->solver->title);
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

mo_status mo_portfolio_find_solvers(const mo_portfolio_options *o,
                                    const mo_driver_log *logger,
                                    mo_portfolio *c, mo_error *err)
{
    double begin = mo_driver_clock_s();
    const char *names = o->solvers;
    /* Of several solvers those that are here suffice. */
    bool needed = names && !strchr(names, ',');
    char name[32];
    mo_status status = MO_OK;

    *c = (mo_portfolio){ .presolve = true };
    if (is_command(o)) {
        c->entries[c->n++] =
            (mo_portfolio_member){ .way = MO_SOLVER_VIA_COMMAND };
        return MO_OK;
    }
    while (names && status == MO_OK && next_name(&names, name, sizeof name)) {
        const mo_solver *solver = mo_solver_by_name(name);
        int before = c->n;

        status = find_one(o, solver, needed, logger, c, err);
        if (status == MO_OK && c->n == before &&
            (!logger->quiet || logger->print))
            mo_driver_log_warning(logger, "%s was not found, and is left out",
                                  solver->title);
    }
    for (int i = 0;
         !names && mo_solver_table[i] && status == MO_OK && c->n == 0; i++)
        status = find_one(o, mo_solver_table[i], false, logger, c, err);
    if (status == MO_OK && c->n == 0)
        status = mo_fail(err, MO_E_SUPPORT,
                         "no solver was found; install HiGHS, SCIP, CBC, GLPK "
                         "or Gurobi, or say where one is with --solver and "
                         "--solver-path");
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

/* Progress of the solvers. */
typedef struct solver_progress {
    mo_progress line;
    bool log; /* print the solvers' logs instead */
    int64_t unit_ns;
    mo_solver_progress best; /* over all solvers */
    pthread_mutex_t lock;
} solver_progress;

/* Solvers print any number. */
static int64_t time_of(const solver_progress *live, double value)
{
    return llround(fmax(0, fmin(value * (double) live->unit_ns, 9e18)));
}

/* Callbacks for mo_solver_run_options, thread-safe; context is the
 * solver_progress. */
static void update_progress(void *context, const mo_solver *solver,
                            const mo_solver_progress *step)
{
    solver_progress *live = context;
    mo_solver_progress *best = &live->best;

    (void) solver;
    pthread_mutex_lock(&live->lock);
    if (step->has_incumbent &&
        (!best->has_incumbent || step->incumbent < best->incumbent)) {
        best->incumbent = step->incumbent;
        best->has_incumbent = true;
    }
    if (step->has_bound && (!best->has_bound || step->bound > best->bound)) {
        best->bound = step->bound;
        best->has_bound = true;
    }
    if (live->unit_ns > 0)
        mo_search_progress_detail(
            &live->line,
            best->has_incumbent ? time_of(live, best->incumbent) : INT64_MAX,
            best->has_bound ? time_of(live, best->bound) : 0, NULL);
    else if (best->has_incumbent)
        mo_progress_detail(&live->line, "best %.6g, bound %.6g",
                           best->incumbent, best->has_bound ? best->bound : 0);
    pthread_mutex_unlock(&live->lock);
}

static void print_log_line(void *context, const mo_solver *solver,
                           const char *text)
{
    solver_progress *live = context;
    char line[1024];

    if (!live->log)
        return;
    pthread_mutex_lock(&live->lock);
    fprintf(stderr, "%s: %s\n", solver ? solver->name : "command",
            mo_utf8_escape_controls(line, sizeof line, text));
    pthread_mutex_unlock(&live->lock);
}

/* Solvers read no infinite value of a column, or stop at one. */
static mo_status check_start(const mo_solution *s, const char *path,
                             mo_error *err)
{
    if (s->nameless || s->n == 0)
        return mo_fail_at(err, MO_E_INPUT, path, 0,
                          "has no columns to start from");
    for (int i = 0; i < s->n; i++)
        if (!isfinite(s->values[i].value))
            return mo_fail_at(err, MO_E_INPUT, path, s->values[i].line,
                              "column '%.80s' is infinite; a start needs "
                              "finite values",
                              s->values[i].name);
    return MO_OK;
}

static double objective_of(const mo_solution *s)
{
    for (int i = 0; i < s->n && !s->has_objective; i++)
        if (strcmp(s->values[i].name, "w") == 0)
            return s->values[i].value;
    return s->has_objective ? s->objective : 0;
}

static mo_status write_start(const mo_solution *s, mo_mip_start_layout layout,
                             const char *path, mo_error *err)
{
    static const char *const openings[] = { [MO_MIP_START_MIPLIB] = "=obj= ",
                                            [MO_MIP_START_GUROBI] =
                                                "# MIP start of objective ",
                                            [MO_MIP_START_CBC] =
                                                "Start - objective value " };
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    mo_out_text(out, openings[layout]);
    mo_out_double(out, objective_of(s));
    mo_out_char(out, '\n');
    for (int i = 0; i < s->n; i++) {
        const mo_solution_value *column = &s->values[i];

        if (layout == MO_MIP_START_CBC)
            mo_out_printf(out, "%d ", i);
        mo_out_text(out, column->name);
        mo_out_char(out, ' ');
        mo_out_double(out, column->value);
        mo_out_text(out, layout == MO_MIP_START_CBC ? " 0\n" : "\n");
    }
    return mo_out_commit(out, err);
}

/* Reads the MIP start at path, in any format, and writes it beside folder in
 * the solver's format. *copy is the new path, to be freed by the caller, or
 * NULL if the solver reads no starts, which is reported on stderr. Without a
 * solver (a command of the user) the format is MIPLIB's. */
static mo_status convert_start(const char *path, const mo_solver *solver,
                               const char *folder, const mo_driver_log *logger,
                               char **copy, mo_error *err)
{
    static const char *const names[] = { [MO_MIP_START_MIPLIB] = "start.sol",
                                         [MO_MIP_START_GUROBI] = "start.mst",
                                         [MO_MIP_START_CBC] = "start.cbc" };
    mo_mip_start_layout layout =
        solver ? solver->start_layout : MO_MIP_START_MIPLIB;
    mo_solution *solution = NULL;
    char *to;
    mo_status status;

    *copy = NULL;
    if (solver && !solver->accepts_start) {
        if (!logger->quiet)
            fprintf(stderr, "%s: %s reads no starts\n", logger->command,
                    solver->title);
        return MO_OK;
    }
    to = mo_path_format("%s.%s", folder, names[layout]);
    if (!to)
        return mo_fail_memory(err);
    status = mo_solution_read(path, &solution, err);
    if (status == MO_OK)
        status = check_start(solution, path, err);
    if (status == MO_OK)
        status = write_start(solution, layout, to, err);
    mo_solution_free(solution);
    if (status == MO_OK)
        *copy = to;
    else
        free(to);
    return status;
}

/* The run of a portfolio. */
typedef struct portfolio_run {
    const mo_portfolio_job *job;
    mo_portfolio *portfolio;
    solver_progress live;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool decided;
} portfolio_run;

typedef struct runner {
    portfolio_run *run;
    mo_portfolio_member *entry;
    pthread_t thread;
    bool started;
} runner;

static mo_status run_way(portfolio_run *r, mo_portfolio_member *e,
                         const mo_solver_job *job)
{
    const char *command = e->solver && e->solver->command_template
                              ? e->solver->command_template
                              : r->job->options->command;
    const mo_solver_run_options options = { .way = e->way,
                                            .command = command,
                                            .grace_s = GRACE_S,
                                            .scratch =
                                                mo_workdir_path(r->job->folder),
                                            .progress = update_progress,
                                            .line = print_log_line,
                                            .context = &r->live };

    return mo_solver_run(e->solver, &e->found, job, &options, &e->outcome,
                         &e->err);
}

/* A library that refuses (Gurobi's without a licence for it) does not exclude
 * the program. */
static bool try_program(const portfolio_run *r, const mo_portfolio_member *e)
{
    return !r->job->options->via && e->way == MO_SOLVER_VIA_LIBRARY &&
           has_via(e, MO_SOLVER_VIA_PROCESS) && !e->outcome.solution &&
           e->outcome.claim == MO_SOLUTION_STATUS_NO_SOLUTION &&
           e->outcome.end == MO_CHILD_EXITED && mo_interrupt_last_signal() == 0;
}

/* The version of the program has not been queried yet. */
static mo_status solve_by_program(portfolio_run *r, mo_portfolio_member *e,
                                  mo_solver_job *job, double begin_s)
{
    const mo_driver_log *logger = r->job->logger;
    mo_status status;

    mo_driver_log_info(logger, "%s; its program is tried", e->outcome.text);
    e->way = MO_SOLVER_VIA_PROCESS;
    status = query_version(e, logger, &e->err);
    if (status != MO_OK)
        return status;
    if (job->time_s > 0) {
        job->time_s -= mo_driver_clock_s() - begin_s;
        if (job->time_s <= LEAST_S)
            return MO_OK;
    }
    job->presolve = job->presolve && !e->found.no_presolve;
    mo_solver_outcome_clear(&e->outcome);
    return run_way(r, e, job);
}

static mo_status solve_member(portfolio_run *r, mo_portfolio_member *e,
                              const char *folder)
{
    const mo_portfolio_options *o = r->job->options;
    char *start = NULL;
    mo_solver_job job = { .model = r->job->model,
                          .folder = folder,
                          .gap = o->gap,
                          .threads = (int) o->threads,
                          .memory_mib = (int) o->memory_mib,
                          .presolve =
                              r->portfolio->presolve && !e->found.no_presolve };
    mo_status status = mo_output_files_make_folder(folder, 0700, &e->err);
    double begin = mo_driver_clock_s();

    if (o->time_s > 0)
        job.time_s = fmax(o->time_s - r->portfolio->finding_s, LEAST_S);
    if (status == MO_OK && o->start)
        status = convert_start(o->start, e->solver, folder, r->job->logger,
                               &start, &e->err);
    job.start = start;
    if (status == MO_OK)
        status = run_way(r, e, &job);
    if (status == MO_OK && try_program(r, e))
        status = solve_by_program(r, e, &job, begin);
    free(start);
    return status;
}

/* Thread of a member. */
static void *run_entry(void *context)
{
    runner *it = context;
    portfolio_run *r = it->run;
    char name[32];
    char *folder;

    snprintf(name, sizeof name, "%d",
             (int) (it->entry - r->portfolio->entries));
    folder = mo_workdir_file(r->job->folder, name);
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

mo_status mo_portfolio_run(const mo_portfolio_job *job, mo_portfolio *c,
                           mo_error *err)
{
    const mo_driver_log *logger = job->logger;
    bool logs = logger->verbose > 1 && !logger->quiet;
    double begin = mo_driver_clock_s();
    portfolio_run r = { .job = job,
                        .portfolio = c,
                        .live = { .log = logs,
                                  .unit_ns = job->unit_ns,
                                  .lock = PTHREAD_MUTEX_INITIALIZER },
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .news = PTHREAD_COND_INITIALIZER };
    runner runners[MO_PORTFOLIO_MAX];
    mo_status status = MO_E_SUPPORT;

    mo_progress_begin(&r.live.line, "solving",
                      logger->quiet || logger->print || logs);
    for (int i = 0; i < c->n; i++) {
        runner *it = &runners[i];

        *it = (runner){ .run = &r, .entry = &c->entries[i] };
        it->started = pthread_create(&it->thread, NULL, run_entry, it) == 0;
        if (!it->started) {
            it->entry->ended = true;
            it->entry->status = mo_fail_memory(&it->entry->err);
        }
    }
    bool heard[MO_PORTFOLIO_MAX] = { false };

    for (int left = r.portfolio->n; left > 0; left--) {
        mo_portfolio_member *e;

        pthread_mutex_lock(&r.lock);
        while (!(e = next_ended(&r, heard)))
            pthread_cond_wait(&r.news, &r.lock);
        pthread_mutex_unlock(&r.lock);
        heard[e - r.portfolio->entries] = true;
        if (r.job->on_finish(r.job->context, e) && !r.decided && left > 1) {
            r.decided = true;
            mo_interrupt_all();
        }
    }
    for (int i = 0; i < c->n; i++)
        if (runners[i].started)
            pthread_join(runners[i].thread, NULL);
    mo_progress_end(&r.live.line);
    c->seconds = mo_driver_clock_s() - begin;

    /* One member that ran suffices. */
    for (int i = 0; i < c->n && status != MO_OK; i++)
        status = c->entries[i].status;
    if (status != MO_OK && err)
        *err = c->entries[0].err;
    return status;
}
