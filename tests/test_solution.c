/* Claims of solvers/solution.h, held against what the solvers really wrote
 * (tests/solutions, made by contrib/samples/make_solutions.sh). */
#include <config.h>

#include "solvers/solution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/layout.h"
#include "tests/scratch.h"
#include "tests/suite.h"

/* A sample: file, layout, claim, how many columns; NAN: no objective. */
typedef struct sample {
    const char *file, *layout;
    mo_claim claim;
    int n;
    double objective;
} sample;

static const sample samples[] = {
    { "scip-10.0.2-optimal.sol", "scip", MO_CLAIM_OPTIMAL, 8, 6.75 },
    { "scip-10.0.2-api.sol", "scip", MO_CLAIM_NOTHING, 8, 6.75 },
    { "scip-10.0.2-api-zeros.sol", "scip", MO_CLAIM_NOTHING, 11, 6.75 },
    { "gurobi-13.0.3-optimal.sol", "gurobi", MO_CLAIM_NOTHING, 11, 6.75 },
    { "gurobi-13.0.3-optimal.json", "gurobi-json", MO_CLAIM_OPTIMAL, 8, 6.75 },
    { "gurobi-13.0.3-optimal-detail.json", "gurobi-json", MO_CLAIM_OPTIMAL, 11,
      6.75 },
    { "highs-1.15.1-optimal.sol", "highs", MO_CLAIM_OPTIMAL, 11, 6.75 },
    { "highs-1.15.1-optimal-sparse.sol", "highs", MO_CLAIM_OPTIMAL, 8, 6.75 },
    { "highs-1.15.1-optimal-pretty.sol", "highs-pretty", MO_CLAIM_OPTIMAL, 11,
      6.75 },
    { "highs-1.15.1-optimal-glpk.sol", "glpk", MO_CLAIM_OPTIMAL, 11, 6.75 },
    { "cbc-2.10.8-optimal.sol", "cbc", MO_CLAIM_OPTIMAL, 11, 6.75 },
    { "cbc-2.10.8-optimal-rows.sol", "cbc", MO_CLAIM_OPTIMAL, 11, 6.75 },
    { "glpk-5.0-optimal.txt", "glpk", MO_CLAIM_OPTIMAL, 11, 6.75 },
    { "cplex-schema-optimal.sol", "cplex", MO_CLAIM_OPTIMAL, 11, 6.75 },

    /* From here on what they hold is another model's, or a part. */
    { "highs-1.15.1-optimal-glpk-plain.sol", "glpk-plain", MO_CLAIM_OPTIMAL, 11,
      6.75 },
    { "glpk-5.0-optimal-plain.txt", "glpk-plain", MO_CLAIM_OPTIMAL, 11, 6.75 },
    { "gurobi-13.0.3-optimal.mst", "gurobi", MO_CLAIM_NOTHING, 5, NAN },
    { "miplib-optimal.sol", "miplib", MO_CLAIM_NOTHING, 6, 6.75 },
    { "moirai-feasible.sol", "miplib", MO_CLAIM_FEASIBLE, 6, 6.75 },
    { "plain-crlf.sol", "miplib", MO_CLAIM_NOTHING, 3, NAN },
    { "highs-1.15.1-relaxed.sol", "highs", MO_CLAIM_OPTIMAL, 11,
      5.9166666666667 },
    { "highs-1.15.1-relaxed-pretty.sol", "highs-pretty", MO_CLAIM_OPTIMAL, 11,
      5.9166666666667 },
    { "glpk-5.0-relaxed.txt", "glpk", MO_CLAIM_OPTIMAL, 11, 5.916666667 },
    { "glpk-5.0-relaxed-plain.txt", "glpk-plain", MO_CLAIM_OPTIMAL, 11,
      5.91666666666667 },
    { "glpk-5.0-interior.txt", "glpk", MO_CLAIM_OPTIMAL, 11, 5.916666683 },
    { "glpk-5.0-interior-plain.txt", "glpk-plain", MO_CLAIM_OPTIMAL, 11,
      5.91666668279455 },

    { "scip-10.0.2-feasible.sol", "scip", MO_CLAIM_FEASIBLE, 36, 3316 },
    { "gurobi-13.0.3-feasible.json", "gurobi-json", MO_CLAIM_FEASIBLE, 20,
      148 },
    { "gurobi-13.0.3-feasible.mst", "gurobi", MO_CLAIM_NOTHING, 30, NAN },
    { "gurobi-13.0.3-feasible.sol", "gurobi", MO_CLAIM_NOTHING, 36, 148 },
    { "highs-1.15.1-feasible.sol", "highs", MO_CLAIM_FEASIBLE, 36, 273 },
    { "highs-1.15.1-feasible-sparse.sol", "highs", MO_CLAIM_FEASIBLE, 20, 273 },
    { "highs-1.15.1-feasible-pretty.sol", "highs-pretty", MO_CLAIM_FEASIBLE, 36,
      273 },
    { "highs-1.15.1-feasible-glpk.sol", "glpk", MO_CLAIM_FEASIBLE, 36, 273 },
    { "highs-1.15.1-feasible-glpk-plain.sol", "glpk-plain", MO_CLAIM_FEASIBLE,
      36, 273 },
    { "cbc-2.10.8-feasible.sol", "cbc", MO_CLAIM_FEASIBLE, 36, 2 },
    { "glpk-5.0-feasible.txt", "glpk", MO_CLAIM_FEASIBLE, 36, 7 },
    { "glpk-5.0-feasible-plain.txt", "glpk-plain", MO_CLAIM_FEASIBLE, 36, 7 },
    { "cplex-schema-feasible-pool.sol", "cplex", MO_CLAIM_FEASIBLE, 2, 9 },

    { "scip-10.0.2-infeasible.sol", "scip", MO_CLAIM_INFEASIBLE, 0, NAN },
    { "gurobi-13.0.3-infeasible.json", "gurobi-json", MO_CLAIM_INFEASIBLE, 0,
      NAN },
    { "highs-1.15.1-infeasible.sol", "highs", MO_CLAIM_INFEASIBLE, 0, NAN },
    { "highs-1.15.1-infeasible-sparse.sol", "highs", MO_CLAIM_INFEASIBLE, 0,
      NAN },
    { "highs-1.15.1-infeasible-pretty.sol", "highs-pretty", MO_CLAIM_INFEASIBLE,
      0, NAN },
    { "highs-1.15.1-infeasible-glpk.sol", "glpk", MO_CLAIM_INFEASIBLE, 0, NAN },
    { "highs-1.15.1-infeasible-glpk-plain.sol", "glpk-plain",
      MO_CLAIM_INFEASIBLE, 0, NAN },
    { "cbc-2.10.8-infeasible.sol", "cbc", MO_CLAIM_INFEASIBLE, 0, NAN },
    { "glpk-5.0-infeasible.txt", "glpk", MO_CLAIM_INFEASIBLE, 0, NAN },
    { "glpk-5.0-infeasible-plain.txt", "glpk-plain", MO_CLAIM_INFEASIBLE, 0,
      NAN },
    { "cplex-schema-infeasible.sol", "cplex", MO_CLAIM_INFEASIBLE, 0, NAN },

    /* GLPK has no word for unbounded integer models, nor has HiGHS in its
     * layouts; Gurobi's .sol has none for anything. */
    { "scip-10.0.2-unbounded.sol", "scip", MO_CLAIM_UNBOUNDED, 0, NAN },
    { "gurobi-13.0.3-unbounded.json", "gurobi-json", MO_CLAIM_UNBOUNDED, 0,
      NAN },
    { "gurobi-13.0.3-unbounded.sol", "gurobi", MO_CLAIM_NOTHING, 5, NAN },
    { "gurobi-13.0.3-unbounded.mst", "gurobi", MO_CLAIM_NOTHING, 2, NAN },
    { "highs-1.15.1-unbounded.sol", "highs", MO_CLAIM_UNBOUNDED, 0, NAN },
    { "highs-1.15.1-unbounded-sparse.sol", "highs", MO_CLAIM_UNBOUNDED, 0,
      NAN },
    { "highs-1.15.1-unbounded-pretty.sol", "highs-pretty", MO_CLAIM_UNBOUNDED,
      0, NAN },
    { "highs-1.15.1-unbounded-glpk.sol", "glpk", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "highs-1.15.1-unbounded-glpk-plain.sol", "glpk-plain",
      MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "cbc-2.10.8-unbounded.sol", "cbc", MO_CLAIM_UNBOUNDED, 0, NAN },
    { "glpk-5.0-unbounded.txt", "glpk", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "glpk-5.0-unbounded-plain.txt", "glpk-plain", MO_CLAIM_NO_SOLUTION, 0,
      NAN },
    { "cplex-schema-unbounded.sol", "cplex", MO_CLAIM_UNBOUNDED, 0, NAN },

    { "scip-10.0.2-none.sol", "scip", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "gurobi-13.0.3-none.json", "gurobi-json", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "highs-1.15.1-none.sol", "highs", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "highs-1.15.1-none-sparse.sol", "highs", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "highs-1.15.1-none-pretty.sol", "highs-pretty", MO_CLAIM_NO_SOLUTION, 0,
      NAN },
    { "highs-1.15.1-none-glpk.sol", "glpk", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "highs-1.15.1-none-glpk-plain.sol", "glpk-plain", MO_CLAIM_NO_SOLUTION, 0,
      NAN },
    { "cbc-2.10.8-none.sol", "cbc", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "glpk-5.0-none.txt", "glpk", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "glpk-5.0-none-plain.txt", "glpk-plain", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "cplex-schema-none.sol", "cplex", MO_CLAIM_NO_SOLUTION, 0, NAN },
    { "moirai-none.sol", "miplib", MO_CLAIM_NO_SOLUTION, 0, NAN },
};

