/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/weights/constants.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "exec/weights/constants_internal.h"
#include "exec/weights/evaluate.h"
#include "base/host.h"
#include "graph/op_attrs.h"
#include "ingest/operator.h"
#include "graph/output_types.h"

mo_status mo_weights_new(const mo_graph *graph,
                         const mo_weights_options *options,
                         mo_weights_store **constants, mo_error *err)
{
    mo_weights_store *c = calloc(1, sizeof *c);

    if (!c)
        return mo_fail_memory(err);
    c->graph = graph;
    c->options = *options;
    c->limit = options->memory_limit > 0
                   ? options->memory_limit
                   : mo_host_available_memory_bytes() /
                         2; /* half: devices pack copies */
    c->room = c->limit;
    c->constants =
        calloc((size_t) graph->n_constants + 1, sizeof *c->constants);
    c->arena = mo_arena_new();
    if (!c->constants || !c->arena) {
        mo_weights_free(c);
        return mo_fail_memory(err);
    }
    *constants = c;
    return MO_OK;
}

void mo_weights_free(mo_weights_store *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->graph->n_constants && c->constants; i++)
        for (int port = 0; port < c->constants[i].n; port++)
            mo_tensor_clear(&c->constants[i].values[port]);
    for (int i = 0; i < c->graph->n_ops && c->made; i++)
        for (mo_weights_synthetic *made = c->made[i]; made; made = made->next)
            mo_tensor_clear(&made->value);
    mo_weights_close_files(c);
    free(c->unknown);
    free(c->made);
    free(c->constants);
    mo_arena_free(c->arena);
    free(c);
}

/* Without a limit of the user's, what is computed stays in proportion to the
 * files: a few bytes of a graph may describe a tensor of any size. */
mo_weights_limit mo_weights_computed_limit(const mo_weights_store *c)
{
    enum { GROWTH = 8 }; /* four bits to f32 */
    int64_t total = INT64_C(1) << 30, left;

    for (size_t i = 0; i < c->n_files; i++)
        if (c->files[i].mapped.size > (uint64_t) (INT64_MAX - total) / GROWTH)
            total = INT64_MAX;
        else
            total += (int64_t) c->files[i].mapped.size * GROWTH;
    if (c->options.memory_limit > 0)
        total = c->options.memory_limit;
    left = total - c->computed;
    if (left > c->room) {
        total = c->room + c->computed;
        left = c->room;
    }
    return (mo_weights_limit){ left > 0 ? left : 0, total };
}

void mo_weights_add_computed(mo_weights_store *c, int64_t bytes)
{
    c->computed += bytes;
    c->room -= bytes;
}

/* Allocates a value that is computed, within the limit. */
static mo_status alloc_computed(mo_weights_store *c, const mo_op *op,
                                mo_tensor_dense *value, mo_error *err)
{
    const mo_weights_limit limit = mo_weights_computed_limit(c);
    int64_t bytes = mo_tensor_desc_bytes(&value->desc);
    mo_status status =
        mo_weights_check_limit(&limit, op->name, op->type, bytes, err);

    if (status == MO_OK)
        status = mo_tensor_new(&value->desc, value, err);
    else
        mo_error_set_location(err, NULL, op->line);
    if (status == MO_OK)
        mo_weights_add_computed(c, bytes);
    return status;
}

int64_t mo_weights_memory_bytes(const mo_weights_store *c)
{
    return c->limit - c->room;
}

static bool is_constant(const mo_graph *g, int id)
{
    return id >= g->n_ops && id < g->n_ops + g->n_constants;
}

static mo_weights_constant *constant_slot(mo_weights_store *c, int id)
{
    return &c->constants[id - c->graph->n_ops];
}

/* Type and shape of an output: the constant's own attributes, or else those of
 * its stored weights. */
static mo_status output_desc(const mo_op *op, int port, mo_tensor_desc *desc,
                             mo_error *err)
{
    const char *dtype = mo_op_dtype(op, port);

    if (!op->shape && op->weights && port == 0)
        return mo_weights_stored_desc(op, desc, err);
    if (!mo_op_shape(op, port, &desc->shape))
        return mo_fail_at(err, MO_E_INPUT, NULL, op->line,
                          "constant '%.80s' has no shape for its output %d; "
                          "give it one",
                          op->name, port);
    if (!dtype && op->weights && port == 0) {
        mo_tensor_desc stored;
        mo_status status = mo_weights_stored_desc(op, &stored, err);

        desc->elem = status == MO_OK ? stored.elem : desc->elem;
        return status;
    }
    if (!dtype || !mo_elem_from_name(dtype, &desc->elem))
        return mo_fail_at(err, MO_E_SUPPORT, NULL, op->line,
                          "constant '%.80s' has elements of type '%.40s', "
                          "which cannot be run; export the model with another "
                          "precision",
                          op->name, dtype ? dtype : "unknown");
    return MO_OK;
}

