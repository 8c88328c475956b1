/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/lower/lower_internal.h"
#include "exec/plan/passes/passes.h"
#include "graph/op_attrs.h"

/* A replicated tensor is available on any device. */
static int output_device(const mo_plan_lower_state *l,
                         const mo_plan_lower_io_port *output)
{
    int device = l->ops[output->op].device;
    int producer = l->tensors[output->tensor].op;

    if (device == MO_PLAN_NONE && producer != MO_PLAN_NONE &&
        producer < l->g->n_ops)
        device = l->ops[producer].device;
    return device == MO_PLAN_NONE ? 0 : device;
}

/* Returns whether its op runs wherever it is read. */
static bool is_replicated(const mo_plan_lower_state *l, int tensor)
{
    const mo_plan_lower_tensor *it = &l->tensors[tensor];

    return !it->known && it->input == MO_PLAN_NONE && it->op != MO_PLAN_NONE &&
           it->op < l->g->n_ops && l->ops[it->op].device == MO_PLAN_NONE;
}

static mo_status add_replica(mo_plan_lower_state *l, int tensor, int device,
                             mo_error *err)
{
    mo_plan_lower_op *op;
    mo_status status;

    if (!is_replicated(l, tensor))
        return MO_OK;
    op = &l->ops[l->tensors[tensor].op];
    for (int n = op->needs; n != MO_PLAN_NONE; n = l->needs[n].next)
        if (l->needs[n].device == device)
            return MO_OK;
    status = MO_ARRAY_GROW(l->needs, l->n_needs, l->needs_room, err);
    if (status != MO_OK)
        return status;
    l->needs[l->n_needs] = (mo_plan_lower_replica){ device, op->needs };
    op->needs = (int) l->n_needs++;
    return MO_OK;
}

static mo_status add_input_replicas(mo_plan_lower_state *l,
                                    const mo_plan_lower_op *op, int device,
                                    mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < op->n_in && status == MO_OK; i++)
        status = add_replica(l, op->in[i], device, err);
    return status;
}

/* In reverse order: readers come before their producers. */
static mo_status find_replicas(mo_plan_lower_state *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < l->n_outputs && status == MO_OK; i++)
        status = add_replica(l, l->outputs[i].tensor,
                             output_device(l, &l->outputs[i]), err);
    for (int id = l->g->n_ops - 1; id >= 0 && status == MO_OK; id--) {
        const mo_plan_lower_op *op = &l->ops[id];

        if (op->device != MO_PLAN_NONE)
            status = add_input_replicas(l, op, op->device, err);
        for (int n = op->needs; n != MO_PLAN_NONE && status == MO_OK;
             n = l->needs[n].next)
            status = add_input_replicas(l, op, l->needs[n].device, err);
    }
    return status;
}

/* The index of an input or output in its network. */
static int64_t port_index(const mo_op *op)
{
    int64_t index;

    if (mo_attr_ints(op->attr_list, "index", &index, 1) != 1)
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
                                 port_index(&l->g->ops[id]), id, tensor };
    return MO_OK;
}

static mo_status add_output(mo_plan_lower_state *l, int id, const char *name,
                            int tensor, mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(l->outputs, l->n_outputs, l->outputs_room, err);

    if (status == MO_OK)
        l->outputs[l->n_outputs++] =
            (mo_plan_lower_io_port){ name, port_index(&l->g->ops[id]), id,
                                     tensor };
    return status;
}

/* All outputs of op are outputs of the network. */
static mo_status add_outputs(mo_plan_lower_state *l, int id, mo_error *err)
{
    mo_status status = MO_OK;

    for (int t = l->first_tensor[id];
         t < l->first_tensor[id + 1] && status == MO_OK; t++)
        status = add_output(l, id, l->tensors[t].name, t, err);
    return status;
}

static bool is_op_type(const mo_plan_lower_state *l, int id, const char *type)
{
    return l->ops[id].type && strcmp(l->ops[id].type, type) == 0;
}

