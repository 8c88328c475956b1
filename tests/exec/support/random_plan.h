/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_plan.h - random small networks on a few devices, as plans.
 *
 *     random_plan r;
 *
 *     random_plan_make(&r, seed, n_devices);
 *     MUST(mo_verify_plan(r.plan, &err));
 *     random_plan_clear(&r);
 *
 * The same seed gives the same network everywhere, whatever the number of
 * devices: inputs, constants in nodes and in attrs, ops with several inputs
 * and with several outputs, views, views of inputs, results of all of these,
 * and dead code. Devices, the order of ops and constraints of the schedule
 * follow from the seed, too; every other network is coarsened first.
 */
#ifndef MO_TESTS_EXEC_SUPPORT_RANDOM_PLAN_H
#define MO_TESTS_EXEC_SUPPORT_RANDOM_PLAN_H

#include "base/out.h"
#include "exec/plan/build.h"
#include "tests/support/problem.h"

enum { RANDOM_PLAN_DEVICES = 4 }; /* at most */

typedef struct random_plan {
    mo_graph *fine;
    mo_coarsen_map *map; /* or NULL: the fine graph was placed */
    problem problem;     /* owns the placed graph */
    mo_schedule *schedule;
    mo_weights_store *constants;
    mo_plan_source source;
    mo_exec_plan *plan;
} random_plan;

void random_plan_make(random_plan *r, unsigned seed, int n_devices);
void random_plan_clear(random_plan *r);

/* The same for another network, of which a second copy is placed; r owns both.
 * folder: of its weight files; missing values are synthesized. */
void random_plan_of(random_plan *r, mo_graph *fine, mo_graph *same,
                    const char *folder, unsigned seed, int n_devices);

/* The graph alone. */
mo_graph *random_network(unsigned seed);

/* A convolutional network: images through convolutions, biases, activations,
 * sums, pools, concatenations, views and averages. */
mo_graph *random_picture(unsigned seed);

/* Attention in random spellings: products, splits, transposes, biases. */
mo_graph *random_attention(unsigned seed);

/* For generators of networks: parses nodes and edges in GraphML, with data op,
 * shape, dtype, attrs, src_port and dst_port. Frees both buffers; the caller
 * owns the graph. */
mo_graph *random_graphml(mo_out *nodes, mo_out *edges);

#endif
