/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_api.h - the entry points of NVIDIA's management library (NVML), which
 * reports the topology of GPUs that the driver's interface does not.
 *
 * They are declared here, as the library has had them since 2019, because its
 * header is not a part of all toolkits. The library is loaded like the others
 * (exec/backend/cuda/driver), from MOIRAI_NVML where that is set, and may be
 * absent.
 */
#ifndef MO_EXEC_DISCOVER_NVML_API_H
#define MO_EXEC_DISCOVER_NVML_API_H

typedef struct nvmlDevice_st *mo_nvml_device;

enum { MO_NVML_SUCCESS = 0, MO_NVML_FEATURE_ENABLED = 1 };

/* Up to this level the path between two GPUs stays within one NUMA node. */
enum { MO_NVML_TOPOLOGY_NODE = 40 };

typedef struct mo_nvml_pci_info {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
} mo_nvml_pci_info;

/* Members have the library's names. */
typedef struct mo_nvml_api {
    int (*nvmlInit_v2)(void);
    int (*nvmlShutdown)(void);
    int (*nvmlDeviceGetCount_v2)(unsigned *count);
    int (*nvmlDeviceGetHandleByIndex_v2)(unsigned index,
                                         mo_nvml_device *device);
    int (*nvmlDeviceGetPciInfo_v3)(mo_nvml_device device,
                                   mo_nvml_pci_info *pci);
    int (*nvmlDeviceGetMaxPcieLinkGeneration)(mo_nvml_device device,
                                              unsigned *generation);
    int (*nvmlDeviceGetMaxPcieLinkWidth)(mo_nvml_device device,
                                         unsigned *width);
    int (*nvmlDeviceGetTopologyCommonAncestor)(mo_nvml_device a,
                                               mo_nvml_device b, int *level);
    int (*nvmlDeviceGetNvLinkState)(mo_nvml_device device, unsigned link,
                                    int *is_on);
    int (*nvmlDeviceGetNvLinkRemotePciInfo_v2)(mo_nvml_device device,
                                               unsigned link,
                                               mo_nvml_pci_info *pci);
} mo_nvml_api;

#endif
