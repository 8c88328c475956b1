/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hrl.h - the policy networks of HRL (hierarchical reinforcement learning),
 * grouper and placer, and an episode of it.
 *
 * A. Mirhoseini, A. Goldie, H. Pham, B. Steiner, Q. V. Le, J. Dean: A
 * hierarchical model for device placement (ICLR 2018).
 *
 * A grouper (feed-forward) assigns every unit to a group; a placer
 * (sequence-to-sequence LSTM with attention) reads the groups that are not
 * empty one after the other and chooses a device for each.  Of one grouping
 * several placements are sampled.  Pinned units are in no group.
 */
#ifndef MO_SOLVERS_SEARCH_RL_HRL_H
#define MO_SOLVERS_SEARCH_RL_HRL_H

#include "base/error.h"
#include "solvers/search/rl/nn/layers.h"
#include "solvers/search/rl/reinforce.h"

enum {
    MO_RL_HRL_MAX_GROUPS = 64, /* at most; the output width of the grouper */
    MO_RL_HRL_SAMPLES = 4      /* placements of one grouping */
};

typedef struct mo_rl_hrl {
    const mo_method_task *task;
    const mo_placement_units *units;
    int n, n_devices;
    int n_groups; /* that units may be in */

    /* hrl_features.c */
    int n_features, n_group_features;
    double mean_ns;           /* by which times are normalized */
    mo_rl_real *features;     /* by unit */
    mo_rl_real *prior_logits; /* by unit and group: initial logits */
    double *flow_ns;          /* by flow: mean transfer time */
    int *begin;               /* the initial placement */

    /* Networks */
    mo_rl_params weights;
    mo_rl_dense group_hidden, group_output;              /* the grouper */
    mo_rl_dense group_embed, place_hidden, place_output; /* the placer's */
    mo_rl_lstm encode_forward, encode_backward, decoder;
    int attention, device_embed; /* weights: of attention; embedding of the
                                    previous device */
    int about[1];
} mo_rl_hrl;

/* hrl is zeroed by the caller, which frees it with mo_rl_hrl_clear(), also
 * after a failure. */
mo_status mo_rl_hrl_init(const mo_method_task *task,
                         const mo_placement_units *units, mo_rl_hrl *hrl,
                         mo_error *err);
void mo_rl_hrl_clear(mo_rl_hrl *hrl);

mo_rl_policy mo_rl_hrl_policy(mo_rl_hrl *hrl);

mo_status mo_rl_hrl_init_features(mo_rl_hrl *hrl, mo_error *err);

/* The groups of a grouping that are not empty, by the mean position of their
 * units in the graph. */
typedef struct mo_rl_hrl_groups {
    int n;
    int *of_unit;         /* index of its group; -1: pinned */
    mo_rl_real *features; /* by group */
} mo_rl_hrl_groups;

/* group: by unit.  groups is zeroed by the caller, which frees it with
 * mo_rl_hrl_groups_clear(), also after a failure. */
mo_status mo_rl_hrl_groups_init(const mo_rl_hrl *hrl, const int *group,
                                mo_rl_hrl_groups *groups, mo_error *err);
void mo_rl_hrl_groups_clear(mo_rl_hrl_groups *groups);

/* Returns the log-probabilities of groups, by unit. */
mo_rl_var mo_rl_hrl_group_log_probs(const mo_rl_hrl *hrl, mo_rl_tape *tape);

/* The placer's state on a tape. */
typedef struct mo_rl_hrl_placer {
    const mo_rl_hrl *hrl;
    mo_rl_tape *tape;
    mo_rl_var memory;         /* by group: encoder states */
    mo_rl_var decoder_inputs; /* by group: gate inputs of the decoder */
    mo_rl_var device_embed, attention; /* weights */
    mo_rl_lstm_run run;
} mo_rl_hrl_placer;

/* Encodes the groups, at least one; rows: placements sampled from them. */
mo_rl_hrl_placer mo_rl_hrl_placer_init(const mo_rl_hrl *hrl, mo_rl_tape *tape,
                                       const mo_rl_hrl_groups *groups,
                                       int rows);

/* Decoder step for group t; chosen: devices by group and row, of the groups
 * before it.  Returns the decoder's hidden state by row. */
mo_rl_var mo_rl_hrl_placer_step(mo_rl_hrl_placer *placer, int t,
                                const int *chosen);

/* Returns the log-probabilities of devices for rows of hidden states; row i is
 * of group at[i]. */
mo_rl_var mo_rl_hrl_placer_log_probs(mo_rl_hrl_placer *placer, mo_rl_var known,
                                     const int *at);

#endif
