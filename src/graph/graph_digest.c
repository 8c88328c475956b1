/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content digest of a graph.
 *
 * Ids, tensors and columns are numbered by content, so hashing the arrays from
 * front to back depends on nothing else.  Counts go first, so that no two
 * graphs can spell the same sequence.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "graph/graph.h"
#include "graph/phases.h"

/* Returns the part behind the file's name, "offset:size:dtype:shape": the same
 * weights may lie in a file of another name. NULL stays NULL. */
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

/* Operator types are hashed without regard to case. */
static void hash_type(const char *type, mo_digest *d)
{
    char small[128];
    size_t length = type ? strlen(type) : 0;

    mo_digest_int(d, type ? (int64_t) length : -1);
    for (size_t at = 0; at < length; at += sizeof small) {
        size_t n = length - at < sizeof small ? length - at : sizeof small;

        for (size_t i = 0; i < n; i++)
            small[i] = (char) (type[at + i] >= 'A' && type[at + i] <= 'Z'
                                   ? type[at + i] - 'A' + 'a'
                                   : type[at + i]);
        mo_digest_bytes(d, small, n);
    }
}

static size_t json_string_length(const char *json)
{
    size_t n = 1;

    while (json[n] != '\0' && json[n] != '"')
        n += json[n] == '\\' && json[n + 1] != '\0' ? 2 : 1;
    return n + (json[n] == '"');
}

/* Hashes a JSON object without the white space between its tokens. */
static void hash_json(const char *json, mo_digest *d)
{
    int64_t hashed = 0;

    if (!json) {
        mo_digest_int(d, -1);
        return;
    }
    while (*json != '\0') {
        size_t n = *json == '"' ? json_string_length(json)
                                : strcspn(json, " \t\r\n\"");

        mo_digest_bytes(d, json, n);
        hashed += (int64_t) n;
        json += n;
        json += strspn(json, " \t\r\n");
    }
    mo_digest_int(d, hashed);
}

/* A named port is hashed by its name: its number depends on which other names
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

/* Numbers the columns that have any value; the others get -1. The caller frees
 * the result; NULL when memory is exhausted. */
static int *number_columns(const mo_measure_column *columns, int n_columns,
                           const mo_measure *measures, int n_measures)
{
    int *numbers = calloc((size_t) n_columns + 1, sizeof *numbers);
    int n = 0;

    if (!numbers)
        return NULL;
    for (int k = 0; k < n_measures; k++)
        numbers[measures[k].column] = 1;
    for (int c = 0; c < n_columns; c++)
        numbers[c] = numbers[c] || !isnan(columns[c].fallback_us) ? n++ : -1;
    return numbers;
}

static mo_status hash_measures(const mo_measure_column *columns, int n_columns,
                               const mo_measure *measures, const int *start,
                               int n_owners, mo_digest *d, mo_error *err)
{
    int *numbers;

    if (n_columns == 0)
        return MO_OK;
    numbers = number_columns(columns, n_columns, measures, start[n_owners]);
    if (!numbers)
        return mo_fail_memory(err);
    for (int c = 0; c < n_columns; c++) {
        if (numbers[c] < 0)
            continue;
        mo_digest_text(d, columns[c].key);
        mo_digest_double(d, columns[c].fallback_us);
    }
    for (int i = 0; i < n_owners; i++) {
        for (int k = start[i]; k < start[i + 1]; k++) {
            mo_digest_int(d, i);
            mo_digest_int(d, numbers[measures[k].column]);
            mo_digest_double(d, measures[k].us);
        }
    }
    free(numbers);
    return MO_OK;
}

mo_status mo_graph_digest(const mo_graph *g, uint64_t *digest, mo_error *err)
{
    mo_digest *d = mo_digest_new();
    mo_status status = MO_OK;

    if (!d)
        return mo_fail_memory(err);
    for (int p = 0; g->phases && p < g->phases->n && status == MO_OK; p++) {
        const mo_phase *phase = &g->phases->items[p];
        uint64_t inner = 0;

        status = mo_graph_digest(phase->graph, &inner, err);
        mo_digest_text(d, phase->name);
        mo_digest_int(d, phase->weight);
        mo_digest_int(d, (int64_t) inner);
    }
    if (status != MO_OK) {
        mo_digest_free(d);
        return status;
    }
    mo_digest_int(d, g->n_ops);
    mo_digest_int(d, g->n_constants);
    mo_digest_int(d, g->n_edges);
    mo_digest_int(d, g->n_feeds);
    mo_digest_int(d, g->n_tensors);
    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        const mo_op *op = &g->ops[i];

        mo_digest_text(d, op->name);
        hash_type(op->type, d);
        mo_digest_text(d, op->shape);
        mo_digest_text(d, op->dtype);
        hash_json(op->attrs, d);
        mo_digest_text(d, without_file(op->weights));
        mo_digest_text(d, op->pin);
        mo_digest_text(d, op->colocate);
        hash_json(op->members, d);
        mo_digest_double(d, op->flops);
        mo_digest_double(d, op->bytes);
        mo_digest_int(d, op->memory_bytes);
        mo_digest_int(d, op->weight_bytes);
        mo_digest_int(d, op->workspace_bytes);
        mo_digest_int(d, op->output_bytes);
        mo_digest_int(d, op->is_output);
    }
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
    status = hash_measures(g->time_columns, g->n_time_columns, g->times,
                           g->time_start, g->n_ops + g->n_constants, d, err);
    if (status == MO_OK)
        status = hash_measures(g->comm_columns, g->n_comm_columns, g->comms,
                               g->comm_start, g->n_edges, d, err);
    if (status == MO_OK)
        *digest = mo_digest_value(d);
    mo_digest_free(d);
    return status;
}
