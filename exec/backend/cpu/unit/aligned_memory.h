/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aligned_memory.h - cache-line aligned memory, on huge pages where available.
 */
#ifndef MO_EXEC_BACKEND_CPU_UNIT_ALIGNED_MEMORY_H
#define MO_EXEC_BACKEND_CPU_UNIT_ALIGNED_MEMORY_H

#include <stddef.h>

enum { MO_CPU_MEMORY_ALIGNMENT = 64 };

/* Allocates at least bytes, aligned to cache lines, on huge pages if the size
 * and the system allow it. Returns NULL if there is no memory; the caller
 * frees the buffer with free(). No page is touched. */
void *mo_cpu_alloc_aligned(size_t bytes);

#endif
