/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infeasibility_test.h - load infeasibility test (destructive bound): proves
 * that some ops cannot all run within a given time, on whatever devices.
 *
 * The caller provides heads and tails of every op by device.
 */
#ifndef MO_SCHEDULE_BOUND_INFEASIBILITY_TEST_H
#define MO_SCHEDULE_BOUND_INFEASIBILITY_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"

typedef struct mo_infeas_test mo_infeas_test;

/* For up to max_ops ops at a time.  domains must outlive the test.  The caller
 * frees *infeas_test with mo_infeas_test_free(), which accepts NULL. */
mo_status mo_infeas_test_new(const mo_allowed_devices *domains, int max_ops,
                             mo_infeas_test **infeas_test, mo_error *err);
void mo_infeas_test_free(mo_infeas_test *infeas_test);

typedef struct mo_infeas_test_case {
    const int *ops;
    int n;
    const int64_t *head_ns, *tail_ns; /* heads and tails by op and device,
                                            mo_allowed_devices_index */
} mo_infeas_test_case;

/* Sets the subproblem.  The caller owns c and its arrays and keeps them valid
 * until the next call; heads and tails may change between tests. */
void mo_infeas_test_set_case(mo_infeas_test *infeas_test,
                             const mo_infeas_test_case *c);

/* Returns true when not all of the ops can run within that time; false means
 * not proven. */
bool mo_infeas_test_proves(mo_infeas_test *infeas_test, int64_t time_ns);

#endif
