/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replan.h - report of a re-planning: which ops move, the bytes of their
 * weights, and the makespan before and after; as text or JSON.
 */
#ifndef MO_REPORT_REPLAN_H
#define MO_REPORT_REPLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_writer.h"
#include "base/out.h"

/* Names are borrowed. */
typedef struct mo_report_move {
    const char *op, *from, *to; /* from NULL: the op is new */
    int64_t bytes;              /* of weights */
} mo_report_move;

typedef struct mo_report_replan {
    const char *file; /* of the placement in use; NULL: there is none */
    int n_ops;
    int n_moves;
    mo_report_move *moves; /* in the order of ops; owned by the caller */
    int64_t bytes;         /* of all moves */
    int64_t move_ns;       /* over the links, one after the other; -1: not all
                              of these links are known */
    int64_t before_ns;     /* of the placement in use; -1: it is not complete */
    bool before_fits;      /* within memory */
    bool before_uses_dropped; /* a device that is left out */
    int64_t after_ns;
} mo_report_replan;

/* Returns after how many requests the moves have paid off; 0: at once, -1:
 * never, or unknown. */
int64_t mo_report_replan_requests(const mo_report_replan *r);

/* Both do nothing without a file. */
void mo_report_replan_text(const mo_report_replan *r, mo_out *out);
void mo_report_replan_json(const mo_report_replan *r, mo_json_writer *w);

#endif
