/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/regime.h"

#include <assert.h>
#include <string.h>

const char *const mo_congestion_names[] = { "port", "channel", "link", "none" };
const char *const mo_tensors_names[] = { "per-edge", "once" };
const char *const mo_memory_names[] = { "static", "live", "none" };
const char *const mo_objective_names[] = { "latency", "period" };

/* Option values are checked against the choices before this is called. */
static int find_name(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    assert(!"one of the names");
    return 0;
}

mo_congestion mo_congestion_of(const char *name)
{
    return (mo_congestion) find_name(mo_congestion_names,
                                     MO_CONGESTION_NONE + 1, name);
}

mo_tensors mo_tensors_of(const char *name)
{
    return (mo_tensors) find_name(mo_tensors_names, MO_TENSORS_ONCE + 1, name);
}

mo_objective mo_objective_of(const char *name)
{
    return (mo_objective) find_name(mo_objective_names, MO_OBJECTIVE_PERIOD + 1,
                                    name);
}

mo_memory mo_memory_of(const char *name)
{
    return (mo_memory) find_name(mo_memory_names, MO_MEMORY_NONE + 1, name);
}
