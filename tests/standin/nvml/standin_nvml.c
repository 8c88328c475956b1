/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated machine: the entry points of the driver and of NVML that
 * moirai-cluster uses.
 *
 *     MOIRAI_CUDA=tests/standin/standin_nvml.so
 *     MOIRAI_NVML=tests/standin/standin_nvml.so
 *
 * Two V100 at one socket and two P100 at another, some with NVLinks between
 * them:
 *
 *     gpu0 ==== gpu1        4 links
 *       |                   1 link
 *     gpu2 ==== gpu3        2 links
 *
 * With MOIRAI_STANDIN_MACHINE=switched, two H200 with 18 links each to a
 * switch. The driver shows those that CUDA_VISIBLE_DEVICES names; NVML shows
 * all.
 */
#include <config.h>

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/discover/nvml_api.h"

enum { MOST = 4, NO_PEER = -1, SWITCH = -2, NVML_FAILED = 2 };

typedef struct gpu {
    const char *name;
    size_t bytes;
    int arch, sms, clock_khz, memory_khz, bits;
    unsigned bus, pci_generation, pci_width;
    int socket;
    int links[MOST]; /* number of links, by GPU */
    int to_switch;
} gpu;

static gpu paper[] = {
    { "Tesla V100-SXM2-32GB",
      (size_t) 32 << 30,
      70,
      80,
      1530000,
      877000,
      4096,
      0x06,
      3,
      16,
      0,
      { 0, 4, 1, 0 },
      0 },
    { "Tesla V100-SXM2-32GB",
      (size_t) 32 << 30,
      70,
      80,
      1530000,
      877000,
      4096,
      0x07,
      3,
      16,
      0,
      { 4, 0, 0, 0 },
      0 },
    { "Tesla P100-SXM2-16GB",
      (size_t) 16 << 30,
      60,
      56,
      1480000,
      715000,
      4096,
      0x84,
      3,
      16,
      1,
      { 1, 0, 0, 2 },
      0 },
    { "Tesla P100-SXM2-16GB",
      (size_t) 16 << 30,
      60,
      56,
      1480000,
      715000,
      4096,
      0x85,
      3,
      8,
      1,
      { 0, 0, 2, 0 },
      0 },
};

static gpu switched[] = {
    { "NVIDIA H200",
      (size_t) 140 << 30,
      90,
      132,
      1980000,
      3201000,
      6144,
      0x1b,
      5,
      16,
      0,
      { 0 },
      18 },
    { "NVIDIA H200",
      (size_t) 140 << 30,
      90,
      132,
      1980000,
      3201000,
      6144,
      0x2c,
      5,
      16,
      0,
      { 0 },
      18 },
};

static gpu *machine(int *n)
{
    const char *name = getenv("MOIRAI_STANDIN_MACHINE");
    bool other = name && strcmp(name, "switched") == 0;

    *n = other ? 2 : 4;
    return other ? switched : paper;
}

/* The indices of visible GPUs. */
static int shown(int numbers[MOST])
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    int n = 0, all;

    (void) machine(&all);
    for (int i = 0; !list && i < all; i++)
        numbers[n++] = i;
    while (list && *list && n < all) {
        numbers[n++] = atoi(list) % all;
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return n;
}

static const gpu *find(CUdevice device)
{
    int numbers[MOST], all, n = shown(numbers);

    return device >= 0 && device < n ? &machine(&all)[numbers[device]] : NULL;
}

CUresult cuInit(unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult code, const char **text)
{
    *text = code == CUDA_SUCCESS ? "no error" : "it failed";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    int numbers[MOST];

    *count = shown(numbers);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return find(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int room, CUdevice device)
{
    const gpu *g = find(device);

    if (!g)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t) room, "%s", g->name);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    const gpu *g = find(device);

    if (!g)
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = g->bytes;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device)
{
    const gpu *g = find(device);

    if (!g)
        return CUDA_ERROR_INVALID_DEVICE;
    switch ((int) attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = g->arch / 10;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = g->arch % 10;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = g->sms;
        break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = g->clock_khz;
        break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        *value = g->memory_khz;
        break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        *value = g->bits;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        *value = (int) g->bus;
        break;
    default:
        *value = 0;
    }
    return CUDA_SUCCESS;
}

