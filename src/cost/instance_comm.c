#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "cost/instance_parts.h"

/*
 * Most of what is sent costs the same as something else: it has the same size
 * and no times of its own.  A row of K * K times is computed into one buffer
 * and kept only if it is new, so memory follows the number of different rows.
 * Without measured times the size alone decides, and even computing is done
 * once per size.
 */

/* What is sent: the edges of a flow, or all those of a tensor. */
typedef struct parcel {
    int first, last;    /* neighbours in the graph: [first, last) */
    int64_t bytes;      /* of the largest, or MO_UNKNOWN */
} parcel;

typedef struct comms {
    mo_maker *m;
    int *columns;          /* by pair of devices: its comm_us column, or -1 */
    int64_t *row;          /* the one being computed */
    size_t n_pairs;
    mo_arena *arena;
    mo_intern *rows;       /* rows by their bytes */
    mo_intern *sizes;      /* sizes by their bytes, numbered as row_of_size */
    int *row_of_size;
    size_t sizes_room;
} comms;

static const char *model_of(const mo_device *device)
{
    return device->known ? device->known->name : device->model;
}

static int pair_column(const mo_graph *g, const char *from, const char *to)
{
    char key[512];

    if (!from || !to ||
        snprintf(key, sizeof key, "%s.%s", from, to) >= (int) sizeof key)
        return -1;
    return mo_maker_column(g->comm_columns, g->n_comm_columns, key);
}

static void find_columns(comms *c)
{
    const mo_cluster *cluster = c->m->cluster;
    int n = cluster->n_devices;

    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            const mo_device *from = &cluster->devices[a];
            const mo_device *to = &cluster->devices[b];
            int column = pair_column(c->m->g, from->id, to->id);

            if (column < 0)
                column = pair_column(c->m->g, from->model, to->model);
            if (column < 0)
                column = pair_column(c->m->g, model_of(from), model_of(to));
            c->columns[a * n + b] = column;
        }
    }
}

/* The dearest of the edges from a to b, as the file gives it; NAN when none
 * does. */
static double given_us(const comms *c, const parcel *sent, size_t pair)
{
    double us = NAN;

    if (c->columns[pair] < 0)
        return NAN;
    for (int e = sent->first; e < sent->last; e++)
        us = fmax(us, mo_graph_comm_us(c->m->g, e, c->columns[pair]));
    return us;
}

/* Latency and size over bandwidth, in nanoseconds: a gigabit a second is a bit
 * a nanosecond. */
static double modelled_ns(const comms *c, int64_t bytes, int a, int b)
{
    const mo_cluster *cluster = c->m->cluster;
    const mo_route *route =
        &c->m->routes->routes[(size_t) a * (size_t) cluster->n_devices +
                              (size_t) b];
    double ns = NAN;

    if (bytes == MO_UNKNOWN)
        return NAN;
    if (c->m->options->profile)
        ns = mo_profile_link_ns(c->m->options->profile, &cluster->devices[a],
                                &cluster->devices[b], bytes);
    if (isnan(ns) && route->gbps > 0)
        ns = (double) route->latency_ns + (double) bytes * 8 / route->gbps;
    return ns;
}

static mo_status no_time(const comms *c, const parcel *sent, int a, int b,
                         mo_error *err)
{
    const mo_edge *edge = &c->m->g->edges[sent->first];
    const mo_op *ops = c->m->g->ops;

    if (sent->bytes == MO_UNKNOWN) {
        mo_maker_miss(c->m, "edge '%s' -> '%s' has no size and no comm_us.%s.%s",
                      ops[edge->from].name, ops[edge->to].name,
                      c->m->cluster->devices[a].id,
                      c->m->cluster->devices[b].id);
        return MO_OK;
    }
    return mo_routes_connected(c->m->cluster, c->m->routes, err);
}

static mo_status fill_pair(comms *c, const parcel *sent, int a, int b,
                           bool *is_known, mo_error *err)
{
    size_t pair = (size_t) (a * c->m->cluster->n_devices + b);
    double us = given_us(c, sent, pair);
    double ns = isnan(us) ? modelled_ns(c, sent->bytes, a, b) : us * 1000;

    *is_known = !isnan(ns);
    if (isnan(ns))
        return no_time(c, sent, a, b, err);
    c->row[pair] = mo_maker_ns(ns / 1000);
    if (c->row[pair] < 0)
        return mo_fail(err, MO_E_INPUT,
                       "sending what op '%s' puts out from %s to %s takes %g "
                       "us; times must lie between 0 and 10^11 us",
                       c->m->g->ops[c->m->g->edges[sent->first].from].name,
                       c->m->cluster->devices[a].id,
                       c->m->cluster->devices[b].id, ns / 1000);
    return MO_OK;
}

/* One missing time is told per parcel: the others are like it. */
static mo_status fill_row(comms *c, const parcel *sent, mo_error *err)
{
    int n = c->m->cluster->n_devices;
    bool is_known = true;

    memset(c->row, 0, c->n_pairs * sizeof *c->row);
    for (int a = 0; a < n && is_known; a++) {
        for (int b = 0; b < n && is_known; b++) {
            mo_status status = MO_OK;

            if (a != b)
                status = fill_pair(c, sent, a, b, &is_known, err);
            if (status != MO_OK)
                return status;
        }
    }
    return MO_OK;
}

