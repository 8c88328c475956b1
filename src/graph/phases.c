/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "graph/build.h"
#include "graph/cut.h"
#include "graph/phase_units.h"

/* A phase while it is composed; arrays are by op of its graph. */
typedef struct part {
    const int *key, *unit; /* mo_phase_units */
    int *slot;             /* in the builder */
    int *cut;              /* the common cuts, in order */
    int *gate; /* slots of the gates before each segment, MO_UNKNOWN: none */
} part;

typedef struct composer {
    const mo_phase *in;
    int n;
    part *parts;
    int n_cuts;
    mo_phase_units units;
    const char **group; /* by unit: the text of its group */
    int *group_size;    /* the same: ops and gates */
    int *owner;         /* by key: slot of the first op that has it; -1 */
    int *owner_phase;
    mo_builder *builder;
    mo_arena *arena; /* of everything here */
    mo_error *err;
} composer;

static const mo_graph *graph_of(const composer *c, int phase)
{
    return c->in[phase].graph;
}

/* Sets at, by key, to the clean cuts of a phase, else to -1.  The last op is
 * none, since nothing is behind it. */
static mo_status find_clean_cuts(const composer *c, int phase, int *at)
{
    const mo_graph *g = graph_of(c, phase);
    mo_dag dag = mo_graph_dag(g);
    int *cuts = NULL, n = 0;
    mo_status status = mo_dag_clean_cuts(&dag, &cuts, &n, c->err);

    memset(at, 0xff, (size_t) c->units.n * sizeof *at);
    for (int i = 0; i < n; i++)
        if (cuts[i] < g->n_ops - 1)
            at[c->parts[phase].key[cuts[i]]] = cuts[i];
    free(cuts);
    return status;
}

/* Finds the clean cuts that all phases have, in the same order. */
static mo_status find_common_cuts(composer *c)
{
    const mo_graph *first = graph_of(c, 0);
    size_t n_keys = (size_t) c->units.n;
    int *at = mo_arena_array(c->arena, n_keys * (size_t) c->n, sizeof *at);
    mo_status status = at ? MO_OK : mo_fail_memory(c->err);

    for (int p = 0; p < c->n && status == MO_OK; p++)
        status = find_clean_cuts(c, p, at + (size_t) p * n_keys);
    for (int i = 0; i < first->n_ops && status == MO_OK && c->n > 1; i++) {
        const int *cut = at + c->parts[0].key[i];
        bool is_common = true;

        for (int p = 0; p < c->n && is_common; p++) {
            int op = cut[(size_t) p * n_keys];
            int last = c->n_cuts > 0 ? c->parts[p].cut[c->n_cuts - 1] : -1;

            is_common = op > last && (p > 0 || op == i);
        }
        for (int p = 0; p < c->n && is_common; p++)
            c->parts[p].cut[c->n_cuts] = cut[(size_t) p * n_keys];
        c->n_cuts += is_common;
    }
    return status;
}

static mo_status keep(const composer *c, const char *text, const char **kept)
{
    *kept = NULL;
    return text ? mo_builder_text(c->builder, text, strlen(text), kept, c->err)
                : MO_OK;
}

/* Adds an op with the name a, b and c in a row. */
static mo_status define(composer *c, const char *a, const char *b,
                        const char *d, int line, int *slot, mo_op **op)
{
    size_t length = strlen(a) + strlen(b) + strlen(d);
    char *name = mo_arena_array(c->arena, length + 1, 1);
    mo_status status;

    if (!name)
        return mo_fail_memory(c->err);
    strcat(strcat(strcpy(name, a), b), d);
    status = mo_builder_slot(c->builder, name, length, line, slot, c->err);
    return status == MO_OK
               ? mo_builder_define(c->builder, *slot, line, op, c->err)
               : status;
}

/* The group of an op has the name of the first op in it. */
static mo_status set_group(composer *c, int unit, const char *name, mo_op *op)
{
    mo_status status = MO_OK;

    if (!c->group[unit] && c->group_size[unit] > 1)
        status = keep(c, name, &c->group[unit]);
    op->colocate = c->group[unit];
    return status;
}

static mo_status copy_texts(const composer *c, const mo_op *from, mo_op *op)
{
    const char *const texts[] = { from->label, from->type,    from->shape,
                                  from->dtype, from->attrs,   from->weights,
                                  from->pin,   from->members, from->state };
    const char **copies[] = { &op->label, &op->type,    &op->shape,
                              &op->dtype, &op->attrs,   &op->weights,
                              &op->pin,   &op->members, &op->state };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == MO_OK; i++)
        status = keep(c, texts[i], copies[i]);
    return status;
}

/* Of an op in several phases the first has the memory: all of it stays, since a
 * later phase uses what the first has written. */
