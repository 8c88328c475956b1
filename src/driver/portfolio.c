/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/portfolio.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/registry.h"

/* Limit in seconds for querying a solver's version, so that a hanging solver
 * leaves time to solve. */
#define MOST_PATIENCE_S 20.0

const char *mo_portfolio_member_title(const mo_portfolio_member *entry)
{
    if (entry->is_start)
        return "the start";
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

bool mo_portfolio_member_has_via(const mo_portfolio_member *e,
                                 mo_solver_via way)
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
        e->way = mo_portfolio_member_has_via(e, MO_SOLVER_VIA_LIBRARY)
                     ? MO_SOLVER_VIA_LIBRARY
                     : MO_SOLVER_VIA_PROCESS;
    return mo_portfolio_member_has_via(e, e->way);
}

mo_status mo_portfolio_member_query_version(mo_portfolio_member *e,
                                            const mo_driver_log *logger,
                                            mo_error *err)
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
    if (found->trouble && !logger->quiet)
        fprintf(stderr, "%s: %s: %s\n", logger->command, e->solver->title,
                found->trouble);
    return MO_OK;
}

static mo_status refuse_solver(const mo_portfolio_options *o,
                               const mo_portfolio_member *e, mo_error *err)
{
    if (e->found.program || e->found.library)
        return mo_fail(err, MO_E_SUPPORT,
                       "%s was found, but not by way of %s; moirai-solve "
                       "--list tells what is here",
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
    status = solver->find(o->path, &e->found, err);
    if (status == MO_OK && !choose_way(o, e)) {
        if (needed)
            status = refuse_solver(o, e, err);
        mo_solver_install_clear(&e->found);
        return status;
    }
    if (o->time_s > 0)
        e->found.patience_s = fmin(o->time_s / 2, MOST_PATIENCE_S);
    if (status == MO_OK)
        status = mo_portfolio_member_query_version(e, logger, err);
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
        mo_answer_evaluation_clear(&c->entries[i].judgement);
    }
    c->n = 0;
}
