/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.h - attention: of all that is remembered, what is asked for (Luong et
 * al., 2015, "general").
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_ATTENTION_LAYER_H
#define MO_SOLVERS_SEARCH_RL_NN_ATTENTION_LAYER_H

#include "solvers/search/rl/nn/autodiff.h"

/* For each row of asked a mean of the rows of memory, of those most that are
 * most alike to the row times weight: as many columns as memory has. */
mo_rl_var mo_rl_attention(mo_rl_tape *tape, mo_rl_var weight, mo_rl_var asked,
                          mo_rl_var memory);

#endif
