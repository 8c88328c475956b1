/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/jit/jit_cache.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/parallel_for.h"
#include "exec/backend/cuda/jit/disk_cache.h"

/* A translation unit for NVRTC. */
typedef struct source {
    char *text;
    const char *name; /* of the function requested first, borrowed */
    uint64_t digest;  /* of the text */
    CUmodule module;  /* NULL: not loaded yet */
    char *cubin;      /* between compiling and loading */
    size_t size;
    mo_status status; /* of compiling it */
    mo_error err;
} source;

struct mo_cuda_function {
    source *source;
    char *name;
    CUfunction function; /* NULL: not loaded yet */
};

struct mo_cuda_jit_cache {
    mo_backend_unit *unit;
    source **sources;
    size_t n_sources, sources_room;
    mo_cuda_function **functions;
    size_t n_functions, functions_room;
};

mo_status mo_cuda_jit_cache_new(mo_backend_unit *unit,
                                mo_cuda_jit_cache **cache, mo_error *err)
{
    mo_cuda_jit_cache *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->unit = unit;
    *cache = made;
    return MO_OK;
}

void mo_cuda_jit_cache_free(mo_cuda_jit_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->n_sources; i++) {
        source *s = cache->sources[i];

        if (s->module)
            cache->unit->api->cuModuleUnload(s->module);
        free(s->cubin);
        free(s->text);
        free(s);
    }
    for (size_t i = 0; i < cache->n_functions; i++) {
        mo_cuda_function *function = cache->functions[i];

        free(function->name);
        free(function);
    }
    free(cache->sources);
    free(cache->functions);
    free(cache);
}

static source *find_source(const mo_cuda_jit_cache *cache, const char *text,
                           uint64_t digest)
{
    for (size_t i = 0; i < cache->n_sources; i++)
        if (cache->sources[i]->digest == digest &&
            strcmp(cache->sources[i]->text, text) == 0)
            return cache->sources[i];
    return NULL;
}

static mo_status add_source(mo_cuda_jit_cache *cache, const char *text,
                            uint64_t digest, source **added, mo_error *err)
{
    source *s;
    mo_status status = MO_ARRAY_GROW(cache->sources, cache->n_sources,
                                     cache->sources_room, err);

    if (status != MO_OK)
        return status;
    s = calloc(1, sizeof *s);
    if (!s)
        return mo_fail_memory(err);
    s->text = strdup(text);
    s->digest = digest;
    if (!s->text) {
        free(s);
        return mo_fail_memory(err);
    }
    *added = cache->sources[cache->n_sources++] = s;
    return MO_OK;
}

static mo_cuda_function *find_function(const mo_cuda_jit_cache *cache,
                                       const source *s, const char *name)
{
    for (size_t i = 0; i < cache->n_functions; i++)
        if (cache->functions[i]->source == s &&
            strcmp(cache->functions[i]->name, name) == 0)
            return cache->functions[i];
    return NULL;
}

static mo_status add_function(mo_cuda_jit_cache *cache, source *s,
                              const char *name, mo_cuda_function **added,
                              mo_error *err)
{
    mo_cuda_function *function;
    mo_status status = MO_ARRAY_GROW(cache->functions, cache->n_functions,
                                     cache->functions_room, err);

    if (status != MO_OK)
        return status;
    function = calloc(1, sizeof *function);
    if (!function)
        return mo_fail_memory(err);
    function->source = s;
    function->name = strdup(name);
    if (!function->name) {
        free(function);
        return mo_fail_memory(err);
    }
    if (!s->name)
        s->name = function->name;
    *added = cache->functions[cache->n_functions++] = function;
    return MO_OK;
}

mo_status mo_cuda_jit_request(mo_backend_unit *unit, const char *text,
                              const char *name, mo_cuda_function **function,
                              mo_error *err)
{
    mo_cuda_jit_cache *cache = unit->jit_cache;
    uint64_t digest = mo_digest_of(text, strlen(text));
    source *s = find_source(cache, text, digest);
    mo_status status = MO_OK;

    if (!s)
        status = add_source(cache, text, digest, &s, err);
    if (status != MO_OK)
        return status;
    *function = find_function(cache, s, name);
    if (*function)
        return MO_OK;
    return add_function(cache, s, name, function, err);
}

const char *mo_cuda_jit_cache_source(const mo_cuda_jit_cache *cache, size_t i,
                                     const char **name)
{
    if (i >= cache->n_sources)
        return NULL;
    *name = cache->sources[i]->name;
    return cache->sources[i]->text;
}

typedef struct compile_queue {
    const mo_backend_unit *unit;
    source **sources; /* with neither module nor cubin */
    int n;
} compile_queue;

/* Digest of all that a cubin depends on; 0 where there is no memory for it. */
static uint64_t cache_key(const mo_backend_unit *unit, const source *s)
{
    mo_digest *digest = mo_digest_new();
    uint64_t key;

    if (!digest)
        return 0;
    mo_digest_text(digest, "cubin 1");
    mo_digest_text(digest, mo_cuda_prelude);
    mo_digest_text(digest, s->text);
    mo_digest_int(digest, unit->arch);
    mo_digest_int(digest, unit->api->nvrtc_version);
    key = mo_digest_value(digest);
    mo_digest_free(digest);
    return key;
}

