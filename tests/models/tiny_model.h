/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiny_model.h - test fixture: a model with a column of each kind, of a dummy
 * formulation.
 *
 *     tiny_model tiny;
 *
 *     tiny_model_make(&tiny, "a t.A=1 t.B=2; b t.A=3 t.B=4; a>b bytes=8");
 *     MUST(mo_model_write(&tiny.model, sink, &err));
 *     tiny_model_clear(&tiny);
 *
 * The devices are A and B.  After tiny_model_send_once its one transfer is a
 * tensor that is sent to device B for all readers.
 */
#ifndef MO_TESTS_MODELS_TINY_MODEL_H
#define MO_TESTS_MODELS_TINY_MODEL_H

#include "models/model.h"
#include "tests/support/problem.h"

typedef struct tiny_model {
    problem p;
    mo_frame frame;
    mo_identity identity;
    mo_formulation formulation;
    bool once;
    int rows_sent; /* number of passes over the rows */
    mo_model model;
} tiny_model;

/* The address of tiny must not change. */
void tiny_model_make(tiny_model *tiny, const char *graph);
void tiny_model_send_once(tiny_model *tiny);
void tiny_model_clear(tiny_model *tiny);

/* Returns the output of write as a text; the caller frees it. */
char *tiny_model_text(tiny_model *tiny,
                      mo_status (*sink_new)(mo_out *out, const tiny_model *tiny,
                                            mo_sink **sink, mo_error *err));

#endif
