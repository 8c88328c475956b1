/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/instance/sub_instance.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cost/instance/derived.h"

typedef struct maker {
    const mo_instance *whole;
    mo_instance *x;
    mo_sub_instance *part;
    int first, last; /* the smallest and largest op of the whole */
    int *number; /* by op of the whole, from first on: its number in the part,
                    or -1; small for a small part of a large instance */
} maker;

static bool is_inside(const maker *m, int flow)
{
    int to = m->whole->flows[flow].to;

    return to >= m->first && to <= m->last && m->number[to - m->first] >= 0;
}

static int count_flows(const maker *m)
{
    int n = 0;

    for (int i = 0; i < m->x->n; i++) {
        int op = m->part->op[i];
        for (int q = m->whole->out_start[op]; q < m->whole->out_start[op + 1];
             q++)
            n += is_inside(m, q);
    }
    return n;
}

/* A tensor keeps its row, the longest of all its readers', including those
 * outside the part. */
static void copy_flows(maker *m)
{
    const mo_instance *whole = m->whole;
    mo_instance *x = m->x;
    int n = 0, last = -1;

    x->n_tensors = 0;
    for (int i = 0; i < x->n; i++) {
        int op = m->part->op[i];
        x->out_start[i] = n;
        for (int q = whole->out_start[op]; q < whole->out_start[op + 1]; q++) {
            int tensor = whole->flows[q].tensor, t;
            if (!is_inside(m, q))
                continue;
            if (tensor != last) {
                t = x->n_tensors++;
                x->tensor_from[t] = i;
                x->tensor_start[t] = n;
                x->tensor_bytes[t] = whole->tensor_bytes[tensor];
                x->comm.tensor_row[t] = whole->comm.tensor_row[tensor];
                last = tensor;
            }
            x->flows[n] =
                (mo_flow){ i, m->number[whole->flows[q].to - m->first],
                           x->n_tensors - 1 };
            x->comm.flow_row[n] = whole->comm.flow_row[q];
            m->part->flow[n++] = q;
        }
    }
    x->out_start[x->n] = n;
    x->tensor_start[x->n_tensors] = n;
}

static mo_status fill(maker *m, const int *ops, bool from_end, mo_error *err)
{
    mo_instance *x = m->x;
    int n = x->n;

    m->part->op = mo_arena_array(x->arena, (size_t) n, sizeof *m->part->op);
    if (!m->part->op)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++) {
        m->part->op[i] = ops[i];
        m->number[ops[i] - m->first] = i;
    }
    x->n_flows = count_flows(m);
    m->part->flow =
        mo_arena_array(x->arena, (size_t) x->n_flows, sizeof *m->part->flow);
    if (!m->part->flow || !mo_instance_derive_reserve(x))
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++) {
        const mo_instance *whole = m->whole;
        int op = m->part->op[i], K = x->n_devices;

        x->op_names[i] = whole->op_names[op];
        memcpy(x->p_ns + (size_t) i * (size_t) K,
               whole->p_ns + (size_t) op * (size_t) K,
               (size_t) K * sizeof *x->p_ns);
        x->memory_bytes[i] = whole->memory_bytes[op];
        x->weight_bytes[i] = whole->weight_bytes[op];
        x->pin[i] = whole->pin[op];
        x->group[i] = whole->group[op];
    }
    if (from_end) {
        /* The part begins at the end of its first op. */
        memset(x->p_ns, 0, (size_t) x->n_devices * sizeof *x->p_ns);
        x->memory_bytes[0] = x->weight_bytes[0] = 0;
    }
    copy_flows(m);
    mo_instance_derive_sort_by_reader(x);
    return MO_OK;
}

mo_status mo_sub_instance_make(const mo_instance *whole, const int *ops, int n,
                               bool from_end, mo_sub_instance **part,
                               mo_error *err)
{
    maker m = { .whole = whole,
                .first = n > 0 ? ops[0] : 0,
                .last = n > 0 ? ops[n - 1] : 0 };
    size_t span = (size_t) m.last - (size_t) m.first + 1;
    mo_status status;

    m.part = calloc(1, sizeof *m.part);
    m.number = malloc(span * sizeof *m.number);
    m.x = mo_instance_derive(whole);
    if (m.part)
        m.part->x = m.x;
    if (!m.part || !m.number || !m.x) {
        status = mo_fail_memory(err);
    } else {
        m.x->n = n;
        memset(m.number, 0xff, span * sizeof *m.number);
        status = fill(&m, ops, from_end, err);
    }
    free(m.number);
    if (status == MO_OK) {
        *part = m.part;
        return MO_OK;
    }
    if (!m.part)
        mo_instance_free(m.x);
    mo_sub_instance_free(m.part);
    return status;
}

