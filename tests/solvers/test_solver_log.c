/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of mo_solver.parse_log_line (solvers/plugins/solver.h). */
#include "solvers/registry.h"

#include <string.h>

#include "solvers/plugins/highs_api.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { NONE = -1 };

/* Lines printed by the solvers, and their progress; NONE: none. */
static const struct {
    const char *solver, *line;
    double incumbent, bound;
} lines[] = {
    { "highs",
      " L     100      38        31   0.01%   0.5             14               "
      "100.00%      390      6    155      1518     0.3s",
      14, 0.5 },
    { "highs",
      "         0       0         0   0.00%   3               inf              "
      "    inf        0      0      0         0     0.0s",
      NONE, 3 },
    { "highs",
      "Src  Proc. InQueue |  Leaves   Expl. | BestBound       BestSol          "
      "    Gap |   Cuts   InLp Confl. | LpIters     Time",
      NONE, NONE },
    { "highs", "  Primal bound      7", 7, NONE },
    { "highs", "  Dual bound        2.5", NONE, 2.5 },
    { "highs", "  Dual bound        -inf", NONE, NONE },
    { "highs", "  Primal bound      inf", NONE, NONE },
    { "highs", "Presolve reductions: rows 9(-1); columns 35(-1)", NONE, NONE },
    { "scip",
      "r 0.0s|     1 |     0 |    13 |     - |shifting|   0 |  34 |   8 |   8 "
      "|   0 |  0 |   0 |   0 | 1.500000e+00 | 2.650000e+02 |    Inf | unknown",
      265, 1.5 },
    { "scip",
      " 17.3s|  6300 |  2535 | 21392 |   3.4 |    12M |  25 |  34 | 149 |   0 "
      "| 768 |  0 |  72 | 371 | 2.000000e+00 |      --      |    Inf |   3.61%",
      NONE, 2 },
    { "scip",
      " time | node  | left  |LP iter|LP it/n|mem/heur|mdpt |vars |cons |rows "
      "|cuts |sepa|confs|strbr|  dualbound   | primalbound  |  gap   | compl. ",
      NONE, NONE },
    { "scip", "Primal Bound       : +5.00000000000000e+00 (56 solutions)", 5,
      NONE },
    { "scip", "Dual Bound         : +4.00000000000000e+00", NONE, 4 },
    { "scip", "Primal Bound       : +1.00000000000000e+20 (0 solutions)", NONE,
      NONE },
    { "scip", "presolving (5 rounds: 5 fast, 1 medium, 1 exhaustive):", NONE,
      NONE },
    { "gurobi",
      "     0     0    1.00000    0    4  148.00000    1.00000   100%     -    "
      "0s",
      148, 1 },
    { "gurobi",
      "H  573   201                      11.0000000    2.00000   100%   2.7    "
      "0s",
      11, 2 },
    { "gurobi",
      "*  573   201              21      11.0000000    2.00000   100%   2.7    "
      "0s",
      11, 2 },
    { "gurobi",
      "     0     0    3.50000    0    9          -    3.50000      -     -    "
      "0s",
      NONE, 3.5 },
    { "gurobi",
      "Best objective 1.000000000000e+00, best bound 5.000000000000e-01, gap "
      "50.0000%",
      1, 0.5 },
    { "gurobi", "Best objective -, best bound 2.000000000000e+00, gap -", NONE,
      2 },
    { "gurobi", " Expl Unexpl |  Obj  Depth IntInf | Incumbent    BestBd   Gap",
      NONE, NONE },
    { "cbc",
      "Cbc0010I After 1000 nodes, 10 on tree, 2 best solution, best possible 1 "
      "(0.97 seconds)",
      2, 1 },
    { "cbc",
      "Cbc0010I After 0 nodes, 1 on tree, 1e+50 best solution, best possible "
      "1.5 (0.15 seconds)",
      NONE, 1.5 },
    { "cbc",
      "Cbc0012I Integer solution of 16 found by feasibility pump after 0 "
      "iterations and 0 nodes (0.05 seconds)",
      16, NONE },
    { "cbc",
      "Cbc0005I Partial search - best objective 2 (best possible 0.5), took "
      "1047887 iterations and 293745 nodes (3.00 seconds)",
      2, 0.5 },
    { "cbc", "Lower bound:                    1.250", NONE, 1.25 },
    { "cbc", "Cbc0038I Pass   1: suminf.    0.00000 (0) obj. 65 iterations 12",
      NONE, NONE },
    { "glpk",
      "+ 85730: >>>>>   6.000000000e+00 >=   1.000000000e+00  83.3% (6454; "
      "10578)",
      6, 1 },
    { "glpk",
      "+111065: mip =   6.000000000e+00 >=   2.000000000e+00  66.7% (7442; "
      "14666)",
      6, 2 },
    { "glpk",
      "+    27: mip =     not found yet >=              -inf        (1; 0)",
      NONE, NONE },
    { "glpk", "+   999: mip =   6.000000000e+00 >=     tree is empty   0.0%", 6,
      NONE },
    { "glpk", "      0: obj =   0.000000000e+00 inf =   3.052e+03 (4)", NONE,
      NONE },
};

