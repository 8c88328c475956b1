/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/failure_detector.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "exec/thread/worker.h"
#include "exec/transport/detector_peers.h"

#define MS INT64_C(1000000)

/* Longest poll interval, and the interval while an error is being handled. */
static const int64_t max_poll_ns = 500 * MS, urgent_poll_ns = 50 * MS;
/* Time for the opening thread to print the error; the same after a signal,
 * since launchers kill a second after SIGTERM; and the time it then has to
 * exit. */
static const int64_t report_ns = 1000 * MS, signal_report_ns = 200 * MS;
static const int64_t exit_ns = 6000 * MS;
/* Delay of the error message of the rank that made the launcher send
 * signals. */
static const int64_t cause_ns = 200 * MS;
/* Delay of a DONE message, which may overtake what was sent before it by
 * MPI. */
static const int64_t left_ns = 2000 * MS, peer_left_wait_ns = 5000 * MS;

enum { WAKE = 0 }; /* a byte in the pipe that is no signal number */
enum {
    POLLS_PER_TIMEOUT = 8
}; /* polls within the timeout of a peer, at least */

struct mo_failure_detector {
    mo_failure_detector_options options;
    pthread_t thread;
    struct pollfd *polled; /* of the thread */
    int pipe[2];
    atomic_bool stopping;
    atomic_bool error_printed; /* the error is printed, or about to be */
    atomic_llong printed_ns;

    pthread_mutex_t lock; /* for all members below */
    pthread_cond_t done_cond;
    mo_detector_peers peers;
    bool error_sent,
        is_remote;      /* broadcast done; the error is that of another rank */
    bool ignores_peers; /* none of their failures concerns this rank */
    bool has_loss;      /* of a rank, or its own, where they are tolerated */
    int64_t connect_deadline_ns, failed_ns, signal_ns;
    int signal;
};

/* Signals: the self-pipe trick. */

/* A handler has no context argument: the descriptor has to be global (see
 * base/cleanup.c). */
static atomic_int pipe_fd = -1;

static struct sigaction old_term, old_int;
static bool is_installed;

static void write_signal(int signal_number)
{
    int fd = atomic_load(&pipe_fd), error = errno;
    char byte = (char) signal_number;

    /* A full pipe holds more than enough of them. */
    if (fd >= 0 && write(fd, &byte, 1) < 0)
        errno = error;
}

/* The handlers stay installed and do nothing. */
static void ignore_signals(void)
{
    atomic_store(&pipe_fd, -1);
}

static void restore_signals(void)
{
    ignore_signals();
    is_installed = false;
    sigaction(SIGTERM, &old_term, NULL);
    sigaction(SIGINT, &old_int, NULL);
}

static void wake_thread(mo_failure_detector *w)
{
    char byte = WAKE;

    /* A full pipe wakes the thread as well. */
    if (write(w->pipe[1], &byte, 1) < 0)
        return;
}

static void broadcast_error(mo_failure_detector *w)
{
    char text[MO_RDV_MSG_TEXT_SIZE], why[MO_RDV_MSG_TEXT_SIZE];
    mo_error err = { 0 };

    if (w->error_sent || mo_first_error_get(w->options.failure, &err) == MO_OK)
        return;
    w->error_sent = true;
    if (!w->peers.peers)
        return;
    mo_error_format(&err, why, sizeof why);
    if (w->is_remote)
        snprintf(text, sizeof text, "%s", why);
    else
        snprintf(text, sizeof text, "%.300s: %.1200s",
                 w->peers.peers[w->peers.rank].name, why);
    mo_detector_peers_broadcast(&w->peers, MO_RDV_MSG_ERROR, text);
}

void mo_failure_detector_broadcast_error(mo_failure_detector *detector)
{
    pthread_mutex_lock(&detector->lock);
    broadcast_error(detector);
    pthread_cond_broadcast(&detector->done_cond);
    pthread_mutex_unlock(&detector->lock);
    wake_thread(detector);
}

static void exit_with_error(mo_failure_detector *w)
{
    mo_error why = { 0 };

    mo_first_error_get(w->options.failure, &why);
    if (w->options.print_fatal)
        w->options.print_fatal(&why);
    else {
        char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

        fprintf(stderr, "%s\n", mo_error_format(&why, text, sizeof text));
    }
    mo_failure_detector_delay_exit();
    mo_cleanup_run();
    _exit(EXIT_FAILURE);
}