static mo_status find_io(mo_plan_lower_state *l, mo_error *err)
{
    mo_status status = MO_OK;

    for (int id = 0; id < l->g->n_ops && status == MO_OK; id++) {
        if (is_op_type(l, id, "Parameter"))
            status = add_input(l, id, err);
        else if (is_op_type(l, id, "Result")) {
            const char *name;
            status = mo_plan_lower_copy_text(l, l->g->ops[id].name, &name, err);

            if (status == MO_OK && l->ops[id].n_in != 1)
                status =
                    mo_plan_lower_fail(l, id, err, "a result has one input");
            if (status == MO_OK)
                status = add_output(l, id, name, l->ops[id].in[0], err);
        } else if (l->g->ops[id].is_output)
            status = add_outputs(l, id, err);
    }
    if (status == MO_OK && l->n_outputs == 0) {
        /* Without results in the graph, outputs are the tensors without
         * readers. */
        status = MO_OK;

        for (int id = 0; id < l->g->n_ops && status == MO_OK; id++)
            if (mo_graph_out_degree(l->g, id) == 0 &&
                !is_op_type(l, id, "Parameter"))
                status = add_outputs(l, id, err);
    }
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

/* An output returned on another device than its producer's is a view from
 * there; the transfer is inserted later. */
static mo_status write_output(mo_plan_lower_state *l,
                              const mo_plan_lower_io_port *port,
                              mo_plan_output *output, mo_error *err)
{
    int device = output_device(l, port);
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

/* Copies the name of the state that the port reads or writes. */
static mo_status copy_state(mo_plan_lower_state *l,
                            const mo_plan_lower_io_port *port,
                            const char **state, mo_error *err)
{
    const char *name = l->g->ops[port->op].state;

    *state = NULL;
    return name && l->source->keeps_state
               ? mo_plan_lower_copy_text(l, name, state, err)
               : MO_OK;
}

static mo_status write_io(mo_plan_lower_state *l, mo_error *err)
{
    mo_exec_plan *plan = l->plan;
    mo_status status = MO_OK;

    plan->n_inputs = (int) l->n_inputs;
    plan->inputs =
        mo_arena_array(plan->arena, l->n_inputs, sizeof *plan->inputs);
    if (!plan->inputs)
        return mo_fail_memory(err);
    for (size_t i = 0; i < l->n_inputs && status == MO_OK; i++) {
        plan->inputs[i] =
            (mo_plan_input){ .name = l->inputs[i].name,
                             .desc = l->tensors[l->inputs[i].tensor].desc };
        status = copy_state(l, &l->inputs[i], &plan->inputs[i].state, err);
    }
    plan->n_outputs = (int) l->n_outputs;
    plan->outputs =
        mo_arena_array(plan->arena, l->n_outputs, sizeof *plan->outputs);
    if (status == MO_OK && !plan->outputs)
        status = mo_fail_memory(err);
    for (size_t i = 0; i < l->n_outputs && status == MO_OK; i++) {
        status = write_output(l, &l->outputs[i], &plan->outputs[i], err);
        if (status == MO_OK)
            status =
                copy_state(l, &l->outputs[i], &plan->outputs[i].state, err);
    }
    return status;
}

static mo_status init_state(mo_plan_lower_state *l, mo_error *err)
{
    size_t n = (size_t) l->g->n_ops;
    mo_status status;

    l->scratch = mo_arena_new();
    if (!l->scratch)
        return mo_fail_memory(err);
    l->ops = mo_arena_array(l->scratch, n, sizeof *l->ops);
    if (!l->ops)
        return mo_fail_memory(err);
    status = mo_plan_lower_number_tensors(l, err);
    for (int id = 0; id < l->g->n_ops && status == MO_OK; id++) {
        l->ops[id].type = mo_plan_lower_op_type(&l->g->ops[id]);
        l->ops[id].attrs = l->g->ops[id].attr_list;
        l->ops[id].n_out = l->first_tensor[id + 1] - l->first_tensor[id];
    }
    return status;
}

static mo_status run_lowering(mo_plan_lower_state *l, mo_error *err)
{
    static mo_status (*const steps[])(mo_plan_lower_state *, mo_error *) = {
        mo_plan_lower_all_ops,     find_io,  find_replicas,
        mo_plan_lower_build_items, write_io,
    };
    mo_status status = init_state(l, err);

    if (status == MO_OK) {
        /* Devices of ops, from the schedule; MO_PLAN_NONE: replicated. */
        const mo_plan_source *source = l->source;

        assert(source->schedule->n == source->placed->n_ops);
        assert(!source->map || source->map->n_fine == l->g->n_ops);
        for (int id = 0; id < l->g->n_ops; id++) {
            mo_plan_lower_op *op = &l->ops[id];
            int placed = source->map ? source->map->coarse_of[id] : id;

            op->item = placed < 0 ? MO_PLAN_NONE : placed;
            op->device =
                placed < 0 ? MO_PLAN_NONE : source->schedule->device[placed];
            op->needs = MO_PLAN_NONE;
        }
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == MO_OK; i++)
        status = steps[i](l, err);
    if (status == MO_OK)
        status = mo_plan_values_commit(&l->values, l->plan, err);
    return status == MO_OK ? mo_pass_dce(l->plan, err) : status;
}

mo_status mo_plan_lower(const mo_plan_source *source, mo_exec_plan *plan,
                        mo_error *err)
{
    mo_plan_lower_state l = { .source = source,
                              .g = source->fine,
                              .plan = plan,
                              .network_input = MO_PLAN_NONE,
                              .causal = MO_PLAN_NONE };
    mo_status status = run_lowering(&l, err);

    mo_plan_values_clear(&l.values);
    free(l.outputs);
    free(l.inputs);
    free(l.needs);
    free(l.places);
    free(l.failures);
    free(l.tensors);
    mo_arena_free(l.scratch);
    return status;
}
