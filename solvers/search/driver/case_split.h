/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fanout.h - bounds from ops that very many read, one case for each device that
 * such an op may be on.
 *
 * A chain of blocks does not see what runs beside it.  Where an op of the chain
 * is read by many that lie beside, its device decides much: on the one, what
 * reads it crowds the devices and the ports; on another, the chain's own blocks
 * take longer.  Each bound by itself is weak where the other is strong.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_CASE_SPLIT_H
#define MO_SOLVERS_SEARCH_DRIVER_CASE_SPLIT_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/bound/chain/chain_bound.h"
#include "solvers/search/driver/state.h"

typedef struct mo_search_case_split_options {
    int64_t most_ns;   /* no more is asked for */
    int least_readers; /* fewer beside the chain are not many */
    int64_t *steps;    /* left; becomes less */
    const mo_stop *stop;
} mo_search_case_split_options;

/* Raises *lower_ns, what is proven of a class with a part at a boundary of
 * states.
 */
mo_status
mo_search_case_split_bound(const mo_chain_blocks *blocks, int cls, int boundary,
                           const mo_search_case_split_options *options,
                           int64_t *lower_ns, mo_error *err);

/* The same for all classes, as far as it could be of use for the whole; search
 * has blocks. */
mo_status mo_search_case_split_raise_all(mo_search_state *search,
                                         mo_error *err);

#endif
