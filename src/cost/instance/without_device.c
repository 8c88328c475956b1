/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/instance/without_device.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct maker {
    const mo_instance *whole;
    mo_instance *x;
    int device; /* the device to remove */
} maker;

int mo_instance_first_pinned_to(const mo_instance *whole, int device)
{
    for (int i = 0; i < whole->n; i++)
        if (whole->pin[i] == device)
            return i;
    return MO_FREE;
}

/* Returns the number in the whole of a device of the smaller instance. */
static int device_in_whole(const maker *m, int device)
{
    return device < m->device ? device : device + 1;
}

/* Allocates the arrays by device, pair of devices, and op; the rest is
 * shared. */
static bool allocate_arrays(maker *m)
{
    mo_instance *x = m->x;
    size_t n = (size_t) x->n, K = (size_t) x->n_devices;

    x->device_ids = mo_arena_array(x->arena, K, sizeof *x->device_ids);
    x->capacity_bytes = mo_arena_array(x->arena, K, sizeof *x->capacity_bytes);
    x->overhead_ns = mo_arena_array(x->arena, K, sizeof *x->overhead_ns);
    x->copy_gbs = mo_arena_array(x->arena, K, sizeof *x->copy_gbs);
    x->p_ns = mo_arena_array(x->arena, n * K, sizeof *x->p_ns);
    x->pin = mo_arena_array(x->arena, n, sizeof *x->pin);
    x->pair_kind = mo_arena_array(x->arena, K * K, sizeof *x->pair_kind);
    x->routes = mo_arena_array(x->arena, K * K, sizeof *x->routes);
    return x->device_ids && x->capacity_bytes && x->overhead_ns &&
           x->copy_gbs && x->p_ns && x->pin && x->pair_kind && x->routes;
}

static void copy_devices(maker *m)
{
    const mo_instance *whole = m->whole;
    mo_instance *x = m->x;

    for (int k = 0; k < x->n_devices; k++) {
        int l = device_in_whole(m, k);

        x->device_ids[k] = whole->device_ids[l];
        x->capacity_bytes[k] = whole->capacity_bytes[l];
        x->overhead_ns[k] = whole->overhead_ns ? whole->overhead_ns[l] : 0;
        x->copy_gbs[k] = whole->overhead_ns ? whole->copy_gbs[l] : 0;
    }
}

static void copy_ops(maker *m)
{
    mo_instance *x = m->x;

    for (int i = 0; i < x->n; i++) {
        int pin = m->whole->pin[i];

        x->pin[i] = pin > m->device ? pin - 1 : pin;
        for (int k = 0; k < x->n_devices; k++)
            x->p_ns[(int64_t) i * x->n_devices + k] =
                mo_instance_p_ns(m->whole, i, device_in_whole(m, k));
    }
}

static void copy_pairs(maker *m)
{
    int K = m->x->n_devices;

    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++) {
            const mo_instance *whole = m->whole;
            int64_t pair = (int64_t) a * m->x->n_devices + b;
            int64_t old = (int64_t) device_in_whole(m, a) * whole->n_devices +
                          device_in_whole(m, b);

            m->x->pair_kind[pair] = whole->pair_kind[old];
            m->x->routes[pair] = whole->routes[old];
        }
}

mo_status mo_instance_without_device(const mo_instance *whole, int device,
                                     mo_instance **instance, mo_error *err)
{
    maker m = { whole, malloc(sizeof *m.x), device };

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
    copy_ops(&m);
    copy_pairs(&m);
    *instance = m.x;
    return MO_OK;
}
