/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m-TOPO: B. Jeon, L. Cai, P. Srivastava, J. Jiang, X. Ke, Y. Meng, C. Xie, I.
 * Gupta: Baechi: fast device placement of machine learning graphs (SoCC 2020).
 *
 * Fills device after device in topological order (Kahn's, FIFO), each up to
 * its share: the memory of all ops divided by the number of devices, plus that
 * of the largest op.
 *
 * Decided here: a device smaller than the share is filled up to its capacity,
 * unless memory has no limits. What is left after the last device goes there
 * all the same, and the result does not fit. A colocation group counts as one
 * op and goes where its first op goes. Pinned ops take their memory before the
 * others are placed. Devices run their ops in that order.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "solvers/search/baselines/baseline.h"

typedef struct topo_filler {
    const mo_instance *x;
    mo_placement_units *units;
    int64_t *room_bytes; /* by device: left of its share */
    int *unit_device;    /* or MO_FREE */
} topo_filler;

/* Saturates at INT64_MAX. */
static int64_t add_saturating(int64_t a, int64_t b)
{
    int64_t sum = INT64_MAX;

    mo_int64_add(a, b, &sum);
    return sum;
}

static void set_shares(topo_filler *f, bool limited)
{
    /* The share of each device in bytes. */
    int64_t all_bytes = 0, largest_bytes = 0;

    for (int u = 0; u < f->units->n; u++) {
        int64_t bytes = f->units->bytes[u];

        all_bytes = add_saturating(all_bytes, bytes);
        largest_bytes = mo_max_i64(bytes, largest_bytes);
    }
    int64_t share = add_saturating(all_bytes / f->x->n_devices, largest_bytes);

    for (int k = 0; k < f->x->n_devices; k++) {
        int64_t capacity = limited ? f->x->capacity_bytes[k] : INT64_MAX;

        f->room_bytes[k] = mo_min_i64(share, capacity);
    }
    for (int u = 0; u < f->units->n; u++) {
        int pin = f->units->pin[u];

        f->unit_device[u] = pin;
        /* Once negative it stays: no further subtraction. */
        if (pin != MO_FREE && f->room_bytes[pin] >= 0)
            f->room_bytes[pin] -= f->units->bytes[u];
    }
}

static mo_status place_m_topo(const mo_method_task *task,
                              mo_method_result *placed, mo_error *err)
{
    const mo_instance *x = task->x;
    const mo_regime sums = { .memory = MO_MEMORY_STATIC };
    size_t n = (size_t) x->n + 1;
    topo_filler f = { .x = x };
    int *order = malloc(n * sizeof *order), *rank = malloc(n * sizeof *rank);
    int *device = malloc(n * sizeof *device);
    mo_status status = mo_placement_units_make(x, &sums, &f.units, err);
    int k, last;

    f.room_bytes = malloc(((size_t) x->n_devices + 1) * sizeof *f.room_bytes);
    f.unit_device = malloc(n * sizeof *f.unit_device);
    if (status == MO_OK &&
        (!order || !rank || !device || !f.room_bytes || !f.unit_device))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_baseline_topo_order(x, order, rank, err);
    if (status == MO_OK) {
        set_shares(&f, task->regime.memory != MO_MEMORY_NONE);
        k = 0;
        last = f.x->n_devices - 1;
        for (int p = 0; p < f.x->n; p++) {
            int op = order[p], unit = f.units->of_op[op];

            if (f.unit_device[unit] == MO_FREE) {
                while (k < last && f.units->bytes[unit] > f.room_bytes[k])
                    k++;
                f.unit_device[unit] = k;
                if (f.room_bytes[k] >= 0)
                    f.room_bytes[k] -= f.units->bytes[unit];
            }
            device[op] = f.unit_device[unit];
        }
        status = mo_baseline_simulate(task, device, rank, placed, err);
    }
    mo_placement_units_free(f.units);
    free(f.unit_device);
    free(f.room_bytes);
    free(device);
    free(rank);
    free(order);
    return status;
}

const mo_method mo_method_m_topo = {
    .name = "m-topo",
    .help = "device after device filled with its share of memory",
    .source = "Baechi: Jeon et al. 2020",
    .all = true,
    .place = place_m_topo,
};
