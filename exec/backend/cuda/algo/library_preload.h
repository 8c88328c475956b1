/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload.h - libraries that are likely to be wanted, loaded beside what else
 * is done.
 *
 * cuBLASLt takes as long to load as a GPU to open.  Where notes name a way of a
 * library's, the next network may want it again.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_LIBRARY_PRELOAD_H
#define MO_EXEC_BACKEND_CUDA_ALGO_LIBRARY_PRELOAD_H

#include "exec/backend/cuda/driver/cuda_unit.h"

/* The notes are read.  Nothing depends on it: who needs a library asks for it,
 * and waits if it is on its way. */
void mo_cuda_library_preload_start(mo_backend_unit *unit);

/* Waits for it; harmless where nothing was begun. */
void mo_cuda_library_preload_join(mo_backend_unit *unit);

#endif
