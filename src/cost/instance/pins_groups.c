/* SPDX-License-Identifier: Apache-2.0 */
/* Pinning and colocation constraints of an instance. */
#include <string.h>

#include "base/intern.h"
#include "cost/instance/instance_internal.h"

static mo_status find_pin(mo_instance_maker *m, int op, mo_error *err)
{
    const mo_op *it = &m->g->ops[op];

    m->x->pin[op] = it->pin ? mo_cluster_find(m->cluster, it->pin) : MO_FREE;
    if (it->pin && m->x->pin[op] < 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, it->line,
                          "op '%.200s' is pinned to '%.200s', which is no "
                          "device of the cluster; pin it to one of its ids",
                          it->name, it->pin);
    return MO_OK;
}

/* All pinned members of a group must be pinned to the same device. */
static mo_status check_pin(const mo_instance_maker *m, int op,
                           int *pinned_member, mo_error *err)
{
    const mo_instance *x = m->x;
    int other = pinned_member[x->group[op]];

    if (x->pin[op] == MO_FREE)
        return MO_OK;
    if (other >= 0 && x->pin[other] != x->pin[op])
        return mo_fail_at(err, MO_E_INPUT, NULL, m->g->ops[op].line,
                          "ops '%.200s' and '%.200s' share a device (colocate "
                          "'%.200s') but are pinned to %s and %s; change one "
                          "of the pins",
                          x->op_names[other], x->op_names[op],
                          m->g->ops[op].colocate, x->device_ids[x->pin[other]],
                          x->device_ids[x->pin[op]]);
    pinned_member[x->group[op]] = op;
    return MO_OK;
}

static mo_status find_groups(mo_instance_maker *m, mo_intern *texts,
                             mo_error *err)
{
    mo_instance *x = m->x;

    for (int i = 0; i < x->n; i++) {
        const char *colocate = m->g->ops[i].colocate;
        mo_status status;

        x->group[i] = MO_FREE;
        if (!colocate)
            continue;
        status =
            mo_intern_put(texts, colocate, strlen(colocate), &x->group[i], err);
        if (status != MO_OK)
            return status;
    }
    x->n_groups = mo_intern_count(texts);
    return MO_OK;
}

/* Where one member of a group is pinned, all are. */
static mo_status spread_pins(mo_instance_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    int *pinned_member =
        mo_arena_array(x->arena, (size_t) x->n_groups, sizeof *pinned_member);

    if (!pinned_member)
        return mo_fail_memory(err);
    for (int k = 0; k < x->n_groups; k++)
        pinned_member[k] = -1;
    for (int i = 0; i < x->n; i++) {
        mo_status status = x->group[i] == MO_FREE
                               ? MO_OK
                               : check_pin(m, i, pinned_member, err);
        if (status != MO_OK)
            return status;
    }
    for (int i = 0; i < x->n; i++)
        if (x->group[i] != MO_FREE && pinned_member[x->group[i]] >= 0)
            x->pin[i] = x->pin[pinned_member[x->group[i]]];
    return MO_OK;
}

mo_status mo_instance_maker_bindings(mo_instance_maker *m, mo_error *err)
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
        status = spread_pins(m, err);
    mo_intern_free(texts);
    return status;
}
