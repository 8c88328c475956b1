#include <stdlib.h>

#include "base/array.h"
#include "models/frame_parts.h"

static bool may_by_pin(const mo_instance *x, int op, int device)
{
    return x->pin[op] == MO_FREE || x->pin[op] == device;
}

/* What op takes of a device for good, wherever it is. */
static int64_t resident_bytes(const mo_frame *f, int op)
{
    switch (f->regime.memory) {
    case MO_MEMORY_STATIC:
        return f->x->memory_bytes[op];
    case MO_MEMORY_LIVE:
        return f->x->weight_bytes[op];
    case MO_MEMORY_NONE:
        break;
    }
    return 0;
}

static void add_up(int64_t *sum, int64_t bytes)
{
    if (!mo_int64_add(*sum, bytes, sum))
        *sum = INT64_MAX;
}

static bool fits(const mo_frame *f, int64_t bytes, int device)
{
    return f->regime.memory == MO_MEMORY_NONE ||
           bytes <= f->x->capacity_bytes[device];
}

void mo_frame_allow_by_pin(mo_frame *f, int op)
{
    int n_devices = f->x->n_devices;

    for (int k = 0; k < n_devices; k++)
        f->allowed[(int64_t) op * n_devices + k] = may_by_pin(f->x, op, k);
}

/* Returns whether any device is left for op. */
static bool allow(mo_frame *f, int op, int64_t bytes)
{
    const mo_instance *x = f->x;
    bool any = false;

    for (int k = 0; k < x->n_devices; k++) {
        bool may = may_by_pin(x, op, k) && fits(f, bytes, k);
        f->allowed[(int64_t) op * x->n_devices + k] = may;
        any = any || may;
    }
    return any;
}

mo_status mo_frame_find_allowed(mo_frame *f, mo_error *err)
{
    const mo_instance *x = f->x;
    int64_t *group_bytes =
        calloc((size_t) x->n_groups + 1, sizeof *group_bytes);

    if (!group_bytes)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        if (x->group[i] != MO_FREE)
            add_up(&group_bytes[x->group[i]], resident_bytes(f, i));
    for (int i = 0; i < x->n; i++) {
        int64_t bytes = x->group[i] == MO_FREE ? resident_bytes(f, i)
                                               : group_bytes[x->group[i]];
        if (!allow(f, i, bytes))
            mo_frame_allow_by_pin(f, i);
    }
    free(group_bytes);
    return MO_OK;
}
