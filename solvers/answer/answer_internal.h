/*
 * answer_parts.h - what the passes over the columns of a solution share.
 *
 * The first finds the placement and the starts of ops, which say what has to be
 * sent; the second finds when that is.
 */
#ifndef MO_SOLVERS_ANSWER_ANSWER_INTERNAL_H
#define MO_SOLVERS_ANSWER_ANSWER_INTERNAL_H

#include "solvers/answer/answer.h"
#include "solvers/answer/column_name.h"

typedef struct mo_answer {
    const mo_solution *solution;
    const mo_instance *x;
    const mo_regime *regime;
    double unit_ns, tolerance;

    bool *seen;    /* by op and device: x_i_k was there */
    int *device;   /* by op, or MO_FREE */
    double *start; /* by op, in units; NAN: no column */
    double w;      /* NAN: no column */

    /* From the second pass on. */
    mo_schedule *s;
    bool *claimed;    /* by transfer: it had a column */
    int64_t slack_ns; /* that tolerances may make of an order */
} mo_answer;

typedef mo_status mo_answer_take(mo_answer *a, const mo_value *column,
                                 const mo_column_name *name, mo_error *err);

/* Shows every column of ours. */
mo_status mo_answer_columns(mo_answer *a, mo_answer_take *take, mo_error *err);

/* The first pass; to be closed whatever the result. */
mo_status mo_answer_ops(mo_answer *a, mo_error *err);
void mo_answer_close(mo_answer *a);

bool mo_answer_is_one(const mo_answer *a, double value);
bool mo_answer_is_time(const mo_answer *a, double value);

/* Takes a column's value for *time, which is NAN until then. */
mo_status mo_answer_take_time(const mo_answer *a, const mo_value *column,
                              double *time, mo_error *err);

mo_status mo_answer_refuse_number(const mo_value *column, const char *what,
                                  int number, int64_t n, mo_error *err);
mo_status mo_answer_refuse_twice(const mo_value *column, mo_error *err);

#endif
