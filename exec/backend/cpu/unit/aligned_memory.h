/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory for what is read again and again.
 */
#ifndef MO_EXEC_BACKEND_CPU_UNIT_ALIGNED_MEMORY_H
#define MO_EXEC_BACKEND_CPU_UNIT_ALIGNED_MEMORY_H

#include <stddef.h>

enum { MO_CPU_MEMORY_ALIGNMENT = 64 };

/* At least bytes, on lines of their own; on large pages where there are many of
 * them and the system has such.  NULL when there is no memory; free() ends it.
 * Nothing is touched. */
void *mo_cpu_alloc_aligned(size_t bytes);

#endif
