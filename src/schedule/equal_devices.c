/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/equal_devices.h"

static bool have_equal_ops(const mo_allowed_devices *d, int k, int l)
{
    const mo_instance *x = d->x;

    if (x->capacity_bytes[k] != x->capacity_bytes[l])
        return false;
    for (int i = 0; i < x->n; i++)
        if (mo_instance_p_ns(x, i, k) != mo_instance_p_ns(x, i, l) ||
            mo_allowed_devices_has(d, i, k) != mo_allowed_devices_has(d, i, l))
            return false;
    return true;
}

static bool have_equal_transfers(const mo_instance *x, int k, int l)
{
    const int *kind = x->comm.pair_kind;
    int n = x->n_devices;

    if (kind[k * n + l] != kind[l * n + k])
        return false;
    for (int m = 0; m < n; m++)
        if (m != k && m != l &&
            (kind[k * n + m] != kind[l * n + m] ||
             kind[m * n + k] != kind[m * n + l]))
            return false;
    return true;
}

int mo_equal_devices_find(const mo_allowed_devices *d, bool transfers,
                          int *first)
{
    int n_classes = 0;

    for (int k = 0; k < d->x->n_devices; k++) {
        first[k] = k;
        for (int l = 0; l < k && first[k] == k; l++)
            if (first[l] == l && have_equal_ops(d, k, l) &&
                (!transfers || have_equal_transfers(d->x, k, l)))
                first[k] = l;
        n_classes += first[k] == k;
    }
    return n_classes;
}