static void set_memory(composer *c, int phase, int i, mo_op *op)
{
    int key = c->parts[phase].key[i];
    mo_op *owner;

    if (c->owner[key] < 0) {
        c->owner[key] = c->parts[phase].slot[i];
        c->owner_phase[key] = phase;
    }
    if (c->owner_phase[key] == phase)
        return;
    owner = mo_builder_op(c->builder, c->owner[key]);
    owner->memory_bytes = mo_max_i64(owner->memory_bytes, op->memory_bytes);
    owner->weight_bytes = owner->memory_bytes;
    owner->workspace_bytes = MO_UNKNOWN;
    op->memory_bytes = op->weight_bytes = 0;
    op->workspace_bytes = MO_UNKNOWN;
}

static mo_status add_op(composer *c, int phase, int i)
{
    const mo_op *from = &graph_of(c, phase)->ops[i];
    part *p = &c->parts[phase];
    bool is_copy = phase > 0 && mo_builder_find(c->builder, from->name,
                                                strlen(from->name)) >= 0;
    mo_op *op, made = *from;
    mo_status status =
        define(c, from->name, is_copy ? "@" : "",
               is_copy ? c->in[phase].name : "", from->line, &p->slot[i], &op);
    if (status == MO_OK)
        status = copy_texts(c, from, &made);
    if (status == MO_OK)
        status = set_group(c, p->unit[i], op->name, &made);
    if (status != MO_OK)
        return status;
    made.name = op->name;
    made.shapes = NULL;
    made.dtypes = NULL;
    made.attr_list = NULL;
    *op = made;
    set_memory(c, phase, i, op);
    return MO_OK;
}

/* Adds the gate before a segment; that behind a cut sends its tensors. */
static mo_status add_gate(composer *c, int phase, int segment)
{
    part *p = &c->parts[phase];
    int behind = segment > 0 ? p->cut[segment - 1] : 0;
    const mo_op *from = &graph_of(c, phase)->ops[behind];
    mo_op *op;
    mo_status status =
        define(c, segment > 0 ? from->name : "", ">", c->in[phase].name,
               from->line, &p->gate[segment], &op);

    if (status == MO_OK)
        status = keep(c, "Gate", &op->type);
    if (status == MO_OK)
        status = set_group(c, p->unit[behind], op->name, op);
    op->flops = op->bytes = 0;
    op->memory_bytes = op->weight_bytes = 0;
    if (status != MO_OK || segment == 0)
        return status;
    op->output_bytes = from->output_bytes;
    status = keep(c, from->shape, &op->shape);
    return status == MO_OK ? keep(c, from->dtype, &op->dtype) : status;
}

static mo_status copy_port(const composer *c, const mo_graph *g, int from,
                           int *to)
{
    const char *name;

    *to = from;
    if (from >= MO_PORT_NONE)
        return MO_OK;
    name = g->port_names[-2 - from];
    return mo_builder_port(c->builder, name, strlen(name), to, c->err);
}

static mo_status copy_comms(const composer *c, const mo_graph *g, int e,
                            int number)
{
    mo_status status = MO_OK;

    for (int k = 0; k < g->n_comm_columns && status == MO_OK; k++) {
        const char *key = g->comm_columns[k].key;
        double us = mo_graph_comm_us(g, e, k);
        int column;

        if (isnan(us))
            continue;
        status = mo_builder_comm_column(c->builder, key, strlen(key), &column,
                                        c->err);
        if (status == MO_OK)
            status = mo_builder_comm(c->builder, number, column, us, c->err);
    }
    return status;
}

/* The edges of a cut leave its gate. */
static mo_status copy_edges(composer *c, int phase)
{
    const mo_graph *g = graph_of(c, phase);
    const part *p = &c->parts[phase];
    int s = 0;
    mo_status status = MO_OK;

    for (int e = 0; e < g->n_edges && status == MO_OK; e++) {
        const mo_edge *from = &g->edges[e];
        const mo_tensor *tensor = &g->tensors[from->tensor];
        mo_builder_edge edge = { .to = p->slot[from->to],
                                 .bytes = from->bytes,
                                 .line = from->line };
        int number;

        while (s < c->n_cuts && p->cut[s] < from->from)
            s++;
        edge.from = s < c->n_cuts && p->cut[s] == from->from
                        ? p->gate[s + 1]
                        : p->slot[from->from];
        if (edge.bytes == MO_UNKNOWN)
            edge.bytes = tensor->bytes;
        if ((status = copy_port(c, g, tensor->port, &edge.src_port)) != MO_OK ||
            (status = copy_port(c, g, from->dst_port, &edge.dst_port)) !=
                MO_OK ||
            (status = keep(c, tensor->key, &edge.tensor)) != MO_OK)
            return status;
        status = mo_builder_add_edge(c->builder, &edge, &number, c->err);
        if (status == MO_OK)
            status = copy_comms(c, g, e, number);
    }
    return status;
}

