/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_internal.h - state of the TCP transport, shared by its files.
 *
 * An I/O thread reads all connections, straight into the memory where values
 * belong, and writes what cannot be written at once.
 *
 * Eager and rendezvous protocol, as in MPI: a value of up to
 * MO_TCP_EAGER_BYTES bytes is sent as soon as the sender has it, and buffered
 * by the receiver until a receive is posted (an unexpected message). Larger
 * ones are sent when the receiver has sent CLEAR_TO_SEND, so that nothing is
 * buffered and a value without a posted receive never blocks the connection.
 */
#ifndef MO_EXEC_TRANSPORT_TCP_TCP_INTERNAL_H
#define MO_EXEC_TRANSPORT_TCP_TCP_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/join.h"
#include "exec/transport/rendezvous/launch.h"
#include "exec/transport/job.h"
#include "exec/transport/transport.h"

enum { MO_TCP_EAGER_BYTES = 64 << 10 };

typedef enum mo_tcp_msg_kind {
    MO_TCP_MSG_DATA = 'd',          /* the bytes of a transfer */
    MO_TCP_MSG_CLEAR_TO_SEND = 'r', /* the receive is posted */
    MO_TCP_MSG_BARRIER = 'g', /* to rank 0: arrived, with the vote; from rank 0:
                                 released, with the verdict */
    MO_TCP_MSG_CONTROL = 't'  /* between opening threads */
} mo_tcp_msg_kind;

/* Precedes the bytes. */
typedef struct mo_tcp_msg_header {
    uint32_t kind;
    int32_t arg; /* a transfer, or a vote */
    int64_t bytes;
} mo_tcp_msg_header;

typedef struct mo_tcp_send_item {
    mo_tcp_msg_header header;
    const char *data; /* NULL: none */
} mo_tcp_send_item;

/* The data connection to one rank. */
typedef struct mo_tcp_conn {
    mo_secure_channel *channel; /* owned; NULL: none */
    atomic_llong broken_ns;     /* when it broke; 0: it is open */
    atomic_bool lacked_memory;  /* ... since this rank was out of memory */

    pthread_mutex_t lock; /* for sending, the queue and the transfers */
    mo_tcp_send_item *queue;
    size_t capacity, first, n;
    size_t sent; /* bytes of the first item */

    /* The control message that the opening thread receives next: its buffer. */
    void *control_buffer;
    size_t control_bytes;
    atomic_bool control_expected, control_sent;

    /* State of the I/O thread: the message being read. */
    mo_tcp_msg_header header;
    size_t n_header;   /* bytes of it that have arrived */
    bool body_started; /* the destination of the bytes is known */
    char *read_pos;    /* destination of the next byte */
    int64_t bytes_left;
    int64_t waited_ns; /* for the rest of a message */

    /* Rank 0, under the lock of the barrier: this peer has arrived. */
    bool barrier_arrived;
} mo_tcp_conn;

/* A transfer with another rank, under the lock of its connection. */
typedef struct mo_tcp_transfer {
    mo_tcp_conn *conn;   /* NULL: between devices of this rank, or of others */
    bool data_ready;     /* sender: the value is ready */
    bool clear_to_send;  /* sender: CLEAR_TO_SEND has arrived */
    bool receive_posted; /* receiver: the receive is posted */
    bool arrived;        /* receiver: the unexpected message is complete */
    char *unexpected;    /* receiver: buffer of a message that came before its
                            receive was posted; owned */
} mo_tcp_transfer;

typedef struct mo_tcp_extension
    mo_tcp_extension; /* defined by the transport nccl */

typedef struct mo_tcp_world {
    mo_transport_job job;
    mo_tcp_extension *extension; /* NULL: none */
    bool *peer_has_extension; /* by rank: it has an extension; from begin on */
    mo_rdv_params params;
    mo_rdv_key key;     /* kept for a join after a loss */
    mo_tcp_conn *conns; /* by rank */

    pthread_t thread;
    struct pollfd *polled; /* of the thread: the pipe, then all connections */
    bool started;
    int pipe[2]; /* wakes the I/O thread */
    atomic_bool stopping, closing;

    /* Held by the I/O thread while it works, not while it polls. */
    pthread_mutex_t plan_lock;
    mo_tcp_transfer *transfers; /* NULL: no plan */
    int n_transfers;

    pthread_mutex_t barrier_lock;
    int barrier_arrived; /* rank 0: number of ranks that have arrived */
    bool barrier_vote;
    bool barrier_pending; /* other ranks: arrived, and not released yet */
} mo_tcp_world;

/* The state behind the handle of the transport interface. */
static inline mo_tcp_world *mo_tcp_world_of(mo_transport_world *world)
{
    return (mo_tcp_world *) world;
}

static inline const mo_tcp_world *
mo_tcp_world_of_const(const mo_transport_world *world)
{
    return (const mo_tcp_world *) world;
}

