/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loads.h - windows in which devices and what leads from one to another have
 * too much to do.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_CHAIN_INTERVAL_LOAD_H
#define MO_SOLVERS_SEARCH_BOUND_CHAIN_INTERVAL_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/bound/chain/time_windows.h"

typedef struct mo_chain_interval_load mo_chain_interval_load;

/* windows must outlive it. */
mo_status mo_chain_interval_load_new(const mo_chain_windows *windows,
                                     mo_chain_interval_load **loads,
                                     mo_error *err);
void mo_chain_interval_load_free(mo_chain_interval_load *loads);

/*
 * *refuted: the ops cannot all run within that time where the windows, narrowed
 * for it, still allow them.  False says nothing.  from_ns: a moment behind
 * which there might be much to do.  What it costs is added to *steps.
 */
mo_status mo_chain_interval_load_refute(mo_chain_interval_load *loads,
                                        int64_t time_ns, int64_t from_ns,
                                        int64_t *steps, bool *refuted,
                                        mo_error *err);

#endif
