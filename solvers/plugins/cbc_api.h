/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cbc_api.h - the functions of CBC's C interface that are used, version 2.10;
 * see its Cbc_C_Interface.h.
 */
#ifndef MO_SOLVERS_PLUGINS_CBC_API_H
#define MO_SOLVERS_PLUGINS_CBC_API_H

#include "solvers/plugins/dynlib.h"

typedef struct mo_cbc_api {
    mo_dynlib library;
    const char *(*version)(void);
    void *(*create)(void);
    void (*destroy)(void *model);
    int (*read_lp)(void *model, const char *path);
    int (*read_mps)(void *model, const char *path);
    void (*set_parameter)(void *model, const char *name, const char *value);
    void (*set_start)(void *model, int count, const int *columns,
                      const double *values);
    int (*solve)(void *model);
    int (*is_optimal)(void *model);
    int (*is_infeasible)(void *model);
    int (*is_unbounded)(void *model);
    int (*n_columns)(void *model);
    int (*n_integers)(void *model);
    size_t (*longest_name)(void *model);
    void (*column_name)(void *model, int column, char *name, size_t size);
    double (*objective)(void *model);
    double (*bound)(void *model);
    double *(*best_solution)(void *model); /* NULL: none */
    const double *(*relaxation)(void *model);
} mo_cbc_api;

/* For the loader's search path; ends with NULL. */
extern const char *const mo_cbc_sonames[];

extern const mo_dynlib_spec mo_cbc_dynlib;

mo_status mo_cbc_open(const char *path, mo_cbc_api *api, mo_error *err);

#endif
