/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost estimate of all ops of a graph: flops, bytes read and written, memory.
 */
#include <config.h>

#include "ingest/work.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "graph/graph.h"
#include "graph/op_attrs.h"
#include "graph/output_types.h"
#include "ingest/work/input_order.h"
#include "ingest/work/weight_attrs.h"

/* Total size of the constants that an op reads. */

typedef struct constant_tensor {
    int from, port;
    int64_t bytes;
} constant_tensor;

/* Scratch buffer to sort the feeds of an op in; all zero at first, reused for
 * all ops. The caller frees it with constant_bytes_clear(). */
typedef struct constant_bytes {
    constant_tensor *tensors;
    size_t room;
} constant_bytes;

/* Of several sizes given for one tensor the largest comes first. */
static int compare_tensors(const void *a, const void *b)
{
    const constant_tensor *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static int64_t sum_of(const constant_tensor *tensors, size_t n)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && tensors[i].from == tensors[i - 1].from &&
            tensors[i].port == tensors[i - 1].port)
            continue;
        if (tensors[i].bytes < 0 || !mo_int64_add(sum, tensors[i].bytes, &sum))
            return MO_UNKNOWN;
    }
    return sum;
}

/* Computes the bytes of the constants that op number op reads, each tensor
 * once however often it is read; MO_UNKNOWN when one of them is unknown or the
 * sum overflows. */
static mo_status sum_constants(constant_bytes *fed, const mo_graph *g, int op,
                               int64_t *sum, mo_error *err)
{
    int first = g->feed_start[op];
    size_t n = (size_t) (g->feed_start[op + 1] - first);
    mo_status status = mo_array_reserve((void **) &fed->tensors, &fed->room, n,
                                        sizeof *fed->tensors, err);

    if (status != MO_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        const mo_edge *feed = &g->feeds[(size_t) first + i];

        fed->tensors[i] =
            (constant_tensor){ feed->from, g->feed_port[(size_t) first + i],
                               feed->bytes };
    }
    if (n > 1)
        qsort(fed->tensors, n, sizeof *fed->tensors, compare_tensors);
    *sum = sum_of(fed->tensors, n);
    return MO_OK;
}

/* Attributes longer than this are none that a formula reads. */
enum { MAX_ATTRS = 4096 };

typedef struct filler {
    mo_graph *g;
    constant_bytes fed;
    mo_status status; /* of allocations in nested calls */
    mo_error *err;

    /* The current op. */
    mo_shape inputs[MO_WORK_MAX_PORTS], outputs[MO_WORK_MAX_PORTS];
    const char *dtypes[MO_WORK_MAX_PORTS];
    bool taken[MO_WORK_MAX_PORTS];
    int n_inputs;
    /* The first inputs without a port; n_free is the number of all of them. */
    mo_input_order_free_input free_inputs[MO_INPUT_ORDER_MAX_FREE];
    int n_free;
    bool first_is_free;
    double attr_weights; /* bytes of the weights in its attrs, or MO_UNKNOWN */
    double read;         /* bytes of its inputs, or MO_UNKNOWN */
    double read_first;   /* of the first of them alone */
} filler;

/* An input of an op, over an edge or a feed. */
typedef struct op_input {
    const mo_op *source;
    bool is_feed;
    int port; /* of the source */
    int slot; /* which input it is, or MO_PORT_NONE */
    int64_t bytes;
} op_input;

static const mo_attr_list *attrs_of(const mo_op *op)
{
    if (!op->attrs || strnlen(op->attrs, MAX_ATTRS) == MAX_ATTRS)
        return NULL;
    return op->attr_list;
}

/* Returns which of op's shapes belongs to a port that may be unknown, or -1.
 * An op with one output has it on every port, as in the builder. */
static int shape_index(const mo_op *op, int port)
{
    if (op->shapes && op->shapes->n == 1)
        return 0;
    return port >= 0 ? port : -1;
}

static int64_t port_bytes(const mo_op *op, int port)
{
    int index = shape_index(op, port);
    mo_shape shape;

    if (index < 0 || !mo_shape_list_get(op->shapes, index, &shape))
        return MO_UNKNOWN;
    return mo_shape_bytes(&shape, mo_dtype_list_get(op->dtypes, index));
}

