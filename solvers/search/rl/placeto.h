/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placeto.h - the policy network of Placeto, and an episode of it.
 *
 * R. Addanki, S. B. Venkatakrishnan, S. Gupta, H. Mao, M. Alizadeh: Placeto:
 * learning generalizable device placement algorithms for distributed machine
 * learning (NeurIPS 2019).
 *
 * An episode starts with everything on one device and visits the units once,
 * in topological order; each time a graph neural network embeds the current
 * placement and chooses a device.  The features of a unit are its times, its
 * transfers, its device, its start and whether it was visited; messages pass
 * along the edges in both directions, and the embeddings of the ancestors,
 * descendants and incomparable units of the one to be placed are pooled.
 */
#ifndef MO_SOLVERS_SEARCH_RL_PLACETO_H
#define MO_SOLVERS_SEARCH_RL_PLACETO_H

#include "base/error.h"
#include "solvers/search/rl/nn/layers.h"
#include "solvers/search/rl/reinforce.h"

/* Compressed adjacency: of vertex v list[start[v]], ..., list[start[v + 1] -
 * 1]. */
typedef struct mo_rl_adjacency {
    int *start, *list;
} mo_rl_adjacency;

/* Ancestors, descendants and incomparable vertices of a DAG, to sum over. */
typedef struct mo_rl_ancestors {
    mo_rl_adjacency before, after, incomparable;
} mo_rl_ancestors;

/* Layers; and features of a unit beside two for each device. */
enum { MO_RL_PLACETO_LAYERS = 8, MO_RL_PLACETO_UNIT_FEATURES = 4 };

typedef struct mo_rl_placeto {
    const mo_method_task *task;
    const mo_placement_units *units;
    int n, n_devices, n_features;
    int *first; /* first[c]: the first unit of part c; n_parts + 1 of them */
    int n_parts;
    int batch_parts;   /* parts in one training batch */
    double stay_logit; /* initial logit of a unit's current device */

    /* placeto_network.c */
    mo_rl_adjacency parents,
        children; /* of as many copies of the graph, one behind the other */
    mo_rl_ancestors near;
    mo_rl_ancestors near_together; /* of each unit in its part's own copy */
    mo_rl_real *fixed; /* by unit: features independent of the placement */
    int *begin;        /* the initial placement of an episode */
    mo_rl_params weights;
    mo_rl_dense
        layers[MO_RL_PLACETO_LAYERS]; /* by their use: placeto_network.c */
    int about[1];
} mo_rl_placeto;

/* placeto is zeroed by the caller, which frees it with mo_rl_placeto_clear(),
 * also after a failure. */
mo_status mo_rl_placeto_init(const mo_method_task *task,
                             const mo_placement_units *units,
                             mo_rl_placeto *placeto, mo_error *err);
void mo_rl_placeto_clear(mo_rl_placeto *placeto);

/* Returns the policy for mo_rl_train; it borrows placeto. */
mo_rl_policy mo_rl_placeto_policy(mo_rl_placeto *placeto);

/* n vertices, numbered topologically, and their parents; a parent with a
 * higher number is ignored.  All pairs of a large graph are too many: only
 * those at most a window apart are considered.  Every vertex on a path between
 * two of them has a number between theirs, so within the window nothing is
 * missed.  reach is zeroed by the caller, which clears it, also after a
 * failure. */
mo_status mo_rl_ancestors_init(int n, const mo_rl_adjacency *parents,
                               int window, mo_rl_ancestors *reach,
                               mo_error *err);

/* Free the lists. */
void mo_rl_adjacency_clear(mo_rl_adjacency *lists);
void mo_rl_ancestors_clear(mo_rl_ancestors *reach);

mo_status mo_rl_placeto_init_features(mo_rl_placeto *placeto, mo_error *err);

mo_status mo_rl_placeto_init_params(mo_rl_placeto *placeto, uint64_t seed,
                                    mo_error *err);

/* Fills features, a buffer of n rows, with those of all units before part c is
 * placed. */
void mo_rl_placeto_features(const mo_rl_placeto *placeto, const int *device,
                            int c, int64_t *scratch /* by op */,
                            mo_rl_real *features);

/* Returns the log-probabilities of devices for the units of some parts, each
 * of which has features of its own, one behind the other: of part c alone, or
 * of several from c on, where c is a multiple of placeto->together, which is
 * the most. */
mo_rl_var mo_rl_placeto_log_probs(const mo_rl_placeto *placeto,
                                  mo_rl_tape *tape, const mo_rl_real *features,
                                  int c, int many);

#endif