START_TEST(a_line_is_parsed)
{
    const mo_solver *solver = mo_solver_by_name(lines[_i].solver);
    mo_solver_progress step;
    bool tells = solver->parse_log_line(lines[_i].line, &step);

    ck_assert_msg(tells || lines[_i].incumbent == NONE, "%s", lines[_i].line);
    if (!tells) {
        ck_assert_double_eq(lines[_i].bound, NONE);
        return;
    }
    ck_assert_int_eq(step.has_incumbent, lines[_i].incumbent != NONE);
    ck_assert_int_eq(step.has_bound, lines[_i].bound != NONE);
    if (step.has_incumbent)
        ck_assert_double_eq(step.incumbent, lines[_i].incumbent);
    if (step.has_bound) {
        ck_assert_double_eq_tol(step.bound, lines[_i].bound, 1e-4);
        ck_assert_double_le(step.bound, lines[_i].bound);
    }
}
END_TEST

static const struct {
    const char *line;
    mo_solution_status claim;
} claims[] = {
    { "Optimal solution found (tolerance 1.00e-04)",
      MO_SOLUTION_STATUS_OPTIMAL },
    { "Model is infeasible", MO_SOLUTION_STATUS_INFEASIBLE },
    { "Model is infeasible or unbounded", MO_SOLUTION_STATUS_UNBOUNDED },
    { "Infeasible or unbounded model", MO_SOLUTION_STATUS_UNBOUNDED },
    { "Unbounded model", MO_SOLUTION_STATUS_UNBOUNDED },
};

START_TEST(gurobi_claims_in_its_log)
{
    mo_solver_progress step;

    ck_assert(mo_solver_gurobi.parse_log_line(claims[_i].line, &step));
    ck_assert(step.has_claim);
    ck_assert_int_eq(step.claim, claims[_i].claim);
}
END_TEST

/* Parsers stay within any line. */
START_TEST(any_line_is_harmless)
{
    static const char *const odd[] = {
        "",
        "|",
        "||||||||||||",
        " ",
        "s",
        "%",
        "+",
        "+ >= ",
        "+ >=",
        "+ 1 >=",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26",
        "Lower bound:",
        "Dual Bound",
        "  Dual bound",
        "Best objective ",
        "best possible ",
        "Integer solution of ",
        " on tree, ",
        "Cbc0010I",
        "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z",
    };
    mo_solver_progress step;

    for (const mo_solver *const *s = mo_solver_table; *s; s++)
        for (int i = 0; i < COUNT(odd); i++)
            if ((*s)->parse_log_line(odd[i], &step))
                ck_assert(!step.has_bound || step.bound == step.bound);
}
END_TEST

static const struct {
    const char *text;
    double objective; /* NONE: no solution */
} improving[] = {
    { "Objective 9\n# Columns 2\nx 1\nw 9\n"
      "Objective 8\n# Columns 2\nx 0\nw 8\n",
      8 },
    { "Objective 9\n# Columns 2\nx 1\nw 9\nObjective 8\n# Columns 2\nx 0\nw 8",
      9 },
    { "Objective 9\n# Columns 2\nx 1\nw 9\nObjective 8\n# Col", 9 },
    { "Objective 9\n# Columns 2\nx 1\nw 9\nObj", 9 },
    { "Objective 9\n# Columns 2\nx 1\n", NONE },
    { "Objective 9\n# Columns 2\nObjective 7\nw 9\n", 9 },
    { "Objective 9\n# Columns -5\n", NONE },
    { "Objective\n", NONE },
    { "", NONE },
};

START_TEST(the_last_whole_solution_is_taken)
{
    mo_solution *solution = NULL;

    scratch_write("improving.sol", improving[_i].text);
    MUST(mo_highs_improving_file_read("improving.sol", &solution, &err));
    if (improving[_i].objective == NONE) {
        ck_assert(!solution || solution->n == 0);
    } else {
        ck_assert_ptr_nonnull(solution);
        ck_assert_int_eq(solution->claim, MO_SOLUTION_STATUS_FEASIBLE);
        ck_assert_double_eq(solution->objective, improving[_i].objective);
        ck_assert_int_eq(solution->n, 2);
    }
    mo_solution_free(solution);
}
END_TEST

START_TEST(no_file_is_no_solution)
{
    mo_solution *solution = NULL;

    MUST(mo_highs_improving_file_read("nowhere.sol", &solution, &err));
    ck_assert_ptr_null(solution);
}
END_TEST

SUITE(solver_log)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(a_line_is_parsed, COUNT(lines));
    EACH(gurobi_claims_in_its_log, COUNT(claims));
    TEST(any_line_is_harmless);
    EACH(the_last_whole_solution_is_taken, COUNT(improving));
    TEST(no_file_is_no_solution);
}
