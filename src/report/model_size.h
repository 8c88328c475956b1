/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_size.h - size of a model, as text or JSON.
 */
#ifndef MO_REPORT_MODEL_SIZE_H
#define MO_REPORT_MODEL_SIZE_H

#include <stdint.h>

#include "base/out.h"
#include "models/write/count_sink.h"
#include "models/model.h"

typedef struct mo_report_model_size {
    const char *graph, *cluster; /* as given by the user */
    int ops;                     /* as read; the model may have fewer */
    const mo_model *model;
    const mo_model_counts *count;
    int64_t heading_bytes; /* of the comments at the beginning of a file */
} mo_report_model_size;

void mo_report_model_size_text(const mo_report_model_size *report, mo_out *out);

/* Writes the object of moirai-emit(1). */
void mo_report_model_size_json(const mo_report_model_size *report, mo_out *out);

#endif
