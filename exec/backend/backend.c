/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "exec/backend/backend.h"

#ifdef HAVE_CUDA
#include "exec/backend/cuda/driver/cuda_api.h"
#endif

const mo_backend *const mo_backend_table[] = {
    &mo_backend_cpu,
#ifdef HAVE_CUDA
    &mo_backend_cuda,
#endif
    NULL,
};

/* What was built in. */
static const char parts[] =
#ifdef HAVE_BLAS
    "BLAS, "
#endif
#ifdef HAVE_MPI
    "MPI, "
#endif
    "";

const char *mo_backend_versions(char text[MO_BACKEND_VERSIONS_SIZE])
{
#ifdef HAVE_CUDA
    char found[MO_CUDA_VERSION_TEXT_SIZE];

    snprintf(text, MO_BACKEND_VERSIONS_SIZE, "%s%s", parts,
             mo_cuda_version_text(found));
#else
    snprintf(text, MO_BACKEND_VERSIONS_SIZE, "%sno GPU: built without CUDA",
             parts);
#endif
    return text;
}
