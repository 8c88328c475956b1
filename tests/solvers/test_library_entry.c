/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of mo_solver.solve (solvers/plugins/solver.h) with every installed
 * library, and with a stand-in for Gurobi's. */
#include <config.h>

#include "solvers/plugins/highs_api.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/solvers/library_case.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const char small_lp[] = "\\ 9 at x = 4.5\n"
                               "Minimize\n obj: 2 x + 3 z\n"
                               "Subject To\n c1: x + z >= 4.5\n"
                               "Bounds\n 0 <= x <= 10\n 0 <= z <= 10\n"
                               " moirai_g_00ff = 1\n"
                               "General\n z\nEnd\n";

static const char small_mps[] = "NAME small FREE\n"
                                "ROWS\n N obj\n G c1\n"
                                "COLUMNS\n x obj 2\n x c1 1\n"
                                " M1 'MARKER' 'INTORG'\n z obj 3\n z c1 1\n"
                                " M2 'MARKER' 'INTEND'\n"
                                " moirai_g_00ff obj 0\n"
                                "RHS\n RHS c1 4.5\n"
                                "BOUNDS\n UP BND x 10\n UP BND z 10\n"
                                " FX BND moirai_g_00ff 1\n"
                                "ENDATA\n";

/* Models that end at once, and how; NAN: without a value. */
static const struct ending {
    const char *file, *text;
    mo_solution_status claim;
    double objective;
} endings[] = {
    { "small.lp", small_lp, MO_SOLUTION_STATUS_OPTIMAL, 9 },
    { "small.mps", small_mps, MO_SOLUTION_STATUS_OPTIMAL, 9 },
    { "relaxed.lp",
      "Minimize\n obj: x + 2 y\nSubject To\n c1: x + y >= 3.5\n"
      "Bounds\n 0 <= x <= 2\n 0 <= y <= 10\nEnd\n",
      MO_SOLUTION_STATUS_OPTIMAL, 5 },
    { "infeasible.lp",
      "Minimize\n obj: x + y\nSubject To\n c1: x + y >= 3\n c2: x + y <= 1\n"
      "Bounds\n 0 <= x <= 10\n 0 <= y <= 10\nGeneral\n x y\nEnd\n",
      MO_SOLUTION_STATUS_INFEASIBLE, NAN },
    { "unbounded.lp",
      "Minimize\n obj: x - y\nSubject To\n c1: x + y >= 3\n"
      "Bounds\n 0 <= x <= 10\n y >= 0\nGeneral\n x y\nEnd\n",
      MO_SOLUTION_STATUS_UNBOUNDED, NAN },
};

#define WAYS(claim) EACH(claim, library_ways_found)

static void must_end_well(const library_way *way, const library_end *end)
{
    ck_assert_msg(end->exit_code == 0, "%s ends with %d: %s", way->name,
                  end->exit_code, end->last_line);
    ck_assert_msg(end->answer, "%s leaves no answer: %s", way->name,
                  end->last_line);
}

static void must_claim(const library_way *way, const library_end *end,
                       mo_solution_status claim)
{
    must_end_well(way, end);
    ck_assert_msg(end->answer->claim == claim, "%s claims '%s', not '%s'",
                  way->name, mo_solution_status_names[end->answer->claim],
                  mo_solution_status_names[claim]);
}

START_TEST(models_end_as_they_must)
{
    const library_way *way = &library_ways[_i];

    for (int i = 0; i < COUNT(endings); i++) {
        mo_solver_job job = library_job(endings[i].file);
        library_end end;

        scratch_write(endings[i].file, endings[i].text);
        end = library_run(way, &job, 0, 0);
        must_claim(way, &end, endings[i].claim);
        ck_assert_int_eq(end.answer->has_objective,
                         !isnan(endings[i].objective));
        if (end.answer->has_objective)
            ck_assert_double_eq_tol(end.answer->objective, endings[i].objective,
                                    1e-6);
        library_end_clear(&end);
    }
}
END_TEST

START_TEST(columns_come_back_by_name)
{
    const library_way *way = &library_ways[_i];

    for (int i = 0; i < 2; i++) {
        mo_solver_job job = library_job(endings[i].file);
        library_end end;

        scratch_write(endings[i].file, endings[i].text);
        end = library_run(way, &job, 0, 0);
        must_claim(way, &end, MO_SOLUTION_STATUS_OPTIMAL);
        ck_assert_double_eq_tol(library_value(&end, "x"), 4.5, 1e-6);
        ck_assert(isnan(library_value(&end, "z")));
        ck_assert_double_eq(library_value(&end, "moirai_g_00ff"), 1);
        ck_assert(end.answer->has_bound);
        ck_assert_double_eq_tol(end.answer->bound, 9, 1e-6);
        library_end_clear(&end);
    }
}
END_TEST

