/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_file.h - a solution to start from, in the layout that a solver reads.
 */
#ifndef MO_DRIVER_MIP_START_FILE_H
#define MO_DRIVER_MIP_START_FILE_H

#include "base/error.h"
#include "driver/log.h"
#include "solvers/plugins/solver.h"

/* Reads path, any layout, and writes it beside folder as solver wants it; *copy
 * is the new path, the caller's, or NULL where the solver reads no starts,
 * which is said.  A command of the user's (no solver) gets the MIPLIB
 * layout. */
mo_status mo_mip_start_file_convert(const char *path, const mo_solver *solver,
                                    const char *folder,
                                    const mo_driver_log *talk, char **copy,
                                    mo_error *err);

#endif
