#include <stdio.h>

#include "exec/backend/backend.h"

#ifdef HAVE_CUDA
#include "exec/backend/cuda/api.h"
#endif

const mo_backend *const mo_backends[] = {
    &mo_backend_cpu,
    NULL,
};

const char *mo_backends_say(char text[MO_BACKENDS_TEXT_SIZE])
{
#ifdef HAVE_CUDA
    char found[MO_CUDA_TEXT_SIZE];

    snprintf(text, MO_BACKENDS_TEXT_SIZE, "%s", mo_cuda_say(found));
#else
    snprintf(text, MO_BACKENDS_TEXT_SIZE, "this build has no CUDA");
#endif
    return text;
}
