/* SPDX-License-Identifier: Apache-2.0 */
/* Signature of an op: the text by which equal ops share a measured time. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/json.h"
#include "cost/profile.h"
#include "graph/output_types.h"
#include "ingest/operator.h"

/*
 * A signature has the form
 *
 *     MatMul(f32[8,512,64], f32[64,128]) f32[8,512,128] transpose_b=false
 *
 * operator, inputs by port (constants too), outputs, parameters by name. Where
 * those do not determine the work, amounts follow: the weights' bytes of an op
 * whose constants are not in the graph, and the flops of a fused op, of an
 * unknown one, and of one without shapes.
 */
enum {
    MAX_INPUTS = 64,     /* more are replaced by a digest */
    MAX_OUTPUTS = 64,    /* the same */
    MAX_PARAMETERS = 32, /* the same */
    MAX_ATTRS = 4096,    /* bytes; the same */
    MAX_NAME = 64,       /* bytes of an operator's name; longer ones are
                            unknown */
    TENSOR_SIZE = MO_SHAPE_TEXT_SIZE + 160
};

typedef struct input {
    int port;              /* or MO_PORT_NONE */
    const char *port_name; /* or NULL */
    mo_shape shape;        /* rank -1: unknown */
    const char *dtype;     /* or NULL */
    int64_t bytes;
} input;

/* Writes the parts of "conv+relu" by their canonical names. */
static void put_type(mo_out *out, const char *type)
{
    for (;;) {
        size_t length = strcspn(type, "+");
        char name[MAX_NAME];
        const mo_operator *operator= NULL;

        if (length < sizeof name) {
            memcpy(name, type, length);
            name[length] = '\0';
            operator= mo_operator_find(name);
        }
        if (operator)
            mo_out_text(out, operator->name);
        else
            mo_out_bytes(out, type, length);
        type += length;
        if (*type == '\0')
            return;
        mo_out_char(out, *type++);
    }
}

/* "f32[8,512]"; where the shape is unknown, what is known: "f32 16384B". */
static size_t write_tensor(char *text, size_t size, const mo_shape *shape,
                           const char *dtype, int64_t bytes)
{
    char dims[MO_SHAPE_TEXT_SIZE + 1];

    if (shape->rank >= 0) {
        dims[mo_shape_write(shape, dims)] = '\0';
        return (size_t) snprintf(text, size, "%s[%s]", dtype ? dtype : "?",
                                 dims);
    }
    if (bytes >= 0)
        return (size_t) snprintf(text, size, "%s%s%" PRId64 "B",
                                 dtype ? dtype : "", dtype ? " " : "", bytes);
    return (size_t) snprintf(text, size, "%s", dtype ? dtype : "?");
}

/* With the port in front where it differs from the position. */
static size_t write_input(char *text, const input *in, int position)
{
    size_t n = 0;

    if (in->port_name)
        n = (size_t) snprintf(text, TENSOR_SIZE, "%.64s:", in->port_name);
    else if (in->port != MO_PORT_NONE && in->port != position)
        n = (size_t) snprintf(text, TENSOR_SIZE, "%d:", in->port);
    return n + write_tensor(text + n, TENSOR_SIZE - n, &in->shape, in->dtype,
                            in->bytes);
}

static input input_of(const mo_graph *g, const mo_edge *edge, int src_port)
{
    const mo_op *source = &g->ops[edge->from];
    int index;
    input in = { .port = edge->dst_port, .bytes = edge->bytes };

    if (src_port >= 0)
        index = src_port;
    else
        index = mo_op_n_outputs(source) == 1 ? 0 : -1;
    if (edge->dst_port < MO_PORT_NONE) {
        in.port_name = g->port_names[-2 - edge->dst_port];
        in.port = MO_PORT_NONE;
    }
    if (index < 0 || !mo_op_shape(source, index, &in.shape))
        in.shape.rank = -1;
    in.dtype = mo_op_dtype(source, index < 0 ? 0 : index);
    return in;
}

static int n_feeds(const mo_graph *g, int op)
{
    return g->feed_start[op + 1] - g->feed_start[op];
}

/* Returns input i of op: its edges first, then its feeds. */
static input input_at(const mo_graph *g, int op, int i)
{
    int n_edges = mo_graph_in_degree(g, op), feed;

    if (i < n_edges) {
        const mo_edge *edge = &g->edges[g->in_edges[g->in_start[op] + i]];

        return input_of(g, edge, g->tensors[edge->tensor].port);
    }
    feed = g->feed_start[op] + i - n_edges;
    return input_of(g, &g->feeds[feed], g->feed_port[feed]);
}

/* Numbered ports first, then named ones, then the rest by shape and type: the
 * order in the graph depends on the names of ops. */
static int compare_inputs(const void *a, const void *b)
{
    const input *x = a, *y = b;
    char x_text[TENSOR_SIZE], y_text[TENSOR_SIZE];

    if (x->port != y->port)
        return (unsigned) x->port < (unsigned) y->port ? -1 : 1;
    if (!x->port_name != !y->port_name)
        return x->port_name ? -1 : 1;
    write_input(x_text, x, x->port);
    write_input(y_text, y, y->port);
    return strcmp(x_text, y_text);
}

