/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/schedule/schedule_steps.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/schedule/transfer_times.h"
#include "exec/plan/ir/value_table.h"

/* A value is known by another number on another device. */
typedef struct twin {
    int device, value;
    int next; /* of the same value, or MO_PLAN_NONE */
} twin;

/* A transfer, and when it starts. */
typedef struct sending {
    mo_plan_transfer transfer;
    int64_t start_ns;
} sending;

typedef struct spreading {
    mo_exec_plan *plan;
    mo_plan_transfer_times dues;
    mo_plan_values values;
    int *twins_of; /* by value: the first of its twins */
    size_t twins_of_room;
    twin *twins;
    size_t n_twins, twins_room;
    sending *sendings;
    size_t n_sendings, sendings_room;
} spreading;

static mo_status add_value(spreading *s, const mo_plan_value *value,
                           int *number, mo_error *err)
{
    mo_status status = mo_plan_values_add(&s->values, value, number, err);

    if (status == MO_OK)
        status = mo_array_reserve((void **) &s->twins_of, &s->twins_of_room,
                                  s->values.n, sizeof *s->twins_of, err);
    if (status == MO_OK)
        s->twins_of[*number] = MO_PLAN_NONE;
    return status;
}

static int find_twin(const spreading *s, int value, int device)
{
    for (int t = s->twins_of[value]; t != MO_PLAN_NONE; t = s->twins[t].next)
        if (s->twins[t].device == device)
            return s->twins[t].value;
    return MO_PLAN_NONE;
}

static mo_status add_twin(spreading *s, int value, const mo_plan_value *made,
                          int *number, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(s->twins, s->n_twins, s->twins_room, err);

    if (status == MO_OK)
        status = add_value(s, made, number, err);
    if (status != MO_OK)
        return status;
    s->twins[s->n_twins] = (twin){ made->device, *number, s->twins_of[value] };
    s->twins_of[value] = (int) s->n_twins++;
    return MO_OK;
}

/* The op of the placed graph that an item is, or MO_PLAN_NONE. */
static int op_of(const spreading *s, int item)
{
    return item == MO_PLAN_NONE ? MO_PLAN_NONE : s->plan->items[item].op;
}

static mo_status add_sending(spreading *s, int value, int maker, int reader,
                             mo_plan_value *copy, mo_error *err)
{
    const mo_plan_value *from = &s->values.items[value];
    int64_t bytes = mo_tensor_desc_bytes(&from->desc);
    mo_plan_transfer_time due;
    mo_status status =
        MO_ARRAY_GROW(s->sendings, s->n_sendings, s->sendings_room, err);

    if (status != MO_OK)
        return status;
    if (s->n_sendings >= INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "more than %d transfers", INT_MAX);
    due = mo_plan_transfer_times_match(&s->dues, op_of(s, maker),
                                       op_of(s, reader), copy->device, bytes);
    copy->transfer = (int) s->n_sendings;
    s->sendings[s->n_sendings++] = (sending){ { .from_value = value,
                                                .to_value = (int) s->values.n,
                                                .from = from->device,
                                                .to = copy->device,
                                                .bytes = bytes,
                                                .tensor = due.tensor },
                                              due.start_ns };
    return MO_OK;
}

/* What was made for maker and is read by reader, sent to device. */
static mo_status send(spreading *s, int value, int device, int maker,
                      int reader, int *number, mo_error *err)
{
    mo_plan_value copy = s->values.items[value];
    mo_status status = MO_OK;

    *number = find_twin(s, value, device);
    if (*number != MO_PLAN_NONE)
        return MO_OK;
    copy.device = device;
    copy.input = copy.transfer = MO_PLAN_NONE;
    if (!copy.constant)
        status = add_sending(s, value, maker, reader, &copy, err);
    return status == MO_OK ? add_twin(s, value, &copy, number, err) : status;
}

/* The number of value on device, where an item reads it. */
static mo_status bring(spreading *s, int value, int device, int reader,
                       int *number, mo_error *err)
{
    mo_plan_value view = s->values.items[value];
    mo_status status;

    *number = view.device == device ? value : find_twin(s, value, device);
    if (*number != MO_PLAN_NONE)
        return MO_OK;
    if (view.view_of == MO_PLAN_NONE)
        return send(s, value, device, view.item, reader, number, err);
    status = send(s, mo_plan_value_root(s->values.items, value), device,
                  view.item, reader, &view.view_of, err);
    view.device = device;
    return status == MO_OK ? add_twin(s, value, &view, number, err) : status;
}

/* Views of what another device has.  What a view shows comes before it. */
static mo_status bring_views(spreading *s, mo_error *err)
{
    mo_status status = MO_OK;

    for (int v = 0; v < s->plan->n_values && status == MO_OK; v++) {
        mo_plan_value *value = &s->values.items[v];
        int seen = value->view_of;

        assert(seen < v);
        if (seen == MO_PLAN_NONE)
            continue;
        status = bring(s, seen, value->device, value->item, &seen, err);
        s->values.items[v].view_of = seen;
    }
    return status;
}

static mo_status bring_operands(spreading *s, mo_error *err)
{
    mo_status status = MO_OK;

    for (int c = 0; c < s->plan->n_calls; c++) {
        const mo_plan_call *it = &s->plan->calls[c];

        for (int i = 0; i < it->call.n_in && status == MO_OK; i++)
            status = bring(s, it->call.in[i], it->device, it->item,
                           &it->call.in[i], err);
    }
    return status;
}

static mo_status put_transfers(spreading *s, int64_t **start_ns, mo_error *err)
{
    mo_exec_plan *plan = s->plan;
    int64_t *starts = malloc((s->n_sendings + 1) * sizeof *starts);

    plan->transfers =
        mo_arena_array(plan->arena, s->n_sendings, sizeof *plan->transfers);
    if (!starts || !plan->transfers) {
        free(starts);
        return mo_fail_memory(err);
    }
    for (size_t t = 0; t < s->n_sendings; t++) {
        plan->transfers[t] = s->sendings[t].transfer;
        starts[t] = s->sendings[t].start_ns;
    }
    plan->n_transfers = (int) s->n_sendings;
    *start_ns = starts;
    return MO_OK;
}

static mo_status begin(spreading *s, mo_error *err)
{
    mo_status status = mo_plan_values_copy(s->plan, &s->values, err);

    if (status == MO_OK)
        status = mo_array_reserve((void **) &s->twins_of, &s->twins_of_room,
                                  s->values.n + 1, sizeof *s->twins_of, err);
    for (size_t v = 0; v < s->values.n && status == MO_OK; v++)
        s->twins_of[v] = MO_PLAN_NONE;
    return status;
}

mo_status mo_plan_insert_transfers(const mo_plan_source *source,
                                   mo_exec_plan *plan, int64_t **start_ns,
                                   mo_error *err)
{
    spreading s = { .plan = plan };
    mo_status status = mo_plan_transfer_times_new(source, &s.dues, err);

    if (status == MO_OK)
        status = begin(&s, err);
    if (status == MO_OK)
        status = bring_views(&s, err);
    if (status == MO_OK)
        status = bring_operands(&s, err);
    if (status == MO_OK)
        status = mo_plan_values_commit(&s.values, plan, err);
    if (status == MO_OK)
        status = put_transfers(&s, start_ns, err);
    free(s.sendings);
    free(s.twins);
    free(s.twins_of);
    mo_plan_values_clear(&s.values);
    mo_plan_transfer_times_clear(&s.dues);
    return status;
}
