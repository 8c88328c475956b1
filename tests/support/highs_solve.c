/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/support/highs_solve.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

/* Of HiGHS's C interface: statuses, and the longest name it returns. */
enum { STATUS_OK = 0, MODEL_OPTIMAL = 7, MODEL_INFEASIBLE = 8 };
enum { NAME_SIZE = 512 };

/* Exit status for a skipped test. */
enum { EXIT_SKIPPED = 77 };

/* HighsInt is an int in every packaged build; the probe makes sure. */
static struct highs {
    void *library;
    void *(*create)(void);
    void (*destroy)(void *highs);
    int (*set_bool)(void *highs, const char *option, int value);
    int (*set_int)(void *highs, const char *option, int value);
    int (*set_double)(void *highs, const char *option, double value);
    int (*set_string)(void *highs, const char *option, const char *value);
    int (*read_model)(void *highs, const char *path);
    int (*run)(void *highs);
    int (*forget)(void *highs);
    int (*model_status)(const void *highs);
    double (*objective)(const void *highs);
    int (*n_columns)(const void *highs);
    int (*n_rows)(const void *highs);
    int (*n_nonzeros)(const void *highs);
    int (*integrality)(const void *highs, int column, int *integrality);
    int (*column_name)(const void *highs, int column, char *name);
    int (*solution)(const void *highs, double *values, double *duals,
                    double *row_values, double *row_duals);
    int (*int_size)(const void *highs);
} highs;

/* Looks up a function of the library.  POSIX allows the two kinds of pointers
 * to be copied, C does not allow the cast. */
static bool find(const char *name, void *function)
{
    void *symbol = dlsym(highs.library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(void)
{
    return find("Highs_create", &highs.create) &&
           find("Highs_destroy", &highs.destroy) &&
           find("Highs_setBoolOptionValue", &highs.set_bool) &&
           find("Highs_setIntOptionValue", &highs.set_int) &&
           find("Highs_setDoubleOptionValue", &highs.set_double) &&
           find("Highs_setStringOptionValue", &highs.set_string) &&
           find("Highs_readModel", &highs.read_model) &&
           find("Highs_run", &highs.run) &&
           find("Highs_clearSolver", &highs.forget) &&
           find("Highs_getModelStatus", &highs.model_status) &&
           find("Highs_getObjectiveValue", &highs.objective) &&
           find("Highs_getNumCol", &highs.n_columns) &&
           find("Highs_getNumRow", &highs.n_rows) &&
           find("Highs_getNumNz", &highs.n_nonzeros) &&
           find("Highs_getColIntegrality", &highs.integrality) &&
           find("Highs_getColName", &highs.column_name) &&
           find("Highs_getSolution", &highs.solution) &&
           find("Highs_getSizeofHighsInt", &highs.int_size);
}

/* Loads the library once; returns NULL on success, else the error. */
static const char *load(void)
{
    static const char *why;
    const char *path = getenv("MOIRAI_HIGHS_LIB");

    if (highs.library || why)
        return why;
    if (!path || !*path)
        return why = "no HiGHS: MOIRAI_HIGHS_LIB names no library";
    highs.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!highs.library)
        return why = dlerror();
    if (!find_all() || highs.int_size(NULL) != sizeof(int))
        why = "this HiGHS has another interface";
    return why;
}

void solve_or_skip(void)
{
    const char *why = load();

    if (!why)
        return;
    fprintf(stderr, "skipped: %s\n", why);
    exit(EXIT_SKIPPED);
}

static void *make_solver(void)
{
    void *solver = highs.create();

    ck_assert_ptr_nonnull(solver);
    ck_assert_int_eq(highs.set_bool(solver, "output_flag", 0), STATUS_OK);
    ck_assert_int_eq(highs.set_int(solver, "threads", 1), STATUS_OK);
    ck_assert_int_eq(highs.set_double(solver, "mip_rel_gap", 0), STATUS_OK);
    /* Takes a third of the time of models this small, in versions that have
     * the heuristic. */
    highs.set_bool(solver, "mip_heuristic_run_feasibility_jump", 0);
    return solver;
}

static void count(const void *solver, solved *result)
{
    result->rows = highs.n_rows(solver);
    result->columns = highs.n_columns(solver);
    result->nonzeros = highs.n_nonzeros(solver);
    for (int i = 0; i < result->columns; i++) {
        int integrality = 0;

        /* A model without integers has no such table. */
        if (highs.integrality(solver, i, &integrality) == STATUS_OK)
            result->integers += integrality != 0;
    }
}

static int compare_names(const void *a, const void *b)
{
    const solved_column *one = a, *other = b;

    return strcmp(one->name, other->name);
}

static void *array_of(int count, size_t size)
{
    void *array = calloc((size_t) count + 1, size);

    ck_assert_ptr_nonnull(array);
    return array;
}

static void take_values(const void *solver, solved *result)
{
    int n = result->columns;
    double *values = array_of(n, sizeof *values);
    double *others = array_of(n + result->rows, sizeof *others);
    char name[NAME_SIZE];

    highs.solution(solver, values, others, others, others);
    result->values = array_of(n, sizeof *result->values);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(highs.column_name(solver, i, name), STATUS_OK);
        result->values[i].name = strdup(name);
        result->values[i].value = values[i];
    }
    qsort(result->values, (size_t) n, sizeof *result->values, compare_names);
    free(others);
    free(values);
}

static solve_status status_of(int highs_status)
{
    switch (highs_status) {
    case MODEL_OPTIMAL:
        return SOLVE_OPTIMAL;
    case MODEL_INFEASIBLE:
        return SOLVE_INFEASIBLE;
    default:
        return SOLVE_OTHER;
    }
}

/* HiGHS's presolve loses all solutions of a few models that have some, in one
 * file format and not in the other: "infeasible" has to hold without it. */
static int run(void *solver)
{
    highs.run(solver);
    if (highs.model_status(solver) != MODEL_INFEASIBLE)
        return highs.model_status(solver);
    ck_assert_int_eq(highs.forget(solver), STATUS_OK);
    ck_assert_int_eq(highs.set_string(solver, "presolve", "off"), STATUS_OK);
    highs.run(solver);
    return highs.model_status(solver);
}

void solve_file(const char *path, solved *result)
{
    void *solver;

    ck_assert_ptr_null(load());
    *result = (solved){ .status = SOLVE_OTHER };
    solver = make_solver();
    if (highs.read_model(solver, path) == STATUS_OK) {
        count(solver, result);
        result->highs_status = run(solver);
        result->status = status_of(result->highs_status);
    }
    if (result->status == SOLVE_OPTIMAL) {
        result->objective = highs.objective(solver);
        take_values(solver, result);
    }
    highs.destroy(solver);
}

void solved_clear(solved *result)
{
    for (int i = 0; result->values && i < result->columns; i++)
        free(result->values[i].name);
    free(result->values);
    *result = (solved){ 0 };
}

double solved_value(const solved *result, const char *name)
{
    const solved_column *found = NULL;
    solved_column wanted = { .value = 0 };

    wanted.name = strdup(name);
    if (result->values)
        found = bsearch(&wanted, result->values, (size_t) result->columns,
                        sizeof wanted, compare_names);
    free(wanted.name);
    return found ? found->value : 0;
}