static void compile_one(void *context, int job, int thread)
{
    const compile_queue *queue = context;
    const mo_backend_unit *unit = queue->unit;
    source *s = queue->sources[job];

    (void) thread;
    s->status = mo_cuda_nvrtc_compile(unit->api, s->text, s->name, unit->arch,
                                      &s->cubin, &s->size, &s->err);
    if (s->status == MO_OK)
        mo_cuda_disk_cache_write(unit->disk_cache, cache_key(unit, s), "cubin",
                                 s->cubin, s->size);
}

static mo_status compile_all(const compile_queue *queue, mo_error *err)
{
    mo_parallel_for(0, queue->n, compile_one, (void *) (uintptr_t) queue);
    for (int i = 0; i < queue->n; i++)
        if (queue->sources[i]->status != MO_OK) {
            if (err)
                *err = queue->sources[i]->err;
            return queue->sources[i]->status;
        }
    return MO_OK;
}

/* Gives a cubin to every source that is not loaded: from the disk cache, else
 * by compiling it. */
static mo_status load_or_compile_cubins(mo_cuda_jit_cache *cache, mo_error *err)
{
    compile_queue queue = { .unit = cache->unit };
    mo_status status = MO_OK;

    queue.sources = calloc(cache->n_sources + 1, sizeof *queue.sources);
    if (!queue.sources)
        return mo_fail_memory(err);
    for (size_t i = 0; i < cache->n_sources; i++) {
        source *s = cache->sources[i];

        if (!s->module && !s->cubin &&
            !mo_cuda_disk_cache_read(cache->unit->disk_cache,
                                     cache_key(cache->unit, s), "cubin",
                                     &s->cubin, &s->size))
            queue.sources[queue.n++] = s;
    }
    if (queue.n > 0)
        status = compile_all(&queue, err);
    free(queue.sources);
    return status;
}

/* As mo_cuda_check, with the function's name. */
static mo_status check_function(const mo_backend_unit *unit, const char *what,
                                const mo_cuda_function *function,
                                CUresult result, mo_error *err)
{
    char text[160];

    if (result == CUDA_SUCCESS)
        return MO_OK;
    snprintf(text, sizeof text, "%s of '%s'", what, function->name);
    return mo_cuda_check(unit->api, text, result, err);
}

mo_status mo_cuda_jit_compile(mo_backend_unit *unit, mo_error *err)
{
    mo_cuda_jit_cache *cache = unit->jit_cache;
    mo_status status = load_or_compile_cubins(cache, err);

    for (size_t i = 0; i < cache->n_sources && status == MO_OK; i++)
        if (!cache->sources[i]->module) {
            source *s = cache->sources[i];

            status = mo_cuda_check(
                unit->api, "cuModuleLoadData",
                unit->api->cuModuleLoadData(&s->module, s->cubin), err);
            if (status != MO_OK)
                s->module = NULL;
            free(s->cubin);
            s->cubin = NULL;
        }
    for (size_t i = 0; i < cache->n_functions && status == MO_OK; i++)
        if (!cache->functions[i]->function) {
            mo_cuda_function *function = cache->functions[i];
            CUresult result = unit->api->cuModuleGetFunction(
                &function->function, function->source->module, function->name);
            status = check_function(unit, "cuModuleGetFunction", function,
                                    result, err);

            if (status != MO_OK)
                function->function = NULL;
            else {
                /* Above 48 KiB, dynamic shared memory must be enabled per
                 * function. */
                const mo_cuda_api *api = unit->api;
                int fixed = 0;

                if (api->cuFuncGetAttribute(
                        &fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                        function->function) == CUDA_SUCCESS &&
                    (size_t) fixed < unit->max_shared_bytes)
                    (void) api->cuFuncSetAttribute(
                        function->function,
                        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                        (int) unit->max_shared_bytes - fixed);
            }
        }
    return status;
}

/* Fills in the attributes of a launch; returns their number. */
static unsigned fill_attributes(const mo_backend_unit *unit,
                                const mo_cuda_grid *grid,
                                CUlaunchAttribute attributes[2])
{
    unsigned n = 0;

    if (unit->has_pdl)
        attributes[n++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            .value.programmaticStreamSerializationAllowed = 1,
        };
    if (grid->cluster > 1)
        attributes[n++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            .value.clusterDim = { 1, 1, grid->cluster },
        };
    return n;
}

mo_status mo_cuda_launch(mo_backend_unit *unit,
                         const mo_cuda_function *function,
                         const mo_cuda_grid *grid, CUstream stream, void **args,
                         mo_error *err)
{
    CUlaunchAttribute attributes[2];
    CUlaunchConfig config = {
        .gridDimX = grid->blocks[0],
        .gridDimY = grid->blocks[1],
        .gridDimZ = grid->blocks[2],
        .blockDimX = grid->threads[0],
        .blockDimY = grid->threads[1],
        .blockDimZ = grid->threads[2],
        .sharedMemBytes = grid->shared,
        .hStream = stream,
        .attrs = attributes,
        .numAttrs = fill_attributes(unit, grid, attributes),
    };

    return check_function(
        unit, "cuLaunchKernelEx", function,
        unit->api->cuLaunchKernelEx(&config, function->function, args, NULL),
        err);
}
