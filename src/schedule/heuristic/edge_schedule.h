/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sending.h - what has been sent while a schedule grows, and when something
 * more could be.
 *
 * A parcel goes through the first gap that is long enough on all it occupies at
 * once.  Parcels can be sent on trial and taken back, last first.
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
    int before; /* the parcel of the same item sent before, or -1 */
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
    int *last; /* by item: its last parcel, or -1 */
    mo_edge_schedule_entry *parcels;
    size_t n_parcels, parcels_room;
    mo_edge_schedule_change *changes; /* of those on trial, in the same order */
    size_t n_changes, changes_room;
} mo_edge_schedule;

mo_status mo_edge_schedule_open(mo_edge_schedule *s, const mo_instance *x,
                                const mo_regime *regime, mo_error *err);
void mo_edge_schedule_close(mo_edge_schedule *s);

/* The transfer of an item to a device, or NULL; valid until more is sent. */
const mo_transfer *mo_edge_schedule_find(const mo_edge_schedule *s, int item,
                                         int to);

/* Sends an item as soon as possible from ready_ns on; *end_ns is when it has
 * arrived. */
mo_status mo_edge_schedule_insert(mo_edge_schedule *s, int item, int from,
                                  int to, int64_t ready_ns, int64_t *end_ns,
                                  mo_error *err);

/* What has been sent is not on trial any more. */
void mo_edge_schedule_commit(mo_edge_schedule *s);

/* Takes all parcels back but the first n; no fewer than were kept. */
void mo_edge_schedule_rollback(mo_edge_schedule *s, size_t n_parcels);

#endif
