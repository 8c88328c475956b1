/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_rate.h - what the parts of an NCCL topology are and how fast they are.
 *
 * A dump says how things are wired, not how fast that is.  All rates are the
 * nominal ones of one direction, in gigabits a second, less line coding.
 */
#ifndef MO_COST_CLUSTER_NCCL_NCCL_RATE_H
#define MO_COST_CLUSTER_NCCL_NCCL_RATE_H

/* Our name of the GPU with this PCI device id of NVIDIA's, or NULL. */
const char *mo_nccl_topology_model(int device);

/* One NVLink of a GPU of compute capability sm ("90" for 9.0). */
double mo_nccl_topology_nvlink_gbps(int sm);

/* link_speed="16.0 GT/s PCIe" and link_width="16".  What is not known counts as
 * PCIe 3 and as 16 lanes, as NCCL does. */
double mo_nccl_topology_pci_gbps(const char *speed, int width);

/* Between the sockets of such CPUs; vendor may be NULL. */
double mo_nccl_topology_socket_gbps(const char *vendor, int family, int model);

#endif
