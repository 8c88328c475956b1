/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_version.h - the line of --version about libraries and devices.
 */
#ifndef MO_CLI_EXEC_VERSION_H
#define MO_CLI_EXEC_VERSION_H

#include "base/out.h"

/* Prints "Runs with: BLAS, MPI, CUDA driver 13.0, ...", as found at run
 * time. */
void mo_cli_exec_version(mo_out *out);

#endif
