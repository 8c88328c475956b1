/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_builtins.h - functions that compiled kernels call; documented in
 * exec/backend/cuda/jit/prelude.c.
 */
#ifndef MO_TESTS_STANDIN_CUDA_KERNEL_BUILTINS_H
#define MO_TESTS_STANDIN_CUDA_KERNEL_BUILTINS_H

#include "tests/standin/cuda/standin_cuda.h"

extern standin_place mo_cpu_now; /* of the running thread */

void *mo_cpu_dynamic_shared(void);
unsigned mo_cpu_sm(void); /* of the running block */
unsigned mo_cpu_atomic_add(unsigned *at, unsigned x);
unsigned long long mo_cpu_globaltimer(void);

void mo_cpu_sync(void);
void mo_cpu_sync_warp(void);
void mo_cpu_cluster_sync(void);
/* Returns the address in the block of that rank in the cluster that
 * corresponds to own. */
const void *mo_cpu_cluster_at(const void *own, int rank);
unsigned mo_cpu_shuffle(unsigned x, int lane);
unsigned mo_cpu_ballot(int x);

void mo_cpu_mma_tf32(float *d, const unsigned *a, const unsigned *b);
void mo_cpu_mma_f16(float *d, const unsigned *a, const unsigned *b);
void mo_cpu_mma_bf16(float *d, const unsigned *a, const unsigned *b);
void mo_cpu_ldmatrix(unsigned *r, const void *row, int n, int turned);

#endif
