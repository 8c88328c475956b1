/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdl_choice.h - the choice whether kernels of a program overlap, by
 * programmatic dependent launch (PDL): it makes some programs faster and others
 * slower.
 *
 * A program is recorded with PDL. During warm-ups it is recorded once more
 * without, both are replayed in turn, and the one with the smaller median is
 * kept; the tuning cache keeps the choice, by the calls of the program.
 */
#ifndef MO_EXEC_BACKEND_CUDA_GRAPH_PDL_CHOICE_H
#define MO_EXEC_BACKEND_CUDA_GRAPH_PDL_CHOICE_H

#include "exec/backend/backend.h"
#include "exec/backend/cuda/driver/cuda_api.h"

typedef struct mo_cuda_pdl_trial mo_cuda_pdl_trial;

/* Returns the key of the choice in the tuning cache; 0: there is none, because
 * nothing is tuned, or the program has no PDL, one call, transfers, or several
 * units or slots. */
uint64_t mo_cuda_pdl_choice_key(const mo_backend_unit *unit,
                                const mo_backend_program_call *calls, int n);

/* Returns whether the choice is known, after which it is made: the unit has no
 * PDL any more where that is slower. */
bool mo_cuda_pdl_choice_read(mo_backend_unit *unit, uint64_t key);

/* The member tune_program of mo_backend. */
void mo_cuda_pdl_tune(mo_backend_unit *unit, mo_backend_program *program,
                      const mo_backend_program_call *calls, int n, int64_t ns);
void mo_cuda_pdl_trial_free(mo_backend_unit *unit, mo_cuda_pdl_trial *trial);

#endif
