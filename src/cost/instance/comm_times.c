/* SPDX-License-Identifier: Apache-2.0 */
/* Transfer times of flows and tensors by pair class. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/minmax.h"
#include "cost/instance/instance_internal.h"
#include "cost/predict/message_time.h"
#include "graph/phases.h"

/*
 * Deduplication of transfer times. Most flows have the same times as another:
 * the same size and no times of their own. The times of a flow, one for each
 * pair class, are computed into one buffer and stored as a row only if they
 * are new; without times of its own the size alone decides, and the row is
 * computed once per size.
 *
 *            pair classes                row_of_size   bytes
 *     row 0  0  12.5  40.0               0             4096
 *     row 1  0  25.0  80.0               1             8192
 */
typedef struct comms {
    mo_instance_maker *m;
    mo_arena *arena;
    mo_instance_pair_classes classes;
    int64_t *row;     /* the one being computed */
    mo_intern *rows;  /* by their bytes */
    mo_intern *sizes; /* by their bytes, numbered as row_of_size */
    int *row_of_size;
    size_t sizes_room;
} comms;

/* Edges of one tensor have the same size, whichever of them has it in the
 * file. */
static int64_t bytes_of(const mo_graph *g, int edge)
{
    const mo_edge *e = &g->edges[edge];

    return e->bytes != MO_UNKNOWN ? e->bytes : g->tensors[e->tensor].bytes;
}

static mo_status no_time(const comms *c, int edge, int cls, mo_error *err)
{
    const mo_graph *g = c->m->g;
    const mo_device *devices = c->m->cluster->devices;
    int pair = c->classes.example[cls], n = c->m->cluster->n_devices;
    char lacks[200];

    if (bytes_of(g, edge) != MO_UNKNOWN)
        return mo_routes_connected(c->m->cluster, c->m->routes, err);
    snprintf(lacks, sizeof lacks, "no size and no comm_us.%.80s.%.80s",
             devices[pair / n].id, devices[pair % n].id);
    mo_instance_maker_add_missing(
        c->m,
        &(mo_instance_missing){ .kind = "edge",
                                .reason = "",
                                .lacks = lacks,
                                .remedy = "bytes to the edge, or output_bytes "
                                          "to its source",
                                .line = g->edges[edge].line },
        "'%.90s' -> '%.90s'", g->ops[g->edges[edge].from].name,
        g->ops[g->edges[edge].to].name);
    return MO_OK;
}

static mo_status refuse(const comms *c, int edge, int cls, double ns,
                        mo_error *err)
{
    const mo_graph *g = c->m->g;
    const mo_device *devices = c->m->cluster->devices;
    int pair = c->classes.example[cls], n = c->m->cluster->n_devices;

    return mo_fail_at(err, MO_E_INPUT, NULL, g->edges[edge].line,
                      "edge '%.200s' -> '%.200s' takes %g us from device %s to "
                      "%s; times must lie between 0 and 10^11 us",
                      g->ops[g->edges[edge].from].name,
                      g->ops[g->edges[edge].to].name, ns / 1000,
                      devices[pair / n].id, devices[pair % n].id);
}

/* Returns the number of transfers of an edge in a request. */
static int64_t runs_of(const mo_graph *g, int edge)
{
    return g->phases ? mo_phases_transfer_weight(g->phases, g->edges[edge].from,
                                                 g->edges[edge].to)
                     : 1;
}

/* Raises the row to the times of edge. One missing time per edge is reported:
 * the others have the same cause. */
static mo_status add_edge(comms *c, int edge, mo_error *err)
{
    const mo_graph *g = c->m->g;
    int64_t bytes = bytes_of(g, edge), runs = runs_of(g, edge);

    for (int cls = 1; cls < c->classes.n && runs > 0; cls++) {
        const int *columns = c->classes.classes[cls].columns;
        double us = NAN, ns; /* that the file gives for the edge, or NAN */
        int64_t rounded;

        for (int i = 0; i < 3 && isnan(us); i++)
            if (columns[i] >= 0)
                us = mo_graph_comm_us(g, edge, columns[i]);
        ns = us * 1000;
        if (isnan(ns)) {
            int pair = c->classes.example[cls], n = c->m->cluster->n_devices;

            ns = mo_predict_message_ns(c->m->cluster, c->m->routes,
                                       c->m->options->profile, pair / n,
                                       pair % n, bytes);
        }
        if (isnan(ns))
            return no_time(c, edge, cls, err);
        rounded = mo_instance_maker_round(ns);
        if (rounded < 0 || rounded > MO_MAX_TIME_NS / runs)
            return refuse(c, edge, cls, ns * (double) runs, err);
        c->row[cls] = mo_max_i64(c->row[cls], rounded * runs);
    }
    return MO_OK;
}