void mo_failure_detector_caller_reports(mo_failure_detector *detector)
{
    /* The detector thread is printing already, and ends the process in a
     * moment. */
    if (atomic_exchange(&detector->error_printed, true))
        while (atomic_load(&detector->printed_ns) == 0)
            pause();
    atomic_store(&detector->printed_ns, mo_stop_clock_ns());
}

void mo_failure_detector_delay_exit(void)
{
    struct timespec delay = { .tv_nsec = 600 * MS };

    nanosleep(&delay, NULL);
}

void mo_failure_detector_abort(mo_failure_detector *detector)
{
    mo_failure_detector_caller_reports(detector);
    exit_with_error(detector);
}

static void exit_if_overdue(mo_failure_detector *w, int64_t now)
{
    int64_t error_printed = atomic_load(&w->printed_ns);
    int64_t grace = report_ns, since = w->failed_ns;
    bool connected;

    if (error_printed != 0 && now - error_printed > exit_ns) {
        mo_cleanup_run();
        _exit(EXIT_FAILURE);
    }
    /* A loss that this rank survives, or reports when its kernels end. */
    if (w->failed_ns == 0 ||
        (w->signal == 0 && mo_failure_detector_has_loss(w)))
        return;
    if (w->signal != 0 && w->signal_ns > since)
        since = w->signal_ns;
    if (w->signal != 0)
        grace = signal_report_ns;
    pthread_mutex_lock(&w->lock);
    connected = w->peers.peers != NULL;
    pthread_mutex_unlock(&w->lock);
    /* Until all ranks are connected the opening thread may be inside
     * MPI_Init. */
    if (!connected)
        grace = 0;
    if (now - since >= grace && !atomic_exchange(&w->error_printed, true))
        exit_with_error(w);
}

/* All others know of a loss, and no error follows. The lock is held. */
static void note_loss(mo_failure_detector *w, const mo_error *why)
{
    if (!w->peers.tolerant || why->status == MO_OK)
        return;
    w->error_sent = w->has_loss = true;
}

/* One pass over signals, messages, deadlines. */
static void poll_once(mo_failure_detector *w)
{
    mo_error why = { 0 };
    bool failed = mo_first_error_is_set(w->options.failure), is_remote;
    int64_t now = mo_stop_clock_ns();
    char bytes[64];
    ssize_t n;

    pthread_mutex_lock(&w->lock);
    n = read(w->pipe[0], bytes, sizeof bytes);
    for (ssize_t i = 0; i < n; i++)
        if (bytes[i] != WAKE && w->signal == 0) {
            w->signal = bytes[i];
            w->signal_ns = now;
        }
    mo_detector_peers_poll(&w->peers, w->options.timeout_s, &why);
    if (mo_detector_peers_all_done(&w->peers))
        pthread_cond_broadcast(&w->done_cond);
    if (w->ignores_peers)
        why = (mo_error){ 0 };
    note_loss(w, &why);
    if (!w->peers.peers && now > w->connect_deadline_ns && why.status == MO_OK)
        w->options.describe_missing(w->options.context, &why);
    is_remote = why.status != MO_OK;
    if (w->signal != 0 && now - w->signal_ns >= cause_ns &&
        why.status == MO_OK) {
        if (!w->peers.peers)
            w->options.describe_missing(w->options.context, &why);
        else
            mo_fail(&why, MO_E_IO, "stopped by %s",
                    w->signal == SIGINT ? "SIGINT" : "SIGTERM");
    }
    if ((failed || why.status != MO_OK) && w->failed_ns == 0)
        w->failed_ns = now;
    pthread_mutex_unlock(&w->lock);
    if (!failed && why.status != MO_OK) {
        pthread_mutex_lock(&w->lock);
        w->is_remote = is_remote && !mo_first_error_is_set(w->options.failure);
        pthread_mutex_unlock(&w->lock);
        w->options.on_failure(w->options.context, &why);
        mo_failure_detector_broadcast_error(w);
    }
    exit_if_overdue(w, now);
}