START_TEST(limits_and_switches_are_taken)
{
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("small.lp");
    library_end end;

    job.gap = 0;
    job.threads = 2;
    job.memory_mib = 4096;
    job.presolve = false;
    scratch_write("small.lp", small_lp);
    end = library_run(way, &job, 0, 0);
    must_claim(way, &end, MO_SOLUTION_STATUS_OPTIMAL);
    ck_assert_double_eq_tol(end.answer->objective, 9, 1e-6);
    library_end_clear(&end);
}
END_TEST

static void must_be_feasible(const library_way *way, const library_end *end)
{
    must_claim(way, end, MO_SOLUTION_STATUS_FEASIBLE);
    ck_assert(end->answer->has_objective && end->answer->has_bound);
    ck_assert_int_gt(end->answer->n, 0);
    ck_assert_double_lt(end->answer->bound, end->answer->objective);
}

START_TEST(a_time_limit_leaves_the_best_and_its_bound)
{
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("knapsack.lp");
    library_end end;

    job.time_s = 1;
    library_write_knapsack(job.model);
    end = library_run(way, &job, 0, 0);
    must_be_feasible(way, &end);
    library_end_clear(&end);
}
END_TEST

START_TEST(a_gap_ends_it_early)
{
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("knapsack.lp");
    library_end end;
    double gap;

    job.gap = 0.5;
    library_write_knapsack(job.model);
    end = library_run(way, &job, 0, 0);
    must_end_well(way, &end);
    gap = end.answer->objective - end.answer->bound;
    ck_assert_double_gt(gap, 1e-6);
    ck_assert_double_le(gap, job.gap * fabs(end.answer->objective));
    library_end_clear(&end);
}
END_TEST

START_TEST(a_wish_to_stop_leaves_the_best)
{
    static const int signals[] = { SIGINT, SIGTERM };
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("knapsack.lp");

    library_write_knapsack(job.model);
    for (int i = 0; way->stops && i < COUNT(signals); i++) {
        library_end end = library_run(way, &job, signals[i], 1);

        must_be_feasible(way, &end);
        library_end_clear(&end);
    }
}
END_TEST

/* With a signal that arrives while the library is being loaded: the run ends.
 */
START_TEST(a_wish_to_stop_is_not_forgotten)
{
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("knapsack.lp");

    library_write_knapsack(job.model);
    for (double after_s = 0.002; way->stops && after_s < 0.1; after_s *= 3) {
        library_end end = library_run(way, &job, SIGINT, after_s);

        library_end_clear(&end);
    }
}
END_TEST

START_TEST(nothing_found_is_said_to_be_none)
{
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("split.lp");
    library_end end;

    job.time_s = 0.5;
    library_write_split(job.model, "split.sol");
    end = library_run(way, &job, 0, 0);
    must_claim(way, &end, MO_SOLUTION_STATUS_NO_SOLUTION);
    ck_assert(!end.answer->has_objective);
    library_end_clear(&end);
}
END_TEST

START_TEST(a_start_is_used)
{
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("split.lp");
    library_end end;

    job.time_s = 0.5;
    job.start = "split.sol";
    library_write_split(job.model, job.start);
    end = library_run(way, &job, 0, 0);
    must_claim(way, &end, MO_SOLUTION_STATUS_FEASIBLE);
    ck_assert_double_eq(library_value(&end, "x2"), 1);
    ck_assert(isnan(library_value(&end, "x3")));
    library_end_clear(&end);
}
END_TEST

static void must_fail(const library_way *way, const mo_solver_job *job,
                      const char *text)
{
    library_end end = library_run(way, job, 0, 0);

    ck_assert_int_eq(end.exit_code, 1);
    ck_assert_ptr_null(end.answer);
    ck_assert_msg(strncmp(end.last_line, "error: ", 7) == 0 &&
                      strstr(end.last_line, text),
                  "%s: '%s' has no '%s'", way->name, end.last_line, text);
}

