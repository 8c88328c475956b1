/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placeto.h - the network of Placeto, and an episode of it.
 *
 * R. Addanki, S. B. Venkatakrishnan, S. Gupta, H. Mao, M. Alizadeh: Placeto:
 * learning generalizable device placement algorithms for distributed machine
 * learning (NeurIPS 2019).
 *
 * An episode begins with everything on one device and visits what is placed
 * (units) once, in the order of the graph; each time the network looks at the
 * placement as it is and chooses a device.  It knows of each unit its times,
 * what it sends, where it is, when it starts and whether it was visited, passes
 * messages along the edges both ways, and sums up what is before, after and
 * beside the one to be placed.
 */
#ifndef MO_SOLVERS_SEARCH_RL_PLACETO_H
#define MO_SOLVERS_SEARCH_RL_PLACETO_H

#include "base/error.h"
#include "solvers/search/rl/nn/dense_layer.h"
#include "solvers/search/rl/ancestors.h"
#include "solvers/search/rl/reinforce.h"

/* Layers; and numbers that are told of a unit, beside two for each device. */
enum { MO_RL_PLACETO_LAYERS = 8, MO_RL_PLACETO_UNIT_FEATURES = 4 };

typedef struct mo_rl_placeto {
    const mo_method_task *task;
    const mo_placement_units *units;
    int n, n_devices, n_features;
    int *first; /* first[c]: the first unit of part c; n_parts + 1 of them */
    int n_parts;
    int together; /* parts that are learned from at once */
    double stays; /* what staying where it is has ahead of a unit's
                     choices before anything is learned: a logit */

    /* placeto_told.c */
    mo_rl_adjacency parents, children; /* of as many copies of the graph, one
                                   behind the other */
    mo_rl_ancestors near;
    mo_rl_ancestors near_together; /* of each unit in its part's own copy */
    mo_rl_real *fixed;             /* by unit: what no placement changes */
    int *begin; /* the placement that an episode begins with */
    mo_rl_params weights;
    mo_rl_dense layers[MO_RL_PLACETO_LAYERS]; /* by their use: placeto_net.c */
    int about[1];
} mo_rl_placeto;

/* Begins as zeros; clear it whatever comes of it. */
mo_status mo_rl_placeto_init(const mo_method_task *task,
                             const mo_placement_units *units,
                             mo_rl_placeto *placeto, mo_error *err);
void mo_rl_placeto_clear(mo_rl_placeto *placeto);

/* The pupil that it is. */
mo_rl_policy mo_rl_placeto_policy(mo_rl_placeto *placeto);

/* ---- placeto_told.c */

mo_status mo_rl_placeto_init_features(mo_rl_placeto *placeto, mo_error *err);

/* ---- placeto_net.c */

mo_status mo_rl_placeto_init_params(mo_rl_placeto *placeto, uint64_t seed,
                                    mo_error *err);

/* What is known of all units when part c is to be placed: n rows. */
void mo_rl_placeto_features(const mo_rl_placeto *placeto, const int *device,
                            int c, int64_t *scratch /* by op */,
                            mo_rl_real *features);

/* The logarithms of the probabilities of devices for the units of some parts,
 * each of which has features of its own, one behind the other: of part c alone,
 * or of several from c on, where c is a multiple of placeto->together, which is
 * the most. */
mo_rl_var mo_rl_placeto_log_probs(const mo_rl_placeto *placeto,
                                  mo_rl_tape *tape, const mo_rl_real *features,
                                  int c, int many);

#endif
