/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mitm.so - a man in the middle of the outgoing TCP connections of a process,
 * preloaded into it (LD_PRELOAD).
 *
 * connect() hands the process one end of a pair of sockets; a thread relays
 * between the other end and the real connection and tampers with the bytes, as
 * a router on the path could. It knows no token. MITM has five words:
 *
 *     MITM="KIND CONNECTION DIRECTION OFFSET FILE"
 *
 * CONNECTION counts from 0 in the order of connecting (-1: all), DIRECTION is
 * out or in, as the process sees it, OFFSET a number of bytes into that
 * direction. KIND: flip a bit; drop 32 bytes; repeat the piece of bytes there;
 * swap it with the next piece; cut the connection; hold (forward nothing more);
 * record all bytes to FILE, or pass. FILE also receives a line when the bytes
 * were tampered with.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE_BYTES = 1400, DROPPED_BYTES = 32, OUT = 0, IN = 1 };

typedef struct tampering {
    char kind[16], direction[8], file[512];
    int connection;
    long offset;
} tampering;

/* One direction of a connection. */
typedef struct stream {
    int from, to;
    long n_bytes; /* seen so far */
    bool tampers; /* with this stream; until it is done */
    bool holds;
    char held[PIECE_BYTES];
    size_t n_held;
} stream;

typedef struct relay {
    tampering how;
    stream streams[2];
} relay;

static atomic_int n_connections;

static void append_file(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, n) < 0)
        return;
    close(fd);
}

static bool send_bytes(const stream *s, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(s->to, bytes, n, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t) sent;
    }
    return true;
}

/* Forwards a piece that holds the offset, tampered with; returns false to end
 * the connection. */
static bool tamper(const tampering *how, stream *s, char *piece, size_t n)
{
    size_t at =
        how->offset > s->n_bytes ? (size_t) (how->offset - s->n_bytes) : 0;

    s->tampers = false;
    append_file(how->file, how->kind, strlen(how->kind));
    append_file(how->file, "\n", 1);
    if (strcmp(how->kind, "flip") == 0)
        piece[at] ^= 1;
    else if (strcmp(how->kind, "drop") == 0) {
        size_t end = at + DROPPED_BYTES < n ? at + DROPPED_BYTES : n;

        return send_bytes(s, piece, at) && send_bytes(s, piece + end, n - end);
    } else if (strcmp(how->kind, "repeat") == 0)
        return send_bytes(s, piece, n) && send_bytes(s, piece, n);
    else if (strcmp(how->kind, "swap") == 0) {
        memcpy(s->held, piece, n);
        s->n_held = n;
        return true;
    } else if (strcmp(how->kind, "cut") == 0)
        return send_bytes(s, piece, at) && false;
    else if (strcmp(how->kind, "hold") == 0) {
        s->holds = true;
        return send_bytes(s, piece, at);
    }
    return send_bytes(s, piece, n);
}

static bool forward(const tampering *how, stream *s)
{
    char piece[PIECE_BYTES];
    ssize_t got = recv(s->from, piece, sizeof piece, 0);
    bool alive;

    if (got < 0 && errno == EINTR)
        return true;
    if (got <= 0) {
        if (s->n_held > 0)
            send_bytes(s, s->held, s->n_held);
        return false;
    }
    if (strcmp(how->kind, "record") == 0 && s->tampers)
        append_file(how->file, piece, (size_t) got);
    else if (s->tampers && s->n_bytes + got > how->offset) {
        alive = tamper(how, s, piece, (size_t) got);
        s->n_bytes += got;
        return alive;
    }
    s->n_bytes += got;
    if (s->holds)
        return true;
    alive = send_bytes(s, piece, (size_t) got);
    if (alive && s->n_held > 0) {
        alive = send_bytes(s, s->held, s->n_held);
        s->n_held = 0;
    }
    return alive;
}

static void *run_relay(void *context)
{
    relay *r = context;
    bool alive = true;

    while (alive) {
        struct pollfd polled[2] = {
            { .fd = r->streams[OUT].from, .events = POLLIN },
            { .fd = r->streams[IN].from, .events = POLLIN }
        };

        /* A piece that waits for its successor is forwarded in the end. */
        if (poll(polled, 2, 300) == 0)
            for (int i = 0; i < 2; i++) {
                stream *s = &r->streams[i];

                alive &= send_bytes(s, s->held, s->n_held);
                s->n_held = 0;
            }
        for (int i = 0; i < 2 && alive; i++)
            if (polled[i].revents)
                alive = forward(&r->how, &r->streams[i]);
    }
    close(r->streams[OUT].from);
    close(r->streams[IN].from);
    free(r);
    return NULL;
}

static bool start_relay(int inner, int real)
{
    const char *text = getenv("MITM");
    relay *r = calloc(1, sizeof *r);
    int number = atomic_fetch_add(&n_connections, 1);
    sigset_t all, before;
    pthread_t thread;
    bool started;

    if (!r || !text ||
        sscanf(text, "%15s %d %7s %ld %511s", r->how.kind, &r->how.connection,
               r->how.direction, &r->how.offset, r->how.file) != 5)
        abort();
    r->streams[OUT] = (stream){ .from = inner, .to = real };
    r->streams[IN] = (stream){ .from = real, .to = inner };
    if (r->how.connection < 0 || r->how.connection == number)
        r->streams[strcmp(r->how.direction, "in") == 0 ? IN : OUT].tampers =
            true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&thread, NULL, run_relay, r) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    union {
        void *object;
        int (*call)(int, const struct sockaddr *, socklen_t);
    } real = { dlsym(RTLD_NEXT, "connect") };
    int outer, pair[2];

    if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
        return real.call(fd, address, length);
    outer = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (outer < 0 || real.call(outer, address, length) != 0) {
        int error = errno;

        close(outer);
        errno = error;
        return -1;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
        fcntl(pair[0], F_SETFL, O_NONBLOCK) != 0 || dup2(pair[0], fd) != fd ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || !start_relay(pair[1], outer))
        abort();
    close(pair[0]);
    return 0;
}
