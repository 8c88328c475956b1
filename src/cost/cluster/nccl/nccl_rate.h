/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_rate.h - models and data rates of the components of an NCCL topology.
 *
 * A dump contains the wiring, not the speed. All rates are the nominal ones of
 * one direction, in gigabits per second, less line coding.
 */
#ifndef MO_COST_CLUSTER_NCCL_NCCL_RATE_H
#define MO_COST_CLUSTER_NCCL_NCCL_RATE_H

/* Returns the name in device.h of the GPU with this PCI device id of NVIDIA,
 * or NULL. */
const char *mo_nccl_topology_model(int device);

/* Returns the rate of one NVLink of a GPU of compute capability sm ("90" for
 * 9.0). */
double mo_nccl_topology_nvlink_gbps(int sm);

/* Returns the rate of link_speed="16.0 GT/s PCIe" and link_width="16". Unknown
 * values count as PCIe 3 and as 16 lanes, as in NCCL. */
double mo_nccl_topology_pci_gbps(const char *speed, int width);

/* Returns the rate between the sockets of such CPUs; vendor may be NULL. */
double mo_nccl_topology_socket_gbps(const char *vendor, int family, int model);

#endif
