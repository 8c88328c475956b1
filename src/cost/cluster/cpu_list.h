/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_list.h - lists of processors in the notation of taskset and cgroups:
 * "0-3,8".
 */
#ifndef MO_COST_CLUSTER_CPU_LIST_H
#define MO_COST_CLUSTER_CPU_LIST_H

#include <stdbool.h>

#include "base/arena.h"

enum { MO_MAX_CPUS = 4096 };

/* Parses numbers below MO_MAX_CPUS and ranges, separated by commas, each at
 * most once. *cpus is allocated in arena, sorted. Returns false when text is
 * no such list; true with *cpus NULL when memory is exhausted. */
bool mo_cpu_list_read(const char *text, mo_arena *arena, const int **cpus,
                      int *n_cpus);

#endif
