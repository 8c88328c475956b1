/* SPDX-License-Identifier: Apache-2.0 */
/*
 * highs_api.h - the functions of HiGHS's C interface that are used, from
 * version 1.7 on; see its interfaces/highs_c_api.h. HighsInt is an int in
 * every packaged build, which is checked when the library is opened.
 */
#ifndef MO_SOLVERS_PLUGINS_HIGHS_API_H
#define MO_SOLVERS_PLUGINS_HIGHS_API_H

#include <stdint.h>

#include "solvers/formats/solution.h"
#include "solvers/plugins/dynlib.h"
#include "solvers/plugins/solver.h"

enum { MO_HIGHS_ERROR = -1, MO_HIGHS_OK = 0, MO_HIGHS_WARNING = 1 };

enum {
    MO_HIGHS_OPTIMAL = 7,
    MO_HIGHS_INFEASIBLE = 8,
    MO_HIGHS_UNBOUNDED_OR_INFEASIBLE = 9,
    MO_HIGHS_UNBOUNDED = 10
};

enum { MO_HIGHS_POINT_FEASIBLE = 2 }; /* its primal_solution_status */

enum {
    MO_HIGHS_SIMPLEX_INTERRUPT = 1,
    MO_HIGHS_IPM_INTERRUPT = 2,
    MO_HIGHS_MIP_IMPROVING_SOLUTION = 4,
    MO_HIGHS_MIP_INTERRUPT = 6
};

enum { MO_HIGHS_BY_COLUMN = 1, MO_HIGHS_MINIMIZE = 1 };

/* Later versions append members; the start is stable. */
typedef struct mo_highs_callback_in {
    int user_interrupt;
} mo_highs_callback_in;

/* Its layout differs between versions: read it with callback_item only. */
typedef struct mo_highs_callback_out mo_highs_callback_out;

typedef void mo_highs_callback(int type, const char *message,
                               const mo_highs_callback_out *out,
                               mo_highs_callback_in *in, void *context);

typedef struct mo_highs_api {
    mo_dynlib library;
    int (*version_major)(void);
    int (*version_minor)(void);
    int (*version_patch)(void);
    int (*size_of_int)(const void *highs);
    void *(*create)(void);
    void (*destroy)(void *highs);
    int (*set_bool)(void *highs, const char *option, int value);
    int (*set_int)(void *highs, const char *option, int value);
    int (*set_double)(void *highs, const char *option, double value);
    int (*set_string)(void *highs, const char *option, const char *value);
    int (*read_model)(void *highs, const char *path);
    int (*pass_lp)(void *highs, int n_columns, int n_rows, int n_nonzeros,
                   int format, int sense, double offset, const double *cost,
                   const double *lower, const double *upper,
                   const double *row_lower, const double *row_upper,
                   const int *start, const int *index, const double *value);
    int (*run)(void *highs);
    int (*model_status)(const void *highs);
    int (*int_info)(const void *highs, const char *info, int *value);
    int (*int64_info)(const void *highs, const char *info, int64_t *value);
    int (*double_info)(const void *highs, const char *info, double *value);
    int (*n_columns)(const void *highs);
    int (*n_rows)(const void *highs);
    int (*column_name)(const void *highs, int column, char *name);
    int (*solution)(const void *highs, double *columns, double *column_duals,
                    double *rows, double *row_duals);
    int (*set_solution)(void *highs, const double *columns, const double *rows,
                        const double *column_duals, const double *row_duals);
    int (*set_callback)(void *highs, mo_highs_callback *callback,
                        void *context);
    int (*start_callback)(void *highs, int type);
    const void *(*callback_item)(const mo_highs_callback_out *out,
                                 const char *item);
    int (*mip)(int n_columns, int n_rows, int n_nonzeros, int format, int sense,
               double offset, const double *cost, const double *lower,
               const double *upper, const double *row_lower,
               const double *row_upper, const int *start, const int *index,
               const double *value, const int *integrality, double *columns,
               double *rows, int *model_status);
} mo_highs_api;

/* For the loader's search path; ends with NULL. */
extern const char *const mo_highs_sonames[];

extern const mo_dynlib_spec mo_highs_dynlib;

mo_status mo_highs_open(const char *path, mo_highs_api *api, mo_error *err);

/* Implement mo_solver.find, begin_command and check_defects. */
mo_status mo_highs_find(const char *path, mo_solver_install *found,
                        mo_error *err);
mo_status mo_highs_begin_command(const mo_solver_install *found, mo_argv *line,
                                 mo_error *err);
mo_status mo_highs_check_defects(mo_solver_install *found, mo_solver_via way,
                                 mo_error *err);

/* Implements mo_solver.solve_lp. */
mo_status mo_highs_solve_lp(const mo_solver_install *found,
                            const mo_linear_program *lp, double time_s,
                            mo_linear_program_answer *answer, mo_error *err);

/* Solves a small model that presolve of many versions before 1.15 gets wrong;
 * for a child process.  Returns 0 when the answer is right,
 * MO_HIGHS_PROBE_WRONG when it is not, 1 when the library cannot be used. */
enum { MO_HIGHS_PROBE_WRONG = 3 };
int mo_highs_probe_presolve(const char *library);

/*
 * Reads the last complete solution of the file to which HiGHS appends every
 * incumbent.
 *
 *     Objective 273
 *     # Columns 36
 *     w 273
 *     ...
 *     Objective 200
 *     ...
 *
 * *solution, which the caller frees, stays NULL when there is none, or no such
 * file.
 */
mo_status mo_highs_improving_file_read(const char *path, mo_solution **solution,
                                       mo_error *err);

#endif
