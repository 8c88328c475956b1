/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/dag.h"

mo_dag mo_graph_dag(const mo_graph *g)
{
    return (mo_dag){
        .n = g->n_ops,
        .n_edges = g->n_edges,
        .out_start = g->out_start,
        .in_start = g->in_start,
        .to = g->edges ? &g->edges->to : NULL,
        .stride = sizeof *g->edges,
    };
}
