/* SPDX-License-Identifier: Apache-2.0 */
/* highs_status.h - the status texts of HiGHS, in all its formats. */
#ifndef MO_SOLVERS_FORMATS_HIGHS_STATUS_H
#define MO_SOLVERS_FORMATS_HIGHS_STATUS_H

#include "solvers/formats/solfmt.h"

mo_solution_status mo_highs_solution_status(const mo_solfmt_token *status,
                                            bool has_solution);

#endif
