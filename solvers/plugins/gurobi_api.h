/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gurobi_api.h - the functions of Gurobi's C interface that are used, versions
 * 10 to 13; see its gurobi_c.h.
 */
#ifndef MO_SOLVERS_PLUGINS_GUROBI_API_H
#define MO_SOLVERS_PLUGINS_GUROBI_API_H

#include "solvers/plugins/dynlib.h"
#include "solvers/plugins/solver.h"

enum { MO_GUROBI_NO_LICENSE = 10009, MO_GUROBI_SIZE_LIMIT = 10010 };

enum {
    MO_GUROBI_OPTIMAL = 2,
    MO_GUROBI_INFEASIBLE = 3,
    MO_GUROBI_INFEASIBLE_OR_UNBOUNDED = 4,
    MO_GUROBI_UNBOUNDED = 5
};

typedef struct mo_gurobi_api {
    mo_dynlib library;
    void (*version)(int *major, int *minor, int *technical);

    /* From version 12 on the header passes its version: the second of these;
     * before that there is only the first. */
    int (*empty_environment)(void **environment);
    int (*empty_environment_for)(void **environment, int major, int minor,
                                 int technical);
    int (*start_environment)(void *environment);
    void (*free_environment)(void *environment);
    const char *(*error_message)(void *environment);
    int (*set_int)(void *environment, const char *parameter, int value);
    int (*set_double)(void *environment, const char *parameter, double value);
    int (*read_model)(void *environment, const char *path, void **model);
    int (*load_model)(void *environment, void **model, const char *name,
                      int n_columns, int n_rows, int sense, double offset,
                      double *cost, char *senses, double *rhs, int *start,
                      int *lengths, int *index, double *value, double *lower,
                      double *upper, char *kinds, char **column_names,
                      char **row_names); /* or NULL */
    int (*free_model)(void *model);
    void *(*environment_of)(void *model);
    int (*optimize)(void *model);
    void (*terminate)(void *model);
    int (*int_attribute)(void *model, const char *attribute, int *value);
    int (*double_attribute)(void *model, const char *attribute, double *value);
    int (*double_attributes)(void *model, const char *attribute, int first,
                             int count, double *values);
    int (*set_double_attributes)(void *model, const char *attribute, int first,
                                 int count, double *values);
    int (*text_attribute)(void *model, const char *attribute, int element,
                          char **value);
} mo_gurobi_api;

/* For the loader's search path; ends with NULL. */
extern const char *const mo_gurobi_sonames[];

extern const mo_dynlib_spec mo_gurobi_dynlib;

mo_status mo_gurobi_open(const char *path, mo_gurobi_api *api, mo_error *err);

/* Implement mo_solver.solve and mo_solver.solve_lp. */
mo_status mo_gurobi_solve(const mo_solver_install *found,
                          const mo_solver_job *job, mo_error *err);
mo_status mo_gurobi_solve_lp(const mo_solver_install *found,
                             const mo_linear_program *lp, double time_s,
                             mo_linear_program_answer *answer, mo_error *err);

#endif
