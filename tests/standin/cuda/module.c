/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules of the stand-in: shared objects made by its NVRTC. They link against
 * this library, which is not in the global scope unless it adds itself.
 */
#include <config.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/standin/cuda/green_ctx.h"
#include "tests/standin/cuda/module_image.h"

enum { NAME_SIZE = 192, MOST_ARG_BYTES = 4096, MOST_BLOCKS_YZ = 65535 };

struct CUfunc_st {
    char name[NAME_SIZE];
    void (*call)(void **args);
    const unsigned long *sizes; /* of the arguments; ends with 0 */
    CUmodule module;
    size_t most_dynamic; /* bytes of dynamic shared memory, at most */
    CUfunction next;
};

struct CUmod_st {
    int gpu;
    void *library;
    char *statics; /* shared variables */
    size_t n_statics;
    CUfunction functions;
};

/* Adds this library to the global scope, for objects loaded later. */
static bool export_symbols(void)
{
    Dl_info info;

    return dladdr((void *) (uintptr_t) standin_run, &info) &&
           dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

static bool write_all(int file, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(file, bytes, n);

        if (done <= 0)
            return false;
        bytes += done;
        n -= (size_t) done;
    }
    return true;
}

/* Every object has a unique file name while it is loaded: the loader
 * identifies it by name. */
static void *load(const char *bytes, size_t n)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    void *library = NULL;
    int file;

    snprintf(path, sizeof path, "%s/standin-XXXXXX", folder ? folder : "/tmp");
    file = mkstemp(path);
    if (file < 0)
        return NULL;
    if (write_all(file, bytes, n))
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        standin_report("cannot load a module: %s", dlerror());
    close(file);
    unlink(path);
    return library;
}

