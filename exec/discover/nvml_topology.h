/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover_wires.h - how the GPUs of a survey are wired, by NVML.
 */
#ifndef MO_EXEC_DISCOVER_NVML_TOPOLOGY_H
#define MO_EXEC_DISCOVER_NVML_TOPOLOGY_H

#include "exec/discover/discover_internal.h"

/* PCI Express, sockets and NVLinks of those whose address is known.  Where
 * there is no NVML they stay untold. */
void mo_discover_nvml_topology(mo_discover_inventory *survey);

#endif
