/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_install.h - search for a solver's program and library.
 *
 * Order: paths given by the user (--solver-path, MOIRAI_<SOLVER>), then the
 * system (PATH, the loader's search path), then the private folders
 * (install_dirs.h).
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
    const char *const *libraries; /* file name patterns (fnmatch) */
    const char *const *folders;   /* below the private folders */
    const char *build_key;        /* of its folder in build-paths, or NULL */
} mo_solver_install_spec;

/*
 * path, or the variable, is a program, a library, or a folder that contains
 * either, in its bin or lib; program and library come from one installation.
 * Returns MO_E_USAGE when the path contains neither. Without a path, nothing
 * found leaves both NULL. The caller frees *found with
 * mo_solver_install_clear().
 */
mo_status mo_solver_find_install(const mo_solver_install_spec *spec,
                                 const char *path, mo_solver_install *found,
                                 mo_error *err);

#endif
