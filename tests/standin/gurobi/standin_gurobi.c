/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library with the entry points of Gurobi that are used, over HiGHS, so that
 * the plug-in can be tested without a licence. It has the names of Gurobi's
 * parameters and attributes and its codes.
 *
 *     MOIRAI_HIGHS_LIB    path of HiGHS
 *     STANDIN_REFUSES     the code that starting fails with
 *     STANDIN_TOO_LARGE   set: no model is small enough for the licence
 *
 * With STANDIN_OLD it is built like Gurobi before version 12, when a header
 * did not yet pass its version.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/plugins/gurobi_api.h"
#include "solvers/plugins/highs_api.h"

enum {
    OUT_OF_MEMORY = 10001,
    DATA_NOT_AVAILABLE = 10005,
    UNKNOWN_PARAMETER = 10007,
    UNKNOWN_ATTRIBUTE = 10004,
    FILE_READ = 10012,
    VERSION_MISMATCH = 20002
};

enum { TIME_LIMIT = 9, INTERRUPTED = 11, NUMERIC = 12 };
enum { HIGHS_TIME_LIMIT = 13, HIGHS_INTERRUPT = 17, NAME_SIZE = 1 << 18 };

#ifdef STANDIN_OLD
static const int version[] = { 11, 0, 3 };
#else
static const int version[] = { 13, 0, 3 };
#endif

typedef struct environment {
    mo_highs_api api;
    char text[MO_ERROR_TEXT_SIZE];
} environment;

typedef struct model {
    environment *environment;
    void *highs;
    int n, rows;
    volatile int terminated;
    char name[NAME_SIZE];
} model;

void GRBversion(int *major, int *minor, int *technical);
int GRBemptyenv(void **made);
int GRBemptyenvinternal(void **made, int major, int minor, int technical);
int GRBstartenv(void *started);
void GRBfreeenv(void *freed);
const char *GRBgeterrormsg(void *asked);
int GRBreadmodel(void *started, const char *path, void **made);
int GRBloadmodel(void *started, void **made, const char *name, int n_columns,
                 int n_rows, int sense, double offset, double *cost,
                 char *senses, double *rhs, int *start, int *lengths,
                 int *index, double *value, double *lower, double *upper,
                 char *kinds, char **column_names, char **row_names);
int GRBfreemodel(void *freed);
void *GRBgetenv(void *asked);
int GRBsetintparam(void *set, const char *parameter, int value);
int GRBsetdblparam(void *set, const char *parameter, double value);
int GRBoptimize(void *optimized);
void GRBterminate(void *terminated);
int GRBgetintattr(void *asked, const char *attribute, int *value);
int GRBgetdblattr(void *asked, const char *attribute, double *value);
int GRBgetdblattrarray(void *asked, const char *attribute, int first, int count,
                       double *values);
int GRBsetdblattrarray(void *set, const char *attribute, int first, int count,
                       double *values);
int GRBgetstrattrelement(void *asked, const char *attribute, int element,
                         char **value);

void GRBversion(int *major, int *minor, int *technical)
{
    *major = version[0];
    *minor = version[1];
    *technical = version[2];
}

int GRBemptyenv(void **made)
{
    *made = calloc(1, sizeof(environment));
    return *made ? 0 : OUT_OF_MEMORY;
}

#ifndef STANDIN_OLD
int GRBemptyenvinternal(void **made, int major, int minor, int technical)
{
    if (major != version[0] || minor != version[1] || technical != version[2])
        return VERSION_MISMATCH;
    return GRBemptyenv(made);
}
#endif

static int fail(environment *e, int code, const char *text)
{
    snprintf(e->text, sizeof e->text, "%s", text);
    return code;
}

int GRBstartenv(void *started)
{
    environment *e = started;
    const char *refuses = getenv("STANDIN_REFUSES");
    mo_error err;

    if (refuses)
        return fail(e, atoi(refuses), "the stand-in has no licence");
    if (mo_highs_open(getenv("MOIRAI_HIGHS_LIB"), &e->api, &err) != MO_OK)
        return fail(e, DATA_NOT_AVAILABLE, err.text);
    return 0;
}

void GRBfreeenv(void *freed)
{
    free(freed);
}

const char *GRBgeterrormsg(void *asked)
{
    environment *e = asked;

    return e->text;
}

