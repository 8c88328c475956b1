/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.h - independent validator of schedules.
 *
 * Checks every constraint of the paper by its definition and lists the
 * violations.  Shares nothing with the model writers nor with the simulator
 * but the instance, so that no mistake is made twice.
 */
#ifndef MO_SCHEDULE_VALIDATE_VALIDATE_H
#define MO_SCHEDULE_VALIDATE_VALIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

typedef enum mo_violation_kind {
    MO_VIOLATION_ASSIGNMENT, /* (1c) no such device */
    MO_VIOLATION_PIN,
    MO_VIOLATION_GROUP,
    MO_VIOLATION_PRECEDENCE, /* (1a) */
    MO_VIOLATION_MEMORY,     /* (1d) */
    MO_VIOLATION_OVERLAP,    /* (1e) */
    MO_VIOLATION_TRANSFER,   /* (1f) missing, superfluous, of a wrong length */
    MO_VIOLATION_CONGESTION, /* (1g) */
    MO_VIOLATION_OBJECTIVE /* (1) the claimed makespan is not the schedule's */
} mo_violation_kind;

typedef struct mo_violation {
    mo_violation_kind rule;
    /* ns or bytes of the violation; 0 where it has no amount, as with a pin.
     * For what takes no time and lies inside another, how far inside. */
    int64_t amount;
    const char *text; /* one line with names and amounts */
} mo_violation;

typedef struct mo_verdict {
    int n; /* number of violations; 0: a valid schedule */
    mo_violation *violations;
    bool more;           /* there are more than are listed */
    int64_t *busy_ns;    /* by device: sum of processing times */
    int64_t *peak_bytes; /* by device, in the schedule's memory model */
    int n_transfers;
    int64_t sent_ns; /* sum of the transfer times */
    mo_arena *arena; /* owns all of this */
} mo_verdict;

/*
 * Validates s as it stands, start times included: any numbers may be in it,
 * and its transfers in any order.  At most max violations are listed, with max
 * at least 1.  Of overlapping intervals, each is listed with one that began
 * before it.  The caller frees *verdict with mo_verdict_free(), which accepts
 * NULL; a violation is a result, not an error.  O(N log N) for N ops, flows
 * and links held by transfers.
 */
mo_status mo_validate(const mo_instance *x, const mo_schedule *s, int max,
                      mo_verdict **verdict, mo_error *err);
void mo_verdict_free(mo_verdict *verdict);

#endif