enum { N_WHOLE = 14, MAX_SIZE = 1 << 14 }; /* the first hold one solution */

static const char *sample_path(const char *file)
{
    static char path[4096];
    const char *top = getenv("top_srcdir");

    snprintf(path, sizeof path, "%s/tests/solutions/%s", top ? top : ".", file);
    return path;
}

/* The sample's bytes; returns how many. */
static size_t load_sample(const char *file, char text[MAX_SIZE])
{
    FILE *in = fopen(sample_path(file), "rb");
    size_t size;

    ck_assert_msg(in, "cannot open %s", sample_path(file));
    size = fread(text, 1, MAX_SIZE, in);
    ck_assert(size > 0 && size < MAX_SIZE);
    fclose(in);
    return size;
}

static mo_solution *read_bytes(const char *text, size_t size)
{
    mo_solution *solution = NULL;

    MUST(mo_solution_read_memory("test.sol", text, size, &solution, &err));
    return solution;
}

static mo_solution *read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static double value_of(const mo_solution *solution, const char *name)
{
    for (int i = 0; i < solution->n; i++)
        if (strcmp(solution->values[i].name, name) == 0)
            return solution->values[i].value;
    return 0;
}

static bool same_values(const mo_solution *a, const mo_solution *b)
{
    if (a->n != b->n || a->nameless != b->nameless)
        return false;
    for (int i = 0; i < a->n; i++)
        if (a->values[i].value != b->values[i].value ||
            (!a->nameless && strcmp(a->values[i].name, b->values[i].name) != 0))
            return false;
    return true;
}