int GRBfreemodel(void *freed)
{
    model *m = freed;

    m->environment->api.destroy(m->highs);
    free(m);
    return 0;
}

int GRBreadmodel(void *started, const char *path, void **made)
{
    environment *e = started;
    model *m = calloc(1, sizeof *m);

    if (!m)
        return OUT_OF_MEMORY;
    m->environment = e;
    m->highs = e->api.create();
    if (e->api.read_model(m->highs, path) == MO_HIGHS_ERROR) {
        GRBfreemodel(m);
        return fail(e, FILE_READ, "the stand-in cannot read it");
    }
    m->n = e->api.n_columns(m->highs);
    m->rows = e->api.n_rows(m->highs);
    *made = m;
    return 0;
}

/* Columns follow each other without gaps, as the plug-in has them. */
int GRBloadmodel(void *started, void **made, const char *name, int n_columns,
                 int n_rows, int sense, double offset, double *cost,
                 char *senses, double *rhs, int *start, int *lengths,
                 int *index, double *value, double *lower, double *upper,
                 char *kinds, char **column_names, char **row_names)
{
    environment *e = started;
    model *m = calloc(1, sizeof *m);
    double *sides = malloc((2 * (size_t) n_rows + 1) * sizeof *sides);
    int n_terms = start[n_columns - 1] + lengths[n_columns - 1], status;

    if (!m || !sides || kinds || column_names || row_names || !name)
        return OUT_OF_MEMORY;
    for (int i = 0; i < n_rows; i++) {
        sides[i] = senses[i] == '<' ? -INFINITY : rhs[i];
        sides[n_rows + i] = senses[i] == '>' ? INFINITY : rhs[i];
    }
    *m = (model){ .environment = e,
                  .highs = e->api.create(),
                  .n = n_columns,
                  .rows = n_rows };
    status = e->api.pass_lp(m->highs, n_columns, n_rows, n_terms,
                            MO_HIGHS_BY_COLUMN, sense, offset, cost, lower,
                            upper, sides, sides + n_rows, start, index, value);
    free(sides);
    *made = m;
    return status == MO_HIGHS_ERROR ? DATA_NOT_AVAILABLE : 0;
}

/* Each model of Gurobi has an environment; here it is the model, for the
 * parameters. */
void *GRBgetenv(void *asked)
{
    return asked;
}

int GRBsetintparam(void *set, const char *parameter, int value)
{
    model *m = set;
    mo_highs_api *api = &m->environment->api;
    int status = MO_HIGHS_ERROR;

    if (strcmp(parameter, "Threads") == 0)
        status = api->set_int(m->highs, "threads", value);
    else if (strcmp(parameter, "Presolve") == 0)
        status = api->set_string(m->highs, "presolve",
                                 value == 0 ? "off" : "choose");
    return status == MO_HIGHS_OK
               ? 0
               : fail(m->environment, UNKNOWN_PARAMETER, parameter);
}

int GRBsetdblparam(void *set, const char *parameter, double value)
{
    model *m = set;
    mo_highs_api *api = &m->environment->api;
    int status = MO_HIGHS_ERROR;

    if (strcmp(parameter, "TimeLimit") == 0)
        status = api->set_double(m->highs, "time_limit", value);
    else if (strcmp(parameter, "MIPGap") == 0)
        status = api->set_double(m->highs, "mip_rel_gap", value);
    else if (strcmp(parameter, "SoftMemLimit") == 0 && value > 0)
        status = MO_HIGHS_OK;
    return status == MO_HIGHS_OK
               ? 0
               : fail(m->environment, UNKNOWN_PARAMETER, parameter);
}

static void on_callback(int type, const char *message,
                        const mo_highs_callback_out *out,
                        mo_highs_callback_in *in, void *context)
{
    model *m = context;

    (void) type;
    (void) message;
    (void) out;
    if (in)
        in->user_interrupt = m->terminated;
}

/* A termination before the run is dropped, as by Gurobi. */
int GRBoptimize(void *optimized)
{
    model *m = optimized;
    mo_highs_api *api = &m->environment->api;

    if (getenv("STANDIN_TOO_LARGE"))
        return fail(m->environment, MO_GUROBI_SIZE_LIMIT,
                    "the stand-in's licence is for small models");
    m->terminated = 0;
    api->set_callback(m->highs, on_callback, m);
    api->start_callback(m->highs, MO_HIGHS_MIP_INTERRUPT);
    api->start_callback(m->highs, MO_HIGHS_SIMPLEX_INTERRUPT);
    return api->run(m->highs) == MO_HIGHS_ERROR ? OUT_OF_MEMORY : 0;
}

