/* SPDX-License-Identifier: Apache-2.0 */
/*
 * highs_improving_file.h - the file to which HiGHS appends every incumbent.
 *
 *     Objective 273
 *     # Columns 36
 *     w 273
 *     ...
 *     Objective 200
 *     ...
 */
#ifndef MO_SOLVERS_PLUGINS_HIGHS_IMPROVING_FILE_H
#define MO_SOLVERS_PLUGINS_HIGHS_IMPROVING_FILE_H

#include "solvers/formats/solution.h"

/* Reads the last complete solution; *solution, which the caller frees, stays
 * NULL when there is none, or no such file. */
mo_status mo_highs_improving_file_read(const char *path, mo_solution **solution,
                                       mo_error *err);

#endif
