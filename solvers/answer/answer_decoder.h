/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_decoder.h - a schedule from the columns of a solution, in two passes:
 * the first decodes the placement and the starts of ops, which imply the
 * transfers; the second decodes the times of transfers, and checks redundant
 * columns.
 */
#ifndef MO_SOLVERS_ANSWER_ANSWER_DECODER_H
#define MO_SOLVERS_ANSWER_ANSWER_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"
#include "solvers/answer/column_name.h"
#include "solvers/formats/solution.h"

/* Starts with the first five members and zeros. */
typedef struct mo_answer_decoder {
    const mo_solution *solution;
    const mo_instance *x;
    const mo_regime *regime;
    double unit_ns, tolerance;

    /* Of the first pass. */
    bool *seen;        /* by op and device: x_i_k occurred */
    int *device;       /* by op, or MO_FREE */
    double *start;     /* by op, in units; NAN: no column */
    double *other;     /* of the other schedule, unused */
    double w;          /* NAN: no column */
    bool is_incumbent; /* column k is 1: b_ and q_ have the times, not s_ and t_
                        */

    /* From the second pass on. */
    mo_schedule *s;
    bool *claimed;    /* by transfer: it had a column */
    int64_t slack_ns; /* how far tolerances may violate an order */
} mo_answer_decoder;

typedef mo_status mo_answer_column_handler(mo_answer_decoder *a,
                                           const mo_solution_value *column,
                                           const mo_column_name *name,
                                           mo_error *err);

/* The first pass. The caller clears the decoder, whatever the result. */
mo_status mo_answer_decode_ops(mo_answer_decoder *a, mo_error *err);
void mo_answer_decoder_clear(mo_answer_decoder *a);

/* Calls take for every column of the model. */
mo_status mo_answer_each_column(mo_answer_decoder *a,
                                mo_answer_column_handler *take, mo_error *err);

bool mo_answer_is_one(const mo_answer_decoder *a, double value);

/* Times are limited to MO_MAX_TOTAL_NS; a NAN fails, too. */
bool mo_answer_is_time(const mo_answer_decoder *a, double value);

/* Stores a column's value in *time, which is NAN until then. */
mo_status mo_answer_store_time(const mo_answer_decoder *a,
                               const mo_solution_value *column, double *time,
                               mo_error *err);

/* Fail: there are only n of what a column is about, or it is there twice. */
mo_status mo_answer_fail_index(const mo_solution_value *column,
                               const char *what, int number, int64_t n,
                               mo_error *err);
mo_status mo_answer_fail_duplicate(const mo_solution_value *column,
                                   mo_error *err);

#endif