void GRBterminate(void *terminated)
{
    model *m = terminated;

    m->terminated = 1;
}

static int status_of(int highs_status)
{
    switch (highs_status) {
    case MO_HIGHS_OPTIMAL:
        return MO_GUROBI_OPTIMAL;
    case MO_HIGHS_INFEASIBLE:
        return MO_GUROBI_INFEASIBLE;
    case MO_HIGHS_UNBOUNDED_OR_INFEASIBLE:
        return MO_GUROBI_INFEASIBLE_OR_UNBOUNDED;
    case MO_HIGHS_UNBOUNDED:
        return MO_GUROBI_UNBOUNDED;
    case HIGHS_TIME_LIMIT:
        return TIME_LIMIT;
    case HIGHS_INTERRUPT:
        return INTERRUPTED;
    default:
        return NUMERIC;
    }
}

static int count_solutions(model *m)
{
    int point = 0;

    m->environment->api.int_info(m->highs, "primal_solution_status", &point);
    return point == MO_HIGHS_POINT_FEASIBLE;
}

int GRBgetintattr(void *asked, const char *attribute, int *value)
{
    model *m = asked;

    if (strcmp(attribute, "NumVars") == 0)
        *value = m->n;
    else if (strcmp(attribute, "Status") == 0)
        *value = status_of(m->environment->api.model_status(m->highs));
    else if (strcmp(attribute, "SolCount") == 0)
        *value = count_solutions(m);
    else
        return fail(m->environment, UNKNOWN_ATTRIBUTE, attribute);
    return 0;
}

int GRBgetdblattr(void *asked, const char *attribute, double *value)
{
    model *m = asked;
    const char *info = strcmp(attribute, "ObjVal") == 0
                           ? "objective_function_value"
                       : strcmp(attribute, "ObjBound") == 0 ? "mip_dual_bound"
                                                            : NULL;

    if (!info)
        return fail(m->environment, UNKNOWN_ATTRIBUTE, attribute);
    if (m->environment->api.double_info(m->highs, info, value) != MO_HIGHS_OK)
        return fail(m->environment, DATA_NOT_AVAILABLE, attribute);
    if (isinf(*value))
        *value = *value > 0 ? 1e100 : -1e100;
    return 0;
}

int GRBgetdblattrarray(void *asked, const char *attribute, int first, int count,
                       double *values)
{
    model *m = asked;

    if (strcmp(attribute, "Pi") == 0 && first == 0 && count == m->rows)
        return m->environment->api.solution(m->highs, NULL, NULL, NULL,
                                            values) == MO_HIGHS_ERROR
                   ? fail(m->environment, DATA_NOT_AVAILABLE, attribute)
                   : 0;
    if (strcmp(attribute, "X") != 0 || first != 0 || count != m->n)
        return fail(m->environment, UNKNOWN_ATTRIBUTE, attribute);
    return m->environment->api.solution(m->highs, values, NULL, NULL, NULL) ==
                   MO_HIGHS_ERROR
               ? fail(m->environment, DATA_NOT_AVAILABLE, attribute)
               : 0;
}

int GRBsetdblattrarray(void *set, const char *attribute, int first, int count,
                       double *values)
{
    model *m = set;

    if (strcmp(attribute, "Start") != 0 || first != 0 || count != m->n)
        return fail(m->environment, UNKNOWN_ATTRIBUTE, attribute);
    return m->environment->api.set_solution(m->highs, values, NULL, NULL,
                                            NULL) == MO_HIGHS_ERROR
               ? fail(m->environment, DATA_NOT_AVAILABLE, attribute)
               : 0;
}

int GRBgetstrattrelement(void *asked, const char *attribute, int element,
                         char **value)
{
    model *m = asked;

    if (strcmp(attribute, "VarName") != 0 || element < 0 || element >= m->n)
        return fail(m->environment, UNKNOWN_ATTRIBUTE, attribute);
    m->environment->api.column_name(m->highs, element, m->name);
    *value = m->name;
    return 0;
}
