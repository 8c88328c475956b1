/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cpu/unit/aligned_memory.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { LARGE_PAGE = 1 << 21 };

void *mo_cpu_alloc_aligned(size_t bytes)
{
    size_t align =
        bytes / 2 >= LARGE_PAGE ? LARGE_PAGE : MO_CPU_MEMORY_ALIGNMENT;
    void *memory;

    if (bytes > SIZE_MAX - align)
        return NULL;
    bytes = bytes == 0 ? align : (bytes + align - 1) / align * align;
    memory = aligned_alloc(align, bytes);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    /* Advice only: failure is ignored. */
    if (memory && align == LARGE_PAGE)
        (void) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}
