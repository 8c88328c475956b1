/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_links.h - links between devices, measured, as rows of a profile.
 */
#ifndef MO_DRIVER_PROFILE_LINK_ROWS_H
#define MO_DRIVER_PROFILE_LINK_ROWS_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/profile.h"
#include "exec/measure/bench_link.h"

/*
 * Between two sizes that were measured a message takes what a straight line
 * between them says; one row each.  rows are by from, to and bytes, those of
 * one pair together; links, whose ids are those given, are the caller's to
 * free.
 */
mo_status mo_profiler_link_rows_make(const mo_measure_link_row *rows, int n,
                                     const char *const *ids,
                                     mo_profile_link **links, int *n_links,
                                     mo_error *err);

/* Has the profile a row for every ordered pair of these devices? */
bool mo_profiler_link_rows_complete(const mo_profile *profile,
                                    const char *const *ids, int n);

#endif
