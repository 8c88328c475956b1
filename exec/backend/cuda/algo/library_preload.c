#include <config.h>

#include "exec/backend/cuda/algo/library_preload.h"

#include "exec/backend/cuda/algo/tuning_cache.h"

static void *load_cublaslt(void *nothing)
{
    (void) mo_cuda_has_cublaslt();
    return nothing;
}

/* Brings the other one with it. */
static void *load_cudnn(void *nothing)
{
    (void) mo_cuda_has_cudnn();
    return nothing;
}

void mo_cuda_preload_begin(mo_unit *unit)
{
    void *(*load)(void *) = NULL;

    if (mo_cuda_notes_tell_of(unit->notes, "cublaslt "))
        load = load_cublaslt;
    if (mo_cuda_notes_tell_of(unit->notes, "cudnn "))
        load = load_cudnn;
    unit->loads = unit->options.measure && load &&
                  pthread_create(&unit->loader, NULL, load, NULL) == 0;
}

void mo_cuda_preload_end(mo_unit *unit)
{
    if (unit->loads)
        pthread_join(unit->loader, NULL);
    unit->loads = false;
}
