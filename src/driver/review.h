/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review.h - validation of a solution file: finds its inputs, rebuilds the
 * instance, and evaluates the answer on it.
 */
#ifndef MO_DRIVER_REVIEW_H
#define MO_DRIVER_REVIEW_H

#include "base/error.h"
#include "base/out.h"
#include "driver/locate.h"
#include "driver/prepare.h"
#include "driver/log.h"
#include "report/verdict.h"
#include "schedule/proof/proof.h"
#include "schedule/proof/proof_verify.h"
#include "solvers/answer/answer.h"
#include "solvers/answer/evaluation.h"

/* Defaults and option rows of commands that validate: the solution records its
 * own instance, and the rules of schedules unless they are given. */
#define MO_REVIEW_DEFAULTS                                                     \
    {                                                                          \
        .formulation = "compact"                                               \
    }
#define MO_REVIEW_OPTIONS(p)                                                   \
    MO_PREPARE_INSTANCE_OPTIONS(p, "the rules the graph was coarsened with")
/* clang-format off */
#define MO_REVIEW_RULE_OPTIONS(p)                                              \
    { 0, "congestion", "C",                                                    \
      "congestion model to judge by (default: the solution's, or port)",       \
      MO_OPTION_TEXT, .to = &(p)->congestion,                                  \
      .choices = MO_CONGESTION_CHOICES },                                      \
    { 0, "tensors", "T",                                                       \
      "tensor model to judge by (default: the solution's, or per-edge)",       \
      MO_OPTION_TEXT, .to = &(p)->tensors, .choices = MO_TENSORS_CHOICES },    \
    { 0, "memory", "M",                                                        \
      "memory model to judge by (default: the solution's, or static)",         \
      MO_OPTION_TEXT, .to = &(p)->memory, .choices = MO_MEMORY_CHOICES }
/* clang-format on */

typedef struct mo_review {
    mo_provenance origin;
    mo_locate_result located;
    mo_problem problem;
    mo_regime regime;
    mo_report_rules rules; /* where regime comes from */
    mo_answer_evaluation evaluation;
    mo_report_claim claim;   /* of the file; not believed */
    mo_proof *proof;         /* certificate in the file, owned; NULL: none */
    mo_report_proof proven;  /* what it proves */
    mo_report_phase *phases; /* of a workload, owned; NULL: none */
    int n_phases;
} mo_review;

/* Frees the members. A review begins as zeros and is cleared by the caller,
 * also after a failure. */
void mo_review_clear(mo_review *review);

/* Files of a review: what is given, and where to search for the rest. */
typedef struct mo_review_files {
    const char *graph;  /* NULL: searched for */
    const char *beside; /* the solution or model */
    const char *also;   /* as in mo_locate_query */
    bool weights;
} mo_review_files;

/* Finds the inputs of review->origin, which the caller has set, and builds the
 * instance. Rules of schedules are those of the options, where given, then
 * those of the origin, then the defaults; options->fusion is NULL to take the
 * origin's. */
mo_status mo_review_instance(const mo_prepare_options *options,
                             const mo_review_files *files,
                             const mo_driver_log *logger, mo_review *review,
                             mo_error *err);

/* Returns why the identity columns of review->origin are no ground for a
 * evaluation: they were edited, or have no digest and the options do not give
 * all rules. NULL: nothing is wrong, or there are none. */
const char *mo_review_identity_fault(const mo_prepare_options *options,
                                     const mo_provenance *origin);

/* Options of a command for the answer to validate. */
typedef struct mo_review_source {
    const mo_prepare_options *prepare;
    const char *graph; /* NULL: searched for */
    const char *proof; /* file with a certificate; NULL: the answer's own */
    double tolerance;
    const mo_driver_log *logger;
    bool weights;       /* an error about missing inputs names weights, too */
    bool without_bound; /* the evaluation needs no lower bound */
    bool one_copy;      /* of a replicated solution: copy, from 1; 0: not given
                         */
    int64_t copy;
} mo_review_source;

/* Validates the file at path ("-": standard input), a solution or a
 * placement. */
mo_status mo_review_file(const mo_review_source *from, const char *path,
                         mo_review *review, mo_error *err);

/* Returns what certificates of the answer are about. */
mo_proof_scope mo_review_scope(const mo_review *review);

/* Returns the claim in a solution of the solver, or of moirai-solve. */
mo_report_claim mo_review_claim(const mo_solution *solution,
                                const mo_provenance *origin);

/* Returns the report of a review, borrowed from it; the caller may complete
 * it. */
mo_report_verdict mo_review_report(const mo_review *review);

#endif
