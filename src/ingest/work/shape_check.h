/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_check.h - consistency of an op's input shapes, in their order, with
 * its output.
 */
#ifndef MO_INGEST_WORK_SHAPE_CHECK_H
#define MO_INGEST_WORK_SHAPE_CHECK_H

#include <stdbool.h>

#include "ingest/work.h"

/* Returns false when the shapes contradict each other; true where too little
 * is known, or the operator has no check. */
bool mo_work_shapes_agree(const mo_work_input *in);

#endif
