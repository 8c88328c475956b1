/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mip_start_file.h - conversion of a MIP start to the format that a solver
 * reads.
 */
#ifndef MO_DRIVER_MIP_START_FILE_H
#define MO_DRIVER_MIP_START_FILE_H

#include "base/error.h"
#include "driver/log.h"
#include "solvers/plugins/solver.h"

/* Reads the solution at path, in any format, and writes it into folder in the
 * solver's format. *copy is the new path, to be freed by the caller, or NULL
 * if the solver reads no starts, which is reported on stderr. Without a solver
 * (a command of the user) the format is MIPLIB's. */
mo_status mo_mip_start_file_convert(const char *path, const mo_solver *solver,
                                    const char *folder,
                                    const mo_driver_log *logger, char **copy,
                                    mo_error *err);

#endif