/* connection.c: sending. */

/* Takes channel, which may be NULL. */
void mo_tcp_conn_init(mo_tcp_conn *conn, mo_secure_channel *channel);
void mo_tcp_conn_clear(mo_tcp_conn *conn);

/* Appends a message; the connection's lock is held, and its data stays the
 * caller's until it is sent. A small message on an idle connection is written
 * at once; else *wake is set and the caller wakes the I/O thread. */
mo_status mo_tcp_conn_enqueue(mo_tcp_world *world, mo_tcp_conn *conn,
                              mo_tcp_send_item item, bool *wake, mo_error *err);
/* Writes until the queue is empty or the socket would block; lock held. */
void mo_tcp_conn_flush(mo_tcp_world *world, mo_tcp_conn *conn);
/* Returns whether bytes are left to be written; lock held. */
bool mo_tcp_conn_has_unsent(const mo_tcp_conn *conn);
void mo_tcp_io_thread_wake(mo_tcp_world *world);

/* connection.c: receiving. */

/* Decodes a header: its kind is known, arg is an index below n_transfers or a
 * vote, and only data and control messages have bytes, not fewer than 0. Which
 * transfer may come over which connection, and its size, follow from the plan.
 * Returns NULL, or what is wrong: "an unknown message". */
const char *
mo_tcp_decode_header(const unsigned char bytes[sizeof(mo_tcp_msg_header)],
                     int n_transfers, mo_tcp_msg_header *header);

/* Reads and handles pending messages; plan_lock is held. */
void mo_tcp_conn_receive(mo_tcp_world *world, mo_tcp_conn *conn);

/* connection.c: barrier. */
mo_status mo_tcp_barrier_arrive(mo_tcp_world *world, bool vote, mo_error *err);

/* io_thread.c */
mo_status mo_tcp_io_thread_start(mo_tcp_world *world, mo_error *err);
void mo_tcp_io_thread_stop(mo_tcp_world *world);

/* control.c: messages between opening threads while no plan runs. Each returns
 * MO_OK when data is sent or received, or the stored error; the buffer may be
 * reused when it returns. */
mo_status mo_tcp_control_send(mo_tcp_world *world, int peer, const void *data,
                              size_t bytes, mo_error *err);
mo_status mo_tcp_control_receive(mo_tcp_world *world, int peer, void *data,
                                 size_t bytes, mo_error *err);
/* Sends and receives at once, so many bytes each way. */
mo_status mo_tcp_control_exchange(mo_tcp_world *world, int peer,
                                  const void *own, void *other, size_t bytes,
                                  mo_error *err);

/* plan.c */

/* Forgets the transfers; a connection that is in the middle of one breaks. */
void mo_tcp_plan_clear(mo_tcp_world *world);

/* tcp.c, plan.c, control.c: the transport interface (transport.h), also used
 * by the transport nccl. */
mo_status mo_tcp_open(const mo_transport_world_options *options,
                      mo_transport_world **handle, mo_error *err);
void mo_tcp_close(mo_transport_world *handle);
mo_status mo_tcp_settle(mo_transport_world *handle, mo_error *err);
bool mo_tcp_loss(mo_transport_world *handle, mo_transport_loss *loss);
mo_status mo_tcp_reopen(mo_transport_world *lost,
                        const mo_transport_world_options *options,
                        mo_transport_world **world, mo_error *err);
int mo_tcp_origin(const mo_transport_world *handle, int rank);
int mo_tcp_n_ranks(const mo_transport_world *handle);
int mo_tcp_rank(const mo_transport_world *handle);
mo_status mo_tcp_begin(mo_transport_world *handle, const mo_exec_plan *plan,
                       const int *rank_of, int n_threads, uint64_t digest,
                       mo_error *err);
mo_status mo_tcp_send(mo_transport_world *handle, int transfer,
                      const void *data, mo_error *err);
mo_status mo_tcp_receive(mo_transport_world *handle, int transfer, void *data,
                         mo_error *err);
mo_status mo_tcp_wait(mo_transport_world *handle, int transfer, bool sending,
                      mo_error *err);
mo_status mo_tcp_barrier(mo_transport_world *handle, bool *stop, mo_error *err);
int64_t mo_tcp_clock_offset_ns(const mo_transport_world *handle);
mo_status mo_tcp_serve(mo_transport_world *handle, int n_threads,
                       mo_error *err);
void mo_tcp_leave(mo_transport_world *handle);
mo_status mo_tcp_collect(mo_transport_world *handle, int from, void *data,
                         size_t bytes, mo_error *err);
mo_status mo_tcp_broadcast(mo_transport_world *handle, void *data, size_t bytes,
                           mo_error *err);
void mo_tcp_fail(mo_transport_world *handle, const mo_error *why);

#endif
