/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_files.h - a job's files under plain names in its folder, as solvers want
 * them: compressed ones unpacked, others by a link.
 */
#ifndef MO_SOLVERS_JOB_FILES_H
#define MO_SOLVERS_JOB_FILES_H

#include "solvers/plugins/solver.h"

typedef struct mo_solver_job_files {
    char *model; /* folder/model.lp or folder/model.mps */
    char *start; /* folder/start.sol, .mst or .cbc; NULL without one */
} mo_solver_job_files;

/* Whatever had these names before is gone. */
mo_status mo_solver_job_files_prepare(const mo_solver_job *job,
                                      mo_solver_job_files *files,
                                      mo_error *err);
void mo_solver_job_files_clear(mo_solver_job_files *files);

#endif
