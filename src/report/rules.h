/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h - the rules that a schedule is judged by, and where they come from,
 * as lines or members of a report.
 */
#ifndef MO_REPORT_RULES_H
#define MO_REPORT_RULES_H

#include "base/json_writer.h"
#include "base/out.h"
#include "schedule/regime.h"

/* Where a rule of the schedule comes from. */
typedef enum mo_rule_source {
    MO_RULE_UNSPECIFIED, /* the model was made by the same command */
    MO_RULE_DEFAULT,
    MO_RULE_SOLUTION,
    MO_RULE_MODEL,
    MO_RULE_GIVEN /* by an option */
} mo_rule_source;

typedef struct mo_report_rules {
    mo_rule_source congestion, tensors, memory;
    double tolerance; /* of binaries; 0: not reported */
} mo_report_rules;

/* Writes "rules ..." and, if it is not the default, the tolerance. */
void mo_report_rules_text(const mo_regime *regime, const mo_report_rules *from,
                          mo_out *out);

/* Writes congestion, tensors, memory and rules_from as members of an object. */
void mo_report_rules_json(const mo_regime *regime, const mo_report_rules *from,
                          mo_json_writer *w);

#endif
