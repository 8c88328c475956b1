/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of an instance: every op fits the memory of some device, and no sum
 * of times or sizes overflows.
 */
#include <stdlib.h>

#include "base/array.h"
#include "cost/instance/instance_internal.h"

static mo_status check_fits(const mo_instance_maker *m, int op,
                            int roomiest_device, mo_error *err)
{
    const mo_instance *x = m->x;
    bool is_free = x->pin[op] == MO_FREE;
    int device = is_free ? roomiest_device : x->pin[op];

    if (x->memory_bytes[op] <= x->capacity_bytes[device])
        return MO_OK;
    return mo_fail_at(err, MO_E_INFEASIBLE, NULL, m->g->ops[op].line,
                      "op '%.200s' needs %lld bytes and device %s, %s, has "
                      "%lld; use a larger device or split the op",
                      x->op_names[op], (long long) x->memory_bytes[op],
                      x->device_ids[device],
                      is_free ? "the largest" : "to which it is pinned",
                      (long long) x->capacity_bytes[device]);
}

static mo_status fill_memory(mo_instance_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    int64_t sum = 0;

    for (int i = 0; i < x->n; i++) {
        const mo_op *op = &m->g->ops[i];

        x->memory_bytes[i] = op->memory_bytes;
        x->weight_bytes[i] = op->weight_bytes == MO_UNKNOWN ? op->memory_bytes
                                                            : op->weight_bytes;
        if (!mo_int64_add(sum, op->memory_bytes, &sum))
            return mo_fail_at(err, MO_E_INPUT, NULL, op->line,
                              "op '%.200s' needs %lld bytes, which makes all "
                              "ops together need more than 2^63; give its "
                              "memory in bytes",
                              op->name, (long long) op->memory_bytes);
    }
    return MO_OK;
}

static int64_t longest(const int64_t *times_ns, int n)
{
    int64_t most = 0;

    for (int i = 0; i < n; i++)
        if (times_ns[i] > most)
            most = times_ns[i];
    return most;
}

/* The largest time of each row of transfer times, which many flows share. */
static mo_status find_longest(const mo_instance *x, int64_t **row_ns,
                              mo_error *err)
{
    *row_ns = malloc(((size_t) x->comm.n_rows + 1) * sizeof **row_ns);
    if (!*row_ns)
        return mo_fail_memory(err);
    for (int r = 0; r < x->comm.n_rows; r++)
        (*row_ns)[r] = longest(x->comm.ns + (int64_t) r * x->comm.n_kinds,
                               x->comm.n_kinds);
    return MO_OK;
}

mo_status mo_instance_maker_check_limits(mo_instance_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    mo_arena *arena = x->arena;
    mo_status status;
    int64_t left = MO_MAX_TOTAL_NS, *row_ns;
    int largest;

    x->memory_bytes =
        mo_arena_array(arena, (size_t) x->n, sizeof *x->memory_bytes);
    x->weight_bytes =
        mo_arena_array(arena, (size_t) x->n, sizeof *x->weight_bytes);
    x->capacity_bytes =
        mo_arena_array(arena, (size_t) x->n_devices, sizeof *x->capacity_bytes);
    if (!x->memory_bytes || !x->weight_bytes || !x->capacity_bytes)
        return mo_fail_memory(err);
    for (int k = 0; k < x->n_devices; k++)
        x->capacity_bytes[k] = m->cluster->devices[k].memory_bytes;
    largest = 0;
    for (int k = 1; k < x->n_devices; k++)
        if (x->capacity_bytes[k] > x->capacity_bytes[largest])
            largest = k;
    status = fill_memory(m, err);
    for (int i = 0; i < x->n && status == MO_OK && !m->options->any_size; i++)
        status = check_fits(m, i, largest, err);
    if (status != MO_OK)
        return status;
    /* Bound of any schedule: every op where it takes longest, every flow over
     * the slowest pair, in sequence. */
    status = find_longest(x, &row_ns, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < x->n && left >= 0; i++)
        left -= longest(x->p_ns + (int64_t) i * x->n_devices, x->n_devices);
    for (int q = 0; q < x->n_flows && left >= 0; q++)
        left -= row_ns[x->comm.flow_row[q]];
    free(row_ns);
    if (left >= 0)
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "all ops and transfers together take more than 10^15 us "
                   "(31 years); are their times in microseconds?");
}
