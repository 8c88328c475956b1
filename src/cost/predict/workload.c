/* SPDX-License-Identifier: Apache-2.0 */
/* Workload of an op: operator class, flops, bytes, elements, operands. */
#include <string.h>

#include "cost/predict/kernel_shape.h"
#include "graph/op_attrs.h"
#include "graph/output_types.h"
#include "ingest/work/weight_attrs.h"

/* Longer than the name of any known operator. */
enum { MAX_NAME = 64 };

/* Rank of the classes by cost: the part of a fused op with the highest rank
 * most likely takes longest. */
static const int weights[] = {
    [MO_CLASS_NONE] = 0,        [MO_CLASS_FREE] = 1,
    [MO_CLASS_SHAPE] = 2,       [MO_CLASS_ACTIVATION] = 3,
    [MO_CLASS_ELEMENTWISE] = 4, [MO_CLASS_MOVE] = 5,
    [MO_CLASS_GATHER] = 6,      [MO_CLASS_POOL] = 7,
    [MO_CLASS_REDUCTION] = 8,   [MO_CLASS_NORMALIZATION] = 9,
    [MO_CLASS_SOFTMAX] = 10,    [MO_CLASS_ATTENTION] = 11,
    [MO_CLASS_MATMUL] = 12,     [MO_CLASS_CONVOLUTION] = 13,
};

static const mo_operator *find_part(const char *type, size_t length)
{
    char name[MAX_NAME];

    if (length >= sizeof name)
        return NULL;
    memcpy(name, type, length);
    name[length] = '\0';
    return mo_operator_find(name);
}

static mo_class class_of(const char *type)
{
    const mo_operator *heaviest = NULL;

    while (type && *type) {
        size_t length = strcspn(type, "+");
        const mo_operator *part = find_part(type, length);

        if (part &&
            (!heaviest || weights[part->class] > weights[heaviest->class]))
            heaviest = part;
        type += length + (type[length] == '+');
    }
    return heaviest ? heaviest->class : MO_CLASS_ELEMENTWISE;
}

static double elements_of(const mo_shape_list *shapes)
{
    double sum = 0;

    for (int i = 0; shapes && i < shapes->n; i++) {
        mo_shape shape;

        if (!mo_shape_list_get(shapes, i, &shape))
            return 0;
        sum += (double) mo_shape_elements(&shape);
    }
    return sum;
}

/* Sets the tensor on a port of op, where an op with one output has it on every
 * port; of that many bytes. */
static void set_tensor(const mo_op *op, int port, int64_t bytes,
                       mo_kernel_tensor *tensor)
{
    int index = mo_op_n_outputs(op) == 1 ? 0 : port;

    tensor->element_bytes = 0;
    if (index < 0 || !mo_op_shape(op, index, &tensor->shape))
        tensor->shape.rank = -1;
    else if (bytes > 0)
        tensor->element_bytes =
            (double) bytes / (double) mo_shape_elements(&tensor->shape);
}

/* Puts the source of an edge on the port it goes to, else on the next free
 * one. */
static void set_input(const mo_graph *g, const mo_edge *edge, int src_port,
                      unsigned *taken, mo_kernel_operands *in)
{
    int port = edge->dst_port;

    for (int i = 0; port < 0 && i < MO_KERNEL_INPUTS; i++)
        if (!(*taken >> i & 1))
            port = i;
    if (port < 0 || port >= MO_KERNEL_INPUTS)
        return;
    *taken |= 1u << port;
    set_tensor(&g->ops[edge->from], src_port, edge->bytes, &in->inputs[port]);
}

static void set_kernel_shape(const mo_graph *g, int id, mo_workload *work)
{
    const mo_op *op = &g->ops[id];
    double held = (double) op->weight_bytes;
    /* Of a mixture of experts only the chosen ones are read. */
    mo_kernel_operands in = { .weight_bytes = op->bytes > 0 && op->bytes < held
                                                  ? op->bytes
                                                  : held };
    unsigned taken = 0;
    mo_weight_attr_list list;
    mo_weight_attr weight;
    const mo_shape *filter;
    int64_t groups = 0;

    for (int i = 0; i < MO_KERNEL_INPUTS; i++)
        in.inputs[i].shape.rank = -1;
    set_tensor(op, 0, mo_op_n_outputs(op) == 1 ? op->output_bytes : 0,
               &in.output);
    for (int i = g->in_start[id]; i < g->in_start[id + 1]; i++) {
        const mo_edge *edge = &g->edges[g->in_edges[i]];

        set_input(g, edge, g->tensors[edge->tensor].port, &taken, &in);
    }
    for (int i = g->feed_start[id]; i < g->feed_start[id + 1]; i++)
        set_input(g, &g->feeds[i], g->feed_port[i], &taken, &in);
    /* Weights that are no nodes of the graph. */
    list = mo_weight_attr_list_of(op->attr_list);
    while (mo_weight_attr_next(&list, &weight))
        if (weight.port >= 0 && weight.port < MO_KERNEL_INPUTS &&
            !(taken >> weight.port & 1))
            in.inputs[weight.port] = (mo_kernel_tensor){ weight.shape, 0 };
    in.first = op->kind && strcmp(op->kind->name, "Addmm") == 0 &&
                       in.inputs[2].shape.rank >= 0
                   ? 1
                   : 0;
    filter = &in.inputs[1].shape;
    if (mo_attr_ints(op->attr_list, "groups", &groups, 1) == 1 ||
        mo_attr_ints(op->attr_list, "group", &groups, 1) == 1) {
        in.groups = (double) groups;
    } else {
        /* [groups, out / groups, in / groups, kernel...] */
        in.groups = filter->rank > 0 && filter->rank == in.output.shape.rank + 1
                        ? (double) filter->dims[0]
                        : 0;
    }
    in.is_causal = mo_attr_bool(op->attr_list, "causal", false) ||
                   mo_attr_bool(op->attr_list, "is_causal", false);
    mo_kernel_shape_set(&in, work);
}

mo_workload mo_workload_in(const mo_numeric *numeric, const mo_graph *g, int op)
{
    const mo_op *it = &g->ops[op];
    mo_workload work = { .class = class_of(it->type),
                         .flops = it->flops,
                         .bytes = it->bytes,
                         .output_elements = elements_of(it->shapes) };

    work.math = mo_numeric_math(numeric, g, op, work.class);
    set_kernel_shape(g, op, &work);
    return work;
}

mo_workload mo_workload_of(const mo_graph *g, int op)
{
    return mo_workload_in(&(mo_numeric){ 0 }, g, op);
}
