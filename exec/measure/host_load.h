/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_load.h - load of the machine by other processes during a measurement.
 *
 * CPU time of the processors that this process may use (/proc/stat), less its
 * own; and steal time, taken by the hypervisor. Times on a machine whose
 * processors run other processes are no measurements of a device.
 */
#ifndef MO_EXEC_MEASURE_HOST_LOAD_H
#define MO_EXEC_MEASURE_HOST_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/thread/affinity.h"
#include "exec/transport/transport.h"

/* Plain data, sent between ranks. Times are since the system started. */
typedef struct mo_measure_load {
    int32_t processors; /* that this process may use; 0: nothing is known */
    int32_t padding;
    uint64_t machine, mask; /* digests: of the machine; of the processors */
    int64_t wall_ns, own_ns;
    int64_t busy_ns, steal_ns; /* of these processors, by all processes */
} mo_measure_load;

/* Reads the present load, from a file like /proc/stat; NULL: that file. To be
 * called from a thread that is not pinned: its affinity mask selects the
 * processors. */
void mo_measure_load_read(const char *file, mo_measure_load *load);

/* Decoder of the load that another rank sends (transport/rendezvous/decode.h):
 * sums over all ranks do not overflow. */
mo_status mo_measure_decode_load(const mo_measure_load *load, mo_error *err);

/* Makes *load the difference to the present load. */
void mo_measure_load_since(const char *file, mo_measure_load *load);

/* Combines n differences, of all ranks: the machine with the highest load by
 * processes that are none of them. */
mo_measure_load mo_measure_load_combine(const mo_measure_load *loads, int n);

/* Collective; at rank 0 *load becomes the combination of all ranks'. */
mo_status mo_measure_load_gather(const mo_transport *transport,
                                 mo_transport_world *world,
                                 mo_measure_load *load, mo_error *err);

/* Return the average number of processors that other processes used, and that
 * the hypervisor took (steal); 0 where unknown. */
double mo_measure_load_others(const mo_measure_load *load);
double mo_measure_load_stolen(const mo_measure_load *load);

/* Returns whether other processes used less than a tenth of the processors, and
 * steal less than a hundredth; also true for less than 0.2 s, and where the
 * load is unknown. */
bool mo_measure_load_quiet(const mo_measure_load *load);

enum { MO_MEASURE_LOAD_SIZE = 160 };

/* Writes "other processes used 1.4 of 2 processors" into text and returns it.
 */
const char *mo_measure_load_format(const mo_measure_load *load,
                                   char text[MO_MEASURE_LOAD_SIZE]);

#endif
