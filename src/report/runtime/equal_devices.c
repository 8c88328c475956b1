/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/equal_devices.h"

static bool equal_times(const mo_chain *c, int a, int b)
{
    int n = c->n_devices;

    for (int i = 0; i < c->n_phases; i++)
        for (int u = 0; u < c->n_units; u++)
            if (c->phases[i].time_ns[u * n + a] !=
                    c->phases[i].time_ns[u * n + b] ||
                c->phases[i].expert_ns[u * n + a] !=
                    c->phases[i].expert_ns[u * n + b])
                return false;
    return c->capacity_bytes[a] == c->capacity_bytes[b] &&
           c->is_remote[a] == c->is_remote[b];
}

static bool equal_pairs(const int64_t *ns, int n, int a, int b)
{
    for (int k = 0; k < n; k++)
        if (k != a && k != b &&
            (ns[a * n + k] != ns[b * n + k] || ns[k * n + a] != ns[k * n + b]))
            return false;
    return ns[a * n + b] == ns[b * n + a];
}

static bool equal_transfers(const mo_chain *c, int a, int b)
{
    int n = c->n_devices;

    for (int i = 0; i < c->n_phases; i++) {
        const mo_chain_phase *phase = &c->phases[i];

        for (int u = 0; u < c->n_units; u++)
            if (!equal_pairs(phase->transfer_ns + (size_t) u * n * n, n, a, b))
                return false;
        if (!equal_pairs(phase->expert_transfer_ns, n, a, b))
            return false;
    }
    return true;
}

bool mo_chain_equal_devices(const mo_chain *c, int a, int b)
{
    return equal_times(c, a, b) && equal_transfers(c, a, b);
}
