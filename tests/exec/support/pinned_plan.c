/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/support/pinned_plan.h"

#include <stdio.h>

#include "tests/support/suite.h"

#define ALL "* t.A=1 t.B=1 pin=A shape=4,4 dtype=f32; *>* bytes=64; "

/* Every op begins a microsecond after the one before it in the text. */
static void make_schedule(random_plan *r)
{
    const mo_instance *x = r->problem.x;
    mo_regime regime = { .tensors = MO_TENSORS_PER_EDGE,
                         .memory = MO_MEMORY_NONE };
    mo_schedule *s;

    MUST(mo_schedule_new(x, &regime, x->pin, &r->schedule, &err));
    s = r->schedule;
    for (int i = 0; i < x->n; i++)
        s->start_ns[i] = INT64_C(1000) * r->problem.g->ops[i].line;
    for (int t = 0; t < s->n_transfers; t++)
        s->transfers[t].start_ns =
            s->start_ns[x->flows[s->transfers[t].item].to];
}

void pinned_plan_make(random_plan *r, const char *graph, int64_t capacity_bytes)
{
    const mo_weights_options options = { .random = true };
    size_t size = sizeof ALL + strlen(graph);
    char *text = malloc(size);

    ck_assert_ptr_nonnull(text);
    snprintf(text, size, ALL "%s", graph);
    memset(r, 0, sizeof *r);
    r->fine = problem_graph(text);
    problem_make(&r->problem, text, "A; B; A-B gbps=8", NULL);
    free(text);
    for (int d = 0; d < r->problem.x->n_devices && capacity_bytes > 0; d++)
        r->problem.x->capacity_bytes[d] = capacity_bytes;
    make_schedule(r);
    MUST(mo_weights_new(r->fine, &options, &r->constants, &err));
    r->source = (mo_plan_source){ .fine = r->fine,
                                  .placed = r->problem.g,
                                  .instance = r->problem.x,
                                  .schedule = r->schedule,
                                  .constants = r->constants };
    MUST(mo_plan_build(&r->source, &r->plan, &err));
}
