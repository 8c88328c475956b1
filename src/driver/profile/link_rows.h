/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_rows.h - measured links as rows of a profile.
 */
#ifndef MO_DRIVER_PROFILE_LINK_ROWS_H
#define MO_DRIVER_PROFILE_LINK_ROWS_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/profile.h"
#include "exec/measure/bench.h"

/*
 * Makes one row for each pair of neighbouring measured sizes: time is linear
 * in between. rows are sorted by from, to and bytes. The ids in links are
 * borrowed; the caller frees the array.
 */
mo_status mo_profiler_link_rows_make(const mo_measure_link_row *rows, int n,
                                     const char *const *ids,
                                     mo_profile_link **links, int *n_links,
                                     mo_error *err);

/* Whether the profile has a row for every ordered pair of these devices. */
bool mo_profiler_link_rows_complete(const mo_profile *profile,
                                    const char *const *ids, int n);

#endif
