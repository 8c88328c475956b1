/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_weights.h - constant weights repacked for the device before anything
 * runs.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_PACK_WEIGHTS_H
#define MO_EXEC_BACKEND_CUDA_ALGO_PACK_WEIGHTS_H

#include "base/error.h"
#include "exec/backend/cuda/algo/algo.h"

/* Sets weights, columns and pitch of the problem where it has such constants
 * and wanted algorithms read them. Copies are enqueued on the unit's stream:
 * later work there sees them. The caller frees them with
 * mo_cuda_packed_weights_free(), also when this fails. */
mo_status mo_cuda_pack_weights(mo_backend_unit *unit,
                               mo_cuda_algo_problem *problem, mo_error *err);
void mo_cuda_packed_weights_free(mo_backend_unit *unit,
                                 mo_cuda_algo_problem *problem);

/* Frees the packed weights that the chosen algorithm does not read. */
void mo_cuda_packed_weights_trim(mo_backend_unit *unit,
                                 mo_cuda_algo_problem *problem,
                                 const mo_cuda_algo *algo);

#endif
