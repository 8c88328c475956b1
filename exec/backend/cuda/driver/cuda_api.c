/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/driver/cuda_api.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/parallel_for.h"
#include "exec/backend/cuda/driver/shared_library.h"

/* The names are macros of the headers: a second step makes a text of what they
 * stand for. */
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

/* The headers of CUDA 13 mean a version that drivers before 12.8 lack; it
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

/* What was found, once and for all. */
static struct {
    pthread_once_t once;
    mo_cuda_api api;
    mo_status status;
    mo_error err;
} found = { .once = PTHREAD_ONCE_INIT };

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

/* The driver wakes up a GPU: meanwhile the compiler is loaded. */
enum { DRIVER, COMPILER, STARTED };

typedef struct start {
    mo_status status;
    mo_error err;
} start;

static void start_one(void *context, int job, int thread)
{
    start *s = (start *) context + job;
    mo_cuda_api *api = &found.api;

    (void) thread;
    if (job == COMPILER) {
        s->status = start_nvrtc(api, &s->err);
        return;
    }
    s->status = mo_cuda_library_load(&driver, api, &s->err);
    if (s->status == MO_OK)
        s->status = start_driver(api, &s->err);
}

static void look_for_all(void)
{
    start starts[STARTED] = { { 0 } };

    mo_parallel_for(STARTED, STARTED, start_one, starts);
    for (int i = 0; i < STARTED && found.status == MO_OK; i++) {
        found.status = starts[i].status;
        found.err = starts[i].err;
    }
}

mo_status mo_cuda_api_get(const mo_cuda_api **api, mo_error *err)
{
    pthread_once(&found.once, look_for_all);
    if (found.status != MO_OK) {
        if (err)
            *err = found.err;
        return found.status;
    }
    *api = &found.api;
    return MO_OK;
}

mo_status mo_cuda_api_load_nvrtc(mo_cuda_api *api, mo_error *err)
{
    return start_nvrtc(api, err);
}

/* One that may be absent. */
typedef struct optional {
    pthread_once_t once;
    mo_status status;
    mo_error err;
} optional;

static optional of_green = { .once = PTHREAD_ONCE_INIT };

/* Of the driver that is loaded already. */
static void look_for_green(void)
{
    if (green_symbols[0].name)
        of_green.status =
            mo_cuda_library_load(&green, &found.api, &of_green.err);
    else
        of_green.status =
            mo_fail(&of_green.err, MO_E_SUPPORT,
                    "a GPU cannot be divided by this program: it was built "
                    "with headers of CUDA before 12.5");
}

mo_status mo_cuda_api_require_green_contexts(mo_error *err)
{
    pthread_once(&of_green.once, look_for_green);
    if (of_green.status != MO_OK && err)
        *err = of_green.err;
    return of_green.status;
}

#ifdef HAVE_CUBLASLT
static optional of_cublaslt = { .once = PTHREAD_ONCE_INIT };

static void look_for_cublaslt(void)
{
    of_cublaslt.status =
        mo_cuda_library_load(&cublaslt, &found.api, &of_cublaslt.err);
}

bool mo_cuda_has_cublaslt(void)
{
    pthread_once(&of_cublaslt.once, look_for_cublaslt);
    return of_cublaslt.status == MO_OK;
}
#else
static optional of_cublaslt;

bool mo_cuda_has_cublaslt(void)
{
    return false;
}
#endif

#ifdef HAVE_CUDNN
static optional of_cudnn = { .once = PTHREAD_ONCE_INIT };

/* It needs the other one, and finds by name what is loaded already. */
static void look_for_cudnn(void)
{
    (void) mo_cuda_has_cublaslt();
    of_cudnn.status = mo_cuda_library_load(&cudnn, &found.api, &of_cudnn.err);
}

bool mo_cuda_has_cudnn(void)
{
    pthread_once(&of_cudnn.once, look_for_cudnn);
    return of_cudnn.status == MO_OK;
}
#else
static optional of_cudnn;

bool mo_cuda_has_cudnn(void)
{
    return false;
}
#endif

static bool is_named(const char *variable)
{
    const char *said = getenv(variable);

    return said && *said;
}

mo_status mo_cuda_api_check_overrides(mo_error *err)
{
    const struct {
        const char *variable;
        bool (*has)(void);
        const optional *one;
    } libraries[] = {
        { "MOIRAI_CUBLASLT", mo_cuda_has_cublaslt, &of_cublaslt },
        { "MOIRAI_CUDNN", mo_cuda_has_cudnn, &of_cudnn },
    };

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const optional *one = libraries[i].one;

        if (!is_named(libraries[i].variable) || libraries[i].has() ||
            one->status == MO_OK)
            continue;
        if (err)
            *err = one->err;
        return one->status;
    }
    return MO_OK;
}
