/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.h - is it a schedule?  The judge.
 *
 * Looks at every constraint of the paper by its definition and lists what is
 * broken.  Shares nothing with the model writers nor with the simulator but the
 * instance, so that no mistake of theirs is made twice.
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
    /* ns or bytes by which it is broken; 0 where that is no amount, as with a
     * pin.  For what takes no time and lies inside another, how far inside. */
    int64_t amount;
    const char *text; /* one line with names and amounts */
} mo_violation;

typedef struct mo_verdict {
    int n; /* violations; 0: a valid schedule */
    mo_violation *violations;
    bool more;           /* there are more than are listed */
    int64_t *busy_ns;    /* by device: time it computes */
    int64_t *peak_bytes; /* by device, in the schedule's memory model */
    int n_transfers;
    int64_t sent_ns; /* time spent sending, added up */
    mo_arena *arena; /* owns all of this */
} mo_verdict;

/* "(1d) memory", for lists. */
const char *mo_violation_kind_name(mo_violation_kind rule);

/*
 * Judges s as it stands, start times and all: any numbers may be in it, and its
 * transfers in any order.  At most max violations are listed, with max at least
 * 1.  Of things that overlap, each is listed with one that began before it.
 * O(N log N) for N ops, flows and links held by transfers.
 */
mo_status mo_validate(const mo_instance *x, const mo_schedule *s, int max,
                      mo_verdict **verdict, mo_error *err);
void mo_verdict_free(mo_verdict *verdict);

#endif
