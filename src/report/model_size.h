/*
 * counts.h - what a model would be, told to a person or a program.
 */
#ifndef MO_REPORT_MODEL_SIZE_H
#define MO_REPORT_MODEL_SIZE_H

#include <stdint.h>

#include "base/out.h"
#include "models/write/count_sink.h"
#include "models/model.h"

typedef struct mo_counts_report {
    const char *graph, *cluster; /* what the user called them */
    int ops;                     /* as read; the model may have fewer */
    const mo_model *model;
    const mo_count *count;
    int64_t heading_bytes; /* of the comments a file opens with */
} mo_counts_report;

void mo_counts_text(const mo_counts_report *report, mo_out *out);

/* The object that moirai-emit(1) describes. */
void mo_counts_json(const mo_counts_report *report, mo_out *out);

#endif
