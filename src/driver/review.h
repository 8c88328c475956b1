/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review.h - from a solution to a verdict: what it is of is found again, made
 * into the same instance, and the answer is held against it.
 */
#ifndef MO_DRIVER_REVIEW_H
#define MO_DRIVER_REVIEW_H

#include "base/error.h"
#include "base/out.h"
#include "driver/locate.h"
#include "driver/prepare.h"
#include "driver/log.h"
#include "report/verdict.h"
#include "solvers/answer/answer.h"
#include "solvers/answer/evaluation.h"

/* What commands that review begin with, and the rows of their option table:
 * the answer says what it is of. */
#define MO_REVIEW_DEFAULTS                                                     \
    {                                                                          \
        .formulation = "compact", .congestion = "port", .memory = "static"     \
    }
#define MO_REVIEW_OPTIONS(p)                                                   \
    MO_PREPARE_INSTANCE_OPTIONS(p, "the rules the graph was coarsened with")

typedef struct mo_review {
    mo_provenance origin;
    mo_locate_result located;
    mo_prepared made; /* up to the instance */
    mo_regime regime;
    mo_answer_evaluation judgement;
} mo_review;

/* Begins as zeros, and is the caller's to clear whatever the result. */
void mo_review_clear(mo_review *review);

/* Finds and makes the instance of review->origin, which was read before.
 * options say what is given, and the regime where the origin does not;
 * options->fusion is NULL for what the origin says. */
mo_status mo_review_instance(const mo_prepare_options *options,
                             const char *graph, const char *beside,
                             const mo_driver_log *talk, mo_review *review,
                             mo_error *err);

/* Holds the solution against it. */
mo_status mo_review_solution(const mo_solution *solution, double tolerance,
                             mo_review *review, mo_error *err);

/* What a command was told about the answer it reviews. */
typedef struct mo_review_source {
    const mo_prepare_options *prepare;
    const char *graph; /* or NULL: it is looked for */
    double tolerance;
    const mo_driver_log *talk;
} mo_review_source;

/* All of this for the file at path ("-": standard input), a solution or a
 * placement. */
mo_status mo_review_file(const mo_review_source *from, const char *path,
                         mo_review *review, mo_error *err);

/* A report of what came of it, to be completed by who knows more. */
mo_report_verdict mo_review_report(const mo_review *review);

#endif
