/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_version.h - what commands that run networks add to --version.
 */
#ifndef MO_CLI_EXEC_VERSION_H
#define MO_CLI_EXEC_VERSION_H

#include "base/out.h"

/* "Runs with: BLAS, MPI, CUDA driver 13.0, ...": what is found when it runs. */
void mo_cli_exec_version(mo_out *out);

#endif
