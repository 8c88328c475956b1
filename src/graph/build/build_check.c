/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/build/build_check.h"

static mo_status refuse_undefined(const mo_builder *b, int slot, mo_error *err)
{
    const char *name = mo_intern_text(b->names, slot);
    int line = b->ops[slot].line, shown = mo_builder_name_width(name);

    for (size_t e = 0; e < b->n_edges; e++) {
        const mo_edge *edge = &b->edges[e];
        if (edge->from == slot || edge->to == slot)
            return mo_fail_at(err, MO_E_INPUT, b->file, line,
                              "edge %s '%.*s', which is no op of this graph; "
                              "define it or remove the edge",
                              edge->to == slot ? "to" : "from", shown, name);
    }
    return mo_fail_at(err, MO_E_INPUT, b->file, line,
                      "'%.*s' is no op of this graph; define it", shown, name);
}

static mo_status refuse_dependence(const mo_builder *b, const mo_edge *edge,
                                   mo_error *err)
{
    const char *from = b->ops[edge->from].name, *to = b->ops[edge->to].name;

    return mo_fail_at(err, MO_E_INPUT, b->file, edge->line,
                      "constant '%.*s' depends on op '%.*s', but may depend on "
                      "constants only; make it an op or remove the edge",
                      mo_builder_name_width(to), to,
                      mo_builder_name_width(from), from);
}

mo_status mo_build_check_edges(const mo_builder *builder, mo_error *err)
{
    for (size_t i = 0; i < builder->n_ops; i++)
        if (!builder->ops[i].name)
            return refuse_undefined(builder, (int) i, err);
    for (size_t e = 0; e < builder->n_edges; e++) {
        const mo_edge *edge = &builder->edges[e];
        if (builder->constants[edge->to] && !builder->constants[edge->from])
            return refuse_dependence(builder, edge, err);
    }
    return MO_OK;
}
