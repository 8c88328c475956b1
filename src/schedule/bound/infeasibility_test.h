/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refute.h - a time in which some ops cannot all be run, wherever they go.
 *
 * Of every op is known how long it takes at least before it can start, and what
 * comes at least after it has ended, by device.
 */
#ifndef MO_SCHEDULE_BOUND_INFEASIBILITY_TEST_H
#define MO_SCHEDULE_BOUND_INFEASIBILITY_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"

typedef struct mo_infeas_test mo_infeas_test;

/* For up to max_ops ops at a time.  places must outlive it. */
mo_status mo_infeas_test_new(const mo_allowed_devices *places, int max_ops,
                             mo_infeas_test **refuter, mo_error *err);
void mo_infeas_test_free(mo_infeas_test *refuter);

typedef struct mo_infeas_test_case {
    const int *ops;
    int n;
    const int64_t *before_ns,
        *after_ns; /* by op and device, mo_allowed_devices_index */
} mo_infeas_test_case;

/* Takes the case up; it and what it points to stay the caller's, and the times
 * may change from one question to the next. */
void mo_infeas_test_set_case(mo_infeas_test *refuter,
                             const mo_infeas_test_case *c);

/* True: not all of the ops can be run within that time.  False says nothing. */
bool mo_infeas_test_proves(mo_infeas_test *refuter, int64_t time_ns);

#endif
