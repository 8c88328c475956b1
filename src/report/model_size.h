/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.h - what a model would be, told to a person or a program.
 */
#ifndef MO_REPORT_MODEL_SIZE_H
#define MO_REPORT_MODEL_SIZE_H

#include <stdint.h>

#include "base/out.h"
#include "models/write/count_sink.h"
#include "models/model.h"

typedef struct mo_report_model_size {
    const char *graph, *cluster; /* what the user called them */
    int ops;                     /* as read; the model may have fewer */
    const mo_model *model;
    const mo_model_counts *count;
    int64_t heading_bytes; /* of the comments a file opens with */
} mo_report_model_size;

void mo_report_model_size_text(const mo_report_model_size *report, mo_out *out);

/* The object that moirai-emit(1) describes. */
void mo_report_model_size_json(const mo_report_model_size *report, mo_out *out);

#endif
