/*
 * fitting.h - what factors were fitted to, and how they did on what they had
 * not seen, told to a person or a program.
 */
#ifndef MO_REPORT_FIT_QUALITY_H
#define MO_REPORT_FIT_QUALITY_H

#include "base/error.h"
#include "base/out.h"
#include "cost/calibrate/accuracy.h"
#include "cost/calibrate/holdout.h"
#include "cost/calibrate/sample.h"

typedef struct mo_fitting {
    const mo_samples *samples;
    const mo_part *part;       /* by sample */
    const mo_guesses *guesses; /* for those of MO_PART_TEST */
} mo_fitting;

mo_status mo_fitting_text(const mo_fitting *fitting, mo_out *out,
                          mo_error *err);
mo_status mo_fitting_json(const mo_fitting *fitting, mo_out *out,
                          mo_error *err);

#endif
