/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_rows.h - the rows that keep a model within the devices' memory, for
 * any formulation that places ops with columns x.
 *
 * static: what the ops on a device ask for, added up.  live: a bound that holds
 * whatever the order is, by segments between clean cuts; at no moment is more
 * alive than what the ops of one segment put out:
 *
 *     weights on k + a_k + tensors of the segment put out on k or sent to k
 *         <= capacity of k,        a_k >= workspace of every op on k
 *
 * Sizes are written in units of their own for each device
 * (models/sink/scale.h).  A device, or a segment, that has room for everything
 * at once has no row.
 */
#ifndef MO_MODELS_FRAME_MEMORY_ROWS_H
#define MO_MODELS_FRAME_MEMORY_ROWS_H

#include <stdbool.h>

#include "base/error.h"
#include "models/frame/frame.h"
#include "models/sink/sink.h"

typedef struct mo_memory_rows mo_memory_rows;

/* Where the model has its columns. */
typedef struct mo_memory_rows_source {
    const void *state;
    /* The column of op on device, or -1 where it never is. */
    int (*place)(const void *state, int op, int device);
    /* Adds coef * the copies of the tensor that are sent to the device; only
     * asked for with live memory. */
    void (*received)(const void *state, mo_sink *sink, int tensor, int device,
                     double coef);
} mo_memory_rows_source;

/* The frame must outlive it. */
mo_status mo_memory_rows_new(const mo_frame *frame, mo_memory_rows **rows,
                             mo_error *err);
void mo_memory_rows_free(mo_memory_rows *rows); /* NULL is allowed */

/* For a model that places nothing on the device: it needs no rows. */
void mo_memory_rows_exclude(mo_memory_rows *rows, int device);

/* Declares the columns a_k it needs, if any, with their values in the start
 * (NULL: none), and remembers their ids. */
void mo_memory_rows_columns(mo_memory_rows *rows, const mo_schedule *start,
                            mo_sink *sink);

/* The rows, in families "memory" and "space". */
void mo_memory_rows_write(const mo_memory_rows *rows,
                          const mo_memory_rows_source *columns, mo_sink *sink);

/* Would these rows accept the placement, a device for each op?  Live memory is
 * bounded from above, so they may not accept every schedule that fits. */
bool mo_memory_rows_accept(const mo_memory_rows *rows, const int *device);

#endif
