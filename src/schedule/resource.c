/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/resource.h"

int mo_resource_count(const mo_instance *x, mo_congestion congestion)
{
    switch (congestion) {
    case MO_CONGESTION_PORT:
        return 2 * x->n_devices;
    case MO_CONGESTION_CHANNEL:
        return x->n_devices * x->n_devices;
    case MO_CONGESTION_LINK:
        return x->routing.n_links;
    case MO_CONGESTION_NONE:
        break;
    }
    return 0;
}

int mo_resource_list(const mo_instance *x, mo_congestion congestion, int a,
                     int b, int pair[2], const int **ids)
{
    int channel = a * x->n_devices + b, n;

    *ids = pair;
    switch (congestion) {
    case MO_CONGESTION_PORT: /* output ports first, then input ports */
        pair[0] = a;
        pair[1] = x->n_devices + b;
        return 2;
    case MO_CONGESTION_CHANNEL:
        pair[0] = channel;
        return 1;
    case MO_CONGESTION_LINK:
        *ids = mo_instance_route(x, a, b, &n);
        return n;
    case MO_CONGESTION_NONE:
        break;
    }
    return 0;
}

bool mo_resource_is_shared(const mo_instance *x, mo_congestion congestion,
                           int a, int b, int c, int d)
{
    int pair[2], other_pair[2];
    const int *ids, *other_ids;
    int n = mo_resource_list(x, congestion, a, b, pair, &ids);
    int m = mo_resource_list(x, congestion, c, d, other_pair, &other_ids);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (ids[i] == other_ids[j])
                return true;
    return false;
}