/* Returns the size of all outputs together. */
static int64_t sum_bytes(const mo_op *op)
{
    int64_t sum = 0;

    for (int i = 0; i < op->shapes->n; i++) {
        mo_shape shape;
        int64_t bytes =
            mo_shape_list_get(op->shapes, i, &shape)
                ? mo_shape_bytes(&shape, mo_dtype_list_get(op->dtypes, i))
                : MO_UNKNOWN;

        if (bytes < 0 || !mo_int64_add(sum, bytes, &sum))
            return MO_UNKNOWN;
    }
    return sum;
}

static void fill_tensor(filler *f, mo_tensor *tensor)
{
    mo_graph *g = f->g;
    int64_t size = MO_UNKNOWN;
    bool asked = false;

    for (int i = 0; i < tensor->n_edges; i++) {
        mo_edge *edge = &g->edges[tensor->first_edge + i];

        if (edge->bytes == MO_UNKNOWN && !asked) {
            size = port_bytes(&g->ops[tensor->producer], tensor->port);
            asked = true;
        }
        if (edge->bytes == MO_UNKNOWN)
            edge->bytes = size;
        if (edge->bytes > tensor->bytes)
            tensor->bytes = edge->bytes;
    }
}

static void fill_sizes(filler *f)
{
    mo_graph *g = f->g;

    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        if (g->ops[i].output_bytes == MO_UNKNOWN && g->ops[i].shapes &&
            g->ops[i].dtypes)
            g->ops[i].output_bytes = sum_bytes(&g->ops[i]);
    }
    for (int t = 0; t < g->n_tensors; t++)
        fill_tensor(f, &g->tensors[t]);
    for (int i = 0; i < g->n_feeds; i++)
        if (g->feeds[i].bytes == MO_UNKNOWN)
            g->feeds[i].bytes =
                port_bytes(&g->ops[g->feeds[i].from], g->feed_port[i]);
}

static int count_op_inputs(const mo_graph *g, int op)
{
    return mo_graph_in_degree(g, op) + g->feed_start[op + 1] -
           g->feed_start[op];
}

/* Input number i of op: its edges, then its feeds. */
static op_input op_input_at(const mo_graph *g, int op, int i)
{
    int n_edges = mo_graph_in_degree(g, op);
    const mo_edge *edge;
    int port;

    if (i < n_edges) {
        edge = &g->edges[g->in_edges[g->in_start[op] + i]];
        port = g->tensors[edge->tensor].port;
    } else {
        int feed = g->feed_start[op] + i - n_edges;

        edge = &g->feeds[feed];
        port = g->feed_port[feed];
    }
    return (op_input){ &g->ops[edge->from], i >= n_edges, port,
                       edge->dst_port >= 0 ? edge->dst_port : MO_PORT_NONE,
                       edge->bytes };
}

/* Opens the slots up to n, as inputs of unknown shape. */
static void open_slots(filler *f, int n)
{
    for (; f->n_inputs < n; f->n_inputs++) {
        f->inputs[f->n_inputs].rank = -1;
        f->dtypes[f->n_inputs] = NULL;
        f->taken[f->n_inputs] = false;
    }
}

/* Sets the shape of slot from an input. */
static void set_slot(filler *f, const op_input *a, int slot)
{
    int index = shape_index(a->source, a->port);

    if (slot >= MO_WORK_MAX_PORTS)
        return;
    open_slots(f, slot + 1);
    if (f->taken[slot])
        return;
    f->taken[slot] = true;
    if (slot == 0)
        f->read_first = a->bytes < 0 ? MO_UNKNOWN : (double) a->bytes;
    if (index < 0 ||
        !mo_shape_list_get(a->source->shapes, index, &f->inputs[slot]))
        f->inputs[slot].rank = -1;
    f->dtypes[slot] = mo_dtype_list_get(a->source->dtypes, index);
}

static bool is_constant(const op_input *a)
{
    const mo_operator *kind = a->source->kind;

    return a->is_feed || (kind && strcmp(kind->name, "Const") == 0);
}