static void clear_row(comms *c)
{
    memset(c->row, 0, (size_t) c->classes.n * sizeof *c->row);
}

/* Stores the row if it is new; sets *number to its number. */
static mo_status store_row(comms *c, int *number, mo_error *err)
{
    size_t n_kept = (size_t) mo_intern_count(c->rows);

    if (n_kept >= MO_INSTANCE_MAX_NUMBERS / (size_t) c->classes.n)
        return mo_fail(err, MO_E_LIMIT,
                       "more than %zu tensors that take different times "
                       "between %d different pairs of devices; round their "
                       "sizes, or use fewer devices",
                       n_kept, c->classes.n);
    return mo_intern_put(c->rows, (const char *) c->row,
                         (size_t) c->classes.n * sizeof *c->row, number, err);
}

static mo_status find_row_of_size(comms *c, int edge, int64_t bytes, int *row,
                                  mo_error *err)
{
    int n_sizes = mo_intern_count(c->sizes), size;
    mo_status status = mo_intern_put(c->sizes, (const char *) &bytes,
                                     sizeof bytes, &size, err);

    if (status == MO_OK && size == n_sizes) {
        status =
            MO_ARRAY_GROW(c->row_of_size, (size_t) size, c->sizes_room, err);
        clear_row(c);
        if (status == MO_OK)
            status = add_edge(c, edge, err);
        if (status == MO_OK)
            status = store_row(c, &c->row_of_size[size], err);
    }
    if (status == MO_OK)
        *row = c->row_of_size[size];
    return status;
}

/* Finds the row of the contiguous edges [first, last) of the graph. */
static mo_status find_row(comms *c, int first, int last, int *row,
                          mo_error *err)
{
    const mo_graph *g = c->m->g;
    int64_t bytes = bytes_of(g, first);
    bool has_own = g->comm_start[first] < g->comm_start[first + 1];
    mo_status status = MO_OK;

    if (last == first + 1 && bytes != MO_UNKNOWN && !has_own &&
        runs_of(g, first) == 1)
        return find_row_of_size(c, first, bytes, row, err);
    clear_row(c);
    for (int e = first; e < last && status == MO_OK; e++)
        status = add_edge(c, e, err);
    return status == MO_OK ? store_row(c, row, err) : status;
}

