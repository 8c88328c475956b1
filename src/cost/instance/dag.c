/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/instance.h"

mo_dag mo_instance_dag(const mo_instance *x)
{
    return (mo_dag){
        .n = x->n,
        .n_edges = x->n_flows,
        .out_start = x->out_start,
        .in_start = x->in_start,
        .to = x->flows ? &x->flows->to : NULL,
        .stride = sizeof *x->flows,
    };
}