/* Puts an input without a port into the next free slot; returns that. */
static int set_free_slot(filler *f, const op_input *a, int slot)
{
    while (slot < f->n_inputs && f->taken[slot])
        slot++;
    if (f->n_free < MO_INPUT_ORDER_MAX_FREE)
        f->free_inputs[f->n_free] =
            (mo_input_order_free_input){ slot, is_constant(a) };
    f->first_is_free |= slot == 0;
    f->n_free++;
    set_slot(f, a, slot);
    return slot;
}

/* The weights listed in the op's attrs, where no input has that port
 * already. */
static void gather_weight_attrs(filler *f, const mo_op *op)
{
    mo_weight_attr_list list = mo_weight_attr_list_of(attrs_of(op));
    const char *dtype = list.length ? mo_dtype_list_get(op->dtypes, 0) : NULL;
    mo_weight_attr weight;

    f->attr_weights = 0;
    while (mo_weight_attr_next(&list, &weight)) {
        bool is_shown = weight.port >= 0 && weight.port < MO_WORK_MAX_PORTS;
        int64_t bytes = weight.shape.rank < 0
                            ? MO_UNKNOWN
                            : mo_shape_bytes(&weight.shape, dtype);

        if (is_shown)
            open_slots(f, weight.port + 1);
        if (is_shown && f->taken[weight.port])
            continue;
        f->attr_weights = f->attr_weights < 0 || bytes < 0
                              ? MO_UNKNOWN
                              : f->attr_weights + (double) bytes;
        if (!is_shown)
            continue;
        f->taken[weight.port] = true;
        f->inputs[weight.port] = weight.shape;
        f->dtypes[weight.port] = dtype;
    }
}

/* Inputs with a port go to its slot, the others into the free ones. */
static void gather_inputs(filler *f, int op)
{
    int n = count_op_inputs(f->g, op), slot = 0;

    f->n_inputs = 0;
    f->n_free = 0;
    f->first_is_free = false;
    f->read = 0;
    f->read_first = 0;
    for (int i = 0; i < n; i++) {
        op_input a = op_input_at(f->g, op, i);

        if (f->read < 0 || a.bytes < 0)
            f->read = MO_UNKNOWN;
        else
            f->read += (double) a.bytes;
        if (a.slot != MO_PORT_NONE)
            set_slot(f, &a, a.slot);
    }
    gather_weight_attrs(f, &f->g->ops[op]);
    for (int i = 0; i < n && slot < MO_WORK_MAX_PORTS; i++) {
        op_input a = op_input_at(f->g, op, i);

        if (a.slot == MO_PORT_NONE)
            slot = set_free_slot(f, &a, slot);
    }
}

static int gather_outputs(filler *f, const mo_op *op)
{
    int n = op->shapes ? mo_min_int(op->shapes->n, MO_WORK_MAX_PORTS) : 0;

    for (int i = 0; i < n; i++)
        if (!mo_shape_list_get(op->shapes, i, &f->outputs[i]))
            f->outputs[i].rank = -1;
    return n;
}

static double flops_of(filler *f, const mo_op *op, const mo_operator *kind)
{
    mo_work_input input = {
        .attrs = attrs_of(op),
        .kind = kind,
        .inputs = f->inputs,
        .dtypes = f->dtypes,
        .n_inputs = f->n_inputs,
        .outputs = f->outputs,
    };
    double flops;

    if (!kind->flops)
        return 0;
    input.n_outputs = gather_outputs(f, op);
    if (f->n_free < 2 || !mo_input_order_matters(kind))
        flops = kind->flops(&input);
    else if (f->n_free > MO_INPUT_ORDER_MAX_FREE)
        return MO_UNKNOWN;
    else
        flops =
            mo_input_order_flops(&input, f->inputs, f->free_inputs, f->n_free);
    return flops >= 0 && isfinite(flops) ? flops : MO_UNKNOWN;
}

/* Bytes of the input that an op picks from (gather, slice). Where any of
 * several could be that, it is the one of the output's type. */
static double read_of_picked(filler *f, int id)
{
    const char *dtype = mo_dtype_list_get(f->g->ops[id].dtypes, 0);
    double found = MO_UNKNOWN;

    if (!f->first_is_free || f->n_free < 2)
        return f->read_first;
    for (int i = 0; i < count_op_inputs(f->g, id) && dtype; i++) {
        op_input a = op_input_at(f->g, id, i);
        int index = shape_index(a.source, a.port);

        if (a.slot != MO_PORT_NONE ||
            mo_dtype_list_get(a.source->dtypes, index) != dtype)
            continue;
        if (found >= 0 && found != (double) a.bytes)
            return MO_UNKNOWN;
        found = (double) a.bytes;
    }
    return found;
}