static void *run_detector(void *context)
{
    mo_failure_detector *w = context;
    /* The interval follows the timeout, so that a short timeout is met. */
    int64_t part = (int64_t) (w->options.timeout_s * 1e9 / POLLS_PER_TIMEOUT);
    int64_t interval_ns = mo_max_i64(mo_min_i64(part, max_poll_ns), MS);
    bool urgent;
    nfds_t n;

    while (!atomic_load(&w->stopping)) {
        /* Waits for a message or a signal, at most for the poll interval. */
        urgent = mo_first_error_is_set(w->options.failure);
        n = 0;
        w->polled[n++] = (struct pollfd){ .fd = w->pipe[0], .events = POLLIN };
        pthread_mutex_lock(&w->lock);
        urgent = urgent || w->signal != 0 || !w->peers.peers;
        for (int r = 0; r < w->peers.n_ranks; r++) {
            const mo_rdv_msg_channel *channel = &w->peers.peers[r].channel;

            if (channel->conn)
                w->polled[n++] =
                    (struct pollfd){ .fd = mo_rdv_msg_channel_socket(channel),
                                     .events = POLLIN };
        }
        pthread_mutex_unlock(&w->lock);
        poll(w->polled, n,
             (int) ((urgent ? urgent_poll_ns : interval_ns) / MS));
        poll_once(w);
    }
    return NULL;
}

