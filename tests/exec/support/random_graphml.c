/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a generated network from its GraphML nodes and edges. */
#include <stdlib.h>

#include "ingest/read.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

static const char keys[] =
    "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>"
    "<key id='op' for='node' attr.name='op' attr.type='string'/>"
    "<key id='shape' for='node' attr.name='shape' attr.type='string'/>"
    "<key id='dtype' for='node' attr.name='dtype' attr.type='string'/>"
    "<key id='attrs' for='node' attr.name='attrs' attr.type='string'/>"
    "<key id='src_port' for='edge' attr.name='src_port' attr.type='int'/>"
    "<key id='dst_port' for='edge' attr.name='dst_port' attr.type='int'/>"
    "<graph edgedefault='directed'>";

static void put(mo_out *out, mo_out *part)
{
    size_t size;
    const char *text = mo_out_borrow(part, &size);

    ck_assert_ptr_nonnull(text);
    mo_out_bytes(out, text, size);
}

mo_graph *random_graphml(mo_out *nodes, mo_out *edges)
{
    mo_out *out = NULL;
    mo_graph *graph = NULL;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_out_text(out, keys);
    put(out, nodes);
    put(out, edges);
    mo_out_text(out, "</graph></graphml>");
    text = mo_out_take(out, &size);
    ck_assert_ptr_nonnull(text);
    MUST(mo_read_memory("network", text, size, NULL, &graph, NULL, &err));
    free(text);
    mo_out_abandon(out);
    mo_out_abandon(edges);
    mo_out_abandon(nodes);
    return graph;
}
