/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_quality.h - report of a fit: training data, and errors on held-out data;
 * as text or JSON.
 */
#ifndef MO_REPORT_FIT_QUALITY_H
#define MO_REPORT_FIT_QUALITY_H

#include "base/error.h"
#include "base/out.h"
#include "cost/calibrate/accuracy.h"
#include "cost/calibrate/holdout.h"
#include "cost/calibrate/sample.h"

typedef struct mo_report_fit {
    const mo_samples *samples;
    const mo_holdout_set *part;        /* by sample */
    const mo_predictions *predictions; /* for the samples of MO_HOLDOUT_TEST */
} mo_report_fit;

mo_status mo_report_fit_text(const mo_report_fit *fitting, mo_out *out,
                             mo_error *err);
mo_status mo_report_fit_json(const mo_report_fit *fitting, mo_out *out,
                             mo_error *err);

#endif
