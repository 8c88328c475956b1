/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - report of a split for a runtime: its settings, predicted speed,
 * what devices hold, what limits the speed, and how other splits compare.
 *
 * The first phase of the chain is the run of the prompt, the second one that of
 * a token.
 */
#ifndef MO_REPORT_RUNTIME_HANDOVER_H
#define MO_REPORT_RUNTIME_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "report/runtime/runtime.h"

enum { MO_HANDOVER_LABEL = 96 };

/* Another split, or the same with other devices. */
typedef struct mo_handover_row {
    char label[MO_HANDOVER_LABEL];
    const char *why; /* there is none; NULL: there is one */
    int64_t first_ns, token_ns;
    double request_ns;
} mo_handover_row;

typedef struct mo_handover {
    const mo_runtime *runtime;
    mo_runtime_case it; /* of split */
    const mo_split *split;
    const char *why;          /* no split fits; NULL: one does */
    int64_t prompt, generate; /* tokens of a request */
    const mo_handover_row *rows;
    int n_rows;
    bool is_calibrated; /* all times are by measured rates */
} mo_handover;

/* Sets the times of a row, which fits. */
void mo_handover_row_set(mo_handover_row *row, const mo_chain_figures *figures);

/* Where no split fits, a report has the reason and the rows alone. */
void mo_handover_text(const mo_handover *report, mo_out *out);
void mo_handover_json(const mo_handover *report, mo_out *out);

#endif