START_TEST(another_models_start_is_refused)
{
    mo_solver_job job = library_job("small.lp");

    job.start = "other.sol";
    scratch_write("small.lp", small_lp);
    scratch_write("other.sol", "=obj= 1\na 1\nb 2\n");
    must_fail(&library_ways[_i], &job, "other.sol: a start for some other");
    scratch_write("other.sol", "=obj= 1\nx one\n");
    must_fail(&library_ways[_i], &job, "other.sol:2:");
}
END_TEST

/* CBC may crash on it, which is an outcome, too. */
START_TEST(a_broken_model_leaves_no_answer)
{
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("broken.lp");
    library_end end;

    scratch_write("broken.lp",
                  "Minimize\n obj: x + 2 y\nSubject To\n"
                  " c1: x + y >= >= 3.5 = y\n ounds\n 0 <= <= x\n");
    end = library_run(way, &job, 0, 0);
    ck_assert_int_ne(end.exit_code, 0);
    ck_assert_ptr_null(end.answer);
    if (way->stops)
        must_fail(way, &job, "broken.lp");
    job.model = "absent.lp";
    end = library_run(way, &job, 0, 0);
    ck_assert_int_ne(end.exit_code, 0);
    ck_assert_ptr_null(end.answer);
}
END_TEST

START_TEST(a_folder_that_is_none_is_told)
{
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("small.lp");

    job.folder = "absent";
    scratch_write("small.lp", small_lp);
    must_fail(way, &job, "absent");
}
END_TEST

/* HiGHS copies names without a limit, and its header documents one of 512
 * bytes. CBC's reader fails an assertion. */
START_TEST(no_name_is_too_long)
{
    enum { LENGTH = 100000 };
    static char name[LENGTH + 1], text[LENGTH * 4];
    const library_way *way = &library_ways[_i];
    mo_solver_job job = library_job("long.lp");
    library_end end;

    memset(name, 'n', LENGTH);
    snprintf(text, sizeof text,
             "Minimize\n obj: x\nSubject To\n c1: x + %s >= 2\n"
             "Bounds\n %s <= 1\nEnd\n",
             name, name);
    scratch_write("long.lp", text);
    end = library_run(way, &job, 0, 0);
    if (way->stops) {
        must_claim(way, &end, MO_SOLUTION_STATUS_OPTIMAL);
        ck_assert_double_eq(library_value(&end, "x"), 1);
        ck_assert_double_eq(library_value(&end, name), 1);
    }
    library_end_clear(&end);
}
END_TEST

START_TEST(versions_are_told)
{
    const library_way *way = &library_ways[_i];
    library_end end = library_query(way->version, way->library);
    int major, minor, patch, read = 0;

    ck_assert_int_eq(end.exit_code, 0);
    sscanf(end.last_line, "%d.%d.%d%n", &major, &minor, &patch, &read);
    ck_assert_int_gt(read, 0);
    ck_assert_uint_eq((size_t) read, strlen(end.last_line));
}
END_TEST

START_TEST(what_is_no_such_library_is_refused)
{
    library_way way = library_ways[_i];
    mo_solver_job job = library_job("small.lp");

    scratch_write("small.lp", small_lp);
    way.library = "./absent.so";
    must_fail(&way, &job, "absent.so");
    scratch_write("damaged.so", "\177ELF and no more");
    way.library = "./damaged.so";
    must_fail(&way, &job, "damaged.so");
    way.library = "libm.so.6";
    must_fail(&way, &job, "libm.so.6: no ");
    must_fail(&way, &job, "it has no symbol '");
}
END_TEST

/* The loader may crash on the missing part, which is an outcome, too. */
START_TEST(half_a_library_leaves_no_answer)
{
    static char bytes[10000];
    library_way way = library_ways[_i];
    mo_solver_job job = library_job("small.lp");
    FILE *whole = way.library ? fopen(way.library, "rb") : NULL;
    FILE *half = fopen("half.so", "wb");
    library_end end;
    size_t n;

    ck_assert_ptr_nonnull(half);
    n = whole ? fread(bytes, 1, sizeof bytes, whole) : 0;
    ck_assert_uint_eq(fwrite(bytes, 1, n, half), n);
    ck_assert_int_eq(fclose(half), 0);
    if (whole)
        fclose(whole);
    scratch_write("small.lp", small_lp);
    way.library = "./half.so";
    end = library_run(&way, &job, 0, 0);
    ck_assert_int_ne(end.exit_code, 0);
    ck_assert_ptr_null(end.answer);
}
END_TEST

