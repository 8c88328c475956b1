/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_joint_bytes.h - who touched which bytes of a device last.
 *
 *     bytes   0         1024           4096      6144
 *     spans   |  wrote: |  wrote: carry |  wrote:  |  nobody ...
 *             |  call 3 |  12; read:    |  call 7  |
 *             |         |  call 15      |          |
 */
#ifndef MO_EXEC_RUNTIME_JOINT_ACCESS_MAP_H
#define MO_EXEC_RUNTIME_JOINT_ACCESS_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/runtime/joint/joint_internal.h"

/* The last calls of each lane, and of what goes out and comes in through the
 * ports of the device; MO_JOINT_NONE for nobody. */
typedef struct mo_joint_access_range {
    int64_t begin, end;
    int wrote[MO_JOINT_TRACK_COUNT], read[MO_JOINT_TRACK_COUNT];
} mo_joint_access_range;

/* All bytes there may be, in order; begins as zeros. */
typedef struct mo_joint_access_map {
    mo_joint_access_range *spans;
    size_t n, room;
} mo_joint_access_map;

/* The spans, n from the first, that are just these bytes; until the next cut.
 * None where there are no bytes. */
mo_status mo_joint_access_map_split(mo_joint_access_map *bytes, int64_t begin,
                                    int64_t end, mo_joint_access_range **first,
                                    size_t *n, mo_error *err);

/* Makes these spans, n from the first, one that nobody has touched: without,
 * there would be ever more of them. */
void mo_joint_access_map_merge(mo_joint_access_map *bytes,
                               mo_joint_access_range *first, size_t n);
void mo_joint_access_map_clear(mo_joint_access_map *bytes);

#endif
