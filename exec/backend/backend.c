/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/backend.h"

const mo_backend *const mo_backend_table[] = {
    &mo_backend_cpu,
#ifdef HAVE_CUDA
    &mo_backend_cuda,
#endif
    NULL,
};
