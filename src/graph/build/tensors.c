/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grouping of an op's edges into tensors. Edges carry the same tensor when
 * they have the same key; without keys, when they leave the same port; without
 * ports, always.
 *
 *     uses of op 7, sorted       tensors, sorted by port and key
 *     by what they carry
 *       port 0    --.
 *       port 0    --'----------> 0: port 0
 *       key "x"   --.   .------> 1: port 1
 *       port 1    -----'   .---> 2: key "x", port 2
 *       key "x", port 2 --'
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/build/sort.h"
#include "graph/build/build_internal.h"

struct use {
    mo_edge *edge;
    const char *key;
    int port;
    uint64_t mark;
};

struct tensor_pack {
    mo_builder *b;
    mo_graph *g;
    int *numbers;
    struct use *uses; /* of one op */
    size_t uses_room;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_ports(int a, int b)
{
    return compare_numbers(mo_port_rank(a), mo_port_rank(b));
}

static int compare_keys(const char *a, const char *b)
{
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? 1 : -1;
    return strcmp(a, b);
}

static int compare_carried(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    int order = compare_keys(x->key, y->key);

    if (order != 0 || x->key)
        return order;
    return compare_ports(x->port, y->port);
}

static int compare_tensors(const void *a, const void *b)
{
    const mo_tensor *x = a, *y = b;
    int order = compare_ports(x->port, y->port);

    return order != 0 ? order : compare_keys(x->key, y->key);
}

/* Order within one tensor. Line numbers order only edges that are equal in
 * everything else. */
static int compare_uses(const void *a, const void *b)
{
    uint64_t x_mark = ((const struct use *) a)->mark;
    uint64_t y_mark = ((const struct use *) b)->mark;
    const mo_edge *x = ((const struct use *) a)->edge;
    const mo_edge *y = ((const struct use *) b)->edge;

    if (x->to != y->to)
        return compare_numbers(x->to, y->to);
    if (x->dst_port != y->dst_port)
        return compare_ports(x->dst_port, y->dst_port);
    if (x->bytes != y->bytes)
        return compare_numbers(x->bytes, y->bytes);
    if (x_mark != y_mark)
        return x_mark < y_mark ? -1 : 1;
    return compare_numbers(x->line, y->line);
}

static void collect_uses(struct tensor_pack *p, int first, int count)
{
    for (int i = 0; i < count; i++) {
        int number = p->numbers[first + i];
        mo_edge *edge = &p->b->edges[number];
        struct use *use = &p->uses[i];

        *use = (struct use){ edge, NULL, MO_PORT_NONE,
                             p->b->marks ? p->b->marks[number] : 0 };
        if (edge->tensor != MO_UNKNOWN) {
            use->key = p->b->outputs[edge->tensor].key;
            use->port = p->b->outputs[edge->tensor].port;
        }
    }
}

/* Makes the tensors of one op; until place_uses, first_edge is an index of
 * uses. */
static mo_status split_uses(struct tensor_pack *p, int count, int op,
                            mo_error *err)
{
    mo_builder *b = p->b;
    size_t first_tensor = b->n_tensors;

    mo_sort_nearly_sorted(p->uses, (size_t) count, sizeof *p->uses,
                          compare_carried);
    for (int i = 0; i < count;) {
        const struct use *use;
        mo_tensor t;

        if (MO_ARRAY_GROW(b->tensors, b->n_tensors, b->tensors_room, err) !=
            MO_OK)
            return MO_E_MEMORY;
        use = &p->uses[i];
        t = (mo_tensor){ .producer = op,
                         .port = use->port,
                         .key = use->key,
                         .bytes = MO_UNKNOWN,
                         .first_edge = i };
        for (int j = i; j < count; j++, use++) {
            if (compare_carried(&p->uses[i], use) != 0)
                break;
            if (t.port == MO_PORT_NONE ||
                (use->port != MO_PORT_NONE &&
                 compare_ports(use->port, t.port) < 0))
                t.port = use->port;
            if (t.bytes < use->edge->bytes)
                t.bytes = use->edge->bytes;
            t.n_edges++;
        }
        b->tensors[b->n_tensors] = t;
        i += b->tensors[b->n_tensors++].n_edges;
    }
    mo_sort_nearly_sorted(b->tensors + first_tensor,
                          b->n_tensors - first_tensor, sizeof *b->tensors,
                          compare_tensors);
    return MO_OK;
}

/* Writes a tensor's edge numbers to p->numbers, from place on. */
static void place_uses(struct tensor_pack *p, int tensor, int place)
{
    mo_tensor *t = &p->b->tensors[tensor];
    struct use *uses = &p->uses[t->first_edge];

    mo_sort_nearly_sorted(uses, (size_t) t->n_edges, sizeof *uses,
                          compare_uses);
    t->first_edge = place;
    for (int i = 0; i < t->n_edges; i++) {
        uses[i].edge->tensor = tensor;
        p->numbers[place + i] = (int) (uses[i].edge - p->b->edges);
    }
}

static mo_status pack_tensors_of_op(struct tensor_pack *p, int op,
                                    mo_error *err)
{
    int first = p->g->out_start[op], tensor = (int) p->b->n_tensors;
    int count = p->g->out_start[op + 1] - first;
    mo_status status;

    status = mo_array_reserve((void **) &p->uses, &p->uses_room, (size_t) count,
                              sizeof *p->uses, err);
    if (status != MO_OK)
        return status;
    collect_uses(p, first, count);
    status = split_uses(p, count, op, err);
    if (status != MO_OK)
        return status;
    for (; tensor < (int) p->b->n_tensors; tensor++) {
        place_uses(p, tensor, first);
        first += p->b->tensors[tensor].n_edges;
    }
    return MO_OK;
}

mo_status mo_build_tensors(mo_builder *builder, mo_graph *g, int *numbers,
                           mo_error *err)
{
    struct tensor_pack p = { .b = builder, .g = g, .numbers = numbers };
    mo_status status = MO_OK;

    g->tensor_start = mo_arena_array(builder->arena, (size_t) g->n_ops + 1,
                                     sizeof *g->tensor_start);
    if (!g->tensor_start)
        return mo_fail_memory(err);
    for (int op = 0; op < g->n_ops && status == MO_OK; op++) {
        if (mo_graph_out_degree(g, op) > 0)
            status = pack_tensors_of_op(&p, op, err);
        g->tensor_start[op + 1] = (int) builder->n_tensors;
    }
    free(p.uses);
    return status;
}
