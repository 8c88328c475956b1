/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pin_devices.h - pinning of the threads of CPU devices to processors of their
 * own: --pin.
 *
 * A device whose cluster gives cpus is pinned to these. The threads of the
 * others are pinned where this process has a processor for each (auto), which
 * it must have (on), or not (off); see exec/thread/reserve.h for which.
 */
#ifndef MO_DRIVER_EXEC_PIN_DEVICES_H
#define MO_DRIVER_EXEC_PIN_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/exec/backend_choice.h"
#include "driver/log.h"
#include "exec/thread/reserve.h"

#define MO_EXEC_PIN_CHOICES "auto|on|off"
#define MO_EXEC_PIN_HELP                                                       \
    "pin threads of CPU devices to processors (default auto: if enough)"

enum { MO_EXEC_CPUS_SIZE = 24 };

/* How the threads of one rank fit its processors; sent between ranks. */
typedef struct mo_exec_fit {
    int32_t threads, usable; /* of CPU devices; processors */
    int32_t contended; /* not pinned, since other processes hold processors */
    int32_t host_threads; /* of all ranks with the same processors, at the first
                             of them; else 0 */
    uint64_t host;        /* a digest of machine and processors */
} mo_exec_fit;

/* Sets host_threads of n ranks. */
void mo_exec_fits_combine(mo_exec_fit *fits, int n);

/* Returns whether the ranks that share the processors of rank have more threads
 * than processors (oversubscription). */
bool mo_exec_fits_crowded(const mo_exec_fit *fits, int n, int rank);

/* Sets cpus of the units of this rank that have none and run on the CPU; they
 * point into units->reserved. Sets units->fits[rank]. */
struct mo_exec_units;
mo_status mo_exec_pin_devices(const char *pin, int rank,
                              struct mo_exec_units *units, mo_error *err);

/* Logs that there are more threads than processors, or, with -v, that nothing
 * was pinned; rank -1: there is only one. */
void mo_exec_fit_log(const mo_exec_fit *fit, int rank,
                     const mo_driver_log *logger);

/* Writes a sorted list of processors, "0-3,8", or its beginning and "...", into
 * text and returns it; "" for none. */
const char *mo_exec_format_cpus(const int *cpus, int n,
                                char text[MO_EXEC_CPUS_SIZE]);

#endif
