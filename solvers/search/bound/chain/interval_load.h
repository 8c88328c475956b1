/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_load.h - interval-load (energetic) bound: refutes a time when the
 * loads of devices and links in time windows exceed their capacity.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_CHAIN_INTERVAL_LOAD_H
#define MO_SOLVERS_SEARCH_BOUND_CHAIN_INTERVAL_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/bound/chain/time_windows.h"

typedef struct mo_chain_interval_load mo_chain_interval_load;

/* Allocates the bound; the caller frees *loads with
 * mo_chain_interval_load_free(), which accepts NULL. windows is borrowed and
 * must outlive it. */
mo_status mo_chain_interval_load_new(const mo_chain_windows *windows,
                                     mo_chain_interval_load **loads,
                                     mo_error *err);
void mo_chain_interval_load_free(mo_chain_interval_load *loads);

/*
 * Sets *refuted to true if the ops cannot all run within time_ns on the
 * devices that the windows, propagated for that time, still allow. False
 * proves nothing. from_ns is a time behind which a high load is expected. Adds
 * the work done to *steps.
 */
mo_status mo_chain_interval_load_refute(mo_chain_interval_load *loads,
                                        int64_t time_ns, int64_t from_ns,
                                        int64_t *steps, bool *refuted,
                                        mo_error *err);

#endif