START_TEST(samples_are_read)
{
    const sample *s = &samples[_i];
    mo_solution *solution = NULL;

    MUST(mo_solution_read(sample_path(s->file), &solution, &err));
    ck_assert_str_eq(solution->layout, s->layout);
    ck_assert_str_eq(mo_claim_names[solution->claim], mo_claim_names[s->claim]);
    ck_assert_int_eq(solution->n, s->n);
    ck_assert_int_eq(solution->has_objective, !isnan(s->objective));
    if (solution->has_objective)
        ck_assert_double_eq_tol(solution->objective, s->objective, 1e-9);
    ck_assert_int_eq(solution->nameless, strcmp(s->layout, "glpk-plain") == 0);
    mo_solution_free(solution);
}
END_TEST

START_TEST(every_sample_is_in_the_table)
{
    ck_assert_int_eq((int) scratch_count(sample_path("")), COUNT(samples));
}
END_TEST

START_TEST(every_layout_holds_the_same_solution)
{
    static const struct {
        const char *name;
        double value;
    } truth[] = {
        { "w", 6.75 },
        { "moirai_g_0123456789abcdef", 1 },
        { "moirai_c_fedcba9876543210", 1 },
        { "moirai_o_paper_ports_tensor_resident_none", 1 },
        { "x_0_0", 1 },
        { "x_0_1", 0 },
        { "x_1_0", 0 },
        { "x_1_1", 1 },
        { "s_0", 0 },
        { "s_1", 5.5 },
        { "y_0_0_1", 1 },
        { "place_0", 0 }, /* a row */
    };
    mo_solution *solution = NULL;

    MUST(mo_solution_read(sample_path(samples[_i].file), &solution, &err));
    for (int i = 0; i < COUNT(truth); i++)
        ck_assert_double_eq_tol(value_of(solution, truth[i].name),
                                truth[i].value, 1e-12);
    mo_solution_free(solution);
}
END_TEST