void mo_sub_instance_free(mo_sub_instance *part)
{
    if (!part)
        return;
    mo_instance_free(part->x);
    free(part);
}

typedef struct device_remover {
    const mo_instance *whole;
    mo_instance *x;
    int device; /* the device to remove */
} device_remover;

bool mo_instance_pin_with_group(mo_instance *x, int op, int device)
{
    bool may = true;

    for (int i = 0; i < x->n; i++)
        if (i == op ||
            (x->group[op] != MO_FREE && x->group[i] == x->group[op])) {
            may = may && (x->pin[i] == MO_FREE || x->pin[i] == device);
            x->pin[i] = device;
        }
    return may;
}

int mo_instance_first_pinned_to(const mo_instance *whole, int device)
{
    for (int i = 0; i < whole->n; i++)
        if (whole->pin[i] == device)
            return i;
    return MO_FREE;
}

/* Returns the number in the whole of a device of the smaller instance. */
static int device_in_whole(const device_remover *m, int device)
{
    return device < m->device ? device : device + 1;
}

/* Allocates the arrays by device, pair of devices, and op; the rest is
 * shared. */
static bool allocate_arrays(device_remover *m)
{
    mo_instance *x = m->x;
    size_t n = (size_t) x->n, K = (size_t) x->n_devices;

    x->device_ids = mo_arena_array(x->arena, K, sizeof *x->device_ids);
    x->capacity_bytes = mo_arena_array(x->arena, K, sizeof *x->capacity_bytes);
    x->load.overhead_ns =
        mo_arena_array(x->arena, K, sizeof *x->load.overhead_ns);
    x->load.copy_gbs = mo_arena_array(x->arena, K, sizeof *x->load.copy_gbs);
    x->p_ns = mo_arena_array(x->arena, n * K, sizeof *x->p_ns);
    x->pin = mo_arena_array(x->arena, n, sizeof *x->pin);
    x->comm.pair_kind =
        mo_arena_array(x->arena, K * K, sizeof *x->comm.pair_kind);
    x->routing.routes =
        mo_arena_array(x->arena, K * K, sizeof *x->routing.routes);
    return x->device_ids && x->capacity_bytes && x->load.overhead_ns &&
           x->load.copy_gbs && x->p_ns && x->pin && x->comm.pair_kind &&
           x->routing.routes;
}

static void copy_devices(device_remover *m)
{
    const mo_instance *whole = m->whole;
    mo_instance *x = m->x;

    for (int k = 0; k < x->n_devices; k++) {
        int l = device_in_whole(m, k);

        x->device_ids[k] = whole->device_ids[l];
        x->capacity_bytes[k] = whole->capacity_bytes[l];
        x->load.overhead_ns[k] =
            whole->load.overhead_ns ? whole->load.overhead_ns[l] : 0;
        x->load.copy_gbs[k] =
            whole->load.overhead_ns ? whole->load.copy_gbs[l] : 0;
    }
}

static void copy_pairs(device_remover *m)
{
    int K = m->x->n_devices;

    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++) {
            const mo_instance *whole = m->whole;
            int64_t pair = (int64_t) a * m->x->n_devices + b;
            int64_t old = (int64_t) device_in_whole(m, a) * whole->n_devices +
                          device_in_whole(m, b);

            m->x->comm.pair_kind[pair] = whole->comm.pair_kind[old];
            m->x->routing.routes[pair] = whole->routing.routes[old];
        }
}

mo_status mo_instance_without_device(const mo_instance *whole, int device,
                                     mo_instance **instance, mo_error *err)
{
    device_remover m = { whole, malloc(sizeof *m.x), device };
    mo_instance *x;

    if (!m.x)
        return mo_fail_memory(err);
    *m.x = *whole;
    m.x->n_devices--;
    m.x->cluster_digest = m.x->digest = 0;
    m.x->arena = mo_arena_new();
    if (!m.x->arena || !allocate_arrays(&m)) {
        mo_instance_free(m.x);
        return mo_fail_memory(err);
    }
    copy_devices(&m);
    x = m.x;
    for (int i = 0; i < x->n; i++) {
        int pin = m.whole->pin[i];

        x->pin[i] = pin > m.device ? pin - 1 : pin;
        for (int k = 0; k < x->n_devices; k++)
            x->p_ns[(int64_t) i * x->n_devices + k] =
                mo_instance_p_ns(m.whole, i, device_in_whole(&m, k));
    }
    copy_pairs(&m);
    *instance = m.x;
    return MO_OK;
}
