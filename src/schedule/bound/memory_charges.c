/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/memory_charges.h"

#include <stdlib.h>

#include "base/minmax.h"

__extension__ typedef __int128 int128;

typedef struct group {
    int64_t bytes;
    int64_t saved_ns, time_ns; /* on the present device, sums over its ops */
    bool any;                  /* some op is not left out */
} group;

static int64_t bytes_of(const mo_allowed_devices *p, int op)
{
    return mo_max_i64(mo_allowed_devices_resident_bytes(p, op), 0);
}

/* Returns the device at which devices in the order of their speed have room for
 * all ops; the slowest where they have none. */
static int find_marginal(const mo_allowed_devices *p, double *total_ns)
{
    const mo_instance *x = p->x;
    double left = 0;
    int slowest = 0;

    for (int i = 0; i < x->n; i++) {
        left += (double) bytes_of(p, i);
        for (int k = 0; k < x->n_devices; k++)
            total_ns[k] += (double) mo_instance_p_ns(x, i, k);
    }
    for (int n = 0; n < x->n_devices; n++) {
        int next = -1;

        for (int k = 0; k < x->n_devices; k++)
            if (total_ns[k] >= 0 && (next < 0 || total_ns[k] < total_ns[next]))
                next = k;
        total_ns[next] = -1;
        slowest = next;
        left -= (double) x->capacity_bytes[next];
        if (left <= 0)
            break;
    }
    return slowest;
}

static int64_t saved_ns(const mo_instance *x, int op, int device, int marginal)
{
    return mo_max_i64(
        mo_instance_p_ns(x, op, marginal) - mo_instance_p_ns(x, op, device), 0);
}

static bool has_share(const mo_allowed_devices *p, const group *groups,
                      const bool *is_left_out, int op)
{
    return !is_left_out[op] || !groups[p->x->group[op]].any;
}

/* Shares on a device by the time saved; where nothing is saved, by time; where
 * that is 0, too, each op has its own bytes. */
static void share_on(const mo_allowed_devices *p, group *groups,
                     const bool *is_left_out, int device, int marginal,
                     int64_t *charges)
{
    const mo_instance *x = p->x;

    for (int g = 0; g < x->n_groups; g++)
        groups[g].saved_ns = groups[g].time_ns = 0;
    for (int i = 0; i < x->n; i++)
        if (x->group[i] != MO_FREE && has_share(p, groups, is_left_out, i)) {
            groups[x->group[i]].saved_ns += saved_ns(x, i, device, marginal);
            groups[x->group[i]].time_ns += mo_instance_p_ns(x, i, device);
        }
    for (int i = 0; i < x->n; i++) {
        int64_t part_ns, all_ns, *charge;
        const group *g;

        charge = &charges[mo_allowed_devices_index(p, i, device)];
        *charge = bytes_of(p, i);
        if (x->group[i] == MO_FREE)
            continue;
        g = &groups[x->group[i]];
        part_ns = g->saved_ns > 0 ? saved_ns(x, i, device, marginal)
                                  : mo_instance_p_ns(x, i, device);
        all_ns = g->saved_ns > 0 ? g->saved_ns : g->time_ns;
        if (!has_share(p, groups, is_left_out, i))
            part_ns = 0;
        if (all_ns > 0)
            *charge = (int64_t) ((int128) g->bytes * part_ns / all_ns);
    }
}

mo_status mo_memory_charges_make(const mo_allowed_devices *p,
                                 const bool *is_left_out, int64_t **charges,
                                 mo_error *err)
{
    const mo_instance *x = p->x;
    size_t n_devices = (size_t) x->n_devices;
    group *groups = calloc((size_t) x->n_groups + 1, sizeof *groups);
    double *total_ns = calloc(n_devices + 1, sizeof *total_ns);
    mo_status status = MO_OK;

    *charges = calloc((size_t) x->n + 1, n_devices * sizeof **charges);
    if (groups && total_ns && *charges) {
        int marginal = find_marginal(p, total_ns);

        for (int i = 0; i < x->n; i++)
            if (x->group[i] != MO_FREE) {
                groups[x->group[i]].bytes += bytes_of(p, i);
                groups[x->group[i]].any |= !is_left_out[i];
            }
        for (int k = 0; k < x->n_devices; k++)
            share_on(p, groups, is_left_out, k, marginal, *charges);
    } else {
        status = mo_fail_memory(err);
        free(*charges);
        *charges = NULL;
    }
    free(groups);
    free(total_ns);
    return status;
}
