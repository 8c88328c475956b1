/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edge_schedule.h - edge scheduling: the transfers of a partial schedule, by
 * insertion into the timelines of ports, channels or links.
 *
 * A transfer takes the first gap that is long enough on all its resources at
 * once.  Insertions are tentative until committed and can be rolled back, last
 * first.
 */
#ifndef MO_SCHEDULE_HEURISTIC_EDGE_SCHEDULE_H
#define MO_SCHEDULE_HEURISTIC_EDGE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "schedule/heuristic/timeline.h"

typedef struct mo_edge_schedule_entry {
    mo_transfer transfer;
    int previous; /* previous transfer of the same item, or -1 */
} mo_edge_schedule_entry;

typedef struct mo_edge_schedule_change {
    int resource;
    mo_timeline_change change;
} mo_edge_schedule_change;

typedef struct mo_edge_schedule {
    const mo_instance *x;
    mo_regime regime;
    int n_resources;
    mo_timeline *resources;
    int *last_entry; /* by item: its last transfer, or -1 */
    mo_edge_schedule_entry *entries;
    size_t n_entries, entries_room;
    mo_edge_schedule_change
        *changes; /* of tentative transfers, in the same order */
    size_t n_changes, changes_room;
} mo_edge_schedule;

mo_status mo_edge_schedule_open(mo_edge_schedule *s, const mo_instance *x,
                                const mo_regime *regime, mo_error *err);
void mo_edge_schedule_close(mo_edge_schedule *s);

/* Returns the transfer of an item to a device, or NULL; valid until the next
 * insertion. */
const mo_transfer *mo_edge_schedule_find(const mo_edge_schedule *s, int item,
                                         int to);

/* Inserts the transfer of an item at its earliest start from ready_ns on; sets
 * *end_ns to its end. */
mo_status mo_edge_schedule_insert(mo_edge_schedule *s, int item, int from,
                                  int to, int64_t ready_ns, int64_t *end_ns,
                                  mo_error *err);

/* Commits all insertions: rollback ends here. */
void mo_edge_schedule_commit(mo_edge_schedule *s);

/* Removes all transfers but the first n_entries, which must be at least the
 * number committed. */
void mo_edge_schedule_rollback(mo_edge_schedule *s, size_t n_entries);

#endif
