/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/gemm/micro_kernel.h"

#include <stddef.h>
#include <string.h>

static bool is_usable(const mo_cpu_micro_kernels *micro_kernels)
{
#if defined(__x86_64__)
    if (micro_kernels == &mo_cpu_micro_kernels_avx512)
        return __builtin_cpu_supports("avx512f");
    if (micro_kernels == &mo_cpu_micro_kernels_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return micro_kernels == &mo_cpu_micro_kernels_generic;
}

/* Best first; the last runs on every processor. */
static const mo_cpu_micro_kernels *const all_kernels[] = {
#if defined(__x86_64__)
    &mo_cpu_micro_kernels_avx512,
    &mo_cpu_micro_kernels_avx2,
#endif
    &mo_cpu_micro_kernels_generic,
};

enum { N_KERNELS = sizeof all_kernels / sizeof *all_kernels };

const mo_cpu_micro_kernels *mo_cpu_micro_kernels_select(void)
{
    int i = 0;

    while (!is_usable(all_kernels[i]))
        i++;
    return all_kernels[i];
}

const mo_cpu_micro_kernels *mo_cpu_micro_kernels_find(const char *name)
{
    for (int i = 0; i < N_KERNELS; i++)
        if (strcmp(all_kernels[i]->name, name) == 0)
            return is_usable(all_kernels[i]) ? all_kernels[i] : NULL;
    return NULL;
}
