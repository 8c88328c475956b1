/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - do the inputs of an op, in this order, make its output?
 */
#ifndef MO_INGEST_WORK_SHAPE_CHECK_H
#define MO_INGEST_WORK_SHAPE_CHECK_H

#include <stdbool.h>

#include "ingest/work.h"

/* False when the shapes say that they cannot; true where too little is known
 * to tell, or where nobody wrote down what the operator demands. */
bool mo_work_shapes_agree(const mo_work_input *in);

#endif
