/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/failure_detector.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/stop.h"
#include "exec/transport/peers.h"
#include "exec/transport/signal_pipe.h"
#include "exec/transport/rendezvous/control_msg.h"

#define MS INT64_C(1000000)

/* How often one looks at what nobody wakes for, and how often when something is
 * about to be done. */
static const int64_t later_ns = 500 * MS, soon_ns = 50 * MS;
/* How long whoever speaks for the process is given for it, how long if the
 * launcher wants us gone (which kills a second after SIGTERM), and how long
 * until it must have left. */
static const int64_t grace_ns = 1000 * MS, short_grace_ns = 200 * MS;
static const int64_t leave_ns = 6000 * MS;
/* How long news of the cause may take that makes a launcher send signals. */
static const int64_t cause_ns = 200 * MS;
/* A good-bye is on its way as long as what was sent before it by MPI. */
static const int64_t left_ns = 2000 * MS, in_vain_ns = 5000 * MS;

enum { NUDGE = 0 }; /* no signal has this number */
enum { LOOKS = 8 }; /* within the patience, at least */

struct mo_failure_detector {
    mo_failure_detector_options options;
    pthread_t thread;
    int pipe[2];
    atomic_bool end;
    atomic_bool spoken; /* or about to be */
    atomic_llong spoken_ns;

    pthread_mutex_t lock; /* for all below */
    pthread_cond_t parting;
    mo_transport_peers peers;
    bool told, foreign; /* the failure is not our own */
    int64_t limit_ns, failed_ns, signal_ns;
    int signal;
};

static void nudge(mo_failure_detector *w)
{
    char byte = NUDGE;

    /* A full pipe wakes as well. */
    if (write(w->pipe[1], &byte, 1) < 0)
        return;
}

/* ------------------------------------------------------------------ telling */

static void tell(mo_failure_detector *w)
{
    char text[MO_RDV_MSG_TEXT_SIZE], why[MO_RDV_MSG_TEXT_SIZE];
    mo_error err = { 0 };

    if (w->told || mo_first_error_get(w->options.failure, &err) == MO_OK)
        return;
    w->told = true;
    if (!w->peers.peers)
        return;
    mo_error_format(&err, why, sizeof why);
    if (w->foreign)
        snprintf(text, sizeof text, "%s", why);
    else
        snprintf(text, sizeof text, "%.300s: %.1200s",
                 w->peers.peers[w->peers.rank].name, why);
    mo_transport_peers_broadcast(&w->peers, MO_RDV_MSG_ERROR, text);
}

void mo_failure_detector_broadcast_error(mo_failure_detector *watch)
{
    pthread_mutex_lock(&watch->lock);
    tell(watch);
    pthread_cond_broadcast(&watch->parting);
    pthread_mutex_unlock(&watch->lock);
    nudge(watch);
}

/* The lock is not held. */
static void find(mo_failure_detector *w, const mo_error *why, bool foreign)
{
    pthread_mutex_lock(&w->lock);
    w->foreign = foreign && !mo_first_error_is_set(w->options.failure);
    pthread_mutex_unlock(&w->lock);
    w->options.found(w->options.context, why);
    mo_failure_detector_broadcast_error(w);
}

/* ----------------------------------------------------------- the last words */

static bool have_met(mo_failure_detector *w)
{
    bool met;

    pthread_mutex_lock(&w->lock);
    met = w->peers.peers != NULL;
    pthread_mutex_unlock(&w->lock);
    return met;
}

static void print_plainly(const mo_error *why)
{
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

    fprintf(stderr, "%s\n", mo_error_format(why, text, sizeof text));
}

static void end_process(mo_failure_detector *w)
{
    mo_error why = { 0 };

    mo_first_error_get(w->options.failure, &why);
    if (w->options.last_words)
        w->options.last_words(&why);
    else
        print_plainly(&why);
    mo_failure_detector_delay_exit();
    mo_cleanup_run();
    _exit(EXIT_FAILURE);
}

void mo_failure_detector_caller_reports(mo_failure_detector *watch)
{
    /* The watch has begun to speak, and ends the process in a moment. */
    if (atomic_exchange(&watch->spoken, true))
        while (atomic_load(&watch->spoken_ns) == 0)
            pause();
    atomic_store(&watch->spoken_ns, mo_stop_clock_ns());
}