START_TEST(exactly_one_layout_knows_a_sample)
{
    static const mo_layout *const layouts[] = {
        &mo_layout_scip,       &mo_layout_gurobi, &mo_layout_gurobi_json,
        &mo_layout_highs,      &mo_layout_cbc,    &mo_layout_highs_pretty,
        &mo_layout_glpk_plain, &mo_layout_cplex,  &mo_layout_glpk,
        &mo_layout_miplib,
    };
    char text[MAX_SIZE];
    size_t size = load_sample(samples[_i].file, text);
    int n = 0;

    text[size] = '\0';
    for (int i = 0; i < COUNT(layouts); i++)
        n += layouts[i]->sniff(text);
    ck_assert_int_eq(n, 1);
}
END_TEST

/* What editors, mailers and Windows do to a text. */
START_TEST(line_ends_do_not_matter)
{
    char text[MAX_SIZE], changed[2 * MAX_SIZE] = "\xef\xbb\xbf\r\n \n";
    size_t size = load_sample(samples[_i].file, text), n = strlen(changed);
    mo_solution *as_it_is = read_bytes(text, size), *other;

    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            changed[n++] = '\r';
        changed[n++] = text[i];
    }
    /* XML must begin at the first byte. */
    if (strcmp(samples[_i].layout, "cplex") != 0) {
        other = read_bytes(changed, n);
        ck_assert(same_values(as_it_is, other));
        ck_assert_int_eq(as_it_is->claim, other->claim);
        mo_solution_free(other);
    }
    while (size > 0 && text[size - 1] == '\n')
        size--;
    other = read_bytes(text, size);
    ck_assert(same_values(as_it_is, other));
    ck_assert_int_eq(as_it_is->claim, other->claim);
    mo_solution_free(other);
    mo_solution_free(as_it_is);
}
END_TEST

static bool knows_its_end(const char *layout)
{
    return strcmp(layout, "scip") != 0 && strcmp(layout, "gurobi") != 0 &&
           strcmp(layout, "cbc") != 0 && strcmp(layout, "miplib") != 0;
}