/* Bytes of weights that are no inputs: a graph may list them in attrs, or give
 * only their total. */
static double separate_weights(const filler *f, int id)
{
    const mo_op *op = &f->g->ops[id];
    bool has_feeds = f->g->feed_start[id] != f->g->feed_start[id + 1];

    return has_feeds || op->weight_bytes <= 0 ? f->attr_weights
                                              : (double) op->weight_bytes;
}

static double bytes_of(filler *f, int id, const mo_operator *kind)
{
    double written = (double) f->g->ops[id].output_bytes, read = f->read;
    double apart = separate_weights(f, id), picked;

    if (kind->class == MO_CLASS_NONE || kind->class == MO_CLASS_FREE ||
        kind->class == MO_CLASS_SHAPE)
        return 0;
    if (written < 0 || read < 0 || apart < 0)
        return MO_UNKNOWN;
    if (!kind->picks)
        return read + apart + written;
    picked = apart > 0 ? 0 : read_of_picked(f, id);
    return picked < 0 ? MO_UNKNOWN : read - picked + written + written;
}

static bool lacks_weights(const mo_op *op)
{
    return op->weight_bytes == MO_UNKNOWN && !op->memory_given;
}

/* Sums the constants an op reads, when the file gives neither their size nor
 * what the op keeps in memory. */
static void fill_weights(filler *f, int id)
{
    mo_op *op = &f->g->ops[id];
    bool has_feeds = f->g->feed_start[id] != f->g->feed_start[id + 1];
    int64_t workspace = op->workspace_bytes < 0 ? 0 : op->workspace_bytes;
    int64_t sum = MO_UNKNOWN, memory;

    if (!has_feeds && f->attr_weights == 0)
        return;
    if (f->status == MO_OK)
        f->status = sum_constants(&f->fed, f->g, id, &sum, f->err);
    if (sum < 0 || f->attr_weights < 0 || f->attr_weights >= 0x1p62 ||
        !mo_int64_add(sum, (int64_t) f->attr_weights, &sum) ||
        !mo_int64_add(sum, workspace, &memory))
        return;
    op->weight_bytes = sum;
    op->memory_bytes = memory;
}

static void fill_op(filler *f, int id)
{
    mo_op *op = &f->g->ops[id];
    bool has_work = op->flops >= 0 && op->bytes >= 0;
    const mo_operator *kind;

    if (has_work && !lacks_weights(op))
        return;
    kind = op->kind;
    gather_inputs(f, id);
    if (lacks_weights(op))
        fill_weights(f, id);
    if (has_work)
        return;
    if (!kind) {
        /* A node of an ONNX model that cannot be run: what it reads and
         * writes, and an operation for each of these elements of four
         * bytes. */
        if (mo_attr_find_string(attrs_of(op), "refused") && f->read >= 0 &&
            op->output_bytes >= 0) {
            op->bytes = f->read + (double) op->output_bytes;
            op->flops = op->bytes / 4;
        }
        return;
    }
    if (op->flops < 0)
        op->flops = flops_of(f, op, kind);
    if (op->bytes < 0)
        op->bytes = bytes_of(f, id, kind);
    if (kind->class == MO_CLASS_ACTIVATION && !op->shapes && f->read > 0) {
        double written =
            op->output_bytes < 0 ? f->read : (double) op->output_bytes;

        /* An elementwise op of one input, whose shape is not given: it writes
         * as much as it reads, and an element has four bytes. */
        if (op->bytes < 0)
            op->bytes = f->read + written;
        if (op->flops < 0)
            op->flops = f->read / 4;
    }
}

mo_status mo_work_fill(mo_graph *g, mo_error *err)
{
    filler f = { .g = g, .status = MO_OK, .err = err };

    fill_sizes(&f);
    for (int i = 0; i < g->n_ops; i++)
        fill_op(&f, i);
    free(f.fed.tensors);
    return f.status;
}
