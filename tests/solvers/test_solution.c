/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/formats/solution.h with files written by solvers
 * (tests/solutions, made by contrib/samples/make_solutions.sh). */
#include <config.h>

#include "solvers/formats/solution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/formats/solfmt.h"
#include "tests/support/scratch.h"
#include "tests/solvers/solution_case.h"
#include "tests/support/suite.h"

/* A sample: file, format, status, number of columns; NAN: no objective. */
typedef struct sample {
    const char *file, *layout;
    mo_solution_status claim;
    int n;
    double objective;
} sample;

static const sample samples[] = {
    { "scip-10.0.2-optimal.sol", "scip", MO_SOLUTION_STATUS_OPTIMAL, 8, 6.75 },
    { "scip-10.0.2-api.sol", "scip", MO_SOLUTION_STATUS_UNKNOWN, 8, 6.75 },
    { "scip-10.0.2-api-zeros.sol", "scip", MO_SOLUTION_STATUS_UNKNOWN, 11,
      6.75 },
    { "gurobi-13.0.3-optimal.sol", "gurobi", MO_SOLUTION_STATUS_UNKNOWN, 11,
      6.75 },
    { "gurobi-13.0.3-optimal.json", "gurobi-json", MO_SOLUTION_STATUS_OPTIMAL,
      8, 6.75 },
    { "gurobi-13.0.3-optimal-detail.json", "gurobi-json",
      MO_SOLUTION_STATUS_OPTIMAL, 11, 6.75 },
    { "highs-1.15.1-optimal.sol", "highs", MO_SOLUTION_STATUS_OPTIMAL, 11,
      6.75 },
    { "highs-1.15.1-optimal-sparse.sol", "highs", MO_SOLUTION_STATUS_OPTIMAL, 8,
      6.75 },
    { "highs-1.15.1-optimal-pretty.sol", "highs-pretty",
      MO_SOLUTION_STATUS_OPTIMAL, 11, 6.75 },
    { "highs-1.15.1-optimal-glpk.sol", "glpk", MO_SOLUTION_STATUS_OPTIMAL, 11,
      6.75 },
    { "cbc-2.10.8-optimal.sol", "cbc", MO_SOLUTION_STATUS_OPTIMAL, 11, 6.75 },
    { "cbc-2.10.8-optimal-rows.sol", "cbc", MO_SOLUTION_STATUS_OPTIMAL, 11,
      6.75 },
    { "glpk-5.0-optimal.txt", "glpk", MO_SOLUTION_STATUS_OPTIMAL, 11, 6.75 },
    { "cplex-schema-optimal.sol", "cplex", MO_SOLUTION_STATUS_OPTIMAL, 11,
      6.75 },

    /* The following are of another model, or a part. */
    { "highs-1.15.1-optimal-glpk-plain.sol", "glpk-plain",
      MO_SOLUTION_STATUS_OPTIMAL, 11, 6.75 },
    { "glpk-5.0-optimal-plain.txt", "glpk-plain", MO_SOLUTION_STATUS_OPTIMAL,
      11, 6.75 },
    { "gurobi-13.0.3-optimal.mst", "gurobi", MO_SOLUTION_STATUS_UNKNOWN, 5,
      NAN },
    { "miplib-optimal.sol", "miplib", MO_SOLUTION_STATUS_UNKNOWN, 6, 6.75 },
    { "moirai-feasible.sol", "miplib", MO_SOLUTION_STATUS_FEASIBLE, 6, 6.75 },
    { "plain-crlf.sol", "miplib", MO_SOLUTION_STATUS_UNKNOWN, 3, NAN },
    { "highs-1.15.1-relaxed.sol", "highs", MO_SOLUTION_STATUS_OPTIMAL, 11,
      5.9166666666667 },
    { "highs-1.15.1-relaxed-pretty.sol", "highs-pretty",
      MO_SOLUTION_STATUS_OPTIMAL, 11, 5.9166666666667 },
    { "glpk-5.0-relaxed.txt", "glpk", MO_SOLUTION_STATUS_OPTIMAL, 11,
      5.916666667 },
    { "glpk-5.0-relaxed-plain.txt", "glpk-plain", MO_SOLUTION_STATUS_OPTIMAL,
      11, 5.91666666666667 },
    { "glpk-5.0-interior.txt", "glpk", MO_SOLUTION_STATUS_OPTIMAL, 11,
      5.916666683 },
    { "glpk-5.0-interior-plain.txt", "glpk-plain", MO_SOLUTION_STATUS_OPTIMAL,
      11, 5.91666668279455 },

    { "scip-10.0.2-feasible.sol", "scip", MO_SOLUTION_STATUS_FEASIBLE, 36,
      3316 },
    { "gurobi-13.0.3-feasible.json", "gurobi-json", MO_SOLUTION_STATUS_FEASIBLE,
      20, 148 },
    { "gurobi-13.0.3-feasible.mst", "gurobi", MO_SOLUTION_STATUS_UNKNOWN, 30,
      NAN },
    { "gurobi-13.0.3-feasible.sol", "gurobi", MO_SOLUTION_STATUS_UNKNOWN, 36,
      148 },
    { "highs-1.15.1-feasible.sol", "highs", MO_SOLUTION_STATUS_FEASIBLE, 36,
      273 },
    { "highs-1.15.1-feasible-sparse.sol", "highs", MO_SOLUTION_STATUS_FEASIBLE,
      20, 273 },
    { "highs-1.15.1-feasible-pretty.sol", "highs-pretty",
      MO_SOLUTION_STATUS_FEASIBLE, 36, 273 },
    { "highs-1.15.1-feasible-glpk.sol", "glpk", MO_SOLUTION_STATUS_FEASIBLE, 36,
      273 },
    { "highs-1.15.1-feasible-glpk-plain.sol", "glpk-plain",
      MO_SOLUTION_STATUS_FEASIBLE, 36, 273 },
    { "cbc-2.10.8-feasible.sol", "cbc", MO_SOLUTION_STATUS_FEASIBLE, 36, 2 },
    { "glpk-5.0-feasible.txt", "glpk", MO_SOLUTION_STATUS_FEASIBLE, 36, 7 },
    { "glpk-5.0-feasible-plain.txt", "glpk-plain", MO_SOLUTION_STATUS_FEASIBLE,
      36, 7 },
    { "cplex-schema-feasible-pool.sol", "cplex", MO_SOLUTION_STATUS_FEASIBLE, 2,
      9 },

    { "scip-10.0.2-infeasible.sol", "scip", MO_SOLUTION_STATUS_INFEASIBLE, 0,
      NAN },
    { "gurobi-13.0.3-infeasible.json", "gurobi-json",
      MO_SOLUTION_STATUS_INFEASIBLE, 0, NAN },
    { "highs-1.15.1-infeasible.sol", "highs", MO_SOLUTION_STATUS_INFEASIBLE, 0,
      NAN },
    { "highs-1.15.1-infeasible-sparse.sol", "highs",
      MO_SOLUTION_STATUS_INFEASIBLE, 0, NAN },
    { "highs-1.15.1-infeasible-pretty.sol", "highs-pretty",
      MO_SOLUTION_STATUS_INFEASIBLE, 0, NAN },
    { "highs-1.15.1-infeasible-glpk.sol", "glpk", MO_SOLUTION_STATUS_INFEASIBLE,
      0, NAN },
    { "highs-1.15.1-infeasible-glpk-plain.sol", "glpk-plain",
      MO_SOLUTION_STATUS_INFEASIBLE, 0, NAN },
    { "cbc-2.10.8-infeasible.sol", "cbc", MO_SOLUTION_STATUS_INFEASIBLE, 0,
      NAN },
    { "glpk-5.0-infeasible.txt", "glpk", MO_SOLUTION_STATUS_INFEASIBLE, 0,
      NAN },
    { "glpk-5.0-infeasible-plain.txt", "glpk-plain",
      MO_SOLUTION_STATUS_INFEASIBLE, 0, NAN },
    { "cplex-schema-infeasible.sol", "cplex", MO_SOLUTION_STATUS_INFEASIBLE, 0,
      NAN },

    /* GLPK has no status for unbounded integer models, nor has HiGHS in its
     * formats; Gurobi's .sol has none at all. */
    { "scip-10.0.2-unbounded.sol", "scip", MO_SOLUTION_STATUS_UNBOUNDED, 0,
      NAN },
    { "gurobi-13.0.3-unbounded.json", "gurobi-json",
      MO_SOLUTION_STATUS_UNBOUNDED, 0, NAN },
    { "gurobi-13.0.3-unbounded.sol", "gurobi", MO_SOLUTION_STATUS_UNKNOWN, 5,
      NAN },
    { "gurobi-13.0.3-unbounded.mst", "gurobi", MO_SOLUTION_STATUS_UNKNOWN, 2,
      NAN },
    { "highs-1.15.1-unbounded.sol", "highs", MO_SOLUTION_STATUS_UNBOUNDED, 0,
      NAN },
    { "highs-1.15.1-unbounded-sparse.sol", "highs",
      MO_SOLUTION_STATUS_UNBOUNDED, 0, NAN },
    { "highs-1.15.1-unbounded-pretty.sol", "highs-pretty",
      MO_SOLUTION_STATUS_UNBOUNDED, 0, NAN },
    { "highs-1.15.1-unbounded-glpk.sol", "glpk", MO_SOLUTION_STATUS_NO_SOLUTION,
      0, NAN },
    { "highs-1.15.1-unbounded-glpk-plain.sol", "glpk-plain",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0, NAN },
    { "cbc-2.10.8-unbounded.sol", "cbc", MO_SOLUTION_STATUS_UNBOUNDED, 0, NAN },
    { "glpk-5.0-unbounded.txt", "glpk", MO_SOLUTION_STATUS_NO_SOLUTION, 0,
      NAN },
    { "glpk-5.0-unbounded-plain.txt", "glpk-plain",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0, NAN },
    { "cplex-schema-unbounded.sol", "cplex", MO_SOLUTION_STATUS_UNBOUNDED, 0,
      NAN },

    { "scip-10.0.2-none.sol", "scip", MO_SOLUTION_STATUS_NO_SOLUTION, 0, NAN },
    { "gurobi-13.0.3-none.json", "gurobi-json", MO_SOLUTION_STATUS_NO_SOLUTION,
      0, NAN },
    { "highs-1.15.1-none.sol", "highs", MO_SOLUTION_STATUS_NO_SOLUTION, 0,
      NAN },
    { "highs-1.15.1-none-sparse.sol", "highs", MO_SOLUTION_STATUS_NO_SOLUTION,
      0, NAN },
    { "highs-1.15.1-none-pretty.sol", "highs-pretty",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0, NAN },
    { "highs-1.15.1-none-glpk.sol", "glpk", MO_SOLUTION_STATUS_NO_SOLUTION, 0,
      NAN },
    { "highs-1.15.1-none-glpk-plain.sol", "glpk-plain",
      MO_SOLUTION_STATUS_NO_SOLUTION, 0, NAN },
    { "cbc-2.10.8-none.sol", "cbc", MO_SOLUTION_STATUS_NO_SOLUTION, 0, NAN },
    { "glpk-5.0-none.txt", "glpk", MO_SOLUTION_STATUS_NO_SOLUTION, 0, NAN },
    { "glpk-5.0-none-plain.txt", "glpk-plain", MO_SOLUTION_STATUS_NO_SOLUTION,
      0, NAN },
    { "cplex-schema-none.sol", "cplex", MO_SOLUTION_STATUS_NO_SOLUTION, 0,
      NAN },
    { "moirai-none.sol", "miplib", MO_SOLUTION_STATUS_NO_SOLUTION, 0, NAN },
};