static mo_status add_order(composer *c, int from, int to, int64_t bytes)
{
    const mo_builder_edge edge = { .from = from,
                                   .to = to,
                                   .src_port = MO_PORT_NONE,
                                   .dst_port = MO_PORT_NONE,
                                   .bytes = bytes > 0 ? bytes : 0 };

    return mo_builder_add_edge(c->builder, &edge, NULL, c->err);
}

/* Orders a gate behind the end of the piece before it: a cut, whose output
 * waits, or all ops that nothing reads. */
static mo_status order_gate(composer *c, int phase, int segment)
{
    int before = phase > 0 ? phase - 1 : c->n - 1;
    int last = phase > 0 ? segment : segment - 1;
    const mo_graph *g = graph_of(c, before);
    const part *p = &c->parts[before];
    int gate = c->parts[phase].gate[segment];
    mo_status status = MO_OK;

    if (last < c->n_cuts)
        return add_order(c, p->slot[p->cut[last]], gate,
                         g->ops[p->cut[last]].output_bytes);
    for (int i = 0; i < g->n_ops && status == MO_OK; i++)
        if (mo_graph_out_degree(g, i) == 0)
            status = add_order(c, p->slot[i], gate, 0);
    return status;
}

static mo_status add_gates(composer *c)
{
    mo_status status = MO_OK;

    for (int s = 0; s <= c->n_cuts; s++)
        for (int p = s == 0; p < c->n && status == MO_OK; p++)
            status = add_gate(c, p, s);
    for (int s = 0; s <= c->n_cuts; s++)
        for (int p = s == 0; p < c->n && status == MO_OK; p++)
            status = order_gate(c, p, s);
    for (int p = 1; p < c->n; p++) {
        const mo_graph *g = graph_of(c, p);

        for (int i = 0; i < g->n_ops && status == MO_OK; i++)
            if (mo_graph_in_degree(g, i) == 0)
                status =
                    add_order(c, c->parts[p].gate[0], c->parts[p].slot[i], 0);
    }
    return status;
}

static mo_status allocate_parts(composer *c)
{
    c->parts = mo_arena_array(c->arena, (size_t) c->n, sizeof *c->parts);
    if (!c->parts)
        return mo_fail_memory(c->err);
    for (int i = 0; i < c->n; i++) {
        size_t n = (size_t) graph_of(c, i)->n_ops;
        part *p = &c->parts[i];

        p->key = c->units.key[i];
        p->unit = c->units.unit[i];
        p->slot = mo_arena_array(c->arena, n, sizeof *p->slot);
        p->cut = mo_arena_array(c->arena, n, sizeof *p->cut);
        p->gate = mo_arena_array(c->arena, n + 1, sizeof *p->gate);
        if (!p->slot || !p->cut || !p->gate)
            return mo_fail_memory(c->err);
        if (n == 0)
            return mo_fail(c->err, MO_E_INPUT, "phase '%.200s' has no op",
                           c->in[i].name);
    }
    return MO_OK;
}

static mo_status allocate_by_key(composer *c)
{
    size_t n = (size_t) c->units.n;

    c->group = mo_arena_array(c->arena, n, sizeof *c->group);
    c->group_size = mo_arena_array(c->arena, n, sizeof *c->group_size);
    c->owner = mo_arena_array(c->arena, n, sizeof *c->owner);
    c->owner_phase = mo_arena_array(c->arena, n, sizeof *c->owner_phase);
    if (!c->group || !c->group_size || !c->owner || !c->owner_phase)
        return mo_fail_memory(c->err);
    memset(c->owner, 0xff, n * sizeof *c->owner);
    for (int p = 0; p < c->n; p++) {
        for (int i = 0; i < graph_of(c, p)->n_ops; i++)
            c->group_size[c->parts[p].unit[i]]++;
        if (p > 0)
            c->group_size[c->parts[p].unit[0]]++;
    }
    return MO_OK;
}

