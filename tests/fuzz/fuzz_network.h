/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_network.h - networks, their plans and their outputs on one device, kept
 * between the executions of a fuzzer, which would spend most of its time on
 * them.
 */
#ifndef MO_TESTS_FUZZ_FUZZ_NETWORK_H
#define MO_TESTS_FUZZ_FUZZ_NETWORK_H

#include "tests/exec/support/plan_runner.h"
#include "tests/fuzz/fuzz.h"

typedef struct fuzz_network {
    random_plan made;
    mo_run_result expected; /* outputs on one device */
    unsigned seed;          /* of the inputs */
} fuzz_network;

/* Draws one of 64 networks (random_plan.h) and 1 to 4 devices; owned by the
 * cache. */
fuzz_network *fuzz_network_draw(fuzz_input *in);

/* Runs plan on the inputs of the network; fails unless the outputs are the
 * expected ones, bit by bit. */
void fuzz_network_check(const fuzz_network *network, const mo_exec_plan *plan);

#endif
