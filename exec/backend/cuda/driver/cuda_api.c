/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/driver/cuda_api.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/parallel_for.h"
#include "exec/backend/cuda/driver/shared_library.h"

/* The names are macros of the headers: a second macro expands them before they
 * become strings. */
#define AS_TEXT(name) #name
#define SYMBOL(name)  { AS_TEXT(name), offsetof(mo_cuda_api, name) },
#define LAST                                                                   \
    {                                                                          \
        NULL, 0                                                                \
    }

static const mo_cuda_symbol driver_symbols[] = { MO_CUDA_DRIVER_SYMBOLS(SYMBOL)
                                                     LAST };
static const mo_cuda_symbol green_symbols[] = { MO_CUDA_GREEN_CONTEXT_SYMBOLS(
    SYMBOL) LAST };
static const mo_cuda_symbol nvrtc_symbols[] = { MO_CUDA_NVRTC_SYMBOLS(SYMBOL)
                                                    LAST };

/* The headers of CUDA 13 use a version that drivers before 12.8 lack; it
 * differs only for events of several contexts. */
static const char *const older_driver[] = {
    "cuEventElapsedTime_v2",
    "cuEventElapsedTime",
    NULL,
};
static const char *const driver_names[] = { "libcuda.so.1", NULL };
static const char *const nvrtc_names[] = { "libnvrtc.so.13", "libnvrtc.so.12",
                                           NULL };

static const mo_cuda_library driver = {
    "CUDA driver", "MOIRAI_CUDA",  "install NVIDIA's driver, 525 or later",
    driver_names,  driver_symbols, older_driver,
};
static const mo_cuda_library green = {
    "CUDA driver",
    "MOIRAI_CUDA",
    "a GPU is divided by NVIDIA's driver 555 (CUDA 12.5) or later",
    driver_names,
    green_symbols,
    NULL,
};
static const mo_cuda_library nvrtc = {
    "NVRTC",
    "MOIRAI_NVRTC",
    "install it with CUDA or by 'pip install nvidia-cuda-nvrtc', or let "
    "MOIRAI_NVRTC name the file",
    nvrtc_names,
    nvrtc_symbols,
    NULL,
};

#ifdef HAVE_CUBLASLT
static const mo_cuda_symbol cublaslt_symbols[] = { MO_CUDA_CUBLASLT_SYMBOLS(
    SYMBOL) LAST };
static const char *const cublaslt_names[] = { "libcublasLt.so.13",
                                              "libcublasLt.so.12", NULL };
static const mo_cuda_library cublaslt = {
    "cuBLASLt",     "MOIRAI_CUBLASLT", "install it with CUDA",
    cublaslt_names, cublaslt_symbols,  NULL,
};
#endif

#ifdef HAVE_CUDNN
static const mo_cuda_symbol cudnn_symbols[] = { MO_CUDA_CUDNN_SYMBOLS(SYMBOL)
                                                    LAST };
static const char *const cudnn_names[] = { "libcudnn.so.9", NULL };
static const mo_cuda_library cudnn = {
    "cuDNN",     "MOIRAI_CUDNN", "install cuDNN 9",
    cudnn_names, cudnn_symbols,  NULL,
};
#endif

/* The result of loading driver and NVRTC, set once per process. */
static struct {
    pthread_once_t once;
    mo_cuda_api api;
    mo_status status;
    mo_error err;
} loaded = { .once = PTHREAD_ONCE_INIT };

static mo_status start_driver(mo_cuda_api *api, mo_error *err)
{
    int gpus = 0;
    mo_status status = mo_cuda_check(api, "cuInit", api->cuInit(0), err);

    if (status == MO_OK)
        status =
            mo_cuda_check(api, "cuDriverGetVersion",
                          api->cuDriverGetVersion(&api->driver_version), err);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuDeviceGetCount",
                               api->cuDeviceGetCount(&gpus), err);
    if (status == MO_OK && gpus == 0)
        return mo_fail(err, MO_E_SUPPORT,
                       "CUDA: the driver sees no GPU; see nvidia-smi and "
                       "CUDA_VISIBLE_DEVICES");
    return status;
}

static mo_status start_nvrtc(mo_cuda_api *api, mo_error *err)
{
    int major = 0, minor = 0;
    mo_status status = mo_cuda_library_load(&nvrtc, api, err);

    if (status == MO_OK)
        status = mo_cuda_check_nvrtc(api, "nvrtcVersion",
                                     api->nvrtcVersion(&major, &minor), err);
    api->nvrtc_version = major * 1000 + minor * 10;
    return status;
}

