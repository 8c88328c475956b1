/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - where a solver is: its program and its library.
 *
 * What a user says comes first (--solver-path, MOIRAI_<SOLVER>), then what the
 * machine has (PATH, the loader's path), then the private folders.
 */
#ifndef MO_SOLVERS_PLUGINS_FIND_INSTALL_H
#define MO_SOLVERS_PLUGINS_FIND_INSTALL_H

#include "base/error.h"
#include "solvers/plugins/solver.h"

/* All lists end with NULL. */
typedef struct mo_solver_install_spec {
    const char *title;            /* "HiGHS" */
    const char *variable;         /* "MOIRAI_HIGHS" */
    const char *const *programs;  /* names */
    const char *const *sonames;   /* for the loader */
    const char *const *libraries; /* names in folders, with * in them */
    const char *const *folders;   /* in the private ones */
    const char *known; /* a folder that configure found; "" or NULL: none */
} mo_solver_install_spec;

/*
 * path, or the variable, is a program, a library, or a folder with either in
 * it, in its bin or in its lib; what belongs together is found together.  When
 * nothing is there, that is an error: the user meant something else.
 */
mo_status mo_solver_find_install(const mo_solver_install_spec *kind,
                                 const char *path, mo_solver_install *found,
                                 mo_error *err);

#endif
