/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hand_plan.h - plans made by hand, for what runs them: random networks of one
 * operator on random devices, and a backend that can do just that.
 *
 * The operator adds up its inputs, 32-bit numbers, times 31, plus its own
 * number; what comes out is known without any device.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_MANUAL_PLAN_H
#define MO_TESTS_EXEC_SUPPORT_MANUAL_PLAN_H

#include <stdint.h>

#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"

typedef struct hand_plan_options {
    uint64_t seed;
    int n_devices, n_calls;
    int64_t elements; /* of every tensor */
} hand_plan_options;

/* One input, and the last value of every device that computes as outputs; all
 * that is sent is sent as a random moment wants it. */
mo_exec_plan *hand_plan_make(const hand_plan_options *options);

/* What output i must be, at every element, for input x. */
uint32_t hand_plan_result(const mo_exec_plan *plan, int output, uint32_t x);

/* Does the operator. */
extern const mo_backend hand_backend;

/* The same; a call of more than n_in = 2 operands fails now and then. */
extern const mo_backend hand_backend_failing;

/* The same; every call takes half a millisecond of processor time. */
extern const mo_backend hand_backend_slow;

#endif