void mo_failure_detector_delay_exit(void)
{
    struct timespec a_while = { .tv_nsec = 600 * MS };

    nanosleep(&a_while, NULL);
}

void mo_failure_detector_abort(mo_failure_detector *watch)
{
    mo_failure_detector_caller_reports(watch);
    end_process(watch);
}

static void speak_in_time(mo_failure_detector *w, int64_t now)
{
    int64_t spoken = atomic_load(&w->spoken_ns);
    int64_t grace = grace_ns, since = w->failed_ns;

    if (spoken != 0 && now - spoken > leave_ns) {
        mo_cleanup_run();
        _exit(EXIT_FAILURE);
    }
    if (w->failed_ns == 0)
        return;
    if (w->signal != 0 && w->signal_ns > since)
        since = w->signal_ns;
    if (w->signal != 0)
        grace = short_grace_ns;
    /* Until all have met the other thread is in the hands of MPI. */
    if (!have_met(w))
        grace = 0;
    if (now - since >= grace && !atomic_exchange(&w->spoken, true))
        end_process(w);
}

/* ------------------------------------------------------------------ looking */

static void read_pipe(mo_failure_detector *w, int64_t now)
{
    char bytes[64];
    ssize_t n = read(w->pipe[0], bytes, sizeof bytes);

    for (ssize_t i = 0; i < n; i++)
        if (bytes[i] != NUDGE && w->signal == 0) {
            w->signal = bytes[i];
            w->signal_ns = now;
        }
}

static void check_signal(mo_failure_detector *w, int64_t now, mo_error *why)
{
    if (w->signal == 0 || now - w->signal_ns < cause_ns || why->status != MO_OK)
        return;
    if (!w->peers.peers)
        w->options.missing(w->options.context, why);
    else
        mo_fail(why, MO_E_IO, "stopped by %s",
                w->signal == SIGINT ? "SIGINT" : "SIGTERM");
}

static void check_limit(mo_failure_detector *w, int64_t now, mo_error *why)
{
    if (!w->peers.peers && now > w->limit_ns && why->status == MO_OK)
        w->options.missing(w->options.context, why);
}

/* Looks at everything once. */
static void look(mo_failure_detector *w)
{
    mo_error why = { 0 };
    bool failed = mo_first_error_is_set(w->options.failure), foreign;
    int64_t now = mo_stop_clock_ns();

    pthread_mutex_lock(&w->lock);
    read_pipe(w, now);
    mo_transport_peers_poll_messages(&w->peers, w->options.patience_s, &why);
    if (mo_transport_peers_all_done(&w->peers))
        pthread_cond_broadcast(&w->parting);
    check_limit(w, now, &why);
    foreign = why.status != MO_OK;
    check_signal(w, now, &why);
    if ((failed || why.status != MO_OK) && w->failed_ns == 0)
        w->failed_ns = now;
    pthread_mutex_unlock(&w->lock);
    if (!failed && why.status != MO_OK)
        find(w, &why, foreign);
    speak_in_time(w, now);
}

/* Who has little patience looks more often, and so do its peers for it. */
static int64_t later(const mo_failure_detector *w)
{
    int64_t part = (int64_t) (w->options.patience_s * 1e9 / LOOKS);

    if (part > later_ns)
        return later_ns;
    return part > MS ? part : MS;
}

/* Until something comes, or something is due. */
static void wait_for_news(mo_failure_detector *w, struct pollfd *polled)
{
    bool soon = mo_first_error_is_set(w->options.failure);
    nfds_t n = 0;

    polled[n++] = (struct pollfd){ .fd = w->pipe[0], .events = POLLIN };
    pthread_mutex_lock(&w->lock);
    soon = soon || w->signal != 0 || !w->peers.peers;
    n = mo_transport_peers_add_pollfds(&w->peers, polled, n);
    pthread_mutex_unlock(&w->lock);
    poll(polled, n, (int) ((soon ? soon_ns : later(w)) / MS));
}

static void *watch_out(void *context)
{
    mo_failure_detector *w = context;
    struct pollfd *polled = calloc(MO_TRANSPORT_MAX_PEERS + 1, sizeof *polled);

    while (polled && !atomic_load(&w->end)) {
        wait_for_news(w, polled);
        look(w);
    }
    free(polled);
    return NULL;
}

