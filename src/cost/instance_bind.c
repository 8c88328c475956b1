#include <string.h>

#include "base/intern.h"
#include "cost/instance_parts.h"

static mo_status find_pin(mo_maker *m, int op, mo_error *err)
{
    const mo_op *it = &m->g->ops[op];

    m->x->pin[op] = it->pin ? mo_cluster_find(m->cluster, it->pin) : MO_FREE;
    if (it->pin && m->x->pin[op] < 0)
        return mo_fail(err, MO_E_INPUT,
                       "op '%s' is pinned to '%s', which is no device of the "
                       "cluster; pin it to one of its ids", it->name, it->pin);
    return MO_OK;
}

/* Members of a group whose first member is pinned are pinned to the same; the
 * others may not say otherwise. */
static mo_status spread_pin(mo_maker *m, int op, int *pinned_member,
                            mo_error *err)
{
    mo_instance *x = m->x;
    int other = pinned_member[x->group[op]];

    if (x->pin[op] == MO_FREE)
        return MO_OK;
    if (other >= 0 && x->pin[other] != x->pin[op])
        return mo_fail(err, MO_E_INPUT,
                       "ops '%s' and '%s' share a device (colocate '%s') but "
                       "are pinned to %s and %s; change one of the pins",
                       x->op_names[other], x->op_names[op],
                       m->g->ops[op].colocate, x->device_ids[x->pin[other]],
                       x->device_ids[x->pin[op]]);
    pinned_member[x->group[op]] = op;
    return MO_OK;
}

static mo_status find_groups(mo_maker *m, mo_intern *texts, mo_error *err)
{
    mo_instance *x = m->x;

    for (int i = 0; i < x->n; i++) {
        const char *colocate = m->g->ops[i].colocate;
        mo_status status;

        x->group[i] = MO_FREE;
        if (!colocate)
            continue;
        status = mo_intern_put(texts, colocate, strlen(colocate),
                               &x->group[i], err);
        if (status != MO_OK)
            return status;
    }
    x->n_groups = mo_intern_count(texts);
    return MO_OK;
}

static mo_status reconcile(mo_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    int *pinned_member = mo_arena_array(x->arena, (size_t) x->n_groups,
                                        sizeof *pinned_member);

    if (!pinned_member)
        return mo_fail_memory(err);
    for (int k = 0; k < x->n_groups; k++)
        pinned_member[k] = -1;
    for (int i = 0; i < x->n; i++) {
        mo_status status = x->group[i] == MO_FREE
                               ? MO_OK
                               : spread_pin(m, i, pinned_member, err);
        if (status != MO_OK)
            return status;
    }
    for (int i = 0; i < x->n; i++)
        if (x->group[i] != MO_FREE && pinned_member[x->group[i]] >= 0)
            x->pin[i] = x->pin[pinned_member[x->group[i]]];
    return MO_OK;
}

mo_status mo_maker_bindings(mo_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    mo_intern *texts = mo_intern_new(x->arena);
    mo_status status = MO_OK;

    x->pin = mo_arena_array(x->arena, (size_t) x->n, sizeof *x->pin);
    x->group = mo_arena_array(x->arena, (size_t) x->n, sizeof *x->group);
    if (!texts || !x->pin || !x->group)
        status = mo_fail_memory(err);
    for (int i = 0; i < x->n && status == MO_OK; i++)
        status = find_pin(m, i, err);
    if (status == MO_OK)
        status = find_groups(m, texts, err);
    if (status == MO_OK)
        status = reconcile(m, err);
    mo_intern_free(texts);
    return status;
}

static int roomiest(const mo_instance *x)
{
    int best = 0;

    for (int k = 1; k < x->n_devices; k++)
        if (x->capacity_bytes[k] > x->capacity_bytes[best])
            best = k;
    return best;
}

static mo_status check_fits(const mo_instance *x, int op, int device,
                            mo_error *err)
{
    if (x->pin[op] != MO_FREE)
        device = x->pin[op];
    if (x->memory_bytes[op] <= x->capacity_bytes[device])
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "op '%s' needs %lld bytes and device %s, the roomiest it "
                   "may go to, has %lld; use a larger device or split the op",
                   x->op_names[op], (long long) x->memory_bytes[op],
                   x->device_ids[device],
                   (long long) x->capacity_bytes[device]);
}

mo_status mo_maker_memory(mo_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    mo_status status = MO_OK;
    int largest;

    x->memory_bytes = mo_arena_array(x->arena, (size_t) x->n,
                                     sizeof *x->memory_bytes);
    x->weight_bytes = mo_arena_array(x->arena, (size_t) x->n,
                                     sizeof *x->weight_bytes);
    x->capacity_bytes = mo_arena_array(x->arena, (size_t) x->n_devices,
                                       sizeof *x->capacity_bytes);
    if (!x->memory_bytes || !x->weight_bytes || !x->capacity_bytes)
        return mo_fail_memory(err);
    for (int k = 0; k < x->n_devices; k++)
        x->capacity_bytes[k] = m->cluster->devices[k].memory_bytes;
    largest = roomiest(x);
    for (int i = 0; i < x->n && status == MO_OK; i++) {
        const mo_op *op = &m->g->ops[i];

        x->memory_bytes[i] = op->memory_bytes;
        x->weight_bytes[i] = op->weight_bytes == MO_UNKNOWN ? op->memory_bytes
                                                            : op->weight_bytes;
        status = check_fits(x, i, largest, err);
    }
    return status;
}
