/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/search/bound/fork_join_case.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

static int find_op(const mo_instance *x, const char *name)
{
    for (int i = 0; i < x->n; i++)
        if (strcmp(x->op_names[i], name) == 0)
            return i;
    return MO_FREE;
}

static void find_fork_join(fork_join_case *f, const mo_instance *x,
                           const mo_regime *regime)
{
    f->places = (mo_allowed_devices){
        x, *regime, calloc((size_t) x->n * (size_t) x->n_devices, 1)
    };
    MUST(mo_allowed_devices_find(&f->places, &err));
    f->ops = calloc((size_t) x->n, sizeof *f->ops);
    f->segment =
        (mo_bound_segment){ find_op(x, "u"), find_op(x, "v"), f->ops, 0 };
    for (int i = 0; i < x->n; i++)
        if (i != f->segment.u && i != f->segment.v)
            f->ops[f->segment.n++] = i;
    MUST(mo_forkjoin_find(&f->places, &f->segment, &f->fork, &err));
}

void fork_join_case_make(fork_join_case *f, const char *graph,
                         const char *cluster, const mo_regime *regime)
{
    *f = (fork_join_case){ 0 };
    problem_make(&f->problem, graph, cluster, NULL);
    find_fork_join(f, f->problem.x, regime);
}

void fork_join_case_find(fork_join_case *f, const mo_instance *x,
                         const mo_regime *regime)
{
    *f = (fork_join_case){ 0 };
    find_fork_join(f, x, regime);
}

void fork_join_case_clear(fork_join_case *f)
{
    mo_forkjoin_free(f->fork);
    free(f->ops);
    free(f->places.allowed);
    problem_clear(&f->problem);
}
