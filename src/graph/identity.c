#include <string.h>

#include "base/digest.h"
#include "graph/graph.h"

/*
 * Ids, tensors and columns are numbered by content, so hashing the arrays from
 * front to back depends on nothing else.  Counts go first, so that no two
 * graphs can spell the same sequence.
 */
static void hash_counts(const mo_graph *g, mo_digest *d)
{
    mo_digest_int(d, g->n_ops);
    mo_digest_int(d, g->n_constants);
    mo_digest_int(d, g->n_edges);
    mo_digest_int(d, g->n_feeds);
    mo_digest_int(d, g->n_tensors);
    mo_digest_int(d, g->n_time_columns);
    mo_digest_int(d, g->n_comm_columns);
}

/* What stands behind the file's name, "offset:size:dtype:shape": a file may be
 * called otherwise elsewhere. */
static const char *without_file(const char *weights)
{
    const char *at = weights ? weights + strlen(weights) : NULL;

    for (int colons = 0; colons < 4;) {
        if (at == weights)
            return weights;
        colons += *--at == ':';
    }
    return at;
}

static void hash_op(const mo_op *op, mo_digest *d)
{
    mo_digest_text(d, op->name);
    mo_digest_text(d, op->type);
    mo_digest_text(d, op->shape);
    mo_digest_text(d, op->dtype);
    mo_digest_text(d, op->attrs);
    mo_digest_text(d, without_file(op->weights));
    mo_digest_text(d, op->pin);
    mo_digest_text(d, op->colocate);
    mo_digest_text(d, op->members);
    mo_digest_double(d, op->flops);
    mo_digest_double(d, op->bytes);
    mo_digest_int(d, op->memory_bytes);
    mo_digest_int(d, op->weight_bytes);
    mo_digest_int(d, op->workspace_bytes);
    mo_digest_int(d, op->output_bytes);
    mo_digest_int(d, op->is_output);
}

/* A named port counts by its name: its number depends on which other names
 * there are. */
static void hash_port(const mo_graph *g, int port, mo_digest *d)
{
    mo_digest_int(d, port < MO_PORT_NONE ? -2 : port);
    if (port < MO_PORT_NONE)
        mo_digest_text(d, g->port_names[-2 - port]);
}

static void hash_edge(const mo_graph *g, const mo_edge *edge, mo_digest *d)
{
    mo_digest_int(d, edge->from);
    mo_digest_int(d, edge->to);
    mo_digest_int(d, edge->tensor);
    mo_digest_int(d, edge->bytes);
    hash_port(g, edge->dst_port, d);
}

static void hash_edges(const mo_graph *g, mo_digest *d)
{
    for (int e = 0; e < g->n_edges; e++)
        hash_edge(g, &g->edges[e], d);
    for (int t = 0; t < g->n_tensors; t++) {
        hash_port(g, g->tensors[t].port, d);
        mo_digest_text(d, g->tensors[t].key);
    }
    for (int f = 0; f < g->n_feeds; f++) {
        hash_edge(g, &g->feeds[f], d);
        hash_port(g, g->feed_port[f], d);
    }
}

static void hash_measures(const mo_column *columns, int n_columns,
                          const mo_measure *measures, const int *start,
                          int n_owners, mo_digest *d)
{
    for (int c = 0; c < n_columns; c++) {
        mo_digest_text(d, columns[c].key);
        mo_digest_double(d, columns[c].fallback_us);
    }
    if (n_columns == 0)
        return;
    for (int i = 0; i < n_owners; i++) {
        mo_digest_int(d, start[i + 1] - start[i]);
        for (int k = start[i]; k < start[i + 1]; k++) {
            mo_digest_int(d, measures[k].column);
            mo_digest_double(d, measures[k].us);
        }
    }
}

mo_status mo_graph_digest(const mo_graph *g, uint64_t *digest, mo_error *err)
{
    mo_digest *d = mo_digest_new();

    if (!d)
        return mo_fail_memory(err);
    hash_counts(g, d);
    for (int i = 0; i < g->n_ops + g->n_constants; i++)
        hash_op(&g->ops[i], d);
    hash_edges(g, d);
    hash_measures(g->time_columns, g->n_time_columns, g->times, g->time_start,
                  g->n_ops + g->n_constants, d);
    hash_measures(g->comm_columns, g->n_comm_columns, g->comms, g->comm_start,
                  g->n_edges, d);
    *digest = mo_digest_value(d);
    mo_digest_free(d);
    return MO_OK;
}