/* On a busy machine it has nothing but zeros after a second. */
static library_end kill_once_it_has_some(const library_way *way,
                                         const mo_solver_job *job)
{
    enum { LONGEST_S = 16 };

    for (double after_s = 1;; after_s *= 2) {
        library_end end = library_run(way, job, SIGKILL, after_s);

        if (after_s >= LONGEST_S || (end.answer && end.answer->n > 0))
            return end;
        library_end_clear(&end);
    }
}

/* HiGHS may take long to stop. */
START_TEST(highs_leaves_the_best_so_far_when_killed)
{
    mo_solver_job job = library_job("knapsack.lp");

    library_write_knapsack(job.model);
    for (int i = 0; i < library_ways_found; i++) {
        library_end end;

        if (library_ways[i].solve != mo_solver_highs.solve)
            continue;
        end = kill_once_it_has_some(&library_ways[i], &job);
        ck_assert_int_eq(end.exit_code, -1);
        ck_assert_ptr_nonnull(end.answer);
        ck_assert_int_eq(end.answer->claim, MO_SOLUTION_STATUS_FEASIBLE);
        ck_assert(end.answer->has_objective && end.answer->n > 0);
        library_end_clear(&end);
    }
}
END_TEST

START_TEST(highs_is_probed)
{
    const char *highs = getenv("MOIRAI_HIGHS_LIB");
    library_end end;

    if (highs && *highs) {
        end = library_query(mo_highs_probe_presolve, highs);
        ck_assert_int_eq(end.exit_code, 0);
    }
    end = library_query(mo_highs_probe_presolve, "./absent.so");
    ck_assert_int_eq(end.exit_code, 1);
}
END_TEST

/* With a licence it solves; otherwise the error has a remedy. */
START_TEST(gurobi_itself_solves_or_names_what_it_lacks)
{
    library_way way = { "Gurobi", mo_solver_gurobi.solve, NULL, NULL, true };
    mo_solver_job job = library_job("small.lp");
    library_end end;

    way.library = library_real_gurobi();
    if (!way.library)
        return;
    scratch_write("small.lp", small_lp);
    end = library_run(&way, &job, 0, 0);
    if (end.exit_code == 0)
        must_claim(&way, &end, MO_SOLUTION_STATUS_OPTIMAL);
    else
        must_fail(&way, &job, "GRB_LICENSE_FILE");
    library_end_clear(&end);
}
END_TEST

START_TEST(what_a_licence_refuses_is_told)
{
    mo_solver_job job = library_job("small.lp");

    scratch_write("small.lp", small_lp);
    for (int i = 0; i < library_ways_found; i++) {
        if (library_ways[i].solve != mo_solver_gurobi.solve)
            continue;
        setenv("STANDIN_REFUSES", "10009", 1);
        must_fail(&library_ways[i], &job, "no licence for its C interface");
        setenv("STANDIN_REFUSES", "10003", 1);
        must_fail(&library_ways[i], &job, "error 10003");
        unsetenv("STANDIN_REFUSES");
        setenv("STANDIN_TOO_LARGE", "1", 1);
        must_fail(&library_ways[i], &job, "larger than Gurobi's licence");
        unsetenv("STANDIN_TOO_LARGE");
    }
}
END_TEST

SUITE(library_entry)
{
    library_ways_find();
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    WAYS(models_end_as_they_must);
    WAYS(columns_come_back_by_name);
    WAYS(limits_and_switches_are_taken);
    WAYS(a_time_limit_leaves_the_best_and_its_bound);
    WAYS(a_gap_ends_it_early);
    SOME(a_wish_to_stop_leaves_the_best, library_ways_found, 2);
    SOME(a_wish_to_stop_is_not_forgotten, library_ways_found, 2);
    WAYS(nothing_found_is_said_to_be_none);
    WAYS(a_start_is_used);
    WAYS(another_models_start_is_refused);
    WAYS(a_broken_model_leaves_no_answer);
    WAYS(a_folder_that_is_none_is_told);
    WAYS(no_name_is_too_long);
    WAYS(versions_are_told);
    WAYS(what_is_no_such_library_is_refused);
    WAYS(half_a_library_leaves_no_answer);
    TEST(highs_leaves_the_best_so_far_when_killed);
    TEST(highs_is_probed);
    TEST(gurobi_itself_solves_or_names_what_it_lacks);
    TEST(what_a_licence_refuses_is_told);
}
