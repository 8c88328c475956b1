/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/subset_pricing.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"

enum {
    NONE = -1,
    ITEM_BITS = 3,
    MAX_OPEN = 63 / ITEM_BITS, /* items in a key */
    MAX_ORDERED = 4000         /* units of a greedy order */
};

/* States of an item with ends ahead.  While its producer is ahead: readers that
 * are in, and that are out. */
enum {
    READERS_IN = 1,
    READERS_OUT = 2,
    PRODUCER_OUT = 4,
    CHARGED = 5, /* received, or sent */
    PRODUCER_IN = 6
};

typedef struct builder {
    mo_subset_graph *g;
    const mo_subset_units *s;
    int *end_start, *ends; /* by unit: items of which it is an end */
    int *position;         /* by unit: its layer */
    int *first, *last;     /* by item: layers of its ends */
    int *slot;             /* by item, of the key; NONE: left out */
    uint64_t *keys;        /* by node */
    size_t n_nodes, node_room, next_room, use_room;
    int *table; /* of the layer ahead, by hash */
    size_t table_size;
} builder;

static mo_status list_ends(builder *b, mo_error *err)
{
    const mo_subset_units *s = b->s;
    size_t n_ends = 0;

    for (int i = 0; i < s->n_items; i++)
        n_ends += (size_t) s->items[i].n + 1;
    b->end_start = calloc((size_t) s->n + 2, sizeof *b->end_start);
    b->ends = calloc(n_ends + 1, sizeof *b->ends);
    if (!b->end_start || !b->ends)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n_items; i++) {
        b->end_start[s->items[i].from + 1]++;
        for (int j = 0; j < s->items[i].n; j++)
            b->end_start[s->items[i].to[j] + 1]++;
    }
    for (int u = 0; u < s->n; u++)
        b->end_start[u + 1] += b->end_start[u];
    for (int i = 0; i < s->n_items; i++) {
        b->ends[b->end_start[s->items[i].from]++] = i;
        for (int j = 0; j < s->items[i].n; j++)
            b->ends[b->end_start[s->items[i].to[j]]++] = i;
    }
    for (int u = s->n; u > 0; u--)
        b->end_start[u] = b->end_start[u - 1];
    b->end_start[0] = 0;
    return MO_OK;
}

/* Change of the number of open items by the unit; ahead: by item, its ends. */
static int count_opened(const builder *b, const int *ahead, int u)
{
    int opened = 0;

    for (int e = b->end_start[u]; e < b->end_start[u + 1]; e++) {
        int i = b->ends[e];

        opened += ahead[i] == b->s->items[i].n + 1;
        opened -= ahead[i] == 1;
    }
    return opened;
}

/* Sum over the layers of 2^open, as the number of nodes grows; takes every unit
 * in turn by the given order, or greedily where order is NULL. */
static double walk_order(const builder *b, const int *order, int *ahead,
                         int *position)
{
    const mo_subset_units *s = b->s;
    int n_open = 0;
    double sum = 0;

    for (int i = 0; i < s->n_items; i++)
        ahead[i] = s->items[i].n + 1;
    for (int u = 0; u < s->n; u++)
        position[u] = NONE;
    for (int at = 0; at < s->n; at++) {
        int unit = order ? order[at] : NONE, least = 0;

        for (int u = 0; u < s->n && !order; u++) {
            int opened = position[u] == NONE ? count_opened(b, ahead, u) : 0;

            if (position[u] == NONE && (unit == NONE || opened < least)) {
                unit = u;
                least = opened;
            }
        }
        n_open += count_opened(b, ahead, unit);
        position[unit] = at;
        for (int e = b->end_start[unit]; e < b->end_start[unit + 1]; e++)
            ahead[b->ends[e]]--;
        sum += n_open < 60 ? (double) (INT64_C(1) << n_open) : 1e18;
    }
    return sum;
}

static mo_status choose_order(builder *b, mo_error *err)
{
    int n = b->s->n;
    int *order = calloc((size_t) n + 1, sizeof *order);
    int *ahead = calloc((size_t) b->s->n_items + 1, sizeof *ahead);

    b->position = calloc((size_t) n + 1, sizeof *b->position);
    b->g->unit = calloc((size_t) n + 1, sizeof *b->g->unit);
    if (!order || !ahead || !b->position || !b->g->unit) {
        free(order);
        free(ahead);
        return mo_fail_memory(err);
    }
    for (int u = 0; u < n; u++)
        order[u] = u;
    double given = walk_order(b, order, ahead, b->position);
    if (n > MAX_ORDERED || walk_order(b, NULL, ahead, b->position) > given)
        walk_order(b, order, ahead, b->position);
    for (int u = 0; u < n; u++)
        b->g->unit[b->position[u]] = u;
    free(order);
    free(ahead);
    return MO_OK;
}