/* Within a socket. */
CUresult cuDeviceCanAccessPeer(int *can, CUdevice from, CUdevice to)
{
    const gpu *a = find(from), *b = find(to);

    if (!a || !b)
        return CUDA_ERROR_INVALID_DEVICE;
    *can = a->socket == b->socket;
    return CUDA_SUCCESS;
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, mo_nvml_device *device);
int nvmlDeviceGetPciInfo_v3(mo_nvml_device device, mo_nvml_pci_info *pci);
int nvmlDeviceGetMaxPcieLinkGeneration(mo_nvml_device device,
                                       unsigned *generation);
int nvmlDeviceGetMaxPcieLinkWidth(mo_nvml_device device, unsigned *width);
int nvmlDeviceGetTopologyCommonAncestor(mo_nvml_device a, mo_nvml_device b,
                                        int *level);
int nvmlDeviceGetNvLinkState(mo_nvml_device device, unsigned link, int *is_on);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(mo_nvml_device device, unsigned link,
                                        mo_nvml_pci_info *pci);

static bool is_open;

int nvmlInit_v2(void)
{
    is_open = true;
    return MO_NVML_SUCCESS;
}

int nvmlShutdown(void)
{
    is_open = false;
    return MO_NVML_SUCCESS;
}

/* A handle is the GPU's place in the table; it is opaque to callers. */
static gpu *of(mo_nvml_device device)
{
    return is_open ? (gpu *) (void *) device : NULL;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    int n;

    (void) machine(&n);
    *count = (unsigned) n;
    return is_open ? MO_NVML_SUCCESS : NVML_FAILED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, mo_nvml_device *device)
{
    int n;
    gpu *all = machine(&n);

    if (!is_open || index >= (unsigned) n)
        return NVML_FAILED;
    *device = (mo_nvml_device) (void *) &all[index];
    return MO_NVML_SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(mo_nvml_device device, mo_nvml_pci_info *pci)
{
    gpu *g = of(device);

    if (!g)
        return NVML_FAILED;
    *pci = (mo_nvml_pci_info){ .bus = g->bus };
    snprintf(pci->id, sizeof pci->id, "00000000:%02X:00.0", g->bus);
    return MO_NVML_SUCCESS;
}

int nvmlDeviceGetMaxPcieLinkGeneration(mo_nvml_device device,
                                       unsigned *generation)
{
    gpu *g = of(device);

    *generation = g ? g->pci_generation : 0;
    return g ? MO_NVML_SUCCESS : NVML_FAILED;
}

int nvmlDeviceGetMaxPcieLinkWidth(mo_nvml_device device, unsigned *width)
{
    gpu *g = of(device);

    *width = g ? g->pci_width : 0;
    return g ? MO_NVML_SUCCESS : NVML_FAILED;
}

int nvmlDeviceGetTopologyCommonAncestor(mo_nvml_device a, mo_nvml_device b,
                                        int *level)
{
    gpu *x = of(a), *y = of(b);

    if (!x || !y)
        return NVML_FAILED;
    *level = x->socket == y->socket ? 30 : 50;
    return MO_NVML_SUCCESS;
}

/* The other end of a link: the index of a GPU, SWITCH, or NO_PEER. */
static int other_end(const gpu *g, unsigned link)
{
    int left = (int) link;

    for (int i = 0; i < MOST; i++) {
        if (left < g->links[i])
            return i;
        left -= g->links[i];
    }
    return left < g->to_switch ? SWITCH : NO_PEER;
}

int nvmlDeviceGetNvLinkState(mo_nvml_device device, unsigned link, int *is_on)
{
    gpu *g = of(device);

    if (!g || link >= 18)
        return NVML_FAILED;
    *is_on = other_end(g, link) != NO_PEER;
    return MO_NVML_SUCCESS;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(mo_nvml_device device, unsigned link,
                                        mo_nvml_pci_info *pci)
{
    gpu *g = of(device);
    int n, end = g ? other_end(g, link) : NO_PEER;

    if (end == NO_PEER)
        return NVML_FAILED;
    *pci = (mo_nvml_pci_info){ .bus = end == SWITCH ? 0xf0
                                                    : machine(&n)[end].bus };
    return MO_NVML_SUCCESS;
}
