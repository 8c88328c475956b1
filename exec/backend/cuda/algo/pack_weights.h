/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - constant weights laid out for the device before anything runs.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_PACK_WEIGHTS_H
#define MO_EXEC_BACKEND_CUDA_ALGO_PACK_WEIGHTS_H

#include "base/error.h"
#include "exec/backend/cuda/algo/algo.h"

/* Fills in weights, columns and pitch of the task where it has such constants
 * and ways that are wanted read them.  The unit's stream copies them: they are
 * there for whatever comes behind in it.  What is filled in is given back by
 * mo_cuda_packed_weights_free, also when this fails. */
mo_status mo_cuda_pack_weights(mo_backend_unit *unit,
                               mo_cuda_algo_problem *problem, mo_error *err);
void mo_cuda_packed_weights_free(mo_backend_unit *unit,
                                 mo_cuda_algo_problem *problem);

/* Gives back what the way that was chosen does not read. */
void mo_cuda_packed_weights_trim(mo_backend_unit *unit,
                                 mo_cuda_algo_problem *problem,
                                 const mo_cuda_algo *algo);

#endif
