/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/models/frame_case.h"

#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

mo_frame *frame_of(const problem *p, const mo_regime *regime)
{
    mo_frame *frame = NULL;

    MUST(mo_frame_make(p->x, regime, false, &frame, &err));
    return frame;
}

int64_t frame_head(const mo_frame *f, int op, int device)
{
    return f->head_ns[op * f->x->n_devices + device];
}

int64_t frame_tail(const mo_frame *f, int op, int device)
{
    return f->tail_ns[op * f->x->n_devices + device];
}

void frame_world_make_open(frame_world *w, int seed, int most_ops, double slack)
{
    random_problem r;

    *w = (frame_world){ .seed = (unsigned) seed };
    w->regime.congestion = (mo_congestion) (seed % 4);
    w->regime.tensors = (mo_tensors) (seed / 4 % 2);
    w->regime.memory = (mo_memory) (seed / 8 % 3);
    random_problem_sized(&r, w->seed, 4, most_ops);
    problem_make(&w->p, r.graph, r.cluster, NULL);
    random_problem_clear(&r);
    MUST(mo_frame_make_open(w->p.x, &w->regime, false, slack, &w->f, &err));
}

void frame_world_make(frame_world *w, int seed, int most_ops)
{
    frame_world_make_open(w, seed, most_ops, 0);
}

void frame_world_clear(frame_world *w)
{
    mo_frame_free(w->f);
    problem_clear(&w->p);
}
