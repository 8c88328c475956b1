/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - folders and files of ours, wherever we were installed, and of the
 * Python environments that solvers come in.
 *
 * All paths are the caller's.
 */
#ifndef MO_SOLVERS_PLUGINS_INSTALL_DIRS_H
#define MO_SOLVERS_PLUGINS_INSTALL_DIRS_H

#include "base/error.h"
#include "solvers/process/path_util.h"

/* Folders in which solvers may lie that belong to nobody but us or Python: the
 * installed lib/moirai, as it is found from here and as it was configured, the
 * site-packages of the Python in PATH, then of the one we were built with.
 * They need not exist. */
enum { MO_INSTALL_DIRS_OWN = 2 };
mo_status mo_install_dirs_private(mo_path_list *places, mo_error *err);

/* A file that was installed with us, or lies in the tree we were built in; NULL
 * when it is nowhere.  name is "moirai-scip", "gurobi_run.py". */
char *mo_install_dirs_own_file(const char *name);

/* The interpreter to which a folder of site-packages belongs; NULL: none. */
char *mo_install_dirs_python(const char *site);

#endif