/* ids are those of the slots in g. */
static mo_status describe(const composer *c, const int *ids, mo_graph *g)
{
    size_t n = (size_t) g->n_ops;
    mo_phases *made = mo_arena_array(g->arena, 1, sizeof *made);

    if (!made)
        return mo_fail_memory(c->err);
    made->n_pieces = (c->n_cuts + 1) * c->n;
    made->items = mo_arena_array(g->arena, (size_t) c->n, sizeof *made->items);
    made->phase_of = mo_arena_array(g->arena, n, sizeof *made->phase_of);
    made->source = mo_arena_array(g->arena, n, sizeof *made->source);
    made->cut = mo_arena_array(g->arena, n, sizeof *made->cut);
    made->piece = mo_arena_array(g->arena, n, sizeof *made->piece);
    if (!made->items || !made->phase_of || !made->source || !made->cut ||
        !made->piece)
        return mo_fail_memory(c->err);
    for (int p = 0; p < c->n; p++) {
        const mo_graph *phase = graph_of(c, p);
        const part *from = &c->parts[p];
        int *op_of =
            mo_arena_array(g->arena, (size_t) phase->n_ops, sizeof *op_of);
        const char *name =
            mo_arena_text(g->arena, c->in[p].name, strlen(c->in[p].name));
        int s = 0;

        if (!op_of || !name)
            return mo_fail_memory(c->err);
        made->items[p] = (mo_phase){ .name = name,
                                     .weight = c->in[p].weight,
                                     .graph = c->in[p].graph,
                                     .op_of = op_of };
        for (int i = 0; i < phase->n_ops; i++) {
            int op = op_of[i] = ids[from->slot[i]];

            made->phase_of[op] = p;
            made->source[op] = i;
            made->cut[op] = MO_UNKNOWN;
            made->piece[op] = s * c->n + p;
            s += s < c->n_cuts && from->cut[s] == i;
        }
        for (s = p == 0; s <= c->n_cuts; s++) {
            int gate = ids[from->gate[s]];

            made->phase_of[gate] = p;
            made->source[gate] = MO_UNKNOWN;
            made->cut[gate] = s > 0 ? from->cut[s - 1] : MO_UNKNOWN;
            made->piece[gate] = s * c->n + p;
        }
    }
    made->n = c->n; /* the graphs are g's from now on */
    g->phases = made;
    return MO_OK;
}

static mo_status finish(composer *c, const char *name, mo_graph **graph)
{
    size_t n = 1;
    const char *kept = NULL;
    mo_graph *g = NULL;
    int *ids;
    mo_status status = keep(c, name, &kept);

    for (int p = 0; p < c->n; p++)
        n += (size_t) graph_of(c, p)->n_ops + (size_t) c->n_cuts + 1;
    ids = mo_arena_array(c->arena, n, sizeof *ids);
    if (status == MO_OK && !ids)
        status = mo_fail_memory(c->err);
    if (status != MO_OK)
        return status;
    mo_builder_name(c->builder, kept);
    mo_builder_map_slots(c->builder, ids);
    status = mo_builder_finish(c->builder, &g, c->err);
    if (status == MO_OK)
        status = describe(c, ids, g);
    if (status == MO_OK)
        *graph = g;
    else
        mo_graph_free(g);
    return status;
}

mo_status mo_phases_compose(const char *name, const mo_phase *phases, int n,
                            mo_graph **graph, mo_error *err)
{
    composer c = { .in = phases, .n = n, .arena = mo_arena_new(), .err = err };
    mo_status status;

    status = c.arena ? mo_phase_units_make(phases, n, c.arena, &c.units, err)
                     : mo_fail_memory(err);
    if (status == MO_OK)
        status = allocate_parts(&c);
    if (status == MO_OK)
        status = find_common_cuts(&c);
    if (status == MO_OK)
        status = allocate_by_key(&c);
    if (status == MO_OK)
        status = mo_builder_new(NULL, &c.builder, err);
    for (int p = 0; p < n && status == MO_OK; p++)
        for (int i = 0; i < graph_of(&c, p)->n_ops && status == MO_OK; i++)
            status = add_op(&c, p, i);
    if (status == MO_OK)
        status = add_gates(&c);
    for (int p = 0; p < n && status == MO_OK; p++)
        status = copy_edges(&c, p);
    if (status == MO_OK)
        status = finish(&c, name, graph);
    mo_builder_free(c.builder);
    mo_arena_free(c.arena);
    return status;
}

void mo_phases_free(mo_phases *phases)
{
    for (int p = 0; phases && p < phases->n; p++)
        mo_graph_free(phases->items[p].graph);
}

mo_status mo_phases_refuse(const mo_graph *g, mo_error *err)
{
    if (!g->phases)
        return MO_OK;
    return mo_fail(err, MO_E_SUPPORT,
                   "this is a workload of %d phases; give the graph of one of "
                   "them",
                   g->phases->n);
}

int64_t mo_phases_transfer_weight(const mo_phases *phases, int from, int to)
{
    bool is_order =
        phases->source[to] == MO_UNKNOWN ||
        (phases->source[from] == MO_UNKNOWN && phases->cut[from] == MO_UNKNOWN);

    return is_order ? 0 : phases->items[phases->phase_of[from]].weight;
}