mo_status mo_weights_get_desc(const mo_weights_store *c, int id, int port,
                              mo_tensor_desc *desc, mo_error *err)
{
    if (!is_constant(c->graph, id) || port < 0)
        return mo_fail(err, MO_E_INPUT, "there is no output %d of constant %d",
                       port, id);
    return output_desc(&c->graph->ops[id], port, desc, err);
}

static int input_count(const mo_graph *g, int id)
{
    return g->feed_start[id + 1] - g->feed_start[id];
}

/* Reads or synthesizes a constant without inputs. */
static mo_status load_source(mo_weights_store *c, int id,
                             mo_tensor_dense *value, mo_error *err)
{
    const mo_op *op = &c->graph->ops[id];
    const mo_attr *attr = mo_attr_find(op->attr_list, "value");
    bool missing = true;
    mo_status status = MO_OK;

    if (op->weights)
        status =
            mo_weights_from_file(c, op, &value->desc, value, &missing, err);
    else if (attr) {
        status = alloc_computed(c, op, value, err);
        mo_error why = { 0 };

        if (status != MO_OK)
            return status;
        status =
            mo_weights_parse_numbers(attr->text, attr->length, value, &why);
        if (status == MO_OK)
            return MO_OK;
        return mo_fail_at(err, status, NULL, op->line,
                          "constant '%.80s': in its value, %.200s", op->name,
                          why.text);
    }
    if (status != MO_OK || !missing)
        return status;
    if (c->options.random) {
        /* Random values; integers are axes, permutations and shapes, which must
         * fit the ops that read them. */
        mo_tensor_desc desc = value->desc;
        status = mo_weights_alloc_synthetic(c, &c->graph->ops[id], &desc, value,
                                            err);

        if (status == MO_OK &&
            (mo_elem_is_float(value->desc.elem) ||
             !mo_weights_infer_from_shapes(c->graph, id, value)))
            mo_weights_add_random(
                c, value, mo_random_seed(c->options.seed, (uint64_t) id));
        return status;
    }
    return mo_fail_at(err, MO_E_INPUT, NULL, op->line,
                      "constant '%.80s' has no value: give it weights, or run "
                      "with --random-weights",
                      op->name);
}

/* Inputs and outputs of a constant that is computed from others. */
typedef struct evaluation {
    mo_tensor_desc *in;
    const mo_tensor_dense **value;
    mo_tensor_desc *out;
} evaluation;

static mo_status fill_inputs(mo_weights_store *c, int id, evaluation *e,
                             mo_error *err)
{
    const mo_graph *g = c->graph;
    int n = input_count(g, id);

    for (int i = 0; i < n; i++) {
        int feed = g->feed_start[id] + i, port = g->feed_port[feed];
        const mo_edge *edge = &g->feeds[feed];
        const mo_weights_constant *from = constant_slot(c, edge->from);

        port = port < 0 ? 0 : port;
        if ((edge->dst_port >= 0 && edge->dst_port != i) || port >= from->n)
            return mo_fail_at(err, MO_E_INPUT, NULL, g->ops[id].line,
                              "constant '%.80s' lacks an input, or reads an "
                              "output that is not there; export the graph "
                              "again",
                              g->ops[id].name);
        e->value[i] = &from->values[port];
        e->in[i] = e->value[i]->desc;
    }
    return MO_OK;
}

static mo_status evaluate_op(mo_weights_store *c, int id,
                             mo_tensor_dense *values, int n, mo_error *err)
{
    const mo_op *op = &c->graph->ops[id];
    const mo_operator *known = op->kind;
    const mo_weights_limit limit = mo_weights_computed_limit(c);
    int n_in = input_count(c->graph, id);
    evaluation e = { calloc((size_t) n_in + 1, sizeof *e.in),
                     calloc((size_t) n_in + 1, sizeof *e.value),
                     calloc((size_t) n + 1, sizeof *e.out) };
    mo_status status = e.in && e.value && e.out ? fill_inputs(c, id, &e, err)
                                                : mo_fail_memory(err);
    mo_op_site site = { op->name,
                        known ? known->name : op->type,
                        op->attr_list,
                        n_in,
                        n,
                        e.in,
                        e.out,
                        e.value };

    for (int i = 0; i < n && status == MO_OK; i++) {
        e.out[i] = values[i].desc;
        values[i] = (mo_tensor_dense){ 0 };
    }
    if (status == MO_OK) {
        status = mo_weights_eval_op(&site, &limit, values, err);
        if (status != MO_OK)
            mo_error_set_location(err, NULL, op->line);
    }
    for (int i = 0; i < n && status == MO_OK; i++)
        mo_weights_add_computed(c, mo_tensor_desc_bytes(&values[i].desc));
    free(e.in);
    free(e.value);
    free(e.out);
    return status;
}