typedef struct ranked {
    double rank; /* cost by layers */
    int item;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *r = a, *q = b;

    if (r->rank != q->rank)
        return r->rank > q->rank ? -1 : 1;
    return (r->item > q->item) - (r->item < q->item);
}

/* Gives slots to at most max_open items at any time, the most expensive for
 * their number of layers first. */
static mo_status assign_slots(builder *b, int max_open, mo_error *err)
{
    const mo_subset_units *s = b->s;
    ranked *rank = calloc((size_t) s->n_items + 1, sizeof *rank);
    uint64_t *busy = calloc((size_t) s->n + 1, sizeof *busy);

    if (!rank || !busy) {
        free(rank);
        free(busy);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < s->n_items; i++)
        rank[i] =
            (ranked){ (double) (s->items[i].in_ns[0] + s->items[i].out_ns[0] +
                                s->items[i].busy_ns[0]) /
                          (b->last[i] - b->first[i]),
                      i };
    qsort(rank, (size_t) s->n_items, sizeof *rank, compare_ranked);
    for (int r = 0; r < s->n_items; r++) {
        int i = rank[r].item, slot = 0;
        uint64_t used = 0;

        for (int at = b->first[i]; at <= b->last[i]; at++)
            used |= busy[at];
        while (slot < max_open && used >> slot & 1)
            slot++;
        b->slot[i] = slot < max_open ? slot : NONE;
        for (int at = b->first[i]; at <= b->last[i] && slot < max_open; at++)
            busy[at] |= UINT64_C(1) << slot;
    }
    free(rank);
    free(busy);
    return MO_OK;
}

static mo_status add_node(builder *b, uint64_t key, mo_error *err)
{
    mo_subset_graph *g = b->g;
    size_t n = b->n_nodes;
    mo_status status = MO_ARRAY_GROW(b->keys, n, b->node_room, err);

    if (status == MO_OK)
        status = mo_array_reserve((void **) &g->next, &b->next_room, 2 * n + 2,
                                  sizeof *g->next, err);
    if (status == MO_OK)
        b->keys[b->n_nodes++] = key;
    return status;
}

/* The node of the layer that begins at node first; b->table has its nodes. */
static mo_status find_node(builder *b, int first, uint64_t key, int *node,
                           mo_error *err)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t) (hash ^ hash >> 29) & (b->table_size - 1);

    while (b->table[at] >= first && b->keys[b->table[at]] != key)
        at = (at + 1) & (b->table_size - 1);
    if (b->table[at] >= first) {
        *node = b->table[at];
        return MO_OK;
    }
    *node = (int) b->n_nodes;
    b->table[at] = *node;
    return add_node(b, key, err);
}

/* The state of an item after a decision on one of its ends; *charge is 1 where
 * the device receives it, 2 where it sends it. */
static unsigned decide_end(unsigned state, bool is_producer, bool in,
                           int *charge)
{
    *charge = 0;
    if (is_producer) {
        if (in ? state & READERS_OUT : state & READERS_IN) {
            *charge = in ? 2 : 1;
            return CHARGED;
        }
        return in ? PRODUCER_IN : PRODUCER_OUT;
    }
    if (state < PRODUCER_OUT)
        return state | (in ? READERS_IN : READERS_OUT);
    if ((state == PRODUCER_IN && !in) || (state == PRODUCER_OUT && in)) {
        *charge = in ? 1 : 2;
        return CHARGED;
    }
    return state;
}

/* Decides on the unit of a layer; where use is not NULL, sets what that uses of
 * a device of class c. */
static uint64_t decide_unit(const builder *b, int layer, uint64_t key, bool in,
                            int c, mo_subset_use *use)
{
    const mo_subset_units *s = b->s;
    int u = b->g->unit[layer];
    int64_t bytes_limit = s->capacity[c * MO_SUBSET_LIMITS + MO_SUBSET_BYTES];

    if (use && in)
        *use =
            (mo_subset_use){ { s->p_ns[(int64_t) u * s->n_classes + c], 0, 0,
                               bytes_limit == INT64_MAX ? 0 : s->bytes[u] } };
    else if (use)
        *use = (mo_subset_use){ { 0 } };
    for (int e = b->end_start[u]; e < b->end_start[u + 1]; e++) {
        int i = b->ends[e], shift = b->slot[i] * ITEM_BITS, charge;
        const mo_subset_item *item = &s->items[i];
        unsigned state;

        if (shift < 0)
            continue;
        state = decide_end((unsigned) (key >> shift & 7), item->from == u, in,
                           &charge);
        key &= ~(UINT64_C(7) << shift);
        if (layer < b->last[i])
            key |= (uint64_t) state << shift;
        if (!use || use->of[MO_SUBSET_LOAD] < 0 || charge == 0)
            continue;
        use->of[MO_SUBSET_LOAD] += item->busy_ns[c];
        if (charge == 1)
            use->of[MO_SUBSET_IN] += item->in_ns[c];
        else
            use->of[MO_SUBSET_OUT] += item->out_ns[c];
    }
    return key;
}