static void find_statics(CUmodule m)
{
    char *const *ends = dlsym(m->library, STANDIN_STATICS);

    m->statics = ends ? ends[0] : NULL;
    m->n_statics = ends ? (size_t) (ends[1] - ends[0]) : 0;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    const standin_image *head = image;
    CUmodule m;

    *module = NULL;
    if (memcmp(head->magic, STANDIN_MAGIC, sizeof head->magic) != 0)
        return CUDA_ERROR_INVALID_IMAGE;
    if (standin_gpu() == STANDIN_NO_GPU)
        return CUDA_ERROR_INVALID_CONTEXT;
    m = calloc(1, sizeof *m);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->gpu = standin_gpu();
    standin_lock();
    if (export_symbols())
        m->library = load((const char *) (head + 1), head->bytes);
    standin_unlock();
    if (!m->library) {
        free(m);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    find_statics(m);
    *module = m;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    while (module->functions) {
        CUfunction next = module->functions->next;

        free(module->functions);
        module->functions = next;
    }
    dlclose(module->library);
    free(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name)
{
    char symbol[NAME_SIZE + 32];
    CUfunction f = calloc(1, sizeof *f);

    *function = NULL;
    if (!f)
        return CUDA_ERROR_OUT_OF_MEMORY;
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(symbol, sizeof symbol, STANDIN_CALL "%s", name);
    *(void **) &f->call = dlsym(module->library, symbol);
    snprintf(symbol, sizeof symbol, STANDIN_SIZES "%s", name);
    f->sizes = dlsym(module->library, symbol);
    f->module = module;
    f->most_dynamic = STANDIN_PLAIN_SHARED - module->n_statics;
    if (!f->call || !f->sizes) {
        free(f);
        return CUDA_ERROR_NOT_FOUND;
    }
    f->next = module->functions;
    module->functions = f;
    *function = f;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                            CUfunction function)
{
    *value = 0;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        *value = STANDIN_THREADS;
    if (attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
        *value = (int) function->module->n_statics;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        *value = (int) function->most_dynamic;
    if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
        *value = 32;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                            int value)
{
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return CUDA_SUCCESS;
    if (value < 0 ||
        (size_t) value + function->module->n_statics > STANDIN_SHARED)
        return CUDA_ERROR_INVALID_VALUE;
    function->most_dynamic = (size_t) value;
    return CUDA_SUCCESS;
}

static int count_args(const struct CUfunc_st *function, size_t *bytes)
{
    int n = 0;

    for (*bytes = 0; function->sizes[n]; n++)
        *bytes += (function->sizes[n] + 15) / 16 * 16;
    return n;
}

/* One allocation: pointers, then the arguments. */
CUresult standin_args_copy(standin_node *node)
{
    const struct CUfunc_st *function = node->function;
    size_t bytes, room;
    void **args;
    char *at;
    int n;

    if (!function)
        return CUDA_SUCCESS;
    n = count_args(function, &bytes);
    room = ((size_t) n * sizeof *args + 15) / 16 * 16;
    args = malloc(room + bytes + 1);
    if (!args)
        return CUDA_ERROR_OUT_OF_MEMORY;
    at = (char *) args + room;
    for (int i = 0; i < n; i++) {
        args[i] = memcpy(at, node->args[i], function->sizes[i]);
        at += (function->sizes[i] + 15) / 16 * 16;
    }
    node->args = args;
    return CUDA_SUCCESS;
}

void standin_args_free(standin_node *node)
{
    if (node->function)
        free(node->args);
}

static uint64_t product(standin_dim d)
{
    return (uint64_t) d.x * d.y * d.z;
}

static void run_launch(standin_node *node)
{
    const struct CUfunc_st *f = node->function;
    standin_launch launch = {
        .name = f->name,
        .call = f->call,
        .args = node->args,
        .blocks = node->blocks,
        .threads = node->threads,
        .cluster = node->cluster,
        .green = node->green,
        .dynamic = node->dynamic,
        .statics = f->module->statics,
        .n_statics = f->module->n_statics,
    };

    if (product(node->cluster) > (uint64_t) standin_green_sms(node->green)) {
        standin_report("%s: a cluster is larger than its part of the device",
                       f->name);
        node->result = CUDA_ERROR_INVALID_CLUSTER_SIZE;
        return;
    }
    if (!standin_run(&launch) || !standin_memory_is_sound(f->name))
        node->result = CUDA_ERROR_LAUNCH_FAILED;
}

/* Whether no word of an argument is an address of memory that the GPU may not
 * access. */
static bool is_reachable(int gpu, const void *arg, size_t size)
{
    bool reachable = true;

    for (size_t at = 0; at + sizeof(void *) <= size; at += sizeof(void *)) {
        void *word;
        int owner;

        memcpy(&word, (const char *) arg + at, sizeof word);
        owner = standin_memory_gpu(word);
        reachable &= owner == STANDIN_NO_GPU || standin_reaches(gpu, owner);
    }
    return reachable;
}

static bool may_touch(int gpu, const struct CUfunc_st *f, void *const *args)
{
    bool may = gpu == f->module->gpu;

    standin_lock();
    for (int i = 0; f->sizes[i]; i++)
        may &= is_reachable(gpu, args[i], f->sizes[i]);
    standin_unlock();
    return may;
}

/* Returns the reason why a GPU would reject a launch, or NULL. */
static const char *refusal(const standin_node *node)
{
    const struct CUfunc_st *f = node->function;
    standin_dim b = node->blocks, t = node->threads, c = node->cluster;
    size_t bytes;

    count_args(f, &bytes);
    if (product(b) < 1 || product(t) < 1 || product(c) < 1)
        return "there are no blocks, or no threads";
    if (b.x > INT_MAX || b.y > MOST_BLOCKS_YZ || b.z > MOST_BLOCKS_YZ)
        return "there are too many blocks";
    if (t.z > 64 || product(t) > STANDIN_THREADS)
        return "there are too many threads in a block";
    if (product(c) > STANDIN_CLUSTER || b.x % c.x || b.y % c.y || b.z % c.z)
        return "clusters are too large, or do not fill the grid";
    if (node->dynamic > f->most_dynamic)
        return "it was not said before that it needs so much shared memory";
    if (bytes > MOST_ARG_BYTES)
        return "the arguments are too large";
    return NULL;
}

static standin_dim cluster_of(const CUlaunchConfig *config)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *a = &config->attrs[i];

        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            return (standin_dim){ a->value.clusterDim.x, a->value.clusterDim.y,
                                  a->value.clusterDim.z };
    }
    return (standin_dim){ 1, 1, 1 };
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function,
                          void **args, void **extra)
{
    standin_node node = {
        .run = run_launch,
        .function = function,
        .blocks = { c->gridDimX, c->gridDimY, c->gridDimZ },
        .threads = { c->blockDimX, c->blockDimY, c->blockDimZ },
        .cluster = cluster_of(c),
        .dynamic = c->sharedMemBytes,
        .args = args,
    };
    const char *why = extra ? "extra is not known here" : refusal(&node);

    if (!why && !may_touch(standin_stream_gpu(c->hStream), function, args))
        why = "it is another GPU's, or touches memory of one";
    if (why) {
        standin_report("%s: cannot be launched: %s", function->name, why);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return standin_submit(c->hStream, &node);
}
