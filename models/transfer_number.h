/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_number.h - numbering of transfers in column names.
 *
 * Names outlive the process that made them, so the numbers depend on the
 * instance and the regime alone.  Where every reader receives its own copy, or
 * where neither the time nor the lifetime of a copy matters, a transfer has
 * its flow's number.  A tensor t sent once has, with K devices, the number
 *
 *     t * (K + 1)            when one op alone may read it, wherever that is,
 *     t * (K + 1) + b + 1    when it goes to device b for all readers there.
 */
#ifndef MO_MODELS_TRANSFER_NUMBER_H
#define MO_MODELS_TRANSFER_NUMBER_H

#include <stdbool.h>

#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_transfer_ends {
    int item;   /* the flow or tensor, as in a mo_schedule */
    int from;   /* the op that produced it */
    int to;     /* the reader; MO_FREE: several, or one of several */
    int device; /* target device; MO_FREE: that of the reader */
} mo_transfer_ends;

/* Returns whether transfers are tensors; otherwise they are flows. */
bool mo_transfer_is_tensor(const mo_regime *regime);

/* Returns the number of a flow or tensor; device as above. */
int mo_transfer_number(const mo_instance *x, const mo_regime *regime, int item,
                       int device);

/* Returns an upper limit: all numbers are below. */
int64_t mo_transfer_number_limit(const mo_instance *x, const mo_regime *regime);

/* Decodes a number, which must be a valid one. */
mo_transfer_ends mo_transfer_from_number(const mo_instance *x,
                                         const mo_regime *regime, int number);

#endif
