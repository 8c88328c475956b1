/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failure_detector.h - failure detector with heartbeats (Chandra and Toueg,
 * 1996) over a full mesh of TCP connections.
 *
 * MPI does not report that a process has died: it waits. So any two ranks have
 * a TCP connection, and a thread in each polls all of its own. A process that
 * ends closes its connections; a machine that is down sends no more
 * heartbeats; a rank that fails sends the reason before it exits. Launchers
 * send SIGTERM to the remaining ranks when one is gone: the thread handles
 * that, too, and waits for the cause first.
 *
 * The thread that opened the detector (the opening thread) prints the error
 * and exits. Where it does not do so in time, because it is inside a kernel or
 * MPI, the detector thread prints the error and ends the process.
 */
#ifndef MO_EXEC_TRANSPORT_FAILURE_DETECTOR_H
#define MO_EXEC_TRANSPORT_FAILURE_DETECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/thread/first_error.h"
#include "exec/transport/secure/channel.h"

typedef struct mo_failure_detector mo_failure_detector;

typedef struct mo_failure_detector_options {
    double timeout_s; /* longest silence of a peer */
    mo_first_error
        *failure; /* where the first error is stored; outlives the detector */
    /* Called from the detector thread with an error it detected; stores it in
     * failure and wakes all waiting threads. */
    void (*on_failure)(void *context, const mo_error *why);
    /* Fills *why when the other ranks are not connected in time, or a signal
     * arrives before they are: names the missing rank. */
    void (*describe_missing)(void *context, mo_error *why);
    void *context;
    void (*print_fatal)(const mo_error *why); /* NULL: plain text on stderr */
    /* The loss of a rank is stored and sent to all, and the detector goes on:
     * it neither sends it as an error nor ends the process. */
    bool tolerates_losses;
} mo_failure_detector_options;

/* Starts the thread and installs the signal handlers; the peers have to be set
 * within so many seconds. The caller frees *detector with
 * mo_failure_detector_free(), which accepts NULL. */
mo_status mo_failure_detector_new(const mo_failure_detector_options *options,
                                  double seconds,
                                  mo_failure_detector **detector,
                                  mo_error *err);

/* Connections to all other ranks, by rank (NULL at this rank's), owned and
 * closed by the detector on success; NULL: there are no others. */
mo_status mo_failure_detector_set_peers(mo_failure_detector *detector,
                                        int n_ranks, int rank,
                                        mo_secure_channel *const *channels,
                                        mo_error *err);

/* Sets the name of a rank in errors: "rank 1 (host tau, device 'B')". */
void mo_failure_detector_set_peer_name(mo_failure_detector *detector, int rank,
                                       const char *name);

/* Sends the error in failure to all peers; repeated calls do nothing. From any
 * thread. */
void mo_failure_detector_broadcast_error(mo_failure_detector *detector);

/* The calling thread prints the error at once: the detector does not. */
void mo_failure_detector_caller_reports(mo_failure_detector *detector);

/* Prints the error in failure and ends the process. */
void mo_failure_detector_abort(mo_failure_detector *detector);

/*
 * Sleeps for 0.6 s, between the error message and the exit. A launcher that
 * ends a job sends SIGTERM, waits, and kills; mpirun stops waiting as soon as
 * a process of the job exits. Also, before all ranks are connected, the others
 * detect which one is missing by which ones are present.
 */
void mo_failure_detector_delay_exit(void);

/* Gives a rank up, with tolerates_losses, as if the detector had found why. */
void mo_failure_detector_lose(mo_failure_detector *detector, int rank,
                              const mo_error *why);

typedef struct mo_failure_detector_peer {
    bool lost;         /* given up; of this rank: by rank 0 */
    bool done;         /* it has sent DONE */
    int64_t silent_ns; /* how long it had sent nothing when it was lost */
} mo_failure_detector_peer;

mo_failure_detector_peer
mo_failure_detector_peer_of(mo_failure_detector *detector, int rank);

/* Returns the error that rank 0 is lost, or has given up this rank; with
 * tolerates_losses, after one of these. */
mo_status mo_failure_detector_left_alone(mo_failure_detector *detector,
                                         mo_error *err);

/* Returns whether a loss is known, with tolerates_losses. */
bool mo_failure_detector_has_loss(mo_failure_detector *detector);

/* Returns whether this rank (-1: any) sent DONE at least 2 s ago. */
bool mo_failure_detector_peer_has_left(mo_failure_detector *detector, int rank);

/* Returns whether this rank has left and since_ns is over 5 s ago: what it
 * sent before its DONE may still be in flight, or unread. */
bool mo_failure_detector_peer_wait_expired(mo_failure_detector *detector,
                                           int rank, int64_t since_ns);

/* Returns MO_OK when all others have sent DONE, or the stored error. */
mo_status mo_failure_detector_await_done(mo_failure_detector *detector,
                                         mo_error *err);

/* After mo_failure_detector_await_done(): what happens to the others is no
 * failure of this rank any more. Signals are. */
void mo_failure_detector_ignore_peers(mo_failure_detector *detector);

/* Sends DONE and returns MO_OK when all others have, or the stored error. */
mo_status mo_failure_detector_finish(mo_failure_detector *detector,
                                     mo_error *err);

/* Sends DONE and does not wait: after a loss. */
void mo_failure_detector_leave(mo_failure_detector *detector);

/* Sends CLOSE, after mo_failure_detector_finish(): nothing that could hang
 * follows. */
void mo_failure_detector_stop(mo_failure_detector *detector);

/* Ends the thread and frees the detector with its connections. */
void mo_failure_detector_free(mo_failure_detector *detector);

#endif