/* Flows are in the order of their edges. */
static mo_status fill_flows(comms *c, mo_error *err)
{
    const mo_graph *g = c->m->g;
    mo_instance *x = c->m->x;
    int e = 0;

    for (int q = 0; q < x->n_flows; q++) {
        int first = e;
        mo_status status;

        while (e < g->n_edges && g->edges[e].tensor == x->flows[q].tensor &&
               g->edges[e].to == x->flows[q].to)
            e++;
        status = find_row(c, first, e, &x->comm.flow_row[q], err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

/* Returns a time of a stored row. */
static int64_t kept_ns(const comms *c, int row, int cls)
{
    int64_t ns;

    memcpy(&ns, mo_intern_text(c->rows, row) + (size_t) cls * sizeof ns,
           sizeof ns);
    return ns;
}

/* A tensor sent once takes as long as its slowest flow. */
static mo_status fill_tensors(comms *c, mo_error *err)
{
    mo_instance *x = c->m->x;
    mo_status status = MO_OK;

    for (int t = 0; t < x->n_tensors && status == MO_OK; t++) {
        int first = x->tensor_start[t], q = first + 1;

        x->comm.tensor_row[t] = x->comm.flow_row[first];
        while (q < x->tensor_start[t + 1] &&
               x->comm.flow_row[q] == x->comm.flow_row[first])
            q++;
        if (q == x->tensor_start[t + 1])
            continue;
        clear_row(c);
        for (q = first; q < x->tensor_start[t + 1]; q++)
            for (int cls = 0; cls < c->classes.n; cls++)
                c->row[cls] = mo_max_i64(c->row[cls],
                                         kept_ns(c, x->comm.flow_row[q], cls));
        status = store_row(c, &x->comm.tensor_row[t], err);
    }
    return status;
}

/* Merges pair classes with equal times in all rows: so equal numbers make
 * equal instances, wherever the numbers came from. */
static mo_status merge_classes(comms *c, int *merged, int *n_merged,
                               mo_error *err)
{
    size_t n_rows = (size_t) mo_intern_count(c->rows);
    int64_t *column = calloc(n_rows + 1, sizeof *column);
    mo_intern *columns = mo_intern_new(c->arena);
    mo_status status = column && columns ? MO_OK : mo_fail_memory(err);

    for (int cls = 0; cls < c->classes.n && status == MO_OK; cls++) {
        for (size_t r = 0; r < n_rows; r++)
            column[r] = kept_ns(c, (int) r, cls);
        status = mo_intern_put(columns, (const char *) column,
                               n_rows * sizeof *column, &merged[cls], err);
    }
    if (status == MO_OK)
        *n_merged = mo_intern_count(columns);
    mo_intern_free(columns);
    free(column);
    return status;
}

static mo_status keep_rows(comms *c, mo_error *err)
{
    mo_instance *x = c->m->x;
    size_t n_pairs = (size_t) x->n_devices * (size_t) x->n_devices;
    int *merged =
        mo_arena_array(c->arena, (size_t) c->classes.n, sizeof *merged);
    mo_status status = merged ? merge_classes(c, merged, &x->comm.n_kinds, err)
                              : mo_fail_memory(err);

    if (status != MO_OK)
        return status;
    x->comm.n_rows = mo_intern_count(c->rows);
    x->comm.pair_kind =
        mo_arena_array(x->arena, n_pairs, sizeof *x->comm.pair_kind);
    x->comm.ns = mo_arena_array(
        x->arena, (size_t) x->comm.n_rows * (size_t) x->comm.n_kinds,
        sizeof *x->comm.ns);
    if (!x->comm.pair_kind || !x->comm.ns)
        return mo_fail_memory(err);
    for (size_t pair = 0; pair < n_pairs; pair++)
        x->comm.pair_kind[pair] = merged[c->classes.of_pair[pair]];
    for (int r = 0; r < x->comm.n_rows; r++)
        for (int cls = 0; cls < c->classes.n; cls++)
            x->comm.ns[(size_t) r * (size_t) x->comm.n_kinds +
                       (size_t) merged[cls]] = kept_ns(c, r, cls);
    return MO_OK;
}

static mo_status fill_comms(comms *c, mo_error *err)
{
    mo_status status =
        mo_instance_maker_pair_classes(c->m, c->arena, &c->classes, err);

    if (status != MO_OK)
        return status;
    c->row = mo_arena_array(c->arena, (size_t) c->classes.n, sizeof *c->row);
    status = c->row ? fill_flows(c, err) : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_instance_maker_check_missing(c->m, err);
    if (status == MO_OK)
        status = fill_tensors(c, err);
    if (status == MO_OK)
        status = keep_rows(c, err);
    return status;
}

mo_status mo_instance_maker_comms(mo_instance_maker *m, mo_error *err)
{
    mo_instance *x = m->x;
    comms c = { .m = m, .arena = mo_arena_new() };
    mo_status status;

    c.rows = c.arena ? mo_intern_new(c.arena) : NULL;
    c.sizes = c.arena ? mo_intern_new(c.arena) : NULL;
    x->comm.flow_row =
        mo_arena_array(x->arena, (size_t) x->n_flows, sizeof *x->comm.flow_row);
    x->comm.tensor_row = mo_arena_array(x->arena, (size_t) x->n_tensors,
                                        sizeof *x->comm.tensor_row);
    status = c.rows && c.sizes && x->comm.flow_row && x->comm.tensor_row
                 ? fill_comms(&c, err)
                 : mo_fail_memory(err);
    free(c.row_of_size);
    mo_intern_free(c.rows);
    mo_intern_free(c.sizes);
    mo_arena_free(c.arena);
    return status;
}
