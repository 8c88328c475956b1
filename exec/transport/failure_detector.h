/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - the ranks of a job keep an eye on each other.
 *
 * MPI does not tell that a process has died: it waits.  So there is a TCP
 * connection between any two ranks, and a thread in each that looks at all of
 * its own.  A process that ends, in whatever way, closes its connections; a
 * machine that vanishes sends no more beats; who fails says why before it
 * leaves.  Launchers end the others with SIGTERM when one is gone: the thread
 * takes that, too, and finds out first who it was.
 *
 * The thread that opened the watch speaks for the process (it prints the error
 * and leaves).  Where it cannot in time, because it is in the middle of
 * something, the watch prints the last words and ends the process.
 */
#ifndef MO_EXEC_TRANSPORT_FAILURE_DETECTOR_H
#define MO_EXEC_TRANSPORT_FAILURE_DETECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/thread/first_error.h"

typedef struct mo_failure_detector mo_failure_detector;

typedef struct mo_failure_detector_options {
    double patience_s;       /* how long a silent peer is waited for */
    mo_first_error *failure; /* where the first failure is kept */
    /* Called from the watch's thread with what it has found out; sets
     * failure and wakes everybody. */
    void (*found)(void *context, const mo_error *why);
    /* What to say when the others are not there in time, or a signal comes
     * before they are: who is missing. */
    void (*missing)(void *context, mo_error *why);
    void *context;
    void (*last_words)(const mo_error *why); /* NULL: plain, on stderr */
} mo_failure_detector_options;

/* Signals are taken from here on; the peers must be there within seconds. */
mo_status mo_failure_detector_new(const mo_failure_detector_options *options,
                                  double seconds, mo_failure_detector **watch,
                                  mo_error *err);

/* Connections to all others, by rank (-1 at our own), which the watch closes in
 * the end; NULL: there are no others. */
mo_status mo_failure_detector_set_peers(mo_failure_detector *watch, int n_ranks,
                                        int rank, const int *sockets,
                                        mo_error *err);

/* What a rank is called from here on: "rank 1 (host tau, device 'B')". */
void mo_failure_detector_set_peer_name(mo_failure_detector *watch, int rank,
                                       const char *name);

/* Tells all peers what is in failure; once is enough.  From any thread. */
void mo_failure_detector_broadcast_error(mo_failure_detector *watch);

/* The caller speaks for the process, and does so at once. */
void mo_failure_detector_caller_reports(mo_failure_detector *watch);

/* Prints the last words at once and ends the process. */
void mo_failure_detector_abort(mo_failure_detector *watch);

/*
 * What one does who has spoken, before the process ends.  A launcher that ends
 * a job sends SIGTERM, waits, and kills; and stops waiting (mpirun does) as
 * soon as a process of the job ends.  Also, before all have met, the others
 * find out who is missing by looking who is there.
 */
void mo_failure_detector_delay_exit(void);

/* Has this rank said good-bye some seconds ago?  -1: any of them. */
bool mo_failure_detector_peer_has_left(mo_failure_detector *watch, int rank);

/* Has it, and was it waited for long enough since then?  What it said before
 * its good-bye may be on its way, or lie here until somebody wants it. */
bool mo_failure_detector_peer_wait_expired(mo_failure_detector *watch, int rank,
                                           int64_t since_ns);

/* Says good-bye and returns when all others have, or with the failure. */
mo_status mo_failure_detector_finish(mo_failure_detector *watch, mo_error *err);

/* After that: there is nothing left to do that could hang. */
void mo_failure_detector_stop(mo_failure_detector *watch);

void mo_failure_detector_free(mo_failure_detector *watch);

#endif