/* Makes the nodes of all layers; *fits is false where there are too many. */
static mo_status make_nodes(builder *b, int max_nodes, bool *fits,
                            mo_error *err)
{
    mo_subset_graph *g = b->g;
    mo_status status;

    b->n_nodes = 0;
    for (size_t i = 0; i < b->table_size; i++)
        b->table[i] = NONE;
    g->start[0] = 0;
    status = add_node(b, 0, err);
    for (int layer = 0; layer < g->n && status == MO_OK && *fits; layer++) {
        int first = (int) b->n_nodes;

        g->start[layer + 1] = first;
        for (int v = g->start[layer]; v < first && status == MO_OK; v++)
            for (int in = 0; in < 2 && status == MO_OK; in++) {
                uint64_t key = decide_unit(b, layer, b->keys[v], in, 0, NULL);
                int node = 0;

                status = find_node(b, first, key, &node, err);
                g->next[2 * v + in] = node;
            }
        *fits = b->n_nodes <= (size_t) max_nodes;
    }
    g->start[g->n + 1] = (int) b->n_nodes;
    return status;
}

static mo_status fill_uses(builder *b, mo_error *err)
{
    mo_subset_graph *g = b->g;
    size_t n = (size_t) g->start[g->n] * 2 * (size_t) b->s->n_classes;
    mo_subset_use *use;

    g->use = use = calloc(n + 1, sizeof *g->use);
    if (!use)
        return mo_fail_memory(err);
    for (int c = 0; c < b->s->n_classes; c++)
        for (int layer = 0; layer < g->n; layer++)
            for (int v = g->start[layer]; v < g->start[layer + 1]; v++)
                for (int in = 0; in < 2; in++, use++) {
                    decide_unit(b, layer, b->keys[v], in, c, use);
                    /* Excluded, where a limit does not admit it at all. */
                    for (int l = 0; l < MO_SUBSET_LIMITS; l++)
                        if (use->of[l] >
                            b->s->capacity[(int64_t) c * MO_SUBSET_LIMITS + l])
                            use->of[MO_SUBSET_LOAD] = -1;
                }
    return MO_OK;
}

static mo_status build_graph(builder *b, int max_nodes, mo_error *err)
{
    bool fits = false;
    mo_status status = list_ends(b, err);

    if (status == MO_OK)
        status = choose_order(b, err);
    if (status == MO_OK) {
        size_t n = (size_t) b->s->n_items + 1;

        b->first = calloc(n, sizeof *b->first);
        b->last = calloc(n, sizeof *b->last);
        b->slot = calloc(n, sizeof *b->slot);
        if (!b->first || !b->last || !b->slot) {
            status = mo_fail_memory(err);
        } else {
            for (int i = 0; i < b->s->n_items; i++) {
                const mo_subset_item *item = &b->s->items[i];

                b->first[i] = b->last[i] = b->position[item->from];
                for (int j = 0; j < item->n; j++) {
                    int at = b->position[item->to[j]];

                    b->first[i] = mo_min_int(b->first[i], at);
                    b->last[i] = mo_max_int(b->last[i], at);
                }
            }
            status = MO_OK;
        }
    }
    b->g->start = calloc((size_t) b->s->n + 2, sizeof *b->g->start);
    b->table_size = 64;
    while (b->table_size < 8 * (size_t) max_nodes)
        b->table_size *= 2;
    b->table = malloc(b->table_size * sizeof *b->table);
    if (status == MO_OK && (!b->g->start || !b->table))
        status = mo_fail_memory(err);
    for (int open = MAX_OPEN; status == MO_OK && !fits && open >= 0; open--) {
        fits = true;
        status = assign_slots(b, open, err);
        if (status == MO_OK)
            status = make_nodes(b, max_nodes, &fits, err);
    }
    return status == MO_OK ? fill_uses(b, err) : status;
}

mo_status mo_subset_graph_init(mo_subset_graph *g, const mo_subset_units *units,
                               int max_nodes, mo_error *err)
{
    builder b = { .g = g, .s = units };
    mo_status status;

    *g = (mo_subset_graph){ .units = units, .n = units->n };
    status = build_graph(&b, mo_max_int(max_nodes, 2 * units->n + 2), err);
    free(b.end_start);
    free(b.ends);
    free(b.position);
    free(b.first);
    free(b.last);
    free(b.slot);
    free(b.keys);
    free(b.table);
    return status;
}

void mo_subset_graph_clear(mo_subset_graph *g)
{
    free(g->unit);
    free(g->start);
    free(g->next);
    free(g->use);
    *g = (mo_subset_graph){ 0 };
}
