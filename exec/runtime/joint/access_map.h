/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_map.h - interval map of the last accesses to the bytes of a device,
 * for hazard detection.
 *
 *     bytes   0         1024           4096      6144
 *     ranges  |  wrote: |  wrote: xfer  |  wrote:  |  none ...
 *             |  call 3 |  12; read:    |  call 7  |
 *             |         |  call 15      |          |
 */
#ifndef MO_EXEC_RUNTIME_JOINT_ACCESS_MAP_H
#define MO_EXEC_RUNTIME_JOINT_ACCESS_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/runtime/joint/joint_internal.h"

/* The last calls of each stream, and of the device's outgoing and incoming
 * direct transfers; MO_JOINT_NONE: none. */
typedef struct mo_joint_access_range {
    int64_t begin, end;
    int wrote[MO_JOINT_TRACK_COUNT], read[MO_JOINT_TRACK_COUNT];
} mo_joint_access_range;

/* All bytes in order; starts zeroed. The caller frees it with
 * mo_joint_access_map_clear(). */
typedef struct mo_joint_access_map {
    mo_joint_access_range *ranges;
    size_t n, room;
} mo_joint_access_map;

/* Splits the map at begin and end: *first and *n are the ranges of just these
 * bytes, valid until the next split; none for an empty interval. */
mo_status mo_joint_access_map_split(mo_joint_access_map *bytes, int64_t begin,
                                    int64_t end, mo_joint_access_range **first,
                                    size_t *n, mo_error *err);

/* Merges n ranges from first on into one without accesses, which bounds their
 * number. */
void mo_joint_access_map_merge(mo_joint_access_map *bytes,
                               mo_joint_access_range *first, size_t n);
void mo_joint_access_map_clear(mo_joint_access_map *bytes);

#endif