/* cuInit wakes up the GPU, which takes long: NVRTC is loaded in parallel. */
enum { DRIVER, COMPILER, STARTED };

typedef struct start_result {
    mo_status status;
    mo_error err;
} start_result;

static void run_start(void *context, int job, int thread)
{
    start_result *s = (start_result *) context + job;
    mo_cuda_api *api = &loaded.api;

    (void) thread;
    if (job == COMPILER) {
        s->status = start_nvrtc(api, &s->err);
        return;
    }
    s->status = mo_cuda_library_load(&driver, api, &s->err);
    if (s->status == MO_OK)
        s->status = start_driver(api, &s->err);
}

static void load_required(void)
{
    start_result starts[STARTED] = { { 0 } };

    mo_parallel_for(STARTED, STARTED, run_start, starts);
    for (int i = 0; i < STARTED && loaded.status == MO_OK; i++) {
        loaded.status = starts[i].status;
        loaded.err = starts[i].err;
    }
}

mo_status mo_cuda_api_get(const mo_cuda_api **api, mo_error *err)
{
    pthread_once(&loaded.once, load_required);
    if (loaded.status != MO_OK) {
        if (err)
            *err = loaded.err;
        return loaded.status;
    }
    *api = &loaded.api;
    return MO_OK;
}

mo_status mo_cuda_api_load_nvrtc(mo_cuda_api *api, mo_error *err)
{
    return start_nvrtc(api, err);
}

/* A library or a set of symbols that may be absent. */
typedef struct optional_library {
    pthread_once_t once;
    mo_status status;
    mo_error err;
} optional_library;

static optional_library green_library = { .once = PTHREAD_ONCE_INIT };

/* Symbols of the driver, which is loaded already. */
static void load_green(void)
{
    if (green_symbols[0].name)
        green_library.status =
            mo_cuda_library_load(&green, &loaded.api, &green_library.err);
    else
        green_library.status =
            mo_fail(&green_library.err, MO_E_SUPPORT,
                    "a GPU cannot be divided by this program: it was built "
                    "with headers of CUDA before 12.5");
}

mo_status mo_cuda_api_require_green_contexts(mo_error *err)
{
    pthread_once(&green_library.once, load_green);
    if (green_library.status != MO_OK && err)
        *err = green_library.err;
    return green_library.status;
}

#ifdef HAVE_CUBLASLT
static optional_library cublaslt_library = { .once = PTHREAD_ONCE_INIT };

static void load_cublaslt(void)
{
    cublaslt_library.status =
        mo_cuda_library_load(&cublaslt, &loaded.api, &cublaslt_library.err);
}

bool mo_cuda_has_cublaslt(void)
{
    pthread_once(&cublaslt_library.once, load_cublaslt);
    return cublaslt_library.status == MO_OK;
}
#else
static optional_library cublaslt_library;

bool mo_cuda_has_cublaslt(void)
{
    return false;
}
#endif

#ifdef HAVE_CUDNN
static optional_library cudnn_library = { .once = PTHREAD_ONCE_INIT };

/* cuDNN depends on cuBLASLt, and finds the one that is loaded already by its
 * name. */
static void load_cudnn(void)
{
    (void) mo_cuda_has_cublaslt();
    cudnn_library.status =
        mo_cuda_library_load(&cudnn, &loaded.api, &cudnn_library.err);
}

bool mo_cuda_has_cudnn(void)
{
    pthread_once(&cudnn_library.once, load_cudnn);
    return cudnn_library.status == MO_OK;
}
#else
static optional_library cudnn_library;

bool mo_cuda_has_cudnn(void)
{
    return false;
}
#endif

static bool is_overridden(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

mo_status mo_cuda_api_check_overrides(mo_error *err)
{
    const struct {
        const char *variable;
        bool (*has)(void);
        const optional_library *library;
    } libraries[] = {
        { "MOIRAI_CUBLASLT", mo_cuda_has_cublaslt, &cublaslt_library },
        { "MOIRAI_CUDNN", mo_cuda_has_cudnn, &cudnn_library },
    };

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const optional_library *library = libraries[i].library;

        if (!is_overridden(libraries[i].variable) || libraries[i].has() ||
            library->status == MO_OK)
            continue;
        if (err)
            *err = library->err;
        return library->status;
    }
    return MO_OK;
}
