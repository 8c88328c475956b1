/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_instance.h - small instances drawn from the input of a fuzzer.
 *
 * One to eight ops on one to three devices, made without any file: times that
 * are 0, equal or far apart, tensors with several readers, several tensors
 * between two ops, pins, colocation groups, devices that are equal, memory
 * limits from none to too little, routes over several links, and times given by
 * edge.
 */
#ifndef MO_TESTS_FUZZ_FUZZ_INSTANCE_H
#define MO_TESTS_FUZZ_FUZZ_INSTANCE_H

#include "cost/instance.h"
#include "schedule/regime.h"
#include "tests/fuzz/fuzz.h"

enum { FUZZ_OPS = 8, FUZZ_DEVICES = 3 };

typedef struct fuzz_instance {
    mo_graph *graph;
    mo_cluster *cluster;
    mo_instance *x;
} fuzz_instance;

/* Returns false, with nothing to clear, for an instance that is rejected, such
 * as one whose op fits no device. */
bool fuzz_instance_make(fuzz_input *in, fuzz_instance *made);
void fuzz_instance_clear(fuzz_instance *made);

mo_regime fuzz_regime(fuzz_input *in);

#endif
