/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - a MILP model: a formulation applied to a presolved instance
 * (frame/frame.h), ready to be written, with its identity columns.
 */
#ifndef MO_MODELS_MODEL_H
#define MO_MODELS_MODEL_H

#include "base/error.h"
#include "models/formulation.h"
#include "models/identity.h"
#include "models/sink/sink.h"

typedef struct mo_model {
    const mo_formulation *formulation;
    const mo_frame *frame; /* as given, or the formulation's own */
    const mo_identity *identity;
    void *state;
} mo_model;

/* The frame and the identity must outlive the model; the identity, which holds
 * the unit of the model's frame, may be filled in later.  The caller releases
 * the model with mo_model_clear(). */
mo_status mo_model_make(const mo_formulation *formulation,
                        const mo_frame *frame, const mo_identity *identity,
                        mo_model *model, mo_error *err);
void mo_model_clear(mo_model *model);

/* Return the number of transfers with columns, and the number of each
 * (models/transfer_number.h). */
int mo_model_transfers(const mo_model *model);
int mo_model_transfer(const mo_model *model, int i);

/* Returns whether the values of its columns are a feasible MIP start. */
bool mo_model_has_start(const mo_model *model);

/* Streams the model through the sink, in as many passes as it needs, and ends
 * it.  The identity columns come last, kept by one row.  Returns the first
 * error of the sink. */
mo_status mo_model_write(const mo_model *model, mo_sink *sink, mo_error *err);

#endif