static bool has_own_times(const mo_graph *g, const parcel *sent)
{
    for (int c = 0; c < g->n_comm_columns; c++)
        if (!isnan(g->comm_columns[c].fallback_us))
            return true;
    return g->n_comm_columns > 0 &&
           g->comm_start[sent->first] < g->comm_start[sent->last];
}

static mo_status new_row(comms *c, const parcel *sent, int *row, mo_error *err)
{
    mo_status status = fill_row(c, sent, err);

    if (status != MO_OK)
        return status;
    return mo_intern_put(c->rows, (const char *) c->row,
                         c->n_pairs * sizeof *c->row, row, err);
}

static mo_status find_row(comms *c, const parcel *sent, int *row,
                          mo_error *err)
{
    int n_sizes = mo_intern_count(c->sizes), size;
    mo_status status;

    if (sent->bytes == MO_UNKNOWN || has_own_times(c->m->g, sent))
        return new_row(c, sent, row, err);
    status = mo_intern_put(c->sizes, (const char *) &sent->bytes,
                           sizeof sent->bytes, &size, err);
    if (status != MO_OK)
        return status;
    if (size == n_sizes) {
        if (MO_PUSH(c->row_of_size, (size_t) size, c->sizes_room, err) != MO_OK)
            return MO_E_MEMORY;
        status = new_row(c, sent, &c->row_of_size[size], err);
    }
    *row = c->row_of_size[size];
    return status;
}

static parcel parcel_of(const mo_graph *g, int first, int last)
{
    parcel sent = { first, last, MO_UNKNOWN };

    for (int e = first; e < last; e++)
        if (g->edges[e].bytes > sent.bytes)
            sent.bytes = g->edges[e].bytes;
    return sent;
}

/* Flows are in the order of the edges they were made of. */
static mo_status fill_flows(comms *c, mo_error *err)
{
    const mo_graph *g = c->m->g;
    mo_instance *x = c->m->x;
    int e = 0;

    for (int q = 0; q < x->n_flows; q++) {
        int first = e;
        parcel sent;
        mo_status status;

        while (e < g->n_edges && g->edges[e].tensor == x->flows[q].tensor &&
               g->edges[e].to == x->flows[q].to)
            e++;
        sent = parcel_of(g, first, e);
        status = find_row(c, &sent, &x->flow_row[q], err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

static mo_status fill_tensors(comms *c, mo_error *err)
{
    const mo_graph *g = c->m->g;

    for (int t = 0; t < g->n_tensors; t++) {
        const mo_tensor *tensor = &g->tensors[t];
        parcel sent = parcel_of(g, tensor->first_edge,
                                tensor->first_edge + tensor->n_edges);
        mo_status status = find_row(c, &sent, &c->m->x->tensor_row[t], err);

        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

static mo_status keep_rows(comms *c, mo_error *err)
{
    mo_instance *x = c->m->x;
    size_t bytes = c->n_pairs * sizeof *c->row;

    x->n_comm_rows = mo_intern_count(c->rows);
    x->comm_ns = mo_arena_array(x->arena, (size_t) x->n_comm_rows, bytes);
    if (!x->comm_ns)
        return mo_fail_memory(err);
    for (int r = 0; r < x->n_comm_rows; r++)
        memcpy(x->comm_ns + (size_t) r * c->n_pairs,
               mo_intern_text(c->rows, r), bytes);
    return MO_OK;
}

static mo_status fill_comms(comms *c, mo_error *err)
{
    mo_status status;

    find_columns(c);
    status = fill_flows(c, err);
    if (status == MO_OK)
        status = mo_maker_complete(c->m, "give bytes on the edge, output_bytes "
                                         "on the op, or its times", err);
    if (status == MO_OK)
        status = fill_tensors(c, err);
    if (status == MO_OK)
        status = keep_rows(c, err);
    return status;
}

mo_status mo_maker_comms(mo_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    size_t n_pairs = (size_t) x->n_devices * (size_t) x->n_devices;
    comms c = { .m = m, .n_pairs = n_pairs, .arena = mo_arena_new() };
    mo_status status;

    c.columns = calloc(n_pairs, sizeof *c.columns);
    c.row = calloc(n_pairs, sizeof *c.row);
    c.rows = c.arena ? mo_intern_new(c.arena) : NULL;
    c.sizes = c.arena ? mo_intern_new(c.arena) : NULL;
    x->flow_row = mo_arena_array(x->arena, (size_t) x->n_flows,
                                 sizeof *x->flow_row);
    x->tensor_row = mo_arena_array(x->arena, (size_t) x->n_tensors,
                                   sizeof *x->tensor_row);
    status = c.columns && c.row && c.rows && c.sizes && x->flow_row &&
                     x->tensor_row
                 ? fill_comms(&c, err)
                 : mo_fail_memory(err);
    free(c.columns);
    free(c.row);
    free(c.row_of_size);
    mo_intern_free(c.rows);
    mo_intern_free(c.sizes);
    mo_arena_free(c.arena);
    return status;
}
