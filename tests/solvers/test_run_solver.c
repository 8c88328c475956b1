/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of solvers/run_solver.h with the installed solvers. */
#include <config.h>

#include "solvers/registry.h"
#include "solvers/run_solver.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "tests/solvers/run_case.h"
#include "tests/support/scratch.h"
#include "tests/solvers/solution_case.h"
#include "tests/support/suite.h"

static const char small_mps[] =
    "* small\nNAME small FREE\nROWS\n N obj\n G row\n"
    "COLUMNS\n"
    " M1 'MARKER' 'INTORG'\n"
    " x obj 2 row 1\n"
    " M2 'MARKER' 'INTEND'\n"
    " y obj 3 row 1\n"
    "RHS\n RHS row 4.75\n"
    "BOUNDS\n UP BND x 3\n UP BND y 10\nENDATA\n";
static const double small_mps_answer = 11.25;

static const char infeasible_lp[] = "Minimize\n obj: w\n"
                                    "Subject To\n"
                                    " a: x + y = 1\n b: 6 x <= 5\n"
                                    " c: 6 y <= 5\n d: w - x - y >= 0\n"
                                    "Binaries\n x y\nEnd\n";

/* A market split: hard for all solvers, with many solutions on the way. */
static char *hard_lp(void)
{
    mo_out *out;
    unsigned state = 12345;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_out_text(out, "Minimize\n obj: w\nSubject To\n");
    for (int row = 0; row < 5; row++) {
        int total = 0;
        int factors[40];

        for (int c = 0; c < COUNT(factors); c++) {
            state = state * 1103515245u + 12345u;
            factors[c] = (int) (state >> 16) % 100;
            total += factors[c];
        }
        for (int side = 0; side < 2; side++) {
            mo_out_printf(out, " %s_%d:", side ? "above" : "below", row);
            for (int c = 0; c < COUNT(factors); c++)
                mo_out_printf(out, " + %d x_%d", factors[c], c);
            mo_out_printf(out, " %c s_%d %s= %d\n", side ? '-' : '+', row,
                          side ? "<" : ">", total / 2);
        }
    }
    mo_out_text(out, " sum: w - s_0 - s_1 - s_2 - s_3 - s_4 >= 0\nBinaries\n");
    for (int c = 0; c < 40; c++)
        mo_out_printf(out, " x_%d\n", c);
    mo_out_text(out, "End\n");
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    return text;
}

/* Every solver both ways; glpk has one. */
static const struct {
    const char *name;
    mo_solver_via way;
} ways[] = {
    { "highs", MO_SOLVER_VIA_PROCESS },  { "highs", MO_SOLVER_VIA_LIBRARY },
    { "scip", MO_SOLVER_VIA_PROCESS },   { "scip", MO_SOLVER_VIA_LIBRARY },
    { "gurobi", MO_SOLVER_VIA_PROCESS }, { "cbc", MO_SOLVER_VIA_PROCESS },
    { "cbc", MO_SOLVER_VIA_LIBRARY },    { "glpk", MO_SOLVER_VIA_PROCESS },
};

/* Whether time limits can be tested: under valgrind a library, which is in the
 * same process, takes many times as long. */
static bool is_in_time(int i)
{
    return ways[i].way != MO_SOLVER_VIA_LIBRARY ||
           !getenv("CK_TIMEOUT_MULTIPLIER");
}

/* Returns false, with a message, where it is not installed. */
static bool find_way(int i, const mo_solver **solver, mo_solver_install *found)
{
    *solver = mo_solver_by_name(ways[i].name);
    MUST((*solver)->find(NULL, found, &err));
    if (ways[i].way == MO_SOLVER_VIA_LIBRARY ? found->library : found->program)
        return true;
    fprintf(stderr, "not here: %s, %s\n", ways[i].name,
            ways[i].way == MO_SOLVER_VIA_LIBRARY ? "library" : "program");
    mo_solver_install_clear(found);
    return false;
}

static void run_way_with(int i, const mo_solver_job *job,
                         mo_solver_run_options options,
                         mo_solver_outcome *outcome, bool *there)
{
    const mo_solver *solver;
    mo_solver_install found;

    *there = find_way(i, &solver, &found);
    if (!*there)
        return;
    options.way = ways[i].way;
    MUST(mo_solver_run(solver, &found, job, &options, outcome, &err));
    mo_solver_install_clear(&found);
}

