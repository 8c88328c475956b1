/* SPDX-License-Identifier: Apache-2.0 */
/* Inventory of the GPUs of this machine by the CUDA driver and NVML. */
#include <config.h>

#include <cuda.h>
#include <stddef.h>
#include <stdio.h>

#include "base/utf8.h"
#include "cost/cluster/nccl/nccl_rate.h"
#include "exec/backend/cuda/driver/shared_library.h"
#include "exec/discover/discover_internal.h"
#include "exec/discover/nvml_api.h"

enum { MAX_NVML_GPUS = 64 };

#define NVML_SYMBOL(name)                                                      \
    {                                                                          \
#name, offsetof(mo_nvml_api, name)                                     \
    }

static const mo_cuda_symbol nvml_symbols[] = {
    NVML_SYMBOL(nvmlInit_v2),
    NVML_SYMBOL(nvmlShutdown),
    NVML_SYMBOL(nvmlDeviceGetCount_v2),
    NVML_SYMBOL(nvmlDeviceGetHandleByIndex_v2),
    NVML_SYMBOL(nvmlDeviceGetPciInfo_v3),
    NVML_SYMBOL(nvmlDeviceGetMaxPcieLinkGeneration),
    NVML_SYMBOL(nvmlDeviceGetMaxPcieLinkWidth),
    NVML_SYMBOL(nvmlDeviceGetTopologyCommonAncestor),
    NVML_SYMBOL(nvmlDeviceGetNvLinkState),
    NVML_SYMBOL(nvmlDeviceGetNvLinkRemotePciInfo_v2),
    { NULL, 0 },
};

static const char *const nvml_names[] = { "libnvidia-ml.so.1", NULL };

static const mo_cuda_library nvml_library = {
    "NVML",     "MOIRAI_NVML", "it comes with NVIDIA's driver",
    nvml_names, nvml_symbols,  NULL,
};

/* All GPUs of the machine, whichever this process may use. */
typedef struct machine {
    mo_nvml_api nvml;
    mo_nvml_device devices[MAX_NVML_GPUS];
    uint64_t buses[MAX_NVML_GPUS];
    unsigned n;
} machine;

static void list_devices(machine *m)
{
    unsigned count = 0;

    if (m->nvml.nvmlDeviceGetCount_v2(&count) != MO_NVML_SUCCESS)
        count = 0;
    for (unsigned i = 0; i < count && m->n < MAX_NVML_GPUS; i++) {
        mo_nvml_pci_info pci = { .bus = 0 };
        mo_nvml_device device = NULL;

        if (m->nvml.nvmlDeviceGetHandleByIndex_v2(i, &device) !=
                MO_NVML_SUCCESS ||
            m->nvml.nvmlDeviceGetPciInfo_v3(device, &pci) != MO_NVML_SUCCESS)
            continue;
        m->devices[m->n] = device;
        m->buses[m->n++] =
            mo_discover_pci_address(pci.domain, pci.bus, pci.device);
    }
}

static int find_bus(const machine *m, uint64_t bus)
{
    for (unsigned i = 0; i < m->n; i++)
        if (m->buses[i] == bus)
            return (int) i;
    return -1;
}

/* GT/s of a lane, by generation. */
static void query_pci(const machine *m, mo_nvml_device device,
                      mo_discover_gpu *gpu)
{
    static const char *const speeds[] = { "",   "2.5", "5",  "8",
                                          "16", "32",  "64", "128" };
    unsigned generation = 0, width = 0;

    if (m->nvml.nvmlDeviceGetMaxPcieLinkGeneration(device, &generation) !=
            MO_NVML_SUCCESS ||
        m->nvml.nvmlDeviceGetMaxPcieLinkWidth(device, &width) !=
            MO_NVML_SUCCESS)
        return;
    if (generation > 0 && generation < sizeof speeds / sizeof *speeds &&
        width > 0 && width <= 32)
        gpu->pci_gbps =
            mo_nccl_topology_pci_gbps(speeds[generation], (int) width);
}

/* A socket is numbered by the first GPU attached to it. */
static void query_socket(const machine *m, int index, mo_discover_gpu *gpu)
{
    for (int i = 0; i < index; i++) {
        int level = 0;

        if (m->nvml.nvmlDeviceGetTopologyCommonAncestor(
                m->devices[i], m->devices[index], &level) != MO_NVML_SUCCESS)
            return;
        if (level <= MO_NVML_TOPOLOGY_NODE) {
            gpu->socket = i;
            return;
        }
    }
    gpu->socket = index;
}

/* A remote end that is no GPU of this machine, or unknown, is a switch. */
static void query_nvlinks(const machine *m, mo_nvml_device device,
                          mo_discover_gpu *gpu)
{
    for (unsigned link = 0; link < MO_DISCOVER_MAX_NVLINKS; link++) {
        mo_nvml_pci_info pci = { .bus = 0 };
        uint64_t end = 0;
        int is_on = 0;

        if (m->nvml.nvmlDeviceGetNvLinkState(device, link, &is_on) !=
                MO_NVML_SUCCESS ||
            is_on != MO_NVML_FEATURE_ENABLED)
            continue;
        if (m->nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &pci) ==
            MO_NVML_SUCCESS)
            end = mo_discover_pci_address(pci.domain, pci.bus, pci.device);
        gpu->nvlinks[gpu->n_nvlinks++] = find_bus(m, end) >= 0 ? end : 0;
    }
}

