/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ingest/work_case.h"

#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "tests/support/suite.h"
#include "ingest/operator.h"

/* Adds a source of one tensor and its edge to the op in slot to. */
static void add_input(mo_builder *b, const work_input *in, int number, int to)
{
    char name[16];
    mo_op *op;
    mo_builder_edge edge = { .to = to,
                             .src_port = MO_PORT_NONE,
                             .dst_port = in->port,
                             .bytes = MO_UNKNOWN };

    snprintf(name, sizeof name, "in%d", number);
    MUST(mo_builder_slot(b, name, strlen(name), 0, &edge.from, &err));
    MUST(mo_builder_define(b, edge.from, 0, &op, &err));
    op->type = in->is_constant ? "Const" : "Parameter";
    op->shape = in->shape;
    op->dtype = "f32";
    if (in->is_constant)
        mo_builder_mark_constant(b, edge.from);
    MUST(mo_builder_add_edge(b, &edge, &number, &err));
}

mo_graph *work_graph(const mo_op *x, const work_input *inputs, int n)
{
    mo_builder *b;
    mo_graph *g;
    mo_op *op;
    int slot;

    MUST(mo_builder_new("inline", &b, &err));
    MUST(mo_builder_slot(b, "x", 1, 0, &slot, &err));
    MUST(mo_builder_define(b, slot, 0, &op, &err));
    op->type = x->type;
    op->shape = x->shape;
    op->dtype = x->dtype;
    op->attrs = x->attrs;
    if (x->weight_bytes)
        op->weight_bytes = x->weight_bytes;
    for (int i = 0; i < n; i++)
        add_input(b, &inputs[i], i, slot);
    MUST(mo_builder_finish(b, &g, &err));
    mo_operator_resolve(g);
    mo_builder_free(b);
    return g;
}

const mo_op *work_op(const mo_graph *g)
{
    return &g->ops[mo_graph_find(g, "x")];
}
