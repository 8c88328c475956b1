/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count_sink.h - a sink that computes the statistics of a model without
 * writing it: rows, columns, nonzeros, file sizes, ranges of coefficients.
 *
 * A big-M is the coefficient of a choice in a row with a time: of a binary
 * column that does not place an op (x), a transfer (y) or a segment (p), whose
 * coefficients are times, in a row with a start, a completion or the makespan.
 */
#ifndef MO_MODELS_WRITE_COUNT_SINK_H
#define MO_MODELS_WRITE_COUNT_SINK_H

#include <stdint.h>

#include "models/sink/sink.h"

typedef struct mo_model_counts {
    int64_t rows, binaries, continuous, nonzeros;
    int64_t lp_bytes, mps_bytes;       /* of the files, headings left out */
    double least_coef, largest_coef;   /* magnitudes on the left */
    double least_big_m, largest_big_m; /* 0 when there is none */
    int n_families;
    struct {
        const char *name;
        int64_t rows;
    } family[32];
} mo_model_counts;

/* *count is filled when the sink ends and must outlive it.  The caller frees
 * *sink with mo_sink_free(). */
mo_status mo_count_sink_new(mo_model_counts *count, mo_sink **sink,
                            mo_error *err);

#endif
