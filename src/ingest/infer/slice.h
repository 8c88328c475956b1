/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.h - what Slice and StridedSlice take of their data.
 */
#ifndef MO_INGEST_INFER_SLICE_H
#define MO_INGEST_INFER_SLICE_H

#include "base/error.h"
#include "ingest/infer/rule.h"

typedef struct mo_infer_slice {
    mo_shape shape;     /* of what is taken; its rank may exceed MO_MAX_RANK */
    mo_infer_view view; /* where that is in the data; steps may go back */
} mo_infer_slice;

/* op is one of the two, and the values of all inputs but the first are known.
 */
mo_status mo_infer_slice_read(const mo_infer_rule_op *op, mo_infer_slice *cut,
                              mo_error *err);

#endif
