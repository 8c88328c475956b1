/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/formats/solution.h: short files, valid and invalid. */
#include <config.h>

#include "solvers/formats/solution.h"

#include <math.h>
#include <string.h>

#include "tests/solvers/solution_case.h"
#include "tests/support/suite.h"

START_TEST(numbers_are_read_as_solvers_print_them)
{
    mo_solution *solution = solution_of_text(
        "=obj= -1e+02\na 1e+20\nb -inf\nc +infinity\nd .5\n"
        "e 0.99999999999999989\nf -0\ng 1e-320\n\th \t 3.  \n");

    ck_assert_double_eq(solution->objective, -100);
    ck_assert_double_eq(solution_value(solution, "a"), 1e20);
    ck_assert_double_eq(solution_value(solution, "b"), -HUGE_VAL);
    ck_assert_double_eq(solution_value(solution, "c"), HUGE_VAL);
    ck_assert_double_eq(solution_value(solution, "d"), 0.5);
    ck_assert_double_eq(solution_value(solution, "e"), 0.99999999999999989);
    ck_assert_double_eq(solution_value(solution, "g"), 1e-320);
    ck_assert_double_eq(solution_value(solution, "h"), 3);
    mo_solution_free(solution);
}
END_TEST

/* They differ from the plain case in ways the samples do not show. */
static const struct {
    const char *text;
    mo_solution_status claim;
    int n;
} variants[] = {
    { "solution status: gap limit reached\nobjective value: 3\nx 1\n",
      MO_SOLUTION_STATUS_FEASIBLE, 1 },
    { "solution status: infeasible or unbounded\nno solution available\n",
      MO_SOLUTION_STATUS_UNBOUNDED, 0 },
    { "solution status: optimal solution found\nobjective value: 0\n",
      MO_SOLUTION_STATUS_OPTIMAL, 0 },
    { "no solution available", MO_SOLUTION_STATUS_NO_SOLUTION, 0 },
    { "Optimal (within gap tolerance) - objective value 3\n 0 x 1 0\n",
      MO_SOLUTION_STATUS_OPTIMAL, 1 },
    { "Stopped on iterations - objective value 57597.0\n 7 x 1 0\n",
      MO_SOLUTION_STATUS_FEASIBLE, 1 },
    { "Stopped on time - objective value 1e+50\n 0 x 0.5 0\n",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0 },
    /* Duplicates are checked elsewhere; and a first line moved to the end does
     * not make rows of all others. */
    { "Optimal - objective value 3\n0 x 1 0\n0 x 1 0\n1 y 2 0\n",
      MO_SOLUTION_STATUS_OPTIMAL, 3 },
    { "Optimal - objective value 3\n1 y 2 0\n2 z 2 0\n0 x 1 0\n",
      MO_SOLUTION_STATUS_OPTIMAL, 3 },
    { "Optimal - objective value 3\n0 row 1 0\n** 0 x 1 0\n1 y 2 0\n",
      MO_SOLUTION_STATUS_OPTIMAL, 2 },
    { "Model status\nTime limit reached\n\n# Primal solution values\n"
      "Infeasible\nObjective 3\n# Columns 1\nx 0.5\n# Rows 0\n",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0 },
    { "Model status\nOptimal\n\n# Primal solution values\n"
      "Feasible\nObjective 3\n# Columns 0\n# Rows 0\n",
      MO_SOLUTION_STATUS_OPTIMAL, 0 },
    { "Columns\nIndex Status Lower Upper Primal Dual Type Name\n"
      "0 BS -inf inf -1.23457e-100 -1e+100 Semi-conti 1e5\nRows\n\n"
      "Model status: Optimal\n\nObjective value: 0\n",
      MO_SOLUTION_STATUS_OPTIMAL, 1 },
    { "c\ns mip 0 0 o 0\ne o f\n", MO_SOLUTION_STATUS_OPTIMAL, 0 },
    { "s bas 0 1 f n 0\nj 1 b 1 0\ne o f\n", MO_SOLUTION_STATUS_UNBOUNDED, 0 },
    { "s bas 0 1 f u 0\nj 1 b 1 0\ne o f\n", MO_SOLUTION_STATUS_FEASIBLE, 1 },
    { "{\"Vars\":[{\"X\":1,\"VarName\":\"x\",\"RC\":[{\"a\":null}]}]}",
      MO_SOLUTION_STATUS_UNKNOWN, 1 },
    { "{\"SolutionInfo\":{\"Status\":11,\"Tags\":[true,false]},\"Vars\":[]}",
      MO_SOLUTION_STATUS_FEASIBLE, 0 },
    { "# made by hand\n# Objective value = 3\nx 1\n",
      MO_SOLUTION_STATUS_UNKNOWN, 1 },
    { "# made by hand\n=obj= 3\n# more\nx 1\n", MO_SOLUTION_STATUS_UNKNOWN, 1 },
    { "=infeas=\n", MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "=unbd=\n", MO_SOLUTION_STATUS_UNBOUNDED, 0 },
    /* A status that denies the solution counts, whatever else is there. */
    { "# Solution for model m\n# status: infeasible\nx 1\n",
      MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "# Solution for model m\nx 1\n# status: no solution\n",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0 },
    { "# MIP start\n# status: unbounded\n# status: optimal\nx 1\n",
      MO_SOLUTION_STATUS_UNBOUNDED, 0 },
    { "# Solution for model m\n# status: claimed_optimal\nx 1\n",
      MO_SOLUTION_STATUS_UNKNOWN, 1 },
    { "# status: claimed_optimal\nx 1\n", MO_SOLUTION_STATUS_FEASIBLE, 1 },
    { "# status: optimal_as_given\nx 1\n", MO_SOLUTION_STATUS_FEASIBLE, 1 },
    { "# status: infeasible\nx 1\n", MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "=infeas=\n# status: optimal\n=obj= 3\nx 1\n",
      MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "x 1\n=unbd=\n", MO_SOLUTION_STATUS_UNBOUNDED, 0 },
    { "solution status: infeasible\nobjective value: 3\nx 1\n",
      MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "solution status: optimal solution found\nno solution available\nx 1\n",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0 },
    { "Linear relaxation infeasible - objective value 3\n 0 x 1 0\n",
      MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "Linear relaxation unbounded - objective value 3\n 0 x 1 0\n",
      MO_SOLUTION_STATUS_UNBOUNDED, 0 },
    { "Model status\nInfeasible\n\n# Primal solution values\n"
      "Feasible\nObjective 3\n# Columns 1\nx 1\n# Rows 0\n",
      MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "Model status\nOptimal\n\n# Primal solution values\n"
      "Infeasible\nObjective 3\n# Columns 1\nx 1\n# Rows 0\n",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0 },
    { "Columns\nIndex Status Lower Upper Primal Dual Type Name\n"
      "0 BS 0 1 1 0 Integer x\nRows\n\n"
      "Model status: Infeasible\n\nObjective value: 0\n",
      MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "s mip 0 1 n 0\nj 1 1\ne o f\n", MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "{\"SolutionInfo\":{\"Status\":3},"
      "\"Vars\":[{\"X\":1,\"VarName\":\"x\"}]}",
      MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "{\"SolutionInfo\":{\"Status\":2,\"SolCount\":0},"
      "\"Vars\":[{\"X\":1,\"VarName\":\"x\"}]}",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0 },
    { "<CPLEXSolution><header solutionStatusValue=\"103\"/><variables>"
      "<variable name=\"x\" value=\"1\"/></variables></CPLEXSolution>",
      MO_SOLUTION_STATUS_INFEASIBLE, 0 },
    { "<CPLEXSolution><header solutionStatusValue=\"101\" "
      "primalFeasible=\"0\"/><variables>"
      "<variable name=\"x\" value=\"1\"/></variables></CPLEXSolution>",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0 },
};