/* Wherever it is cut: an error, or all columns and the claim are there. */
START_TEST(a_cut_file_is_refused_where_that_can_be_known)
{
    const sample *s = &samples[_i];
    char text[MAX_SIZE];
    size_t size = load_sample(s->file, text);
    mo_solution *whole = read_bytes(text, size);

    for (size_t n = 0; n < size && knows_its_end(s->layout); n++) {
        mo_error err = { 0 };
        mo_solution *cut = NULL;
        mo_status status = mo_solution_read_memory("cut", text, n, &cut, &err);

        ck_assert_msg(status != MO_OK || (same_values(whole, cut) &&
                                          whole->claim == cut->claim),
                      "%s cut at byte %zu", s->file, n);
        ck_assert(status == MO_OK || err.text[0] != '\0');
        mo_solution_free(cut);
    }
    mo_solution_free(whole);
}
END_TEST

START_TEST(bounds_are_taken_where_they_are_told)
{
    mo_solution *solution = NULL;

    MUST(mo_solution_read(sample_path("gurobi-13.0.3-optimal.json"), &solution,
                          &err));
    ck_assert(solution->has_bound);
    ck_assert_double_eq(solution->bound, 6.75);
    mo_solution_free(solution);
    MUST(mo_solution_read(sample_path("gurobi-13.0.3-feasible.json"), &solution,
                          &err));
    ck_assert(!solution->has_bound);
    mo_solution_free(solution);
    MUST(mo_solution_read(sample_path("moirai-none.sol"), &solution, &err));
    ck_assert(solution->has_bound);
    ck_assert_double_eq(solution->bound, 6.5);
    mo_solution_free(solution);
}
END_TEST

START_TEST(values_know_their_lines)
{
    mo_solution *solution = NULL;

    MUST(mo_solution_read(sample_path("scip-10.0.2-optimal.sol"), &solution,
                          &err));
    ck_assert_int_eq(solution->values[0].line, 3);
    mo_solution_free(solution);
    solution = read_text("\n# a comment\n\nx 1\n\ny 2");
    ck_assert_int_eq(solution->values[0].line, 4);
    ck_assert_int_eq(solution->values[1].line, 6);
    mo_solution_free(solution);
    MUST(mo_solution_read(sample_path("cplex-schema-optimal.sol"), &solution,
                          &err));
    ck_assert_int_eq(solution->values[0].line, 0);
    mo_solution_free(solution);
}
END_TEST

START_TEST(numbers_are_read_as_solvers_print_them)
{
    mo_solution *solution =
        read_text("=obj= -1e+02\na 1e+20\nb -inf\nc +infinity\nd .5\n"
                  "e 0.99999999999999989\nf -0\ng 1e-320\n\th \t 3.  \n");

    ck_assert_double_eq(solution->objective, -100);
    ck_assert_double_eq(value_of(solution, "a"), 1e20);
    ck_assert_double_eq(value_of(solution, "b"), -HUGE_VAL);
    ck_assert_double_eq(value_of(solution, "c"), HUGE_VAL);
    ck_assert_double_eq(value_of(solution, "d"), 0.5);
    ck_assert_double_eq(value_of(solution, "e"), 0.99999999999999989);
    ck_assert_double_eq(value_of(solution, "g"), 1e-320);
    ck_assert_double_eq(value_of(solution, "h"), 3);
    mo_solution_free(solution);
}
END_TEST

