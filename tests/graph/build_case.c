/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/graph/build_case.h"

#include <string.h>

#include "tests/support/suite.h"

mo_builder *build_new(void)
{
    mo_builder *b = NULL;

    MUST(mo_builder_new("file.graphml", &b, &err));
    return b;
}

int build_slot(mo_builder *b, const char *name, int line)
{
    int slot = -1;

    MUST(mo_builder_slot(b, name, strlen(name), line, &slot, &err));
    return slot;
}

mo_op *build_op(mo_builder *b, const char *name, int line)
{
    mo_op *op = NULL;

    MUST(mo_builder_define(b, build_slot(b, name, line), line, &op, &err));
    return op;
}

const char *build_text(mo_builder *b, const char *text)
{
    const char *kept = NULL;

    MUST(mo_builder_text(b, text, strlen(text), &kept, &err));
    return kept;
}

int build_port(mo_builder *b, const char *name)
{
    int port = MO_PORT_NONE;

    MUST(mo_builder_port(b, name, strlen(name), &port, &err));
    return port;
}

mo_builder_edge build_edge(mo_builder *b, const char *from, const char *to)
{
    return (mo_builder_edge){ .from = build_slot(b, from, 1),
                              .to = build_slot(b, to, 1),
                              .src_port = MO_PORT_NONE,
                              .dst_port = MO_PORT_NONE,
                              .bytes = MO_UNKNOWN };
}

int build_add(mo_builder *b, mo_builder_edge edge)
{
    int number = -1;

    MUST(mo_builder_add_edge(b, &edge, &number, &err));
    return number;
}

mo_graph *build_finish(mo_builder *b)
{
    mo_graph *g = NULL;

    MUST(mo_builder_finish(b, &g, &err));
    mo_builder_free(b);
    return g;
}
