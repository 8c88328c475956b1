/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/backend.h"

#include <string.h>

const mo_backend *const mo_backend_table[] = {
    &mo_backend_cpu,
#ifdef HAVE_CUDA
    &mo_backend_cuda,
#endif
    NULL,
};

const mo_backend *mo_backend_by_name(const char *name)
{
    const mo_backend *const *b = mo_backend_table;

    while (*b && strcmp((*b)->name, name) != 0)
        b++;
    return *b;
}