START_TEST(variants_are_read)
{
    mo_solution *solution = solution_of_text(variants[_i].text);

    ck_assert_str_eq(mo_solution_status_names[solution->claim],
                     mo_solution_status_names[variants[_i].claim]);
    ck_assert_int_eq(solution->n, variants[_i].n);
    mo_solution_free(solution);
}
END_TEST

START_TEST(escapes_of_json_are_resolved)
{
    mo_solution *solution = solution_of_text(
        "{ \"Vars\": [ { \"VarName\": "
        "\"a\\u0062\\/\\u00e9\\ud83d\\ude00\\\"\", \"X\": 1 } ] }");

    ck_assert_str_eq(solution->values[0].name, "ab/\xc3\xa9\xf0\x9f\x98\x80\"");
    mo_solution_free(solution);
}
END_TEST

#define HIGHS "Model status\nOptimal\n\n# Primal solution values\nFeasible\n"
#define GLPK                                                                   \
    "Problem:\nStatus:     INTEGER OPTIMAL\nObjective:  obj = 1 (MINimum)\n\n" \
    "   No. Column name  Activity\n------ ------\n"

static const struct {
    const char *text;
    int line;
    const char *said;
} broken[] = {
    { "", 0, "empty" },
    { " \r\n\n", 0, "empty" },
    { "hello\n", 1, "layout" },
    { "x_0_1 1 0 0 7\n", 1, "layout" },
    { "\x1f\x8b\b", 1, "layout" },
    { "Minimize\n obj: w\n", 1, "layout" },

    { "=obj= 1\nx one\n", 2, "column 'x': 'one' is not a number" },
    { "=obj= 1\nx nan\n", 2, "'nan' is not a number" },
    { "=obj= 1\nx 1e999\n", 2, "'1e999' is not a number" },
    { "=obj= 1\nx 0x10\n", 2, "'0x10' is not a number" },
    { "=obj= 1\nx 1,5\n", 2, "'1,5' is not a number" },
    { "=obj= 1\nx 1\ny", 3, "column 'y' has no value" },
    { "=obj= 1\nx 1 2\n", 2, "'2' is too much" },
    { "=obj=\nx 1\n", 1, "objective value is missing" },
    { "# status: splendid\nx 1\n", 1, "'splendid' is no status" },
    { "# status: optimal\n# bound: high\n", 2, "'high' is not a number" },
    { "# MIP start\nx 1\nsolution status: optimal\n", 3, "not a number" },
    { "# Objective value = best\nx 1\n", 1, "'best' is not a number" },

    { "solution status: optimal solution found\n", 1, "stops here" },
    { "solution status: optimal solution found\nx 1\n", 2, "neither" },
    { "solution status: optimal\nobjective value: ?\n", 2, "'?' is not" },
    { "objective value: 1\nx 1 \t(obj:0)\ny 1", 3, "stops here" },
    { "objective value: 1\nx 1 \t(obj:0)\ny 1 \t(obj:", 3, "stops here" },
    { "objective value: 1\nx unknown \t(obj:0)\n", 2, "'unknown'" },
    { "objective value: 1\nx 1 2\n", 2, "too much" },

    { "Optimal - objective value x\n", 1, "'x' is not a number" },
    { "Optimal - objective value 1\n 0 x 1\n", 2, "cost is missing" },
    { "Optimal - objective value 1\n 0 x 1 0\n 0 y 1 0\n 0 z 1 0\n", 4,
      "another column with the number 0" },
    { "Optimal - objective value 1\n 0 x\n", 2, "'x' has no value" },
    { "Optimal - objective value 1\nx 1\n", 2, "number, name, value" },
    { "Optimal - objective value 1\n 0 x 1 0 0\n", 2, "too much" },

    { "Model status\n", 1, "stops here" },
    { "Model status\nOptimal\n", 2, "stops here" },
    { HIGHS, 5, "stops here" },
    { HIGHS "Objective 1\n", 6, "stops here" },
    { HIGHS "Objective 1\n# Columns 2\nx 1\n", 8, "another column" },
    { HIGHS "Objective 1\n# Columns 2\nx 1\ny 1\n", 9, "the rows" },
    { HIGHS "Objective 1\n# Columns 1\nx 1\n# Rows 1\n", 9, "another row" },
    { HIGHS "Objective 1\n# Columns 1\nx 1\n# Basis\n", 9, "# Rows" },
    { HIGHS "Objective 1\n# Columns -2\nx 1 0\n", 8, "another column" },
    { HIGHS "Objective 1\n# Columns -1\nx 1\n", 8, "number is missing" },
    { HIGHS "Objective 1\n# Columns x\n", 7, "'x' is not a number" },
    { HIGHS "w 1\n", 6, "Objective" },

    { "Columns\nIndex Lower Upper Primal Dual\n", 2, "no names" },
    { "Columns\nIndex Lower Upper Primal Dual Name\n", 2, "stops here" },
    { "Columns\nIndex Lower Upper Primal Dual Name\n0 1 x\n", 3, "not a line" },
    { "Columns\nIndex Lower Upper Primal Dual Name\n0 0 1 o 0 x\n", 3,
      "not a line" },
    { "Columns\nIndex Lower Upper Primal Name\n0 0 1 1 x\nRows\n", 4,
      "model status" },

    { "Problem:\nRows: 2\n", 2, "status and objective" },
    { "Problem:\nStatus:     SPLENDID\n", 2, "'SPLENDID' is no status" },
    { "Problem:\nStatus:     OPTIMAL\nObjective:  obj\n", 3, "missing" },
    { GLPK, 6, "End of output" },
    { GLPK "     1 x   *   one  0  1\n", 7, "'one' is not a number" },
    { GLPK "     1 a_name_that_is_long\n", 7, "activity" },
    { GLPK "     1\n", 7, "name" },
    { GLPK "     1 x   *   1  0  1\n", 7, "End of output" },

    { "s mip 0 1 o 1\nj 1 1\n", 2, "e o f" },
    { "s mip 0 2 o 1\nj 1 1\ne o f\n", 3, "not the 2" },
    { "s mip 0 2 o 1\nj 2 1\ne o f\n", 2, "column 1 of 2" },
    { "s mip 0 1 o 1\nk 1 1\ne o f\n", 2, "neither row" },
    { "s mip 0 1 o\n", 1, "objective value is missing" },
    { "s mip 0 one o 1\n", 1, "'one' is not a number" },

    { "{", 1, "stops here" },
    { "{}", 0, "neither SolutionInfo" },
    { "{\"Vars\":[]} x", 1, "behind the document" },
    { "{\"Vars\":\n[{\"VarName\":\"x\"}]}", 0, "variable 1" },
    { "{\"Vars\":\n[{\"VarName\":\"x\",\n\"X\":one}]}", 3, "no number" },
    { "{\"Vars\":[{\"VarName\":\"\\u0000\"}]}", 1, "escape" },
    { "{\"Vars\":[{\"VarName\":\"\\ud800\"}]}", 1, "escape" },
    { "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 1, "too deeply" },

    { "<graphml/>", 1, "root is <graphml>" },
    { "<CPLEXSolution>\n<variables>", 2, "" },
    { "<CPLEXSolution>\n<variables/>\n<variable name='x' value='a'/>"
      "</CPLEXSolution>",
      3, "'a' is not a number" },
    { "<CPLEXSolution>\n<variable value='1'/></CPLEXSolution>", 2,
      "without a name" },
    { "<CPLEXSolution/>", 0, "no <variables>" },
};

START_TEST(what_is_wrong_is_told_with_its_line)
{
    const char *text = broken[_i].text;
    mo_solution *solution = NULL;
    mo_error err = { 0 };

    ck_assert_msg(mo_solution_read_memory("b.sol", text, strlen(text),
                                          &solution, &err) != MO_OK,
                  "accepted: %s", text);
    ck_assert_ptr_null(solution);
    ck_assert_str_eq(err.file, "b.sol");
    ck_assert_msg(strstr(err.text, broken[_i].said), "%s: says %s", text,
                  err.text);
    ck_assert_msg(err.line == broken[_i].line, "%s: says line %d: %s", text,
                  err.line, err.text);
}
END_TEST

START_TEST(zero_bytes_are_refused)
{
    mo_solution *solution = NULL;
    mo_error err = { 0 };

    ck_assert_int_eq(
        mo_solution_read_memory("b", "x 1\ny\0z 1\n", 10, &solution, &err),
        MO_E_SYNTAX);
    ck_assert_int_eq(err.line, 2);
}
END_TEST

START_TEST(files_that_are_not_there_are_told)
{
    mo_solution *solution = NULL;
    mo_error err = { 0 };

    ck_assert_int_eq(mo_solution_read("no such file", &solution, &err),
                     MO_E_IO);
    ck_assert_int_eq(mo_solution_read(".", &solution, &err), MO_E_IO);
}
END_TEST

SUITE(solution_text)
{
    TEST(numbers_are_read_as_solvers_print_them);
    EACH(variants_are_read, COUNT(variants));
    TEST(escapes_of_json_are_resolved);
    EACH(what_is_wrong_is_told_with_its_line, COUNT(broken));
    TEST(zero_bytes_are_refused);
    TEST(files_that_are_not_there_are_told);
}
