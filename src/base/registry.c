/* SPDX-License-Identifier: Apache-2.0 */
#include "base/registry.h"

#include <stddef.h>

mo_status mo_registry_add(mo_registry *registry, const char *name,
                          const void *entry, mo_error *err)
{
    mo_status status = MO_OK;
    int n;

    pthread_mutex_lock(&registry->lock);
    n = atomic_load(&registry->n);
    if (registry->has_name(name))
        status = mo_fail(err, MO_E_USAGE, "there is a %s '%s' already",
                         registry->kind, name);
    else if (n >= MO_REGISTRY_MAX)
        status = mo_fail(err, MO_E_USAGE,
                         "more than %d %ss are added; load fewer "
                         "plug-ins",
                         MO_REGISTRY_MAX, registry->kind);
    else {
        registry->entries[n] = entry;
        atomic_store(&registry->n, n + 1);
    }
    pthread_mutex_unlock(&registry->lock);
    return status;
}

const void *mo_registry_at(mo_registry *registry, int i)
{
    return i < atomic_load(&registry->n) ? registry->entries[i] : NULL;
}
