/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - hardware topology of the processors, by hwloc.
 *
 * Without hwloc, and of processors that it does not know, nothing is known:
 * each is a core of its own, all are in one socket and equally fast. Any thread
 * may call these functions.
 */
#ifndef MO_EXEC_THREAD_TOPOLOGY_H
#define MO_EXEC_THREAD_TOPOLOGY_H

#include "exec/thread/affinity.h"

/* Fills in core, package and capacity of n processors by their numbers. */
void mo_thread_topology_locate(mo_thread_cpu *cpus, int n);

/* The model of the processors; texts are "" and numbers 0 where unknown. */
typedef struct mo_thread_processor {
    char vendor[64], name[128];
    int family, model; /* as CPUID counts them; x86 only */
    double max_mhz;    /* of the fastest kind of core */
} mo_thread_processor;

/* Fills in the model of the first socket. */
void mo_thread_processor_read(mo_thread_processor *model);

#endif
