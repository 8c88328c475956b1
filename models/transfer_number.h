/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.h - which transfer a number in a column's name stands for.
 *
 * Names outlive the run that gave them, so the numbers depend on the instance
 * and the regime alone.  Where every reader is sent its own copy, or it
 * matters neither when nor for how long it is there, a transfer has its flow's
 * number.  A tensor t sent once has,
 * with K devices, the number
 *
 *     t * (K + 1)            when one op alone may want it, wherever that is,
 *     t * (K + 1) + b + 1    when it goes to device b for all readers there.
 */
#ifndef MO_MODELS_TRANSFER_NUMBER_H
#define MO_MODELS_TRANSFER_NUMBER_H

#include <stdbool.h>

#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_transfer_ends {
    int item;   /* the flow or tensor, as a mo_schedule counts them */
    int from;   /* the op whose output it is */
    int to;     /* the reader; MO_FREE: several, or one of several */
    int device; /* where they are; MO_FREE: where the reader is */
} mo_transfer_ends;

/* Are transfers tensors?  Otherwise they are flows. */
bool mo_transfer_is_tensor(const mo_regime *regime);

/* The number of a flow or tensor; device as above. */
int mo_transfer_number(const mo_instance *x, const mo_regime *regime, int item,
                       int device);

/* All numbers are below. */
int64_t mo_transfer_number_limit(const mo_instance *x, const mo_regime *regime);

/* What a number stands for; it must be one. */
mo_transfer_ends mo_transfer_from_number(const mo_instance *x,
                                         const mo_regime *regime, int number);

#endif
