/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/exhaustive_period.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/suite.h"

/* Time of one transfer of flow q, or of its whole tensor, between devices. */
static int64_t sent_ns(const mo_instance *x, const mo_regime *regime, int q,
                       int a, int b)
{
    return regime->tensors == MO_TENSORS_ONCE
               ? mo_instance_tensor_ns(x, x->flows[q].tensor, a, b)
               : mo_instance_flow_ns(x, q, a, b);
}

/* Whether flow q is the first of its tensor to that device: with tensors once
 * the others share its transfer. */
static bool counts(const mo_instance *x, const mo_regime *regime,
                   const int *device, int q)
{
    for (int other = 0; other < q; other++)
        if (regime->tensors == MO_TENSORS_ONCE &&
            x->flows[other].tensor == x->flows[q].tensor &&
            device[x->flows[other].to] == device[x->flows[q].to])
            return false;
    return device[x->flows[q].from] != device[x->flows[q].to];
}

static bool holds_link(const mo_instance *x, int a, int b, int link)
{
    int n;
    const int *route = mo_instance_route(x, a, b, &n);

    for (int i = 0; i < n; i++)
        if (route[i] == link)
            return true;
    return false;
}

/* Whether a transfer from a to b uses the resource (r, s): the out port (r, 0)
 * or in port (r, 1), the channel r -> s, the link r. */
static bool uses(const mo_instance *x, mo_congestion congestion, int a, int b,
                 int r, int s)
{
    switch (congestion) {
    case MO_CONGESTION_PORT:
        return s == 0 ? a == r : s == 1 && b == r;
    case MO_CONGESTION_CHANNEL:
        return a == r && b == s;
    case MO_CONGESTION_LINK:
        return s == 0 && holds_link(x, a, b, r);
    case MO_CONGESTION_NONE:
        break;
    }
    return false;
}

int64_t period_by_definition(const mo_instance *x, const mo_regime *regime,
                             const int *device)
{
    int K = x->n_devices,
        most = K > x->routing.n_links ? K : x->routing.n_links;
    int64_t period_ns = x->load.host_request_ns;

    for (int q = 0; q < x->n_flows; q++)
        if (regime->congestion != MO_CONGESTION_NONE &&
            counts(x, regime, device, q))
            period_ns += x->load.host_transfer_ns;
    for (int k = 0; k < K; k++) {
        int64_t load_ns = 0;

        for (int i = 0; i < x->n; i++)
            load_ns += device[i] == k ? mo_instance_p_ns(x, i, k) : 0;
        for (int q = 0; q < x->n_flows; q++)
            if (regime->congestion != MO_CONGESTION_NONE &&
                counts(x, regime, device, q) &&
                (device[x->flows[q].from] == k || device[x->flows[q].to] == k))
                load_ns += mo_instance_overhead_ns(x, x->flows[q].tensor, k);
        period_ns = load_ns > period_ns ? load_ns : period_ns;
    }
    for (int r = 0; r < most; r++)
        for (int s = 0; s < K || s < 2; s++) {
            int64_t load_ns = 0;

            for (int q = 0; q < x->n_flows; q++) {
                int a = device[x->flows[q].from], b = device[x->flows[q].to];

                if (counts(x, regime, device, q) &&
                    uses(x, regime->congestion, a, b, r, s))
                    load_ns += sent_ns(x, regime, q, a, b);
            }
            period_ns = load_ns > period_ns ? load_ns : period_ns;
        }
    return period_ns;
}

bool period_placement_allowed(const mo_instance *x, const mo_regime *regime,
                              const int *device)
{
    for (int i = 0; i < x->n; i++) {
        if (x->pin[i] != MO_FREE && device[i] != x->pin[i])
            return false;
        for (int j = 0; j < i; j++)
            if (x->group[i] != MO_FREE && x->group[i] == x->group[j] &&
                device[i] != device[j])
                return false;
    }
    for (int k = 0; k < x->n_devices && regime->memory != MO_MEMORY_NONE; k++) {
        int64_t bytes = 0;

        for (int i = 0; i < x->n; i++)
            if (device[i] == k)
                bytes += regime->memory == MO_MEMORY_LIVE ? x->weight_bytes[i]
                                                          : x->memory_bytes[i];
        if (bytes > x->capacity_bytes[k])
            return false;
    }
    return true;
}

int64_t path_by_definition(const mo_instance *x, const mo_regime *regime,
                           const int *device)
{
    int64_t *start_ns = calloc((size_t) x->n + 1, sizeof *start_ns);
    int64_t most_ns = 0;
    bool changed = true;

    ck_assert_ptr_nonnull(start_ns);
    while (changed) {
        changed = false;
        for (int q = 0; q < x->n_flows; q++) {
            int i = x->flows[q].from, j = x->flows[q].to;
            int64_t ns = start_ns[i] + mo_instance_p_ns(x, i, device[i]);

            if (device[i] != device[j])
                ns += sent_ns(x, regime, q, device[i], device[j]);
            changed = changed || ns > start_ns[j];
            start_ns[j] = ns > start_ns[j] ? ns : start_ns[j];
        }
    }
    for (int i = 0; i < x->n; i++) {
        int64_t ns = start_ns[i] + mo_instance_p_ns(x, i, device[i]);

        most_ns = ns > most_ns ? ns : most_ns;
    }
    free(start_ns);
    return most_ns;
}

int64_t exhaustive_period(const mo_instance *x, const mo_regime *regime)
{
    return exhaustive_limited_period(x, regime, 0);
}

int64_t exhaustive_limited_period(const mo_instance *x, const mo_regime *regime,
                                  int in_flight)
{
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    int64_t best_ns = EXHAUSTIVE_PERIOD_NONE;
    int at;

    ck_assert_ptr_nonnull(device);
    ck_assert_msg(x->n <= 8, "too large to enumerate");
    do {
        if (period_placement_allowed(x, regime, device)) {
            int64_t ns = period_by_definition(x, regime, device);
            int64_t path_ns =
                in_flight > 0 ? path_by_definition(x, regime, device) : 0;

            if (in_flight > 0 && path_ns > ns * in_flight)
                ns = (path_ns + in_flight - 1) / in_flight;
            best_ns = best_ns < 0 || ns < best_ns ? ns : best_ns;
        }
        for (at = 0; at < x->n && ++device[at] == x->n_devices; at++)
            device[at] = 0;
    } while (at < x->n);
    free(device);
    return best_ns;
}
