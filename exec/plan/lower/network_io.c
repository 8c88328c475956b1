/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "exec/plan/lower/lower_internal.h"

/* The number that an input or output has in its network. */
static int64_t index_of(const mo_op *op)
{
    int64_t index;

    if (!op->attrs || mo_json_ints(op->attrs, "index", &index, 1) != 1)
        return INT64_MAX;
    return index;
}

static int compare_ports(const void *a, const void *b)
{
    const mo_plan_lower_io_port *x = a, *y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

static mo_status add_input(mo_plan_lower_state *l, int id, mo_error *err)
{
    int tensor = l->first_tensor[id];
    mo_status status =
        MO_ARRAY_GROW(l->inputs, l->n_inputs, l->inputs_room, err);

    if (status != MO_OK)
        return status;
    if (l->ops[id].n_out != 1 || l->tensors[tensor].desc.shape.rank < 0)
        return mo_plan_lower_fail(
            l, id, err,
            "an input needs a fixed shape, and a dtype that "
            "can be run");
    l->inputs[l->n_inputs++] =
        (mo_plan_lower_io_port){ l->tensors[tensor].name,
                                 index_of(&l->g->ops[id]), id, tensor };
    return MO_OK;
}

static mo_status add_output(mo_plan_lower_state *l, int id, const char *name,
                            int tensor, mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(l->outputs, l->n_outputs, l->outputs_room, err);

    if (status == MO_OK)
        l->outputs[l->n_outputs++] =
            (mo_plan_lower_io_port){ name, index_of(&l->g->ops[id]), id,
                                     tensor };
    return status;
}

/* Everything that op makes leaves the network. */
static mo_status add_outputs(mo_plan_lower_state *l, int id, mo_error *err)
{
    mo_status status = MO_OK;

    for (int t = l->first_tensor[id];
         t < l->first_tensor[id + 1] && status == MO_OK; t++)
        status = add_output(l, id, l->tensors[t].name, t, err);
    return status;
}

static bool is_type(const mo_plan_lower_state *l, int id, const char *type)
{
    return l->ops[id].type && strcmp(l->ops[id].type, type) == 0;
}

static mo_status add_result(mo_plan_lower_state *l, int id, mo_error *err)
{
    const char *name;
    mo_status status =
        mo_plan_lower_copy_text(l, l->g->ops[id].name, &name, err);

    if (status == MO_OK && l->ops[id].n_in != 1)
        status = mo_plan_lower_fail(l, id, err, "a result has one input");
    return status == MO_OK ? add_output(l, id, name, l->ops[id].in[0], err)
                           : status;
}

static mo_status find_told(mo_plan_lower_state *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (int id = 0; id < l->g->n_ops && status == MO_OK; id++) {
        if (is_type(l, id, "Parameter"))
            status = add_input(l, id, err);
        else if (is_type(l, id, "Result"))
            status = add_result(l, id, err);
        else if (l->g->ops[id].is_output)
            status = add_outputs(l, id, err);
    }
    return status;
}

/* Where nothing says what leaves the network, it is what nobody reads. */
static mo_status find_unread(mo_plan_lower_state *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (int id = 0; id < l->g->n_ops && status == MO_OK; id++)
        if (mo_graph_out_degree(l->g, id) == 0 && !is_type(l, id, "Parameter"))
            status = add_outputs(l, id, err);
    return status;
}

mo_status mo_plan_lower_find_io(mo_plan_lower_state *l, mo_error *err)
{
    mo_status status = find_told(l, err);

    if (status == MO_OK && l->n_outputs == 0)
        status = find_unread(l, err);
    if (status != MO_OK)
        return status;
    if (l->n_inputs > 0)
        qsort(l->inputs, l->n_inputs, sizeof *l->inputs, compare_ports);
    if (l->n_outputs > 0)
        qsort(l->outputs, l->n_outputs, sizeof *l->outputs, compare_ports);
    for (size_t i = 0; i < l->n_inputs; i++)
        l->tensors[l->inputs[i].tensor].input = (int) i;
    return MO_OK;
}

static mo_status put_inputs(mo_plan_lower_state *l, mo_error *err)
{
    mo_exec_plan *plan = l->plan;

    plan->n_inputs = (int) l->n_inputs;
    plan->inputs =
        mo_arena_array(plan->arena, l->n_inputs, sizeof *plan->inputs);
    if (!plan->inputs)
        return mo_fail_memory(err);
    for (size_t i = 0; i < l->n_inputs; i++)
        plan->inputs[i] =
            (mo_plan_input){ .name = l->inputs[i].name,
                             .desc = l->tensors[l->inputs[i].tensor].desc };
    return MO_OK;
}

/* An output that is wanted on another device than where it is made is a view
 * from there; the transfer comes later. */
static mo_status put_output(mo_plan_lower_state *l,
                            const mo_plan_lower_io_port *port,
                            mo_plan_output *output, mo_error *err)
{
    int device = mo_plan_lower_output_device(l, port);
    mo_plan_value value;
    mo_status status = mo_plan_lower_value_on_device(l, port->tensor, device,
                                                     &output->value, err);

    output->name = port->name;
    if (status != MO_OK || l->values.items[output->value].device == device)
        return status;
    value = mo_plan_value_init(l->values.items[output->value].name,
                               &l->values.items[output->value].desc, device);
    value.view_of = output->value;
    value.item = l->ops[port->op].item;
    return mo_plan_values_add(&l->values, &value, &output->value, err);
}

mo_status mo_plan_lower_write_io(mo_plan_lower_state *l, mo_error *err)
{
    mo_exec_plan *plan = l->plan;
    mo_status status = put_inputs(l, err);

    plan->n_outputs = (int) l->n_outputs;
    plan->outputs =
        mo_arena_array(plan->arena, l->n_outputs, sizeof *plan->outputs);
    if (status == MO_OK && !plan->outputs)
        status = mo_fail_memory(err);
    for (size_t i = 0; i < l->n_outputs && status == MO_OK; i++)
        status = put_output(l, &l->outputs[i], &plan->outputs[i], err);
    return status;
}
