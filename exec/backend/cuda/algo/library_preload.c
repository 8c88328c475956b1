/* SPDX-License-Identifier: Apache-2.0 */
/* Preloading of cuBLASLt and cuDNN in a background thread. */
#include <config.h>

#include "base/ablation.h"
#include "exec/backend/cuda/algo/libraries.h"

#include "exec/backend/cuda/algo/autotune.h"

static void *load_cublaslt(void *nothing)
{
    (void) mo_cuda_has_cublaslt();
    return nothing;
}

/* Loads cuBLASLt too. */
static void *load_cudnn(void *nothing)
{
    (void) mo_cuda_has_cudnn();
    return nothing;
}

void mo_cuda_library_preload_start(mo_backend_unit *unit)
{
    void *(*load)(void *) = NULL;

    if (mo_cuda_tuning_cache_has_prefix(unit->tuning_cache, "cublaslt "))
        load = load_cublaslt;
    if (mo_cuda_tuning_cache_has_prefix(unit->tuning_cache, "cudnn "))
        load = load_cudnn;
    unit->preload_started =
        unit->options.autotune && load &&
        !mo_ablated(MO_ABLATION_cuda_library_preload) &&
        pthread_create(&unit->preload_thread, NULL, load, NULL) == 0;
}

void mo_cuda_library_preload_join(mo_backend_unit *unit)
{
    if (unit->preload_started)
        pthread_join(unit->preload_thread, NULL);
    unit->preload_started = false;
}
