/* SPDX-License-Identifier: Apache-2.0 */
/*
 * install_dirs.h - installed folders and files of Moirai, and of the Python
 * environments that contain solvers.
 *
 * Every path that is returned was allocated; the caller frees it.
 */
#ifndef MO_SOLVERS_PLUGINS_INSTALL_DIRS_H
#define MO_SOLVERS_PLUGINS_INSTALL_DIRS_H

#include "base/error.h"
#include "solvers/process/path_util.h"

/* Returns the value of key in the file build-paths: "programs", "scripts",
 * "highs" or "python". The file lies beside programs of a build tree; tests,
 * which lie deeper, name it in MOIRAI_BUILD_PATHS. NULL: this program is
 * installed, or there is no such key. */
char *mo_install_dirs_build(const char *key);

/* Appends the private folders of solvers: the installed lib/moirai, relative
 * to this program and as configured, then the site-packages of the active
 * environment (VIRTUAL_ENV, CONDA_PREFIX) and of the Python in PATH; in a build
 * tree also of the Python it was configured with. They need not exist. */
mo_status mo_install_dirs_private(mo_path_list *dirs, mo_error *err);

/* Returns the path of an installed file, or, in a build tree, of the one there;
 * NULL when there is none. name is "moirai-scip" or "gurobi_run.py". */
char *mo_install_dirs_own_file(const char *name);

/* Returns the interpreter of a site-packages folder; NULL: none. */
char *mo_install_dirs_python(const char *site);

#endif