static void put_sorted_inputs(mo_out *out, const mo_graph *g, int op, int n)
{
    input inputs[MAX_INPUTS];
    char text[TENSOR_SIZE];

    for (int i = 0; i < n; i++)
        inputs[i] = input_at(g, op, i);
    if (n > 0)
        qsort(inputs, (size_t) n, sizeof *inputs, compare_inputs);
    for (int i = 0; i < n; i++) {
        if (i > 0)
            mo_out_text(out, ", ");
        mo_out_bytes(out, text, write_input(text, &inputs[i], i));
    }
}

static void put_output(mo_out *out, const mo_op *op, int index)
{
    char text[TENSOR_SIZE];
    mo_shape shape;

    if (!mo_op_shape(op, index, &shape))
        shape.rank = -1;
    mo_out_bytes(out, text,
                 write_tensor(text, sizeof text, &shape, mo_op_dtype(op, index),
                              index == 0 ? op->output_bytes : MO_UNKNOWN));
}

static void put_outputs(mo_out *out, const mo_op *op)
{
    int n = mo_op_n_outputs(op);

    mo_out_char(out, ' ');
    if (n > MAX_OUTPUTS) {
        mo_out_printf(out, "%d outputs #%016" PRIx64, n,
                      mo_digest_of(op->shape, strlen(op->shape)));
        return;
    }
    put_output(out, op, 0);
    for (int i = 1; i < n; i++) {
        mo_out_text(out, ", ");
        put_output(out, op, i);
    }
}

static bool is_key(const mo_json_member *member, const char *key)
{
    return strlen(key) == member->key_length &&
           memcmp(key, member->key, member->key_length) == 0;
}

static int compare_members(const void *a, const void *b)
{
    const mo_json_member *x = a, *y = b;
    size_t shorter =
        x->key_length < y->key_length ? x->key_length : y->key_length;
    int order = memcmp(x->key, y->key, shorter);

    return order != 0 ? order
                      : (x->key_length > y->key_length) -
                            (x->key_length < y->key_length);
}

/* [1, 1], "1,1" and 1,1 are the same parameter. */
static void put_parameter(mo_out *out, const mo_json_member *member)
{
    const char *value = member->value;
    size_t length = member->value_length;
    bool is_list = *value == '[';

    mo_out_char(out, ' ');
    mo_out_bytes(out, member->key, member->key_length);
    mo_out_char(out, '=');
    if (is_list || *value == '"') {
        value++;
        length -= 2;
    }
    for (size_t i = 0; i < length; i++)
        if (!is_list || !strchr(" \t\r\n", value[i]))
            mo_out_char(out, value[i]);
}

static void put_parameters(mo_out *out, const char *attrs)
{
    mo_json_member members[MAX_PARAMETERS], member;
    mo_json_cursor c;
    size_t length = strlen(attrs);
    int n = 0;

    mo_json_open(&c, '{', attrs, length);
    while (length <= MAX_ATTRS && n <= MAX_PARAMETERS &&
           mo_json_take_member(&c, &member) > 0) {
        /* The version of the operator set and the number of a network input do
         * not affect the time. */
        if (is_key(&member, "opset") || is_key(&member, "index"))
            continue;
        if (n < MAX_PARAMETERS)
            members[n] = member;
        n++;
    }
    if (length > MAX_ATTRS || n > MAX_PARAMETERS) {
        mo_out_printf(out, " attrs=#%016" PRIx64, mo_digest_of(attrs, length));
        return;
    }
    if (n > 0)
        qsort(members, (size_t) n, sizeof *members, compare_members);
    for (int i = 0; i < n; i++)
        put_parameter(out, &members[i]);
}

static void put_amount(mo_out *out, const char *name, double amount)
{
    mo_out_char(out, ' ');
    mo_out_text(out, name);
    mo_out_char(out, '=');
    mo_out_double(out, amount);
}

void mo_profile_signature(const mo_graph *g, int id, mo_out *out)
{
    const mo_op *op = &g->ops[id];
    int n = mo_graph_in_degree(g, id) + n_feeds(g, id);

    put_type(out, op->type ? op->type : "?");
    mo_out_char(out, '(');
    if (n <= MAX_INPUTS)
        put_sorted_inputs(out, g, id, n);
    else {
        /* A sum does not depend on the order of its parts. */
        char text[TENSOR_SIZE];
        uint64_t sum = 0;

        for (int i = 0; i < n; i++) {
            input in = input_at(g, id, i);

            sum += mo_digest_of(text, write_input(text, &in, -2));
        }
        mo_out_printf(out, "%d inputs #%016" PRIx64, n, sum);
    }
    mo_out_char(out, ')');
    put_outputs(out, op);
    if (op->attrs)
        put_parameters(out, op->attrs);
    if (op->weight_bytes > 0 && n_feeds(g, id) == 0)
        put_amount(out, "weight_bytes", (double) op->weight_bytes);
    if (op->shape && op->kind)
        return;
    if (op->flops >= 0)
        put_amount(out, "flops", op->flops);
    if (op->bytes >= 0)
        put_amount(out, "bytes", op->bytes);
}
