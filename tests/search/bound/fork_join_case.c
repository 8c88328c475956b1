/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/search/bound/fork_join_case.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

static int end_of(const mo_instance *x, const char *name)
{
    for (int i = 0; i < x->n; i++)
        if (strcmp(x->op_names[i], name) == 0)
            return i;
    return MO_FREE;
}

static void find(forked *f, const mo_instance *x, const mo_regime *regime)
{
    f->places = (mo_allowed_devices){
        x, *regime, calloc((size_t) x->n * (size_t) x->n_devices, 1)
    };
    MUST(mo_allowed_devices_find(&f->places, &err));
    f->ops = calloc((size_t) x->n, sizeof *f->ops);
    f->segment =
        (mo_bound_segment){ end_of(x, "u"), end_of(x, "v"), f->ops, 0 };
    for (int i = 0; i < x->n; i++)
        if (i != f->segment.u && i != f->segment.v)
            f->ops[f->segment.n++] = i;
    MUST(mo_forkjoin_find(&f->places, &f->segment, &f->fork, &err));
}

void forked_make(forked *f, const char *graph, const char *cluster,
                 const mo_regime *regime)
{
    *f = (forked){ 0 };
    problem_make(&f->problem, graph, cluster, NULL);
    find(f, f->problem.x, regime);
}

void forked_find(forked *f, const mo_instance *x, const mo_regime *regime)
{
    *f = (forked){ 0 };
    find(f, x, regime);
}

void forked_clear(forked *f)
{
    mo_forkjoin_free(f->fork);
    free(f->ops);
    free(f->places.allowed);
    problem_clear(&f->problem);
}