enum { N_WHOLE = 14, MAX_SIZE = 1 << 14 }; /* the first hold one solution */

static const char *sample_path(const char *file)
{
    static char path[4096];
    const char *top = getenv("top_srcdir");

    snprintf(path, sizeof path, "%s/tests/solutions/%s", top ? top : ".", file);
    return path;
}

/* Reads the sample; returns the number of bytes. */
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
    ck_assert_str_eq(mo_solution_status_names[solution->claim],
                     mo_solution_status_names[s->claim]);
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
        ck_assert_double_eq_tol(solution_value(solution, truth[i].name),
                                truth[i].value, 1e-12);
    mo_solution_free(solution);
}
END_TEST

START_TEST(exactly_one_layout_knows_a_sample)
{
    static const mo_solfmt *const layouts[] = {
        &mo_solfmt_scip,       &mo_solfmt_gurobi, &mo_solfmt_gurobi_json,
        &mo_solfmt_highs,      &mo_solfmt_cbc,    &mo_solfmt_highs_pretty,
        &mo_solfmt_glpk_plain, &mo_solfmt_cplex,  &mo_solfmt_glpk,
        &mo_solfmt_miplib,
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

/* As changed by editors, mailers and Windows. */
START_TEST(line_ends_do_not_matter)
{
    char text[MAX_SIZE], changed[2 * MAX_SIZE] = "\xef\xbb\xbf\r\n \n";
    size_t size = load_sample(samples[_i].file, text), n = strlen(changed);
    mo_solution *as_it_is = solution_of_bytes(text, size), *other;

    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            changed[n++] = '\r';
        changed[n++] = text[i];
    }
    /* XML has to start at the first byte. */
    if (strcmp(samples[_i].layout, "cplex") != 0) {
        other = solution_of_bytes(changed, n);
        ck_assert(same_values(as_it_is, other));
        ck_assert_int_eq(as_it_is->claim, other->claim);
        mo_solution_free(other);
    }
    while (size > 0 && text[size - 1] == '\n')
        size--;
    other = solution_of_bytes(text, size);
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

/* Wherever it is cut: an error, or all columns and the status are there. */
START_TEST(a_cut_file_is_refused_where_that_can_be_known)
{
    const sample *s = &samples[_i];
    char text[MAX_SIZE];
    size_t size = load_sample(s->file, text);
    mo_solution *whole = solution_of_bytes(text, size);

    /* Seven is no multiple of a line's length. */
    for (size_t n = 0; n < size && knows_its_end(s->layout);
         n += (size_t) how_many(1, 7)) {
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
    solution = solution_of_text("\n# a comment\n\nx 1\n\ny 2");
    ck_assert_int_eq(solution->values[0].line, 4);
    ck_assert_int_eq(solution->values[1].line, 6);
    mo_solution_free(solution);
    MUST(mo_solution_read(sample_path("cplex-schema-optimal.sol"), &solution,
                          &err));
    ck_assert_int_eq(solution->values[0].line, 0);
    mo_solution_free(solution);
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
}