/*
 * Queries the CUDA driver without a context, which would wake a GPU and take
 * some of its memory. No compiler is needed.
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

static mo_status check_driver(const driver *d, const char *what,
                              CUresult result, mo_error *err)
{
    const char *text = NULL;

    if (result == CUDA_SUCCESS)
        return MO_OK;
    if (d->cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        text = "unknown error";
    return mo_fail(err, MO_E_SUPPORT, "CUDA: %s: %s (%d); see nvidia-smi", what,
                   text, (int) result);
}

/* 0 where the driver reports nothing. */
static int query_attribute(const driver *d, CUdevice device,
                           CUdevice_attribute attribute)
{
    int value = 0;

    if (d->cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS)
        return 0;
    return value > 0 ? value : 0;
}

static void query_numbers(const driver *d, CUdevice device,
                          mo_discover_gpu *gpu)
{
    int domain = query_attribute(d, device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
    int bus = query_attribute(d, device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    int slot = query_attribute(d, device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
    double memory_khz =
        query_attribute(d, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    int bits =
        query_attribute(d, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);

    gpu->arch = query_attribute(d, device,
                                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *
                    10 +
                query_attribute(d, device,
                                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    gpu->sms =
        query_attribute(d, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    gpu->clock_mhz =
        query_attribute(d, device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000.0;
    /* Double data rate: two bits per clock and line. */
    gpu->bandwidth_gbs = memory_khz * 2 * bits / 8 / 1e6;
    if (domain || bus || slot)
        gpu->bus = mo_discover_pci_address((unsigned) domain, (unsigned) bus,
                                           (unsigned) slot);
}

static mo_status query_gpu(const driver *d, int ordinal, mo_discover_gpu *gpu,
                           mo_error *err)
{
    char name[256] = "";
    size_t bytes = 0;
    CUdevice device;
    mo_status status =
        check_driver(d, "cuDeviceGet", d->cuDeviceGet(&device, ordinal), err);

    if (status == MO_OK)
        status = check_driver(
            d, "cuDeviceGetName",
            d->cuDeviceGetName(name, (int) sizeof name - 1, device), err);
    if (status == MO_OK)
        status = check_driver(d, "cuDeviceTotalMem",
                              d->cuDeviceTotalMem(&bytes, device), err);
    if (status != MO_OK)
        return status;
    mo_utf8_escape_controls(gpu->name, sizeof gpu->name, name);
    gpu->ordinal = ordinal;
    gpu->socket = -1;
    gpu->memory_bytes = bytes < INT64_MAX ? (int64_t) bytes : 0;
    query_numbers(d, device, gpu);
    return MO_OK;
}

static mo_status find_gpus(mo_discover_inventory *inventory, mo_error *err)
{
    driver d;
    int count = 0;
    mo_status status = mo_cuda_library_load(&library, &d, err);

    if (status == MO_OK)
        status = check_driver(&d, "cuInit", d.cuInit(0), err);
    if (status == MO_OK)
        status = check_driver(&d, "cuDeviceGetCount",
                              d.cuDeviceGetCount(&count), err);
    if (status == MO_OK && count <= 0)
        return mo_fail(err, MO_E_SUPPORT,
                       "the driver sees no GPU; see nvidia-smi and "
                       "CUDA_VISIBLE_DEVICES");
    for (int i = 0; i < count && i < MO_DISCOVER_MAX_GPUS && status == MO_OK;
         i++) {
        status = query_gpu(&d, i, &inventory->gpus[i], err);
        inventory->n_gpus = i + 1;
    }
    if (status == MO_OK) {
        for (int a = 0; a < inventory->n_gpus; a++)
            for (int b = 0; b < inventory->n_gpus; b++) {
                CUdevice from, to;
                int can = 0;

                if (a != b && d.cuDeviceGet(&from, a) == CUDA_SUCCESS &&
                    d.cuDeviceGet(&to, b) == CUDA_SUCCESS &&
                    d.cuDeviceCanAccessPeer(&can, from, to) == CUDA_SUCCESS &&
                    can)
                    inventory->gpus[a].peers |= UINT64_C(1) << b;
            }
    } else
        inventory->n_gpus = 0;
    return status;
}

void mo_discover_cuda_gpus(mo_discover_inventory *inventory)
{
    mo_error why = { 0 };

    if (find_gpus(inventory, &why) == MO_OK) {
        machine m = { .n = 0 };

        /* Fills in PCI Express, sockets and NVLinks of GPUs with a known PCI
         * address. Without NVML they stay unknown. */
        if (mo_cuda_library_load(&nvml_library, &m.nvml, NULL) == MO_OK &&
            m.nvml.nvmlInit_v2() == MO_NVML_SUCCESS) {
            list_devices(&m);
            for (int g = 0; g < inventory->n_gpus; g++) {
                mo_discover_gpu *gpu = &inventory->gpus[g];
                int index = gpu->bus ? find_bus(&m, gpu->bus) : -1;

                if (index < 0)
                    continue;
                query_pci(&m, m.devices[index], gpu);
                query_socket(&m, index, gpu);
                query_nvlinks(&m, m.devices[index], gpu);
            }
            (void) m.nvml.nvmlShutdown();
        }
    } else
        mo_utf8_escape_controls(inventory->no_gpu, sizeof inventory->no_gpu,
                                why.text);
}
