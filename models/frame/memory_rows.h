/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_rows.h - knapsack rows that keep a model within the devices' memory,
 * for any formulation that places ops with columns x.
 *
 * static: the sum of memory over the ops of a device.  live: an upper bound
 * that holds for every order, by segments between clean cuts; at no moment is
 * more alive than the outputs of one segment's ops:
 *
 *     weights on k + a_k + tensors of the segment put out on k or sent to k
 *         <= capacity of k,        a_k >= workspace of every op on k
 *
 * Sizes are scaled separately for each device (models/sink/scale.h).  A
 * device, or a segment, that has room for everything at once has no row.
 */
#ifndef MO_MODELS_FRAME_MEMORY_ROWS_H
#define MO_MODELS_FRAME_MEMORY_ROWS_H

#include <stdbool.h>

#include "base/error.h"
#include "models/frame/frame.h"
#include "models/sink/sink.h"

typedef struct mo_memory_rows mo_memory_rows;

/* The columns of the model. */
typedef struct mo_memory_rows_source {
    const void *state;
    /* Returns the column of op on device, or -1 where it never is. */
    int (*place)(const void *state, int op, int device);
    /* Adds coef * the copies of the tensor that are sent to the device; called
     * only with live memory. */
    void (*received)(const void *state, mo_sink *sink, int tensor, int device,
                     double coef);
} mo_memory_rows_source;

/* The frame must outlive it.  The caller frees *rows with
 * mo_memory_rows_free(). */
mo_status mo_memory_rows_new(const mo_frame *frame, mo_memory_rows **rows,
                             mo_error *err);
void mo_memory_rows_free(mo_memory_rows *rows); /* accepts NULL */

/* For a model that places nothing on the device: it needs no rows. */
void mo_memory_rows_exclude(mo_memory_rows *rows, int device);

/* Declares the columns a_k it needs, if any, with their values in the start
 * (NULL: none), and keeps their ids. */
void mo_memory_rows_columns(mo_memory_rows *rows, const mo_schedule *start,
                            mo_sink *sink);

/* Writes the rows, in families "memory" and "space". */
void mo_memory_rows_write(const mo_memory_rows *rows,
                          const mo_memory_rows_source *columns, mo_sink *sink);

/* Returns whether these rows accept the placement, a device for each op.  Live
 * memory is bounded from above, so they may reject a schedule that fits. */
bool mo_memory_rows_accept(const mo_memory_rows *rows, const int *device);

#endif
