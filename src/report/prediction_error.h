/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prediction_error.h - errors of predicted times, by operator class and type,
 * and by device, as text or JSON.
 */
#ifndef MO_REPORT_PREDICTION_ERROR_H
#define MO_REPORT_PREDICTION_ERROR_H

#include "base/error.h"
#include "base/json_writer.h"
#include "base/out.h"
#include "cost/calibrate/accuracy.h"
#include "cost/calibrate/sample.h"

/* Writes a table: a line for each predicted class, one for all of them, and
 * one for each device with the sums. */
mo_status mo_report_prediction_error_text(const mo_predictions *predictions,
                                          const mo_samples *samples,
                                          mo_out *out, mo_error *err);

/* Writes "classes": [{...}, ...], "devices": [{...}, ...]: two members of an
 * object that the caller opens and closes. */
mo_status mo_report_prediction_error_json(const mo_predictions *predictions,
                                          const mo_samples *samples,
                                          mo_json_writer *w, mo_error *err);

#endif
