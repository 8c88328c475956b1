/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.h - the strided view that Slice and StridedSlice select of their data.
 */
#ifndef MO_INGEST_INFER_SLICE_H
#define MO_INGEST_INFER_SLICE_H

#include "base/error.h"
#include "ingest/infer/rule.h"

typedef struct mo_infer_slice {
    mo_shape shape;     /* of the selection; its rank may exceed MO_MAX_RANK */
    mo_infer_view view; /* into the data; steps may be negative */
} mo_infer_slice;

/* Resolves an op of one of the two types; the caller ensures that the values
 * of all inputs but the first are known. */
mo_status mo_infer_slice_read(const mo_infer_rule_op *op, mo_infer_slice *cut,
                              mo_error *err);

#endif
