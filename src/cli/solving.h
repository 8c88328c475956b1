/*
 * solving.h - a model solved, the answers judged, and solved again where that
 * is called for.
 */
#ifndef MO_CLI_SOLVING_H
#define MO_CLI_SOLVING_H

#include "cli/contest.h"
#include "cli/jury.h"
#include "solvers/workdir.h"

/* The jury knows the model's origin, where that can be known.  contest must be
 * zeros and is the caller's to clear, whatever the result. */
mo_status mo_solving_run(const mo_contest_options *options, const char *model,
                         const mo_workdir *folder, mo_jury *jury,
                         mo_contest *contest, mo_award *award, mo_error *err);

#endif
