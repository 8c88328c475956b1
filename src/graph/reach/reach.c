/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection of a reachability index by memory: bit matrix or interval labels.
 */
#include "graph/reach.h"

#include <assert.h>
#include <stdlib.h>

#include "graph/reach/closure.h"
#include "graph/reach/interval_labels.h"

struct mo_dag_reach {
    int n_ops;
    bool has_closure; /* else labels */
    mo_closure closure;
    mo_interval_labels labels;
};

mo_status mo_dag_reach_new(const mo_dag *dag, size_t max_bytes,
                           mo_dag_reach **reach, mo_error *err)
{
    mo_dag_reach *r = calloc(1, sizeof *r);
    mo_status status;

    if (!r)
        return mo_fail_memory(err);
    r->n_ops = dag->n;
    r->has_closure = mo_closure_bytes(dag->n) <= max_bytes;
    status = r->has_closure ? mo_closure_make(dag, &r->closure, err)
                            : mo_interval_labels_make(dag, &r->labels, err);
    if (status != MO_OK) {
        free(r);
        return status;
    }
    *reach = r;
    return MO_OK;
}

void mo_dag_reach_free(mo_dag_reach *reach)
{
    if (!reach)
        return;
    free(reach->closure.words);
    mo_interval_labels_clear(&reach->labels);
    free(reach);
}

bool mo_dag_reach_path(mo_dag_reach *reach, int a, int b)
{
    assert(a >= 0 && a < reach->n_ops && b >= 0 && b < reach->n_ops);
    if (a >= b)
        return a == b; /* ids are topological */
    return reach->has_closure ? mo_closure_path(&reach->closure, a, b)
                              : mo_interval_labels_path(&reach->labels, a, b);
}

bool mo_dag_reach_incomparable(mo_dag_reach *reach, int a, int b)
{
    return a < b ? !mo_dag_reach_path(reach, a, b)
                 : !mo_dag_reach_path(reach, b, a);
}

size_t mo_dag_reach_bytes(const mo_dag_reach *reach)
{
    return sizeof *reach + (reach->has_closure
                                ? reach->closure.bytes
                                : mo_interval_labels_bytes(reach->n_ops));
}
