/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest.h - earliest task first: of all ops that are ready and all devices
 * the pair that can start first, again and again.
 *
 * Transfers are as long as they are and never in each other's way, as in print.
 * Of pairs that start alike the op goes first that comes first in Kahn's order,
 * then the device of the smaller number.  m-ETF, m-SCT and GETF are this with
 * different options.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_ETF_H
#define MO_SOLVERS_SEARCH_BASELINES_ETF_H

#include <stdbool.h>

#include "base/error.h"
#include "solvers/search/method.h"

typedef struct mo_baseline_etf_options {
    /* An op goes to devices that have room for it, if there are any: by the
     * task's memory model, see earliest_room.h. */
    bool memory;

    /* By op and device, op * K + device: whether it may go there; NULL: it may
     * go anywhere.  Pins and groups that are placed come before it. */
    const bool *allowed;

    /* By op: its favourite child, or MO_FREE; NULL: nobody has one.  A device
     * waits for the favourite child of its last op once that is ready; until
     * then it only takes what is urgent: an op whose inputs could have arrived
     * by now wherever it may go. */
    const int *favourite;
} mo_baseline_etf_options;

/* Places all ops and simulates what that comes to. */
mo_status mo_baseline_etf_place(const mo_method_task *task,
                                const mo_baseline_etf_options *options,
                                mo_method_result *placed, mo_error *err);

#endif
