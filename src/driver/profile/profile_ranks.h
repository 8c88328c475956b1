/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_ranks.h - the ranks of moirai-profile run.
 *
 * Each rank measures its own devices; rank 0 has the profile. Without a
 * launcher or options there is one rank, and all devices are its threads.
 */
#ifndef MO_DRIVER_PROFILE_PROFILE_RANKS_H
#define MO_DRIVER_PROFILE_PROFILE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/profile/profile_options.h"
#include "exec/transport/transport.h"

typedef struct mo_profiler_ranks {
    const mo_transport *transport;
    mo_transport_world *world; /* NULL: not open */
    int rank, n_ranks;
} mo_profiler_ranks;

/* Opens the world that the options and the launcher describe; *ranks begins as
 * zeros. Collective, as all others. */
mo_status mo_profiler_ranks_open(mo_profiler_options *o,
                                 mo_profiler_ranks *ranks, mo_error *err);

/* Closes the world, if open; status and err are those of the command, which
 * other ranks report where it failed. */
void mo_profiler_ranks_close(mo_profiler_ranks *ranks, mo_status status,
                             const mo_error *err);

/* Fails where the digest differs from that of rank 0. */
mo_status mo_profiler_ranks_check_same(const mo_profiler_ranks *ranks,
                                       uint64_t digest, mo_error *err);

/* Copies the buffer of rank from to that of rank 0 (gather, one rank). */
mo_status mo_profiler_ranks_collect(const mo_profiler_ranks *ranks, int from,
                                    void *data, size_t bytes, mo_error *err);

/* Copies the buffer of rank 0 to all others (broadcast). */
mo_status mo_profiler_ranks_broadcast(const mo_profiler_ranks *ranks,
                                      void *data, size_t bytes, mo_error *err);

/* Broadcasts n flags of rank 0; a byte of rank 0 that is neither 0 nor 1 is an
 * error. */
mo_status mo_profiler_ranks_broadcast_flags(const mo_profiler_ranks *ranks,
                                            bool *flags, size_t n,
                                            mo_error *err);

#endif
