/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <cuda.h>
#include <stddef.h>
#include <stdio.h>

#include "base/utf8.h"
#include "exec/backend/cuda/driver/shared_library.h"
#include "exec/discover/nvml_topology.h"

/*
 * The driver is asked without a context: that would take a GPU out of its sleep
 * and some of its memory.  No compiler is needed to look.
 */
#define NAMES(X)                                                               \
    X(cuInit)                                                                  \
    X(cuGetErrorString)                                                        \
    X(cuDeviceGetCount)                                                        \
    X(cuDeviceGet)                                                             \
    X(cuDeviceGetName)                                                         \
    X(cuDeviceGetAttribute)                                                    \
    X(cuDeviceTotalMem)                                                        \
    X(cuDeviceCanAccessPeer)

#define MEMBER(name)  __typeof__(&name) name;
#define AS_TEXT(name) #name
#define SYMBOL(name)  { AS_TEXT(name), offsetof(driver, name) },

typedef struct driver {
    NAMES(MEMBER)
} driver;

static const mo_cuda_symbol symbols[] = { NAMES(SYMBOL){ NULL, 0 } };
static const char *const names[] = { "libcuda.so.1", NULL };

static const mo_cuda_library library = {
    "CUDA driver", "MOIRAI_CUDA", "install NVIDIA's driver, 525 or later",
    names,         symbols,       NULL,
};

static mo_status check(const driver *d, const char *what, CUresult result,
                       mo_error *err)
{
    const char *text = NULL;

    if (result == CUDA_SUCCESS)
        return MO_OK;
    if (d->cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        text = "unknown error";
    return mo_fail(err, MO_E_SUPPORT, "CUDA: %s: %s (%d); see nvidia-smi", what,
                   text, (int) result);
}

/* What it does not tell is 0. */
static int ask(const driver *d, CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;

    if (d->cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS)
        return 0;
    return value > 0 ? value : 0;
}

static void ask_numbers(const driver *d, CUdevice device, mo_discover_gpu *gpu)
{
    int domain = ask(d, device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
    int bus = ask(d, device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    int slot = ask(d, device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
    double memory_khz = ask(d, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    int bits = ask(d, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);

    gpu->arch =
        ask(d, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
        ask(d, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    gpu->sms = ask(d, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    gpu->clock_mhz = ask(d, device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000.0;
    /* Bits are carried at both edges of the clock. */
    gpu->bandwidth_gbs = memory_khz * 2 * bits / 8 / 1e6;
    if (domain || bus || slot)
        gpu->bus = mo_discover_pci_address((unsigned) domain, (unsigned) bus,
                                           (unsigned) slot);
}

static mo_status ask_gpu(const driver *d, int ordinal, mo_discover_gpu *gpu,
                         mo_error *err)
{
    char name[256] = "";
    size_t bytes = 0;
    CUdevice device;
    mo_status status =
        check(d, "cuDeviceGet", d->cuDeviceGet(&device, ordinal), err);

    if (status == MO_OK)
        status =
            check(d, "cuDeviceGetName",
                  d->cuDeviceGetName(name, (int) sizeof name - 1, device), err);
    if (status == MO_OK)
        status = check(d, "cuDeviceTotalMem",
                       d->cuDeviceTotalMem(&bytes, device), err);
    if (status != MO_OK)
        return status;
    mo_utf8_escape_controls(gpu->name, sizeof gpu->name, name);
    gpu->ordinal = ordinal;
    gpu->socket = -1;
    gpu->memory_bytes = bytes < INT64_MAX ? (int64_t) bytes : 0;
    ask_numbers(d, device, gpu);
    return MO_OK;
}

static void ask_peers(const driver *d, mo_discover_inventory *survey)
{
    for (int a = 0; a < survey->n_gpus; a++)
        for (int b = 0; b < survey->n_gpus; b++) {
            CUdevice from, to;
            int can = 0;

            if (a != b && d->cuDeviceGet(&from, a) == CUDA_SUCCESS &&
                d->cuDeviceGet(&to, b) == CUDA_SUCCESS &&
                d->cuDeviceCanAccessPeer(&can, from, to) == CUDA_SUCCESS && can)
                survey->gpus[a].peers |= UINT64_C(1) << b;
        }
}

static mo_status find_gpus(mo_discover_inventory *survey, mo_error *err)
{
    driver d;
    int count = 0;
    mo_status status = mo_cuda_library_load(&library, &d, err);

    if (status == MO_OK)
        status = check(&d, "cuInit", d.cuInit(0), err);
    if (status == MO_OK)
        status = check(&d, "cuDeviceGetCount", d.cuDeviceGetCount(&count), err);
    if (status == MO_OK && count <= 0)
        return mo_fail(err, MO_E_SUPPORT,
                       "the driver sees no GPU; see nvidia-smi and "
                       "CUDA_VISIBLE_DEVICES");
    for (int i = 0; i < count && i < MO_DISCOVER_MAX_GPUS && status == MO_OK;
         i++) {
        status = ask_gpu(&d, i, &survey->gpus[i], err);
        survey->n_gpus = i + 1;
    }
    if (status == MO_OK)
        ask_peers(&d, survey);
    else
        survey->n_gpus = 0;
    return status;
}

void mo_discover_cuda_gpus(mo_discover_inventory *survey)
{
    mo_error why = { 0 };

    if (find_gpus(survey, &why) == MO_OK)
        mo_discover_nvml_topology(survey);
    else
        mo_utf8_escape_controls(survey->no_gpu, sizeof survey->no_gpu,
                                why.text);
}
