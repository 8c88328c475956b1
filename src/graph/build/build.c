/* SPDX-License-Identifier: Apache-2.0 */
/* Graph builder: ops, edges and measured times, appended in any order. */
#include "graph/build.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/build/build_internal.h"

enum { MAX_SHOWN = 60 };

static bool allocate_tables(mo_builder *b)
{
    b->arena = mo_arena_new();
    if (!b->arena)
        return false;
    b->names = mo_intern_new(b->arena);
    b->texts = mo_intern_new(b->arena);
    b->ports = mo_intern_new(b->arena);
    b->times.keys = mo_intern_new(b->arena);
    b->comms.keys = mo_intern_new(b->arena);
    return b->names && b->texts && b->ports && b->times.keys && b->comms.keys;
}

mo_status mo_builder_new(const char *file, mo_builder **builder, mo_error *err)
{
    mo_builder *b = calloc(1, sizeof *b);

    if (!b)
        return mo_fail_memory(err);
    if (!allocate_tables(b))
        goto no_memory;
    if (file) {
        b->file = mo_arena_text(b->arena, file, strlen(file));
        if (!b->file)
            goto no_memory;
    }
    *builder = b;
    return MO_OK;

no_memory:
    mo_builder_free(b);
    return mo_fail_memory(err);
}

static void free_samples(mo_builder_samples *samples)
{
    free(samples->items);
    free(samples->fallbacks_us);
    mo_intern_free(samples->keys);
}

void mo_builder_free(mo_builder *builder)
{
    if (!builder)
        return;
    free_samples(&builder->comms);
    free_samples(&builder->times);
    free(builder->tensors);
    free(builder->marks);
    free(builder->outputs);
    free(builder->edges);
    free(builder->constants);
    free(builder->ops);
    mo_intern_free(builder->ports);
    mo_intern_free(builder->texts);
    mo_intern_free(builder->names);
    mo_arena_free(builder->arena);
    free(builder);
}

int mo_builder_name_width(const char *name)
{
    size_t length = strlen(name);

    if (length <= MAX_SHOWN)
        return (int) length;
    length = MAX_SHOWN;
    while (length > 0 && ((unsigned char) name[length] & 0xC0) == 0x80)
        length--; /* do not split a UTF-8 character */
    return (int) length;
}

mo_status mo_builder_text(mo_builder *builder, const char *text, size_t length,
                          const char **kept, mo_error *err)
{
    int number;
    mo_status status =
        mo_intern_put(builder->texts, text, length, &number, err);

    if (status == MO_OK)
        *kept = mo_intern_text(builder->texts, number);
    return status;
}

mo_status mo_builder_copy_text(mo_builder *builder, const char *text,
                               size_t length, const char **kept, mo_error *err)
{
    const char *copy = mo_arena_text(builder->arena, text, length);

    if (!copy)
        return mo_fail_memory(err);
    *kept = copy;
    return MO_OK;
}

static mo_status add_slot(mo_builder *b, int line, mo_error *err)
{
    if (b->n_ops >= MO_MAX_OPS)
        return mo_fail_at(err, MO_E_LIMIT, b->file, line,
                          "more than %d ops; split the graph", MO_MAX_OPS);
    if (MO_ARRAY_GROW(b->ops, b->n_ops, b->ops_room, err) != MO_OK ||
        MO_ARRAY_GROW(b->constants, b->n_ops, b->constants_room, err) != MO_OK)
        return MO_E_MEMORY;
    b->constants[b->n_ops] = false;
    b->ops[b->n_ops++] = (mo_op){ .line = line };
    return MO_OK;
}

static mo_status check_name(const mo_builder *b, const char *name,
                            size_t length, int line, mo_error *err)
{
    if (length == 0 || memchr(name, '\0', length))
        return mo_fail_at(err, MO_E_INPUT, b->file, line,
                          "an op's id is empty or holds a zero byte; give it "
                          "a proper one");
    return MO_OK;
}

mo_status mo_builder_slot(mo_builder *builder, const char *name, size_t length,
                          int line, int *slot, mo_error *err)
{
    mo_status status = check_name(builder, name, length, line, err);
    int number;

    if (status == MO_OK)
        status = mo_intern_put(builder->names, name, length, &number, err);
    if (status == MO_OK && (size_t) number == builder->n_ops)
        status = add_slot(builder, line, err);
    if (status == MO_OK)
        *slot = number;
    return status;
}

mo_status mo_builder_new_slot(mo_builder *builder, const char *name,
                              size_t length, int line, int *slot, mo_error *err)
{
    mo_status status = check_name(builder, name, length, line, err);

    if (status == MO_OK)
        status = mo_intern_append(builder->names, name, length, slot, err);
    if (status == MO_OK)
        status = add_slot(builder, line, err);
    return status;
}

int mo_builder_find(const mo_builder *builder, const char *name, size_t length)
{
    return mo_intern_find(builder->names, name, length);
}

mo_status mo_builder_define(mo_builder *builder, int slot, int line, mo_op **op,
                            mo_error *err)
{
    mo_op *made = mo_builder_op(builder, slot);

    if (made->name)
        return mo_fail_at(err, MO_E_INPUT, builder->file, line,
                          "op '%.*s' is defined twice, first on line %d; give "
                          "one of them another id",
                          mo_builder_name_width(made->name), made->name,
                          made->line);
    *made = (mo_op){
        .name = mo_intern_text(builder->names, slot),
        .flops = MO_UNKNOWN,
        .bytes = MO_UNKNOWN,
        .memory_bytes = MO_UNKNOWN,
        .weight_bytes = MO_UNKNOWN,
        .workspace_bytes = MO_UNKNOWN,
        .output_bytes = MO_UNKNOWN,
        .line = line,
    };
    *op = made;
    return MO_OK;
}