/* They differ from the plain case in ways the samples do not show. */
static const struct {
    const char *text;
    mo_claim claim;
    int n;
} variants[] = {
    { "solution status: gap limit reached\nobjective value: 3\nx 1\n",
      MO_CLAIM_FEASIBLE, 1 },
    { "solution status: infeasible or unbounded\nno solution available\n",
      MO_CLAIM_UNBOUNDED, 0 },
    { "solution status: optimal solution found\nobjective value: 0\n",
      MO_CLAIM_OPTIMAL, 0 },
    { "no solution available", MO_CLAIM_NO_SOLUTION, 0 },
    { "Optimal (within gap tolerance) - objective value 3\n 0 x 1 0\n",
      MO_CLAIM_OPTIMAL, 1 },
    { "Stopped on iterations - objective value 57597.0\n 7 x 1 0\n",
      MO_CLAIM_FEASIBLE, 1 },
    { "Stopped on time - objective value 1e+50\n 0 x 0.5 0\n",
      MO_CLAIM_NO_SOLUTION, 0 },
    /* Told twice is for others to judge; and a first line moved to the end
     * does not make rows of all others. */
    { "Optimal - objective value 3\n0 x 1 0\n0 x 1 0\n1 y 2 0\n",
      MO_CLAIM_OPTIMAL, 3 },
    { "Optimal - objective value 3\n1 y 2 0\n2 z 2 0\n0 x 1 0\n",
      MO_CLAIM_OPTIMAL, 3 },
    { "Optimal - objective value 3\n0 row 1 0\n** 0 x 1 0\n1 y 2 0\n",
      MO_CLAIM_OPTIMAL, 2 },
    { "Model status\nTime limit reached\n\n# Primal solution values\n"
      "Infeasible\nObjective 3\n# Columns 1\nx 0.5\n# Rows 0\n",
      MO_CLAIM_NO_SOLUTION, 0 },
    { "Model status\nOptimal\n\n# Primal solution values\n"
      "Feasible\nObjective 3\n# Columns 0\n# Rows 0\n",
      MO_CLAIM_OPTIMAL, 0 },
    { "Columns\nIndex Status Lower Upper Primal Dual Type Name\n"
      "0 BS -inf inf -1.23457e-100 -1e+100 Semi-conti 1e5\nRows\n\n"
      "Model status: Optimal\n\nObjective value: 0\n",
      MO_CLAIM_OPTIMAL, 1 },
    { "c\ns mip 0 0 o 0\ne o f\n", MO_CLAIM_OPTIMAL, 0 },
    { "s bas 0 1 f n 0\nj 1 b 1 0\ne o f\n", MO_CLAIM_UNBOUNDED, 0 },
    { "s bas 0 1 f u 0\nj 1 b 1 0\ne o f\n", MO_CLAIM_FEASIBLE, 1 },
    { "{\"Vars\":[{\"X\":1,\"VarName\":\"x\",\"RC\":[{\"a\":null}]}]}",
      MO_CLAIM_NOTHING, 1 },
    { "{\"SolutionInfo\":{\"Status\":11,\"Tags\":[true,false]},\"Vars\":[]}",
      MO_CLAIM_FEASIBLE, 0 },
    { "# made by hand\n# Objective value = 3\nx 1\n", MO_CLAIM_NOTHING, 1 },
    { "# made by hand\n=obj= 3\n# more\nx 1\n", MO_CLAIM_NOTHING, 1 },
    { "=infeas=\n", MO_CLAIM_INFEASIBLE, 0 },
    { "=unbd=\n", MO_CLAIM_UNBOUNDED, 0 },
};

START_TEST(variants_are_read)
{
    mo_solution *solution = read_text(variants[_i].text);

    ck_assert_str_eq(mo_claim_names[solution->claim],
                     mo_claim_names[variants[_i].claim]);
    ck_assert_int_eq(solution->n, variants[_i].n);
    mo_solution_free(solution);
}
END_TEST

START_TEST(escapes_of_json_are_resolved)
{
    mo_solution *solution =
        read_text("{ \"Vars\": [ { \"VarName\": "
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

SUITE(solution)
{
    EACH(samples_are_read, COUNT(samples));
    TEST(every_sample_is_in_the_table);
    EACH(every_layout_holds_the_same_solution, N_WHOLE);
    EACH(exactly_one_layout_knows_a_sample, COUNT(samples));
    EACH(line_ends_do_not_matter, COUNT(samples));
    EACH(a_cut_file_is_refused_where_that_can_be_known, COUNT(samples));
    TEST(bounds_are_taken_where_they_are_told);
    TEST(values_know_their_lines);
    TEST(numbers_are_read_as_solvers_print_them);
    EACH(variants_are_read, COUNT(variants));
    TEST(escapes_of_json_are_resolved);
    EACH(what_is_wrong_is_told_with_its_line, COUNT(broken));
    TEST(zero_bytes_are_refused);
    TEST(files_that_are_not_there_are_told);
}
