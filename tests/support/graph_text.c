/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/support/graph_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char line[20000];
static size_t used;

static void append(const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line + used, sizeof line - used, format, args);
    va_end(args);
    if (n < 0 || (size_t) n >= sizeof line - used)
        abort();
    used += (size_t) n;
}

static void append_text(const char *name, const char *text)
{
    if (text)
        append(" %s=%s", name, text);
}

static void say_number(const char *name, double number)
{
    if (number >= 0)
        append(" %s=%.17g", name, number);
}

static void say_size(const char *name, int64_t size)
{
    if (size >= 0)
        append(" %s=%lld", name, (long long) size);
}

static void say_port(const mo_graph *g, int port)
{
    if (port >= 0)
        append(":%d", port);
    else if (port != MO_PORT_NONE)
        append(":%s", g->port_names[-2 - port]);
}

static void say_measures(const mo_measure_column *columns,
                         const mo_measure *measures, int from, int to)
{
    for (int i = from; i < to; i++)
        append(" %s=%.17g", columns[measures[i].column].key, measures[i].us);
}

static void say_op(const mo_graph *g, int i)
{
    const mo_op *op = &g->ops[i];

    append("%s%s", i < g->n_ops ? "" : "$", op->name);
    append_text("op", op->type);
    append_text("name", op->label);
    if (op->memory_bytes > 0)
        say_size("memory", op->memory_bytes);
    say_size("weight", op->weight_bytes);
    say_size("workspace", op->workspace_bytes);
    say_number("flops", op->flops);
    say_number("bytes", op->bytes);
    say_size("output", op->output_bytes);
    append_text("shape", op->shape);
    append_text("dtype", op->dtype);
    append_text("attrs", op->attrs);
    append_text("weights", op->weights);
    append_text("pin", op->pin);
    append_text("colocate", op->colocate);
    append_text("members", op->members);
    if (op->is_output)
        append(" leaves");
    if (g->n_time_columns > 0)
        say_measures(g->time_columns, g->times, g->time_start[i],
                     g->time_start[i + 1]);
}

static void say_edge(const mo_graph *g, const mo_edge *edge, int src_port,
                     const char *tensor)
{
    append("%s", g->ops[edge->from].name);
    say_port(g, src_port);
    append("->%s", g->ops[edge->to].name);
    say_port(g, edge->dst_port);
    say_size("bytes", edge->bytes);
    append_text("tensor", tensor);
}

static void say_edges(const mo_graph *g)
{
    for (int e = 0; e < g->n_edges; e++) {
        const mo_tensor *tensor = &g->tensors[g->edges[e].tensor];

        append(e == 0 ? "; " : " | ");
        say_edge(g, &g->edges[e], tensor->port, tensor->key);
        if (g->n_comm_columns > 0)
            say_measures(g->comm_columns, g->comms, g->comm_start[e],
                         g->comm_start[e + 1]);
    }
    for (int f = 0; f < g->n_feeds; f++) {
        append(g->n_edges + f == 0 ? "; " : " | ");
        say_edge(g, &g->feeds[f], g->feed_port[f], NULL);
    }
}

static void say_defaults(const mo_measure_column *columns, int n)
{
    for (int c = 0; c < n; c++)
        if (!isnan(columns[c].fallback_us))
            append("; %s=%.17g", columns[c].key, columns[c].fallback_us);
}

const char *graph_to_text(const mo_graph *g)
{
    used = 0;
    line[0] = '\0';
    for (int i = 0; i < g->n_ops + g->n_constants; i++) {
        if (i > 0)
            append(" | ");
        say_op(g, i);
    }
    say_edges(g);
    say_defaults(g->time_columns, g->n_time_columns);
    say_defaults(g->comm_columns, g->n_comm_columns);
    return line;
}
