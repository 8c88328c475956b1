/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrange.h - flops of an op whose inputs do not all say which input they are.
 *
 * An edge without dst_port could be any input, and what the op's neighbours are
 * called must not decide.  So all arrangements are tried: those that do not fit
 * the shapes are out, and where the rest disagree, constants come behind the
 * others, as frameworks have them.  If they still disagree, nobody knows.
 */
#ifndef MO_INGEST_WORK_INPUT_ORDER_H
#define MO_INGEST_WORK_INPUT_ORDER_H

#include <stdbool.h>

#include "ingest/work.h"

enum { MO_INPUT_ORDER_MAX_FREE = 4 }; /* 24 arrangements */

/* An input that has no number, in the slot where it happens to stand. */
typedef struct mo_input_order_free_input {
    int slot;
    bool is_constant;
} mo_input_order_free_input;

/* Does the operator's formula tell its inputs apart? */
bool mo_input_order_matters(const mo_operator *kind);

/* The flops of the op at input, whose inputs lie in shapes; the n loose ones
 * (at most MO_INPUT_ORDER_MAX_FREE, by slot) may change places, and do.  < 0
 * when the arrangements disagree or what they need is not known. */
double mo_input_order_flops(const mo_work_input *input, mo_shape *shapes,
                            const mo_input_order_free_input *loose, int n);

#endif