static void run_way(int i, const mo_solver_job *job, mo_solver_outcome *outcome,
                    bool *there)
{
    run_way_with(i, job, (mo_solver_run_options){ 0 }, outcome, there);
}

/* A solver that got SIGTERM may take so long to write what it has; one
 * that does not stop is killed then, and leaves nothing. */
enum { PATIENCE_S = 60 };

START_TEST(each_finds_the_optimum)
{
    mo_solver_job job = run_job("small.lp");
    mo_solver_outcome outcome;
    bool there;

    scratch_write("small.lp", run_small_lp);
    run_way(_i, &job, &outcome, &there);
    if (!there)
        return;
    ck_assert_msg(outcome.claim == MO_SOLUTION_STATUS_OPTIMAL, "%s",
                  outcome.text);
    ck_assert_double_eq_tol(solution_value(outcome.solution, "w"),
                            run_small_answer, 1e-6);
    ck_assert_double_eq_tol(
        solution_value(outcome.solution, "moirai_g_0123456789abcdef"), 1, 1e-9);
    ck_assert(outcome.has_bound);
    ck_assert_double_eq_tol(outcome.bound, run_small_answer, 1e-4);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

START_TEST(each_reads_mps_by_any_name)
{
    mo_solver_job job = run_job("a model's name");
    mo_solver_outcome outcome;
    bool there;

    scratch_write("a model's name", small_mps);
    run_way(_i, &job, &outcome, &there);
    if (!there)
        return;
    ck_assert_msg(outcome.claim == MO_SOLUTION_STATUS_OPTIMAL, "%s",
                  outcome.text);
    ck_assert_double_eq_tol(2 * solution_value(outcome.solution, "x") +
                                3 * solution_value(outcome.solution, "y"),
                            small_mps_answer, 1e-6);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

START_TEST(each_reports_infeasible)
{
    mo_solver_job job = run_job("infeasible.lp");
    mo_solver_outcome outcome;
    bool there;

    scratch_write("infeasible.lp", infeasible_lp);
    run_way(_i, &job, &outcome, &there);
    if (!there)
        return;
    ck_assert_msg(outcome.claim == MO_SOLUTION_STATUS_INFEASIBLE ||
                      outcome.claim == MO_SOLUTION_STATUS_UNBOUNDED,
                  "%s", outcome.text);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

START_TEST(each_keeps_its_time_and_what_it_has)
{
    mo_solver_job job = run_job("hard.lp");
    mo_solver_outcome outcome;
    char *model = hard_lp();
    bool there;

    scratch_write("hard.lp", model);
    free(model);
    /* test_library_entry.c has libraries, too. */
    if (!is_in_time(_i) ||
        (ways[_i].way == MO_SOLVER_VIA_LIBRARY && !in_ci(1, 0)))
        return;
    job.time_s = 2;
    run_way_with(_i, &job, (mo_solver_run_options){ .grace_s = PATIENCE_S },
                 &outcome, &there);
    if (!there)
        return;
    ck_assert_msg(outcome.claim == MO_SOLUTION_STATUS_FEASIBLE, "%s",
                  outcome.text);
    ck_assert_ptr_nonnull(outcome.solution);
    ck_assert_int_gt(outcome.solution->n, 0);
    ck_assert(outcome.has_bound);
    ck_assert(outcome.bound <= solution_value(outcome.solution, "w"));
    mo_solver_outcome_clear(&outcome);
}
END_TEST

/* GLPK dies of SIGINT, CBC's library ignores it, and neither leaves a
 * solution. */
static bool can_stop(int i)
{
    return strcmp(ways[i].name, "glpk") != 0 &&
           !(strcmp(ways[i].name, "cbc") == 0 &&
             ways[i].way == MO_SOLVER_VIA_LIBRARY);
}

/* Interrupts this process, once, when the solver has reported an incumbent
 * twice: at the first report it may not have stored what it has found. */
static void interrupt_at_incumbent(void *context, const mo_solver *solver,
                                   const mo_solver_progress *step)
{
    int *n_reports = context;

    (void) solver;
    if (step->has_incumbent && ++*n_reports == 2)
        kill(getpid(), SIGTERM);
}

START_TEST(each_keeps_what_it_has_when_interrupted)
{
    mo_solver_job job = run_job("hard.lp");
    mo_solver_outcome outcome;
    char *model = hard_lp();
    bool there;
    int n_reports = 0;
    mo_solver_run_options options = { .context = &n_reports };
    pid_t us = getpid(), sender;

    scratch_write("hard.lp", model);
    free(model);
    /* CBC's log comes by pages: the first takes ten seconds. */
    if (!is_in_time(_i) || (ways[_i].way == MO_SOLVER_VIA_PROCESS &&
                            strcmp(ways[_i].name, "cbc") == 0 && !in_ci(1, 0)))
        return;
    job.time_s = 3600;
    if (can_stop(_i)) {
        options.progress = interrupt_at_incumbent;
        options.grace_s = PATIENCE_S;
    }
    /* The handler of Check would end this process. */
    signal(SIGTERM, SIG_DFL);
    /* At last, should nothing be printed: too early CBC has nothing. */
    sender = fork();
    if (sender == 0) {
        sleep(can_stop(_i) ? 90 : 1);
        kill(us, SIGTERM);
        _exit(0);
    }
    run_way_with(_i, &job, options, &outcome, &there);
    kill(sender, SIGKILL);
    waitpid(sender, NULL, 0);
    if (!there)
        return;
    ck_assert_int_eq(outcome.end, MO_CHILD_INTERRUPTED);
    if (!can_stop(_i))
        ck_assert_msg(outcome.claim == MO_SOLUTION_STATUS_NO_SOLUTION, "%s",
                      outcome.text);
    else
        ck_assert_msg(outcome.claim == MO_SOLUTION_STATUS_FEASIBLE &&
                          outcome.solution->n > 0,
                      "%s", outcome.text);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

/* Interrupts this process at a line of the log, once. */
typedef struct interruption {
    int line, at;
} interruption;

static void interrupt_at_line(void *context, const mo_solver *solver,
                              const char *text)
{
    interruption *i = context;

    (void) solver;
    (void) text;
    if (i->at++ == i->line)
        kill(getpid(), SIGTERM);
}

/* Python's exception at an interrupt would get lost while a model is read. */
START_TEST(gurobi_ends_whenever_it_is_interrupted)
{
    mo_solver_job job = run_job("hard.lp");
    interruption when = { .line = 4 * _i };
    const mo_solver_run_options options = { .line = interrupt_at_line,
                                            .context = &when,
                                            .grace_s = PATIENCE_S };
    mo_solver_outcome outcome;
    char *model = hard_lp();
    bool there;

    scratch_write("hard.lp", model);
    free(model);
    job.time_s = 3600;
    signal(SIGTERM, SIG_DFL);
    run_way_with(4, &job, options, &outcome, &there);
    if (!there)
        return;
    ck_assert_int_eq(outcome.end, MO_CHILD_INTERRUPTED);
    ck_assert_msg(outcome.seconds < PATIENCE_S, "%s", outcome.text);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

START_TEST(each_has_a_version)
{
    const mo_solver *solver;
    mo_solver_install found;

    if (!find_way(_i, &solver, &found))
        return;
    MUST(mo_solver_query_version(solver, MO_SOLVER_VIA_PROCESS, &found, &err));
    ck_assert_msg(found.version != NULL, "%s: %s", solver->name, found.program);
    ck_assert_ptr_nonnull(strchr(found.version, '.'));
    ck_assert_ptr_null(found.defect);
    mo_solver_install_clear(&found);
}
END_TEST

START_TEST(a_broken_model_is_an_outcome)
{
    mo_solver_job job = run_job("broken.lp");
    mo_solver_outcome outcome;
    bool there;

    scratch_write("broken.lp", "Minimize\n obj: w\nSubject To\n a: 3 x >= >=\n"
                               " 7 7 <\nNonsense\n");
    job.time_s = 5;
    run_way(_i, &job, &outcome, &there);
    if (!there)
        return;
    ck_assert_ptr_null(outcome.solution);
    ck_assert_int_eq(outcome.claim, MO_SOLUTION_STATUS_NO_SOLUTION);
    ck_assert_msg(strstr(outcome.text, "answer") != NULL, "%s", outcome.text);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

/* What each prints about an accepted start. */
static const struct {
    int way;
    const char *file, *start, *says;
} starts[] = {
    { 0, "start.sol", "=obj= 4.75\n", "Integer infeasibilities      0" },
    { 2, "start.sol", "=obj= 4.75\n", "given by solution candidate storage" },
    { 4, "start.mst", "# MIP start\n",
      "oaded user MIP start with objective 4.75" },
    { 5, "start.cbc", "Feasible - objective value 4.75\n",
      "MIPStart values read for 7 variables" },
};

static void look_for(void *says, const mo_solver *solver, const char *line)
{
    const char **wanted = says;

    (void) solver;
    if (*wanted && strstr(line, *wanted))
        *wanted = NULL;
}

START_TEST(each_takes_a_start)
{
    static const struct {
        const char *name;
        double value;
    } columns[] = { { "w", 4.75 },
                    { "x_0_0", 1 },
                    { "x_0_1", 0 },
                    { "x_1_0", 0 },
                    { "x_1_1", 1 },
                    { "s_1", 3.5 },
                    { "moirai_g_0123456789abcdef", 1 } };
    const char *wanted = starts[_i].says;
    const mo_solver_run_options options = { .way = MO_SOLVER_VIA_PROCESS,
                                            .line = look_for,
                                            .context = &wanted };
    mo_solver_job job = run_job("small.lp");
    const mo_solver *solver;
    mo_solver_install found;
    mo_solver_outcome outcome;
    mo_out *out;

    if (!find_way(starts[_i].way, &solver, &found))
        return;
    scratch_write("small.lp", run_small_lp);
    MUST(mo_out_open(starts[_i].file, &out, &err));
    mo_out_text(out, starts[_i].start);
    for (int i = 0; i < COUNT(columns); i++) {
        if (solver->start_layout == MO_MIP_START_CBC)
            mo_out_printf(out, "%7d ", i);
        mo_out_printf(out, "%s %g%s\n", columns[i].name, columns[i].value,
                      solver->start_layout == MO_MIP_START_CBC ? " 0" : "");
    }
    MUST(mo_out_commit(out, &err));
    job.start = starts[_i].file;
    MUST(mo_solver_run(solver, &found, &job, &options, &outcome, &err));
    ck_assert_msg(outcome.claim == MO_SOLUTION_STATUS_OPTIMAL, "%s",
                  outcome.text);
    ck_assert_msg(!wanted, "%s did not say '%s'", solver->title, wanted);
    mo_solver_outcome_clear(&outcome);
    mo_solver_install_clear(&found);
}
END_TEST

/* More columns than the licence of the Python package allows. */
START_TEST(gurobi_reports_a_model_too_large)
{
    mo_solver_job job = run_job("large.lp");
    mo_solver_outcome outcome;
    mo_out *out;
    bool there;

    MUST(mo_out_open("large.lp", &out, &err));
    mo_out_text(out, "Minimize\n obj: w\nSubject To\n a: w");
    for (int i = 0; i < 2500; i++)
        mo_out_printf(out, " + x_%d\n", i);
    mo_out_text(out, " >= 3\nBinaries\n");
    for (int i = 0; i < 2500; i++)
        mo_out_printf(out, " x_%d\n", i);
    mo_out_text(out, "End\n");
    MUST(mo_out_commit(out, &err));
    run_way(4, &job, &outcome, &there);
    if (!there)
        return;
    if (outcome.claim == MO_SOLUTION_STATUS_OPTIMAL)
        fputs("there is a licence for large models here\n", stderr);
    else
        ck_assert_msg(strstr(outcome.text, "GRB_LICENSE_FILE") != NULL, "%s",
                      outcome.text);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

START_TEST(compressed_models_are_unpacked)
{
    static const char *const names[] = { "small.lp.gz", "small.lp.zst" };
    mo_solver_job job = run_job(names[_i]);
    mo_solver_outcome outcome;
    mo_out *out;
    bool there;

    MUST(mo_out_open(names[_i], &out, &err));
    mo_out_text(out, run_small_lp);
    MUST(mo_out_commit(out, &err));
    run_way(0, &job, &outcome, &there);
    if (!there)
        return;
    ck_assert_msg(outcome.claim == MO_SOLUTION_STATUS_OPTIMAL, "%s",
                  outcome.text);
    mo_solver_outcome_clear(&outcome);
}
END_TEST

START_TEST(what_the_user_names_and_is_not_there_is_an_error)
{
    mo_solver_install found;
    mo_error err;

    for (const mo_solver *const *s = mo_solver_table; *s; s++) {
        ck_assert_int_eq((*s)->find("nowhere", &found, &err), MO_E_IO);
        mkdir("empty", 0700);
        ck_assert_int_eq((*s)->find("empty", &found, &err), MO_E_USAGE);
        ck_assert_ptr_nonnull(strstr(err.text, (*s)->title));
    }
}
END_TEST

START_TEST(what_the_user_names_comes_first)
{
    mo_solver_install found;

    mkdir("opt", 0700);
    mkdir("opt/bin", 0700);
    mkdir("opt/lib", 0700);
    scratch_write("opt/bin/highs", "#!/bin/sh\necho HiGHS version 1.2.3\n");
    chmod("opt/bin/highs", 0700);
    scratch_write("opt/lib/libhighs.so", "no library");
    MUST(mo_solver_highs.find("opt", &found, &err));
    ck_assert_ptr_nonnull(strstr(found.program, "/opt/bin/highs"));
    ck_assert_ptr_nonnull(strstr(found.library, "/opt/lib/libhighs.so"));
    mo_solver_install_clear(&found);

    MUST(mo_solver_highs.find("opt/bin/highs", &found, &err));
    ck_assert_ptr_nonnull(strstr(found.library, "lib/libhighs.so"));
    mo_solver_install_clear(&found);

    setenv("MOIRAI_HIGHS", "opt/lib/libhighs.so", 1);
    MUST(mo_solver_highs.find(NULL, &found, &err));
    unsetenv("MOIRAI_HIGHS");
    ck_assert_ptr_nonnull(strstr(found.program, "bin/highs"));
    mo_solver_install_clear(&found);
}
END_TEST

/* A program with an old version, which answers the probe as old ones do. */
START_TEST(presolve_that_lies_is_found_out)
{
    mo_solver_install found;

    scratch_write("highs", "#!/bin/sh\n"
                           "[ \"$1\" = --version ] &&"
                           " echo HiGHS version 1.8.0 Githash n/a && exit\n"
                           "echo '  Primal bound      15'\n");
    chmod("highs", 0700);
    MUST(mo_solver_highs.find("highs", &found, &err));
    MUST(mo_solver_query_version(&mo_solver_highs, MO_SOLVER_VIA_PROCESS,
                                 &found, &err));
    ck_assert_str_eq(found.version, "1.8.0");
    ck_assert(found.no_presolve);
    ck_assert_ptr_nonnull(strstr(found.defect, "presolve"));
    mo_solver_install_clear(&found);
}
END_TEST

SUITE(run_solver)
{
    tcase_add_checked_fixture(tests, run_enter, scratch_leave);
    EACH(each_finds_the_optimum, COUNT(ways));
    EACH(each_reads_mps_by_any_name, COUNT(ways));
    EACH(each_reports_infeasible, COUNT(ways));
    SOME(each_keeps_its_time_and_what_it_has, COUNT(ways), 2);
    SOME(each_keeps_what_it_has_when_interrupted, COUNT(ways), 2);
    EACH(gurobi_ends_whenever_it_is_interrupted, 8);
    EACH(each_has_a_version, COUNT(ways));
    EACH(a_broken_model_is_an_outcome, COUNT(ways));
    EACH(each_takes_a_start, COUNT(starts));
    TEST(gurobi_reports_a_model_too_large);
    EACH(compressed_models_are_unpacked, 2);
    TEST(what_the_user_names_and_is_not_there_is_an_error);
    TEST(what_the_user_names_comes_first);
    TEST(presolve_that_lies_is_found_out);
}
