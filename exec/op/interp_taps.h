/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taps.h - which elements of a dimension an interpolated one is made of.
 *
 * Places are computed in floats and by OpenVINO's formulas, so that an element
 * that is nearest by a hair is so here, too.
 */
#ifndef MO_EXEC_OP_INTERP_TAPS_H
#define MO_EXEC_OP_INTERP_TAPS_H

#include <stdint.h>

#include "base/error.h"
#include "exec/op/call.h"

/* Element i of the result is the sum over t from first[i] to before first[i +
 * 1] of weight[t] times element index[t]. */
typedef struct mo_call_interp_taps {
    int64_t n; /* elements of the result */
    int64_t *first, *index;
    float *weight;
} mo_call_interp_taps;

/* For dimension d; mo_call_interp_taps_clear is harmless on zeros. */
mo_status mo_call_interp_taps_init(const mo_call_interpolate *call, int d,
                                   mo_call_interp_taps *taps, mo_error *err);
void mo_call_interp_taps_clear(mo_call_interp_taps *taps);

#endif
