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

/* Appends the private folders of solvers: the installed lib/moirai, relative
 * to this program and as configured (the first MO_INSTALL_DIRS_OWN), then the
 * site-packages of the Python in PATH, then of the one of the build. They need
 * not exist. */
enum { MO_INSTALL_DIRS_OWN = 2 };
mo_status mo_install_dirs_private(mo_path_list *dirs, mo_error *err);

/* Returns the path of an installed file, or of one in the build tree; NULL
 * when there is none. name is "moirai-scip" or "gurobi_run.py". */
char *mo_install_dirs_own_file(const char *name);

/* Returns the interpreter of a site-packages folder; NULL: none. */
char *mo_install_dirs_python(const char *site);

#endif