static mo_status start_thread(mo_failure_detector *w, mo_error *err)
{
    sigset_t all, before;
    int failed;
    struct sigaction action = { .sa_flags = SA_RESTART };

    if (pipe2(w->pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return mo_fail_errno(err, NULL, "make a pipe");
    /* Installs handlers that write the signal number to the pipe, one byte
     * each. */
    action.sa_handler = write_signal;
    sigemptyset(&action.sa_mask);
    atomic_store(&pipe_fd, w->pipe[1]);
    /* The detector of a world that lost ranks may have them still. */
    if (!is_installed) {
        sigaction(SIGTERM, &action, &old_term);
        sigaction(SIGINT, &action, &old_int);
        is_installed = true;
    }
    /* The thread inherits the mask: it handles no signals itself. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&w->thread, NULL, run_detector, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed == 0)
        return MO_OK;
    restore_signals();
    close(w->pipe[0]);
    close(w->pipe[1]);
    return mo_thread_fail_start(failed, err);
}

mo_status mo_failure_detector_new(const mo_failure_detector_options *options,
                                  double seconds,
                                  mo_failure_detector **detector, mo_error *err)
{
    mo_failure_detector *w = calloc(1, sizeof *w);
    mo_status status;

    *detector = NULL;
    if (!w)
        return mo_fail_memory(err);
    w->options = *options;
    w->peers.tolerant = options->tolerates_losses;
    w->connect_deadline_ns = mo_stop_clock_ns() + (int64_t) (seconds * 1e9);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->done_cond, NULL);
    w->polled = calloc(MO_DETECTOR_MAX_PEERS + 1, sizeof *w->polled);
    status = w->polled ? start_thread(w, err) : mo_fail_memory(err);
    if (status == MO_OK) {
        *detector = w;
        return MO_OK;
    }
    pthread_cond_destroy(&w->done_cond);
    pthread_mutex_destroy(&w->lock);
    free(w->polled);
    free(w);
    return status;
}

mo_status mo_failure_detector_set_peers(mo_failure_detector *detector,
                                        int n_ranks, int rank,
                                        mo_secure_channel *const *channels,
                                        mo_error *err)
{
    mo_status status;

    pthread_mutex_lock(&detector->lock);
    status =
        mo_detector_peers_init(&detector->peers, n_ranks, rank, channels, err);
    pthread_mutex_unlock(&detector->lock);
    wake_thread(detector);
    return status;
}

void mo_failure_detector_set_peer_name(mo_failure_detector *detector, int rank,
                                       const char *name)
{
    mo_detector_peer *peer = &detector->peers.peers[rank];

    pthread_mutex_lock(&detector->lock);
    snprintf(peer->name, sizeof peer->name, "%s", name);
    pthread_mutex_unlock(&detector->lock);
}

void mo_failure_detector_lose(mo_failure_detector *detector, int rank,
                              const mo_error *why)
{
    pthread_mutex_lock(&detector->lock);
    mo_detector_peers_lose(&detector->peers, rank, why);
    note_loss(detector, why);
    pthread_mutex_unlock(&detector->lock);
    detector->options.on_failure(detector->options.context, why);
}

mo_failure_detector_peer
mo_failure_detector_peer_of(mo_failure_detector *detector, int rank)
{
    const mo_detector_peer *p = &detector->peers.peers[rank];
    mo_failure_detector_peer peer;

    pthread_mutex_lock(&detector->lock);
    peer = (mo_failure_detector_peer){ .lost = p->lost,
                                       .done = p->done_ns != 0,
                                       .silent_ns = p->silent_ns };
    if (rank == detector->peers.rank)
        peer.lost = detector->peers.given_up;
    pthread_mutex_unlock(&detector->lock);
    return peer;
}

mo_status mo_failure_detector_left_alone(mo_failure_detector *detector,
                                         mo_error *err)
{
    mo_error why;

    pthread_mutex_lock(&detector->lock);
    why = detector->peers.alone;
    pthread_mutex_unlock(&detector->lock);
    return mo_fail(err, MO_E_IO, "%s", why.text);
}

bool mo_failure_detector_has_loss(mo_failure_detector *detector)
{
    bool has_loss;

    pthread_mutex_lock(&detector->lock);
    has_loss = detector->has_loss;
    pthread_mutex_unlock(&detector->lock);
    return has_loss;
}

bool mo_failure_detector_peer_has_left(mo_failure_detector *detector, int rank)
{
    const mo_detector_peers *peers = &detector->peers;
    int64_t now = mo_stop_clock_ns();
    bool left = false;

    pthread_mutex_lock(&detector->lock);
    for (int r = 0; r < peers->n_ranks; r++) {
        int64_t done = peers->peers[r].done_ns;

        left |= (rank < 0 || r == rank) && done != 0 && now - done > left_ns;
    }
    pthread_mutex_unlock(&detector->lock);
    return left;
}

bool mo_failure_detector_peer_wait_expired(mo_failure_detector *detector,
                                           int rank, int64_t since_ns)
{
    return mo_stop_clock_ns() - since_ns > peer_left_wait_ns &&
           mo_failure_detector_peer_has_left(detector, rank);
}

mo_status mo_failure_detector_await_done(mo_failure_detector *detector,
                                         mo_error *err)
{
    pthread_mutex_lock(&detector->lock);
    while (!mo_detector_peers_all_done(&detector->peers) &&
           !mo_first_error_is_set(detector->options.failure))
        pthread_cond_wait(&detector->done_cond, &detector->lock);
    pthread_mutex_unlock(&detector->lock);
    return mo_first_error_get(detector->options.failure, err);
}

void mo_failure_detector_ignore_peers(mo_failure_detector *detector)
{
    pthread_mutex_lock(&detector->lock);
    detector->ignores_peers = true;
    pthread_mutex_unlock(&detector->lock);
}

void mo_failure_detector_leave(mo_failure_detector *detector)
{
    pthread_mutex_lock(&detector->lock);
    mo_detector_peers_broadcast(&detector->peers, MO_RDV_MSG_DONE, NULL);
    pthread_mutex_unlock(&detector->lock);
}

mo_status mo_failure_detector_finish(mo_failure_detector *detector,
                                     mo_error *err)
{
    mo_failure_detector_leave(detector);
    return mo_failure_detector_await_done(detector, err);
}

void mo_failure_detector_stop(mo_failure_detector *detector)
{
    pthread_mutex_lock(&detector->lock);
    mo_detector_peers_broadcast(&detector->peers, MO_RDV_MSG_CLOSE, NULL);
    pthread_mutex_unlock(&detector->lock);
}

void mo_failure_detector_free(mo_failure_detector *detector)
{
    if (!detector)
        return;
    atomic_store(&detector->stopping, true);
    wake_thread(detector);
    pthread_join(detector->thread, NULL);
    /* After a failure the process exits anyway; a late SIGTERM changes
     * nothing. Signals may be those of the next world already. */
    if (atomic_load(&pipe_fd) == detector->pipe[1]) {
        if (mo_first_error_is_set(detector->options.failure))
            ignore_signals();
        else
            restore_signals();
    }

    mo_detector_peers *peers = &detector->peers;

    for (int r = 0; r < peers->n_ranks; r++)
        mo_rdv_msg_channel_close(&peers->peers[r].channel);
    free(peers->peers);
    *peers = (mo_detector_peers){ .peers = NULL };
    close(detector->pipe[0]);
    close(detector->pipe[1]);
    pthread_cond_destroy(&detector->done_cond);
    pthread_mutex_destroy(&detector->lock);
    free(detector->polled);
    free(detector);
}
