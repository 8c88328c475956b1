/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interp_taps.h - taps of an interpolation: the input elements and weights of
 * each output element along a dimension.
 *
 * Coordinates are computed in floats and by OpenVINO's formulas, so that ties
 * and rounding are the same; those of ONNX, where the call says so, in doubles.
 * A tap has a weight that is not 0: an element that only copies another one does
 * not depend on infinite neighbours.
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

/* Computes the taps of dimension d; allocates the arrays, which the caller
 * frees with mo_call_interp_taps_clear() (harmless on zeros). */
mo_status mo_call_interp_taps_init(const mo_call_interpolate *call, int d,
                                   mo_call_interp_taps *taps, mo_error *err);
void mo_call_interp_taps_clear(mo_call_interp_taps *taps);

#endif
