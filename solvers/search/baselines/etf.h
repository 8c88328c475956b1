/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etf.h - earliest task first (Hwang et al., 1989): list scheduling that, of
 * all ready ops and all devices, places the pair with the earliest start.
 *
 * Transfers have their length and no congestion, as published. Ties go to the
 * op that is first in topological order (Kahn's), then to the device with the
 * smaller number. m-ETF, m-SCT and GETF are this with different options.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_ETF_H
#define MO_SOLVERS_SEARCH_BASELINES_ETF_H

#include <stdbool.h>

#include "base/error.h"
#include "solvers/search/method.h"

typedef struct mo_baseline_etf_options {
    /* An op goes to devices with enough free memory, if there are any: by the
     * task's memory model, see etf.c. */
    bool memory;

    /* By op and device, op * K + device: allowed; NULL: all are. Pins and
     * placed groups take precedence. */
    const bool *allowed;

    /* By op: its favourite child, or MO_FREE; NULL: there are none. A device
     * waits for the favourite child of its last op once that is ready; until
     * then it only takes urgent ops: those with inputs that could have arrived
     * by now on every allowed device. */
    const int *favourite;
} mo_baseline_etf_options;

/* Places all ops and simulates the result; placed->schedule is NULL after a
 * stop. */
mo_status mo_baseline_etf_place(const mo_method_task *task,
                                const mo_baseline_etf_options *options,
                                mo_method_result *placed, mo_error *err);

#endif
