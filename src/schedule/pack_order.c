#include <stdlib.h>

#include "schedule/pack.h"
#include "schedule/single.h"

typedef struct speed {
    int64_t all_ns;
    int device;
} speed;

static int compare_speeds(const void *a, const void *b)
{
    const speed *v = a, *w = b;

    if (v->all_ns != w->all_ns)
        return v->all_ns < w->all_ns ? -1 : 1;
    return (v->device > w->device) - (v->device < w->device);
}

static void sort_by_speed(const mo_instance *x, speed *speeds)
{
    for (int k = 0; k < x->n_devices; k++)
        speeds[k] = (speed){ mo_single_ns(x, k), k };
    qsort(speeds, (size_t) x->n_devices, sizeof *speeds, compare_speeds);
}

/* Units are numbered by their first op.  One that is too large for what is left
 * goes to the next device that has room, and smaller ones may still fill up the
 * one before. */
static bool fill(const mo_instance *x, const mo_units *units,
                 const speed *speeds, int64_t *room_bytes, int *placement)
{
    for (int u = 0; u < units->n; u++) {
        bool is_free = units->pin[u] == MO_FREE;
        int at = 0;

        while (is_free && at < x->n_devices &&
               room_bytes[speeds[at].device] < units->bytes[u])
            at++;
        if (at == x->n_devices)
            return false;
        if (is_free)
            room_bytes[speeds[at].device] -= units->bytes[u];
        for (int j = units->start[u]; j < units->start[u + 1]; j++)
            placement[units->ops[j]] =
                is_free ? speeds[at].device : units->pin[u];
    }
    return true;
}

mo_status mo_pack_in_order(const mo_instance *x, const mo_units *units,
                           int *placement, bool *found, mo_error *err)
{
    size_t n_devices = (size_t) x->n_devices;
    speed *speeds = malloc((n_devices + 1) * sizeof *speeds);
    int64_t *room_bytes = malloc((n_devices + 1) * sizeof *room_bytes);
    mo_status status = speeds && room_bytes ? MO_OK : mo_fail_memory(err);

    *found = false;
    if (status == MO_OK) {
        sort_by_speed(x, speeds);
        mo_units_room(x, units, room_bytes);
        *found = fill(x, units, speeds, room_bytes, placement);
    }
    free(room_bytes);
    free(speeds);
    return status;
}