/* Marks every constant that depends on a missing file. */
static mo_status mark_unknown(mo_weights_store *c, mo_error *err)
{
    const mo_graph *g = c->graph;
    mo_status status = MO_OK;

    c->unknown = calloc((size_t) g->n_constants + 1, sizeof *c->unknown);
    if (!c->unknown)
        return mo_fail_memory(err);
    for (int i = 0; i < g->n_constants && status == MO_OK; i++) {
        int id = g->n_ops + i;

        for (int f = g->feed_start[id]; f < g->feed_start[id + 1]; f++)
            c->unknown[i] |= c->unknown[g->feeds[f].from - g->n_ops];
        if (input_count(g, id) == 0 && g->ops[id].weights)
            status =
                mo_weights_file_is_missing(c, &g->ops[id], &c->unknown[i], err);
    }
    return status;
}

/* Arithmetic on synthetic integers yields values that no consumer accepts: the
 * result is inferred from its consumers' shapes instead. */
static bool infer_from_consumers(mo_weights_store *c, int id)
{
    const mo_graph *g = c->graph;
    mo_tensor_dense *value;

    if (!c->unknown || !c->unknown[id - g->n_ops] || input_count(g, id) == 0 ||
        mo_op_n_outputs(&g->ops[id]) != 1)
        return false;
    value = mo_arena_alloc(c->arena, sizeof *value);
    if (!value || output_desc(&g->ops[id], 0, &value->desc, NULL) != MO_OK ||
        mo_elem_is_float(value->desc.elem) ||
        alloc_computed(c, &g->ops[id], value, NULL) != MO_OK)
        return false;
    if (!mo_weights_infer_from_shapes(g, id, value)) {
        mo_weights_add_computed(c, -mo_tensor_desc_bytes(&value->desc));
        mo_tensor_clear(value);
        return false;
    }
    *constant_slot(c, id) = (mo_weights_constant){ value, 1 };
    return true;
}

/* Computes a constant from its inputs, which are all computed. */
static mo_status compute_constant(mo_weights_store *c, int id, mo_error *err)
{
    const mo_op *op = &c->graph->ops[id];
    bool has_inputs = input_count(c->graph, id) > 0;
    int n = has_inputs ? mo_op_n_outputs(op) : 1;
    mo_tensor_dense *values =
        mo_arena_array(c->arena, (size_t) n, sizeof *values);
    mo_status status = MO_OK;

    if (!values)
        return mo_fail_memory(err);
    for (int port = 0; port < n && status == MO_OK; port++)
        status = output_desc(op, port, &values[port].desc, err);
    if (status == MO_OK)
        status = has_inputs ? evaluate_op(c, id, values, n, err)
                            : load_source(c, id, values, err);
    if (status != MO_OK) {
        for (int i = 0; i < n; i++)
            mo_tensor_clear(&values[i]);
        return status;
    }
    *constant_slot(c, id) = (mo_weights_constant){ values, n };
    return MO_OK;
}

/* A constant on the stack of the depth-first search, and its next input. */
typedef struct visit {
    int id, feed;
} visit;

mo_status mo_weights_get(mo_weights_store *c, int id, int port,
                         const mo_tensor_dense **value, mo_error *err)
{
    mo_status status = MO_OK;

    if (!is_constant(c->graph, id) || port < 0)
        return mo_fail(err, MO_E_INPUT, "there is no output %d of constant %d",
                       port, id);
    if (!constant_slot(c, id)->values) {
        /* Depth-first search over the inputs with an explicit stack, since a
         * file may have chains of any length. */
        const mo_graph *g = c->graph;
        visit *stack = NULL;
        size_t n = 0, room = 0;
        status =
            c->options.random && !c->unknown ? mark_unknown(c, err) : MO_OK;

        if (status == MO_OK)
            status = MO_ARRAY_GROW(stack, n, room, err);
        if (status == MO_OK)
            stack[n++] = (visit){ id, g->feed_start[id] };
        while (n > 0 && status == MO_OK) {
            visit *top = &stack[n - 1];

            if (constant_slot(c, top->id)->values ||
                infer_from_consumers(c, top->id)) {
                n--;
            } else if (top->feed < g->feed_start[top->id + 1]) {
                int from = g->feeds[top->feed++].from;

                status = MO_ARRAY_GROW(stack, n, room, err);
                if (status == MO_OK)
                    stack[n++] = (visit){ from, g->feed_start[from] };
            } else {
                n--;
                status = compute_constant(c, top->id, err);
            }
        }
        free(stack);
    }
    if (status != MO_OK)
        return status;
    if (port >= constant_slot(c, id)->n)
        return mo_fail_at(err, MO_E_INPUT, NULL, c->graph->ops[id].line,
                          "constant '%.80s' has no output %d",
                          c->graph->ops[id].name, port);
    *value = &constant_slot(c, id)->values[port];
    return MO_OK;
}
