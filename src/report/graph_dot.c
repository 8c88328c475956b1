/* SPDX-License-Identifier: Apache-2.0 */
/* Graph in the DOT language of Graphviz. */
#include "report/graph_info.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "graph/cut.h"
#include "report/format_units.h"

/*
 * Contents of a quoted string. Quotes and backslashes are escaped by a
 * backslash, control characters become \n or the escape and their number.
 *
 * In an id that is \x1b: Graphviz takes ids literally, and a backslash in a
 * name is doubled there. In a label it interprets escapes, and \\x1b shows as
 * \x1b.
 */
#define ID_ESCAPE    "\\x"
#define LABEL_ESCAPE "\\\\x"

static void put_inside(mo_out *out, const char *text, const char *escape)
{
    for (const char *s = text; *s; s++) {
        unsigned char c = (unsigned char) *s;

        if (c == '\n')
            mo_out_text(out, "\\n");
        else if (c < ' ' || c == 0x7f)
            mo_out_printf(out, "%s%02x", escape, c);
        else if (c == '"' || c == '\\')
            mo_out_printf(out, "\\%c", c);
        else
            mo_out_char(out, (char) c);
    }
}

static void put_quoted(mo_out *out, const char *text)
{
    mo_out_char(out, '"');
    put_inside(out, text, ID_ESCAPE);
    mo_out_char(out, '"');
}

static void put_node(const mo_op *op, bool is_cut, mo_out *out)
{
    mo_out_text(out, "  ");
    put_quoted(out, op->name);
    mo_out_text(out, " [label=\"");
    put_inside(out, op->name, LABEL_ESCAPE);
    if (op->type) {
        mo_out_text(out, "\\n");
        put_inside(out, op->type, LABEL_ESCAPE);
    }
    mo_out_char(out, '"');
    if (is_cut)
        mo_out_text(out, ", style=filled, fillcolor=gold");
    mo_out_text(out, "];\n");
}

static void put_graph(const mo_report_graph *d, const int *cuts, int n_cuts,
                      mo_out *out)
{
    const mo_graph *g = d->graph;
    int next_cut = 0; /* ids and cuts both ascend */

    mo_out_text(out, "digraph ");
    put_quoted(out, g->name ? g->name : d->file);
    mo_out_text(out, " {\n  node [shape=box];\n");
    for (int op = 0; op < g->n_ops; op++) {
        bool is_cut = next_cut < n_cuts && cuts[next_cut] == op;

        next_cut += is_cut;
        put_node(&g->ops[op], is_cut, out);
    }
    for (int e = 0; e < g->n_edges; e++) {
        const mo_edge *edge = &g->edges[e];
        char text[MO_FORMAT_SIZE];

        mo_out_text(out, "  ");
        put_quoted(out, g->ops[edge->from].name);
        mo_out_text(out, " -> ");
        put_quoted(out, g->ops[edge->to].name);
        if (edge->bytes >= 0)
            mo_out_printf(out, " [label=\"%s\"]",
                          mo_format_bytes((double) edge->bytes, text));
        mo_out_text(out, ";\n");
    }
    mo_out_text(out, "}\n");
}

mo_status mo_report_graph_dot(const mo_report_graph *description, mo_out *out,
                              mo_error *err)
{
    mo_dag dag = mo_graph_dag(description->graph);
    int *cuts, n_cuts;
    mo_status status = mo_dag_clean_cuts(&dag, &cuts, &n_cuts, err);

    if (status != MO_OK)
        return status;
    put_graph(description, cuts, n_cuts, out);
    free(cuts);
    return MO_OK;
}
