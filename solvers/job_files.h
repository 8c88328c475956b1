/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_files.h - input files of a job under fixed names in its folder:
 * compressed ones are decompressed, others linked.
 */
#ifndef MO_SOLVERS_JOB_FILES_H
#define MO_SOLVERS_JOB_FILES_H

#include "solvers/plugins/solver.h"

typedef struct mo_solver_job_files {
    char *model; /* folder/model.lp or folder/model.mps */
    char *start; /* folder/start.sol, .mst or .cbc; NULL without one */
} mo_solver_job_files;

/* Fills *files, which starts as { 0 }; existing files of these names are
 * replaced. The caller frees it with mo_solver_job_files_clear(), also on
 * failure. Returns MO_E_SYNTAX for a file that is no model. */
mo_status mo_solver_job_files_prepare(const mo_solver_job *job,
                                      mo_solver_job_files *files,
                                      mo_error *err);
void mo_solver_job_files_clear(mo_solver_job_files *files);

#endif
