/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/nccl/nccl_api.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/backend/cuda/driver/shared_library.h"

enum { MIN_VERSION = 21800 };

#define SYMBOL(name) { #name, offsetof(mo_nccl_api, name) },
#define LAST                                                                   \
    {                                                                          \
        NULL, 0                                                                \
    }

static const mo_cuda_symbol symbols[] = { MO_NCCL_FUNCTIONS(SYMBOL) LAST };
static const mo_cuda_symbol optional_symbols[] = { MO_NCCL_OPTIONAL_FUNCTIONS(
    SYMBOL) LAST };
static const char *const names[] = { "libnccl.so.2", NULL };
static const char remedy[] =
    "install NCCL 2.18 or later, by 'pip install nvidia-nccl-cu13' for "
    "example, or let MOIRAI_NCCL name the file";

static const mo_cuda_library nccl = { "NCCL", "MOIRAI_NCCL", remedy,
                                      names,  symbols,       NULL };
static const mo_cuda_library nccl_optional = { "NCCL", "MOIRAI_NCCL",    remedy,
                                               names,  optional_symbols, NULL };

static struct {
    pthread_once_t once;
    mo_nccl_api api;
    mo_status status;
    mo_error err;
} loaded = { .once = PTHREAD_ONCE_INIT };

const char *mo_nccl_version_format(int version, char text[MO_NCCL_VERSION_SIZE])
{
    snprintf(text, MO_NCCL_VERSION_SIZE, "%d.%d.%d", version / 10000,
             version / 100 % 100, version % 100);
    return text;
}

/* Loads the library once. NCCL_LAUNCH_ORDER_IMPLICIT: the communicators of a
 * device are used by one thread, sends along with receives, so kernels have to
 * start in the order of the calls. NCCL reads the variable at its first use; a
 * value set by the user is kept. */
static void load_api(void)
{
    mo_nccl_api *api = &loaded.api;
    char text[MO_NCCL_VERSION_SIZE];

    setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "1", 0);
    loaded.status = mo_cuda_library_load(&nccl, api, &loaded.err);
    if (loaded.status == MO_OK)
        loaded.status =
            mo_nccl_check(api, "ncclGetVersion",
                          api->ncclGetVersion(&api->version), &loaded.err);
    if (loaded.status == MO_OK && api->version < MIN_VERSION)
        loaded.status =
            mo_fail(&loaded.err, MO_E_SUPPORT, "NCCL %s is too old; %s",
                    mo_nccl_version_format(api->version, text), remedy);
    if (loaded.status == MO_OK)
        (void) mo_cuda_library_load(&nccl_optional, api, NULL);
}

mo_status mo_nccl_api_get(const mo_nccl_api **api, mo_error *err)
{
    pthread_once(&loaded.once, load_api);
    if (loaded.status != MO_OK) {
        if (err)
            *err = loaded.err;
        return loaded.status;
    }
    *api = &loaded.api;
    return MO_OK;
}

mo_status mo_nccl_check(const mo_nccl_api *api, const char *what,
                        ncclResult_t result, mo_error *err)
{
    const char *last;

    if (result == ncclSuccess || result == ncclInProgress)
        return MO_OK;
    last = api->ncclGetLastError(NULL);
    return mo_fail(err, MO_E_IO,
                   "NCCL: %s: %s (%d)%s%.300s; NCCL_DEBUG=INFO prints more",
                   what, api->ncclGetErrorString(result), (int) result,
                   last && *last ? ": " : "", last ? last : "");
}
