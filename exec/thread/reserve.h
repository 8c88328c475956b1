/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve.h - reservation of processors for the threads of this process.
 *
 * Two processes that pin their threads to the same processors run one after the
 * other, which is worse than not pinning. Processes of Moirai therefore claim
 * the processors that they pin to: advisory claims, among the processes of one
 * network namespace, which end with the process. Processors that other programs
 * keep busy are avoided where there are others.
 */
#ifndef MO_EXEC_THREAD_RESERVE_H
#define MO_EXEC_THREAD_RESERVE_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/thread/affinity.h"

/* Prefix of the names of claims, the same in all commands. */
#define MO_THREAD_CLAIM_SPACE "moirai"

typedef struct mo_thread_reservation {
    int *cpus;   /* by thread, by device; NULL: nothing is reserved */
    int *claims; /* owned file descriptors */
    int n_claims;
} mo_thread_reservation;

/* Marks the processors as taken that other processes have claimed. */
void mo_thread_cpus_mark_claimed(const char *space, mo_thread_cpus *cpus);

/* Marks the processors as taken that were busy for more than half of a sample
 * of some 40 ms, during which this function sleeps. */
void mo_thread_cpus_mark_busy(mo_thread_cpus *cpus);

/* Claims a processor for this process and adds the claim to r. Returns false if
 * another process has it, memory is exhausted, or this system has no abstract
 * sockets. */
bool mo_thread_claim(const char *space, int cpu, mo_thread_reservation *r);

/*
 * Assigns processors to the threads of n devices as mo_thread_cpus_assign() and
 * claims them. Idle ones come first. r begins as zeros; the caller clears it.
 * Without enough processors that are free of claims nothing is reserved:
 * r->cpus stays NULL. Processors that are marked as taken already are not
 * assigned; others are marked here.
 */
mo_status mo_thread_reserve(const char *space, mo_thread_cpus *cpus,
                            const int *threads, int n, mo_thread_reservation *r,
                            mo_error *err);

/* Ends all claims and frees the arrays; r is zeros again. */
void mo_thread_reservation_clear(mo_thread_reservation *r);

#endif
