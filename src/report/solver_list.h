/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solver_list.h - list of the solvers and their installations.
 */
#ifndef MO_REPORT_SOLVER_LIST_H
#define MO_REPORT_SOLVER_LIST_H

#include "base/out.h"
#include "solvers/plugins/solver.h"

typedef struct mo_report_solver_row {
    const mo_solver *solver;
    const mo_solver_install
        *found; /* neither program nor library: not installed */
} mo_report_solver_row;

void mo_report_solvers_text(const mo_report_solver_row *rows, int n,
                            mo_out *out);
void mo_report_solvers_json(const mo_report_solver_row *rows, int n,
                            mo_out *out);

#endif
