/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_list.h - processors as people list them: "0-3,8".
 */
#ifndef MO_COST_CLUSTER_CPU_LIST_H
#define MO_COST_CLUSTER_CPU_LIST_H

#include <stdbool.h>

#include "base/arena.h"

enum { MO_MAX_CPUS = 4096 };

/* Numbers below MO_MAX_CPUS and ranges of them, with commas between; each once.
 * *cpus lies in arena, sorted.  False when text is no such list; *cpus is NULL
 * when there is no memory. */
bool mo_cpu_list_read(const char *text, mo_arena *arena, const int **cpus,
                      int *n_cpus);

#endif
