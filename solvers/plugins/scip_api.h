/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scip_api.h - the functions of SCIP's C interface that are used, versions 8
 * to 10.
 *
 * SCIP_Bool is an unsigned int, SCIP_Real a double; status codes differ
 * between versions, see mo_scip_solution_status.
 */
#ifndef MO_SOLVERS_PLUGINS_SCIP_API_H
#define MO_SOLVERS_PLUGINS_SCIP_API_H

#include "solvers/plugins/dynlib.h"
#include "solvers/formats/solution.h"
#include "solvers/plugins/solver.h"

enum { MO_SCIP_OKAY = 1 };             /* SCIP_RETCODE */
enum { MO_SCIP_PARAMSETTING_OFF = 3 }; /* SCIP_PARAMSETTING */
enum { MO_SCIP_MINIMIZE = 1 };         /* SCIP_OBJSEN */

typedef struct mo_scip_api {
    mo_dynlib library;
    int (*version[3])(void); /* major, minor, patch */
    int (*create)(void **scip);
    int (*include_plugins)(void *scip);
    int (*free)(void **scip);
    int (*set_bool)(void *scip, const char *name, unsigned value);
    int (*set_int)(void *scip, const char *name, int value);
    int (*set_real)(void *scip, const char *name, double value);
    int (*set_presolving)(void *scip, int setting, unsigned quiet);
    int (*read_problem)(void *scip, const char *path, const char *extension);
    int (*solve)(void *scip);
    int (*interrupt)(void *scip);
    int (*status)(void *scip);
    double (*dual_bound)(void *scip);
    int (*n_variables)(void *scip);
    void **(*variables)(void *scip);
    const char *(*variable_name)(void *variable);
    void *(*best_solution)(void *scip);
    double (*objective)(void *scip, void *solution);
    double (*value)(void *scip, void *solution, void *variable);
    int (*create_solution)(void *scip, void **solution, void *heuristic);
    int (*set_value)(void *scip, void *solution, void *variable, double value);
    int (*add_solution)(void *scip, void **solution, unsigned *stored);

    /* Its interface to LP solvers; all NULL in a library without. */
    int (*lp_create)(void **lpi, void *messages, const char *name, int sense);
    int (*lp_free)(void **lpi);
    double (*lp_infinity)(void *lpi);
    int (*lp_load)(void *lpi, int sense, int n_columns, const double *cost,
                   const double *lower, const double *upper,
                   char **column_names, int n_rows, const double *row_lower,
                   const double *row_upper, char **row_names, int n_nonzeros,
                   const int *start, const int *index, const double *value);
    int (*lp_solve)(void *lpi);
    int (*lp_solution)(void *lpi, double *objective, double *columns,
                       double *duals, double *rows, double *reduced_costs);
} mo_scip_api;

/* For the loader's search path; ends with NULL. */
extern const char *const mo_scip_sonames[];

extern const mo_dynlib_spec mo_scip_dynlib;

mo_status mo_scip_open(const char *path, mo_scip_api *api, mo_error *err);

/* Implements mo_solver.solve_lp. */
mo_status mo_scip_solve_lp(const mo_solver_install *found,
                           const mo_linear_program *lp, double time_s,
                           mo_linear_program_answer *answer, mo_error *err);

/* Returns the meaning of a status: a proof, or else
 * MO_SOLUTION_STATUS_FEASIBLE, since all others are limits. Optimal is 11 up
 * to version 9 and 1 from version 10 on. */
mo_solution_status mo_scip_solution_status(int major, int status);

#endif
