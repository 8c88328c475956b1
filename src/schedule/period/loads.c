/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/period/loads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/allowed_devices.h"
#include "schedule/resource.h"

int mo_period_resource_count(const mo_instance *x, mo_congestion congestion)
{
    return x->n_devices + mo_resource_count(x, congestion) +
           mo_instance_has_host(x);
}

int mo_period_host(const mo_instance *x, mo_congestion congestion)
{
    return mo_instance_has_host(x) ? mo_period_resource_count(x, congestion) - 1
                                   : -1;
}

/* Adds ns to a load; returns false above the limit. */
static bool add_load(mo_period_loads *loads, int resource, int64_t ns)
{
    int64_t *load = &loads->load_ns[resource];

    return mo_int64_add(*load, ns, load) && *load <= INT64_MAX / 2;
}

static bool add_transfer(const mo_instance *x, const mo_schedule *s,
                         const mo_transfer *t, mo_period_loads *loads)
{
    int pair[2], tensor = mo_schedule_tensor(x, s, t);
    const int *ids;
    int n =
        mo_resource_list(x, s->regime.congestion, t->from, t->to, pair, &ids);

    for (int i = 0; i < n; i++)
        if (!add_load(loads, x->n_devices + ids[i], t->end_ns - t->start_ns))
            return false;
    return s->regime.congestion == MO_CONGESTION_NONE ||
           (add_load(loads, t->from,
                     mo_instance_overhead_ns(x, tensor, t->from)) &&
            add_load(loads, t->to, mo_instance_overhead_ns(x, tensor, t->to)));
}

void mo_period_add_overheads(const mo_instance *x, const mo_schedule *s,
                             int64_t *receive_ns, int64_t *send_ns)
{
    bool once = s->regime.tensors == MO_TENSORS_ONCE;

    for (int i = 0; i < s->n_transfers && x->load.overhead_ns &&
                    s->regime.congestion != MO_CONGESTION_NONE;
         i++) {
        const mo_transfer *t = &s->transfers[i];
        int tensor = mo_schedule_tensor(x, s, t);
        int q = once ? x->tensor_start[tensor] : t->item;

        while (s->device[x->flows[q].to] != t->to)
            q++;
        if (receive_ns)
            receive_ns[x->flows[q].to] +=
                mo_instance_overhead_ns(x, tensor, t->to);
        if (send_ns)
            send_ns[x->flows[q].from] +=
                mo_instance_overhead_ns(x, tensor, t->from);
    }
}

static bool add_loads(const mo_instance *x, const mo_schedule *s,
                      mo_period_loads *loads)
{
    bool sends = s->regime.congestion != MO_CONGESTION_NONE;
    int host = mo_period_host(x, s->regime.congestion);

    if (host >= 0)
        loads->load_ns[host] =
            x->load.host_request_ns +
            (sends ? s->n_transfers : 0) * x->load.host_transfer_ns;
    for (int i = 0; i < x->n; i++)
        if (!add_load(loads, s->device[i],
                      mo_instance_p_ns(x, i, s->device[i])))
            return false;
    for (int i = 0; i < s->n_transfers; i++)
        if (!add_transfer(x, s, &s->transfers[i], loads))
            return false;
    return true;
}

mo_status mo_period_loads_compute(const mo_instance *x, const mo_regime *regime,
                                  const int *device, mo_period_loads *loads,
                                  mo_error *err)
{
    int n = mo_period_resource_count(x, regime->congestion);
    mo_schedule *s = NULL;
    mo_status status;

    *loads = (mo_period_loads){ .n = n };
    loads->load_ns = calloc((size_t) n + 1, sizeof *loads->load_ns);
    if (!loads->load_ns)
        return mo_fail_memory(err);
    status = mo_schedule_new(x, regime, device, &s, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < s->n_transfers; i++) {
        mo_transfer *t = &s->transfers[i];

        t->start_ns = 0;
        t->end_ns = mo_schedule_item_ns(x, regime, t->item, t->from, t->to);
    }
    if (!add_loads(x, s, loads))
        status = mo_fail(err, MO_E_INPUT,
                         "ops and transfers of this placement take longer than "
                         "can be counted; check the units of the times");
    mo_schedule_free(s);
    for (int r = 0; r < n; r++)
        if (loads->load_ns[r] > loads->period_ns) {
            loads->period_ns = loads->load_ns[r];
            loads->bottleneck = r;
        }
    return status;
}

void mo_period_loads_clear(mo_period_loads *loads)
{
    free(loads->load_ns);
    *loads = (mo_period_loads){ 0 };
}

int64_t mo_period_least_ns(const mo_instance *x)
{
    int64_t sum_ns = 0, longest_ns = 0;

    for (int i = 0; i < x->n; i++) {
        int64_t least_ns = INT64_MAX;

        for (int k = 0; k < x->n_devices; k++)
            least_ns = mo_min_i64(least_ns, mo_instance_p_ns(x, i, k));
        sum_ns += least_ns;
        longest_ns = mo_max_i64(longest_ns, least_ns);
    }
    return mo_max_i64(mo_max_i64(longest_ns, x->load.host_request_ns),
                      sum_ns / x->n_devices + (sum_ns % x->n_devices > 0));
}

const char *mo_period_resource_name(const mo_instance *x,
                                    mo_congestion congestion, int resource,
                                    char *text, size_t size)
{
    const char *const *id = x->device_ids;
    int K = x->n_devices, r = resource - K;

    if (r < 0)
        snprintf(text, size, "device %s", id[resource]);
    else if (resource == mo_period_host(x, congestion))
        snprintf(text, size, "host");
    else if (congestion == MO_CONGESTION_PORT)
        snprintf(text, size, "%s port of %s", r < K ? "out" : "in",
                 id[r < K ? r : r - K]);
    else if (congestion == MO_CONGESTION_CHANNEL)
        snprintf(text, size, "channel %s -> %s", id[r / K], id[r % K]);
    else
        snprintf(text, size, "link %d", r);
    return text;
}

bool mo_period_fits_memory(const mo_instance *x, mo_memory memory,
                           const int *device, int64_t *used_bytes)
{
    bool fits = true;

    memset(used_bytes, 0, (size_t) x->n_devices * sizeof *used_bytes);
    for (int i = 0; i < x->n; i++) {
        int64_t *used = &used_bytes[device[i]];

        if (!mo_int64_add(*used, mo_regime_resident_bytes(x, memory, i), used))
            *used = INT64_MAX;
    }
    for (int k = 0; k < x->n_devices; k++)
        fits = fits && used_bytes[k] <= x->capacity_bytes[k];
    return fits;
}
