/*
 * solve_write.h - what comes of solving: a solution file, and words about it.
 */
#ifndef MO_CLI_SOLVE_OUTPUT_H
#define MO_CLI_SOLVE_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/out.h"
#include "driver/portfolio.h"
#include "driver/select_answer.h"

/* The answer in Gurobi's layout, whole or not at all, with what is known of it
 * in comments. */
mo_status mo_solve_write(const mo_award *award, const mo_jury *jury,
                         const char *path, mo_error *err);

/* What came of it. */
void mo_solve_report(const mo_award *award, const mo_jury *jury,
                     const mo_contest *contest, bool json, mo_out *out);

/* The exit status that goes with it. */
int mo_solve_code(const mo_award *award);

/* Every solver we know with what of it is here. */
mo_status mo_solve_list(const mo_contest_options *options, bool json,
                        mo_out *out, mo_error *err);

#endif
