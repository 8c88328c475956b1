/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_world.h - the world of ranks over TCP, for the files that make it up.
 *
 * A thread of its own reads all connections, straight into the memory where
 * values belong, and writes what cannot be written at once.
 *
 * A value of up to MO_TCP_EAGER_BYTES bytes is sent as soon as its sender has
 * it, and kept by the other end until somebody wants it.  Larger ones are sent
 * when the receiver has said that it is ready, so that nothing has to be kept
 * and what nobody wants yet never stands in the way of anything.
 */
#ifndef MO_EXEC_TRANSPORT_TCP_TCP_INTERNAL_H
#define MO_EXEC_TRANSPORT_TCP_TCP_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/launch.h"
#include "exec/transport/job.h"
#include "exec/transport/transport.h"

enum { MO_TCP_EAGER_BYTES = 64 << 10 };

typedef enum mo_tcp_msg_kind {
    MO_TCP_MSG_DATA = 'd',          /* the bytes of a transfer */
    MO_TCP_MSG_CLEAR_TO_SEND = 'r', /* it may come */
    MO_TCP_MSG_BARRIER =
        'g', /* here, and what it votes for; or: go, and with what */
    MO_TCP_MSG_CONTROL = 't' /* what openers tell each other */
} mo_tcp_msg_kind;

/* What comes before the bytes. */
typedef struct mo_tcp_msg_header {
    uint32_t kind;
    int32_t what; /* a transfer, or a vote */
    int64_t bytes;
} mo_tcp_msg_header;

typedef struct mo_tcp_send_item {
    mo_tcp_msg_header head;
    const char *data;
} mo_tcp_send_item;

/* The connection with a rank. */
typedef struct mo_tcp_conn {
    int socket;             /* -1: there is none */
    atomic_llong broken_ns; /* since when; 0: it is not */

    pthread_mutex_t lock; /* of all that is written, and of the transfers */
    mo_tcp_send_item *queue;
    size_t room, first, n;
    size_t sent; /* bytes of the first */

    /* The opener's: where to put what the peer tells. */
    void *talk;
    size_t talk_bytes;
    atomic_bool talk_wanted, talk_told;

    /* Of the thread that reads. */
    mo_tcp_msg_header head;
    size_t n_head; /* bytes of it that have come */
    bool begun;    /* it is known where the bytes go */
    char *into;    /* the rest of them */
    int64_t left;
} mo_tcp_conn;

/* A transfer with another rank, under its link's lock. */
typedef struct mo_tcp_transfer {
    mo_tcp_conn *link; /* NULL: between devices of this rank, or of others */
    bool begun;        /* sender: the value is there */
    bool ready;        /* sender: the other end is */
    bool expected;     /* receiver: its place is known */
    bool arrived;      /* receiver: early has all of it */
    char *early;       /* receiver: it came before its place was known */
} mo_tcp_transfer;

typedef struct mo_tcp_extension mo_tcp_extension; /* of the transport nccl */

struct mo_transport_world {
    mo_transport_job ranks;
    mo_tcp_extension *beside; /* NULL: nothing */
    bool *have_beside;        /* by rank: it has something; from begin on */
    mo_rdv_params job;
    mo_tcp_conn *links; /* by rank */

    pthread_t thread;
    bool started;
    int pipe[2]; /* wakes it */
    atomic_bool end, parting;

    /* Held by the thread while it works, not while it waits. */
    pthread_mutex_t plan_lock;
    mo_tcp_transfer *transfers; /* NULL: there is no plan */
    int n_transfers;

    pthread_mutex_t gate_lock;
    int gate_arrived; /* rank 0: how many ranks have */
    bool gate_vote;
};

/* tcp_link.c: writing. */

void mo_tcp_conn_init(mo_tcp_conn *link, int socket);
void mo_tcp_conn_clear(mo_tcp_conn *link);

/* The link's lock is held.  What can be written is written at once where that
 * does not take long; else wake the thread: *wake. */
mo_status mo_tcp_conn_enqueue(mo_transport_world *world, mo_tcp_conn *link,
                              mo_tcp_msg_kind kind, int what, const void *data,
                              int64_t bytes, bool *wake, mo_error *err);
/* Writes until nothing is left, or no more can be written. */
void mo_tcp_conn_flush(mo_transport_world *world, mo_tcp_conn *link);
void mo_tcp_io_thread_wake(mo_transport_world *world);

/* tcp_read.c */

/* Reads what has come; the plan's lock is held. */
void mo_tcp_conn_receive(mo_transport_world *world, mo_tcp_conn *link);

/* tcp_gate.c */
mo_status mo_tcp_barrier_arrive(mo_transport_world *world, bool vote,
                                mo_error *err);

/* tcp_serve.c: the thread. */
mo_status mo_tcp_io_thread_start(mo_transport_world *world, mo_error *err);
void mo_tcp_io_thread_stop(mo_transport_world *world);

/* tcp_talk.c: what openers tell each other while nothing runs. */
mo_status mo_tcp_control_send(mo_transport_world *world, int peer,
                              const void *data, size_t bytes, mo_error *err);
mo_status mo_tcp_control_receive(mo_transport_world *world, int peer,
                                 void *data, size_t bytes, mo_error *err);
/* Both at once, with as many bytes each way. */
mo_status mo_tcp_control_exchange(mo_transport_world *world, int peer,
                                  const void *own, void *other, size_t bytes,
                                  mo_error *err);
mo_status mo_tcp_collect_to_root(mo_transport_world *world, int from,
                                 void *data, size_t bytes, mo_error *err);
mo_status mo_tcp_broadcast(mo_transport_world *world, void *data, size_t bytes,
                           mo_error *err);

/* tcp_begin.c */
mo_status mo_tcp_plan_begin(mo_transport_world *world, const mo_exec_plan *plan,
                            const int *rank_of, int n_threads, uint64_t digest,
                            mo_error *err);
void mo_tcp_plan_clear(mo_transport_world *world);

#endif
