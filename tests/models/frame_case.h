/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_case.h - test fixture: problems, given or random, presolved to a frame
 * (models/frame/frame.h).
 */
#ifndef MO_TESTS_MODELS_FRAME_CASE_H
#define MO_TESTS_MODELS_FRAME_CASE_H

#include "models/frame/frame.h"

#include "tests/support/problem.h"

mo_frame *frame_of(const problem *p, const mo_regime *regime);

int64_t frame_head(const mo_frame *f, int op, int device);
int64_t frame_tail(const mo_frame *f, int op, int device);

/* A random problem in one of the regimes, and its frame. */
typedef struct frame_world {
    unsigned seed;
    problem p;
    mo_regime regime;
    mo_frame *f;
} frame_world;

/* Of four ops and more; with that much slack, or with none. */
void frame_world_make_open(frame_world *w, int seed, int most_ops,
                           double slack);
void frame_world_make(frame_world *w, int seed, int most_ops);
void frame_world_clear(frame_world *w);

#endif
