/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.h - floating-point type of the networks.
 *
 * Floats suffice for training.  Gradient checks need doubles, so a test builds
 * these files a second time with them.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_REAL_H
#define MO_SOLVERS_SEARCH_RL_NN_REAL_H

#include <math.h>

#ifdef MO_RL_DOUBLE
typedef double mo_rl_real;
#define mo_rl_real_exp exp
#else
typedef float mo_rl_real;
#define mo_rl_real_exp expf
#endif

#endif
