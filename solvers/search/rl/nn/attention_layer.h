/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention_layer.h - attention with a learned bilinear score (Luong et al.,
 * 2015, "general").
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_ATTENTION_LAYER_H
#define MO_SOLVERS_SEARCH_RL_NN_ATTENTION_LAYER_H

#include "solvers/search/rl/nn/autodiff.h"

/* softmax(query weight memory^T / sqrt(d)) memory: for each row of query a
 * weighted mean of the rows of memory; as many columns as memory has. */
mo_rl_var mo_rl_attention(mo_rl_tape *tape, mo_rl_var weight, mo_rl_var query,
                          mo_rl_var memory);

#endif