void mo_builder_mark_constant(mo_builder *builder, int slot)
{
    assert(slot >= 0 && (size_t) slot < builder->n_ops);
    builder->constants[slot] = true;
}

mo_op *mo_builder_op(mo_builder *builder, int slot)
{
    assert(slot >= 0 && (size_t) slot < builder->n_ops);
    return &builder->ops[slot];
}

/* Finds or adds the record of the output that the edge leaves. */
static mo_status store_output(mo_builder *b, const mo_builder_edge *edge,
                              int *index, mo_error *err)
{
    const mo_builder_output *last;

    *index = MO_UNKNOWN;
    if (!edge->tensor && edge->src_port == MO_PORT_NONE)
        return MO_OK;
    if (MO_ARRAY_GROW(b->outputs, b->n_outputs, b->outputs_room, err) != MO_OK)
        return MO_E_MEMORY;
    last = b->n_outputs > 0 ? &b->outputs[b->n_outputs - 1] : NULL;
    if (!last || last->key != edge->tensor || last->port != edge->src_port)
        b->outputs[b->n_outputs++] =
            (mo_builder_output){ edge->tensor, edge->src_port };
    *index = (int) b->n_outputs - 1;
    return MO_OK;
}

mo_status mo_builder_add_edge(mo_builder *builder, const mo_builder_edge *edge,
                              int *number, mo_error *err)
{
    int output;

    assert(edge->from >= 0 && (size_t) edge->from < builder->n_ops);
    assert(edge->to >= 0 && (size_t) edge->to < builder->n_ops);
    if (builder->n_edges >= MO_MAX_EDGES)
        return mo_fail_at(err, MO_E_LIMIT, builder->file, edge->line,
                          "more than %d edges; split the graph", MO_MAX_EDGES);
    if (store_output(builder, edge, &output, err) != MO_OK ||
        MO_ARRAY_GROW(builder->edges, builder->n_edges, builder->edges_room,
                      err) != MO_OK)
        return MO_E_MEMORY;
    if (number)
        *number = (int) builder->n_edges;
    builder->edges[builder->n_edges++] = (mo_edge){
        .from = edge->from,
        .to = edge->to,
        .tensor = output,
        .dst_port = edge->dst_port,
        .line = edge->line,
        .bytes = edge->bytes,
    };
    return MO_OK;
}

mo_status mo_builder_port(mo_builder *builder, const char *name, size_t length,
                          int *port, mo_error *err)
{
    int number;
    mo_status status =
        mo_intern_put(builder->ports, name, length, &number, err);

    if (status == MO_OK)
        *port = -2 - number;
    return status;
}

static mo_status find_column(mo_builder_samples *samples, const char *key,
                             size_t length, int *column, mo_error *err)
{
    mo_status status;
    int number;

    status = mo_intern_put(samples->keys, key, length, &number, err);
    if (status != MO_OK)
        return status;
    if ((size_t) number == samples->n_fallbacks) {
        if (MO_ARRAY_GROW(samples->fallbacks_us, samples->n_fallbacks,
                          samples->fallbacks_room, err) != MO_OK)
            return MO_E_MEMORY;
        samples->fallbacks_us[samples->n_fallbacks++] = NAN;
    }
    *column = number;
    return MO_OK;
}

mo_status mo_builder_time_column(mo_builder *builder, const char *key,
                                 size_t length, int *column, mo_error *err)
{
    return find_column(&builder->times, key, length, column, err);
}

mo_status mo_builder_comm_column(mo_builder *builder, const char *key,
                                 size_t length, int *column, mo_error *err)
{
    return find_column(&builder->comms, key, length, column, err);
}

void mo_builder_time_fallback(mo_builder *builder, int column, double us)
{
    assert(column >= 0 && (size_t) column < builder->times.n_fallbacks);
    builder->times.fallbacks_us[column] = us;
}

void mo_builder_comm_fallback(mo_builder *builder, int column, double us)
{
    assert(column >= 0 && (size_t) column < builder->comms.n_fallbacks);
    builder->comms.fallbacks_us[column] = us;
}

static mo_status add_sample(mo_builder *b, mo_builder_samples *samples,
                            mo_builder_sample sample, mo_error *err)
{
    assert(sample.column >= 0 && (size_t) sample.column < samples->n_fallbacks);
    if (samples->n_items >= INT_MAX)
        return mo_fail_at(err, MO_E_LIMIT, b->file, 0,
                          "more than %d measured times; split the graph",
                          INT_MAX);
    if (MO_ARRAY_GROW(samples->items, samples->n_items, samples->items_room,
                      err) != MO_OK)
        return MO_E_MEMORY;
    samples->items[samples->n_items++] = sample;
    return MO_OK;
}

mo_status mo_builder_time(mo_builder *builder, int slot, int column, double us,
                          mo_error *err)
{
    assert(slot >= 0 && (size_t) slot < builder->n_ops);
    return add_sample(builder, &builder->times,
                      (mo_builder_sample){ slot, column, us }, err);
}

mo_status mo_builder_comm(mo_builder *builder, int edge, int column, double us,
                          mo_error *err)
{
    assert(edge >= 0 && (size_t) edge < builder->n_edges);
    return add_sample(builder, &builder->comms,
                      (mo_builder_sample){ edge, column, us }, err);
}

void mo_builder_map_slots(mo_builder *builder, int *ids)
{
    builder->ids = ids;
}

void mo_builder_name(mo_builder *builder, const char *name)
{
    builder->name = name;
}
