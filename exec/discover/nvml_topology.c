/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stddef.h>
#include <stdio.h>

#include "cost/cluster/nccl/nccl_rate.h"
#include "exec/backend/cuda/driver/shared_library.h"
#include "exec/discover/nvml_api.h"
#include "exec/discover/nvml_topology.h"

enum { MOST = 64 };

#define SYMBOL(name)                                                           \
    {                                                                          \
#name, offsetof(mo_nvml_api, name)                                     \
    }

static const mo_cuda_symbol symbols[] = {
    SYMBOL(nvmlInit_v2),
    SYMBOL(nvmlShutdown),
    SYMBOL(nvmlDeviceGetCount_v2),
    SYMBOL(nvmlDeviceGetHandleByIndex_v2),
    SYMBOL(nvmlDeviceGetPciInfo_v3),
    SYMBOL(nvmlDeviceGetMaxPcieLinkGeneration),
    SYMBOL(nvmlDeviceGetMaxPcieLinkWidth),
    SYMBOL(nvmlDeviceGetTopologyCommonAncestor),
    SYMBOL(nvmlDeviceGetNvLinkState),
    SYMBOL(nvmlDeviceGetNvLinkRemotePciInfo_v2),
    { NULL, 0 },
};

static const char *const names[] = { "libnvidia-ml.so.1", NULL };

static const mo_cuda_library library = {
    "NVML", "MOIRAI_NVML", "it comes with NVIDIA's driver",
    names,  symbols,       NULL,
};

/* All GPUs of the machine, whichever this process may use. */
typedef struct machine {
    mo_nvml_api nvml;
    mo_nvml_device devices[MOST];
    uint64_t buses[MOST];
    unsigned n;
} machine;

static void list_devices(machine *m)
{
    unsigned count = 0;

    if (m->nvml.nvmlDeviceGetCount_v2(&count) != MO_NVML_SUCCESS)
        count = 0;
    for (unsigned i = 0; i < count && m->n < MOST; i++) {
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
static void ask_pci(const machine *m, mo_nvml_device device,
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

/* A socket is called by the first GPU that is beside it. */
static void ask_socket(const machine *m, int index, mo_discover_gpu *gpu)
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

/* Who is no GPU of this machine, or does not say, is a switch. */
static void ask_nvlinks(const machine *m, mo_nvml_device device,
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

void mo_discover_nvml_topology(mo_discover_inventory *survey)
{
    machine m = { .n = 0 };

    if (mo_cuda_library_load(&library, &m.nvml, NULL) != MO_OK ||
        m.nvml.nvmlInit_v2() != MO_NVML_SUCCESS)
        return;
    list_devices(&m);
    for (int g = 0; g < survey->n_gpus; g++) {
        mo_discover_gpu *gpu = &survey->gpus[g];
        int index = gpu->bus ? find_bus(&m, gpu->bus) : -1;

        if (index < 0)
            continue;
        ask_pci(&m, m.devices[index], gpu);
        ask_socket(&m, index, gpu);
        ask_nvlinks(&m, m.devices[index], gpu);
    }
    (void) m.nvml.nvmlShutdown();
}