/* -------------------------------------------------------- making and ending */

static mo_status start(mo_failure_detector *w, mo_error *err)
{
    sigset_t all, before;
    int failed;

    if (pipe2(w->pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return mo_fail_errno(err, NULL, "make a pipe");
    mo_signal_pipe_install(w->pipe[1]);
    /* The thread inherits that it takes no signals itself. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&w->thread, NULL, watch_out, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed == 0)
        return MO_OK;
    mo_signal_pipe_restore();
    close(w->pipe[0]);
    close(w->pipe[1]);
    return mo_fail(err, MO_E_MEMORY, "a thread cannot be started: %s",
                   strerror(failed));
}

mo_status mo_failure_detector_new(const mo_failure_detector_options *options,
                                  double seconds, mo_failure_detector **watch,
                                  mo_error *err)
{
    mo_failure_detector *w = calloc(1, sizeof *w);
    mo_status status;

    *watch = NULL;
    if (!w)
        return mo_fail_memory(err);
    w->options = *options;
    w->limit_ns = mo_stop_clock_ns() + (int64_t) (seconds * 1e9);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->parting, NULL);
    status = start(w, err);
    if (status == MO_OK) {
        *watch = w;
        return MO_OK;
    }
    pthread_cond_destroy(&w->parting);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return status;
}

mo_status mo_failure_detector_set_peers(mo_failure_detector *watch, int n_ranks,
                                        int rank, const int *sockets,
                                        mo_error *err)
{
    mo_status status;

    pthread_mutex_lock(&watch->lock);
    status =
        mo_transport_peers_init(&watch->peers, n_ranks, rank, sockets, err);
    pthread_mutex_unlock(&watch->lock);
    nudge(watch);
    return status;
}

void mo_failure_detector_set_peer_name(mo_failure_detector *watch, int rank,
                                       const char *name)
{
    mo_transport_peer *peer = &watch->peers.peers[rank];

    pthread_mutex_lock(&watch->lock);
    snprintf(peer->name, sizeof peer->name, "%s", name);
    pthread_mutex_unlock(&watch->lock);
}

/* ------------------------------------------------------------------ leaving */

bool mo_failure_detector_peer_has_left(mo_failure_detector *watch, int rank)
{
    bool left;

    pthread_mutex_lock(&watch->lock);
    left = mo_transport_peers_has_left(&watch->peers, rank, left_ns);
    pthread_mutex_unlock(&watch->lock);
    return left;
}

bool mo_failure_detector_peer_wait_expired(mo_failure_detector *watch, int rank,
                                           int64_t since_ns)
{
    return mo_stop_clock_ns() - since_ns > in_vain_ns &&
           mo_failure_detector_peer_has_left(watch, rank);
}

mo_status mo_failure_detector_finish(mo_failure_detector *watch, mo_error *err)
{
    pthread_mutex_lock(&watch->lock);
    mo_transport_peers_broadcast(&watch->peers, MO_RDV_MSG_DONE, NULL);
    while (!mo_transport_peers_all_done(&watch->peers) &&
           !mo_first_error_is_set(watch->options.failure))
        pthread_cond_wait(&watch->parting, &watch->lock);
    pthread_mutex_unlock(&watch->lock);
    return mo_first_error_get(watch->options.failure, err);
}

void mo_failure_detector_stop(mo_failure_detector *watch)
{
    pthread_mutex_lock(&watch->lock);
    mo_transport_peers_broadcast(&watch->peers, MO_RDV_MSG_CLOSE, NULL);
    pthread_mutex_unlock(&watch->lock);
}

void mo_failure_detector_free(mo_failure_detector *watch)
{
    if (!watch)
        return;
    atomic_store(&watch->end, true);
    nudge(watch);
    pthread_join(watch->thread, NULL);
    /* After a failure the launcher wants us gone, as we do ourselves. */
    if (mo_first_error_is_set(watch->options.failure))
        mo_signal_pipe_ignore();
    else
        mo_signal_pipe_restore();
    mo_transport_peers_clear(&watch->peers);
    close(watch->pipe[0]);
    close(watch->pipe[1]);
    pthread_cond_destroy(&watch->parting);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}
