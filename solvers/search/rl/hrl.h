/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hrl.h - the networks of HRL, and an episode of it.
 *
 * A. Mirhoseini, A. Goldie, H. Pham, B. Steiner, Q. V. Le, J. Dean: A
 * hierarchical model for device placement (ICLR 2018).
 *
 * A grouper puts every unit into one of some groups; a placer reads the groups
 * that are not empty one after the other and chooses a device for each.  Of one
 * grouping several placements are drawn.  Units that are pinned are in no
 * group.
 */
#ifndef MO_SOLVERS_SEARCH_RL_HRL_H
#define MO_SOLVERS_SEARCH_RL_HRL_H

#include "base/error.h"
#include "solvers/search/rl/nn/dense_layer.h"
#include "solvers/search/rl/nn/lstm.h"
#include "solvers/search/rl/reinforce.h"

enum {
    MO_RL_HRL_MAX_GROUPS = 64, /* at most, and what the networks are made for */
    MO_RL_HRL_SAMPLES = 4      /* placements of one grouping */
};

typedef struct mo_rl_hrl {
    const mo_method_task *task;
    const mo_placement_units *units;
    int n, n_devices;
    int n_groups; /* that units may be in */

    /* hrl_told.c */
    int n_features, n_group_features;
    double mean_ns;   /* what times are told in */
    mo_rl_real *told; /* by unit */
    mo_rl_real
        *begins;     /* by unit and group: logits before anything is learned */
    double *flow_ns; /* by flow: sending it on average */
    int *begin;      /* a placement to begin with */

    /* hrl_net.c */
    mo_rl_params weights;
    mo_rl_dense look, group;           /* the grouper */
    mo_rl_dense sum_up, think, choose; /* the placer's */
    mo_rl_lstm forth, back, decode;
    int ask, last; /* weights: of attention; by the device chosen last */
    int about[1];
} mo_rl_hrl;

/* Begins as zeros; clear it whatever comes of it. */
mo_status mo_rl_hrl_init(const mo_method_task *task,
                         const mo_placement_units *units, mo_rl_hrl *hrl,
                         mo_error *err);
void mo_rl_hrl_clear(mo_rl_hrl *hrl);

mo_rl_policy mo_rl_hrl_policy(mo_rl_hrl *hrl);

/* ---- hrl_told.c */

mo_status mo_rl_hrl_init_features(mo_rl_hrl *hrl, mo_error *err);

/* The groups of a grouping that are not empty, by where their units stand in
 * the graph on average. */
typedef struct mo_rl_hrl_groups {
    int n;
    int *of_unit;     /* which of them; -1: pinned */
    mo_rl_real *told; /* by group */
} mo_rl_hrl_groups;

/* group: by unit.  Begins as zeros; clear it whatever comes of it. */
mo_status mo_rl_hrl_groups_init(const mo_rl_hrl *hrl, const int *group,
                                mo_rl_hrl_groups *groups, mo_error *err);
void mo_rl_hrl_groups_clear(mo_rl_hrl_groups *groups);

/* ---- hrl_net.c */

mo_status mo_rl_hrl_init_params(mo_rl_hrl *hrl, uint64_t seed, mo_error *err);

/* The logarithms of the probabilities of groups, by unit. */
mo_rl_var mo_rl_hrl_group_log_probs(const mo_rl_hrl *hrl, mo_rl_tape *tape);

/* The placer, at work on a tape. */
typedef struct mo_rl_hrl_placer {
    const mo_rl_hrl *hrl;
    mo_rl_tape *tape;
    mo_rl_var memory;    /* by group: what was read */
    mo_rl_var heard;     /* by group: what the decoder hears of it */
    mo_rl_var last, ask; /* weights */
    mo_rl_lstm_run run;
} mo_rl_hrl_placer;

/* Reads the groups, at least one; rows: placements that are made of them. */
mo_rl_hrl_placer mo_rl_hrl_placer_init(const mo_rl_hrl *hrl, mo_rl_tape *tape,
                                       const mo_rl_hrl_groups *groups,
                                       int rows);

/* On to group t; chosen: devices by group and row, of the groups before it.
 * Returns by row what is known then. */
mo_rl_var mo_rl_hrl_placer_step(mo_rl_hrl_placer *placer, int t,
                                const int *chosen);

/* The logarithms of the probabilities of devices for rows of what is known; row
 * i is known of group at[i]. */
mo_rl_var mo_rl_hrl_placer_log_probs(mo_rl_hrl_placer *placer, mo_rl_var known,
                                     const int *at);

#endif
