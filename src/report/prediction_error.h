/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accuracy.h - how far predictions are from measurements, by operator class and
 * by device, told to a person or a program.
 */
#ifndef MO_REPORT_PREDICTION_ERROR_H
#define MO_REPORT_PREDICTION_ERROR_H

#include "base/error.h"
#include "base/out.h"
#include "cost/calibrate/accuracy.h"
#include "cost/calibrate/sample.h"

/* A table: a line for each class that was guessed at, one for all of them, and
 * one for each device with the sums. */
mo_status mo_report_prediction_error_text(const mo_predictions *guesses,
                                          const mo_samples *samples,
                                          mo_out *out, mo_error *err);

/* "classes": [{...}, ...], "devices": [{...}, ...]: two members of an object
 * that the caller opened and closes. */
mo_status mo_report_prediction_error_json(const mo_predictions *guesses,
                                          const mo_samples *samples,
                                          mo_out *out, mo_error *err);

#endif
