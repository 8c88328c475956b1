/* SPDX-License-Identifier: Apache-2.0 */
/* Data connections: send queue and receive state machine of one peer. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/local_copy.h"
#include "exec/transport/tcp/tcp_internal.h"

void mo_tcp_conn_init(mo_tcp_conn *conn, mo_secure_channel *channel)
{
    memset(conn, 0, sizeof *conn);
    conn->channel = channel;
    atomic_init(&conn->broken_ns, 0);
    atomic_init(&conn->lacked_memory, false);
    atomic_init(&conn->control_expected, false);
    atomic_init(&conn->control_sent, false);
    pthread_mutex_init(&conn->lock, NULL);
}

void mo_tcp_conn_clear(mo_tcp_conn *conn)
{
    mo_secure_channel_free(conn->channel);
    free(conn->queue);
    pthread_mutex_destroy(&conn->lock);
}

void mo_tcp_io_thread_wake(mo_tcp_world *world)
{
    /* A full pipe wakes the thread as well. */
    if (write(world->pipe[1], "", 1) < 0)
        return;
}

static mo_status reserve_queue(mo_tcp_conn *conn, mo_error *err)
{
    size_t capacity = conn->capacity > 0 ? 2 * conn->capacity : 16;
    mo_tcp_send_item *queue;

    if (conn->first + conn->n < conn->capacity)
        return MO_OK;
    if (conn->first > conn->capacity / 2) {
        memmove(conn->queue, conn->queue + conn->first,
                conn->n * sizeof *conn->queue);
        conn->first = 0;
        return MO_OK;
    }
    queue = realloc(conn->queue, capacity * sizeof *queue);
    if (!queue)
        return mo_fail_memory(err);
    conn->queue = queue;
    conn->capacity = capacity;
    return MO_OK;
}

static void finish_send(mo_tcp_world *world, mo_tcp_conn *conn)
{
    const mo_tcp_send_item item = conn->queue[conn->first];

    conn->first = --conn->n > 0 ? conn->first + 1 : 0;
    conn->sent = 0;
    if (item.header.kind == MO_TCP_MSG_DATA)
        mo_transport_local_copy_complete(world->job.process.copier,
                                         item.header.arg);
    if (item.header.kind == MO_TCP_MSG_CONTROL) {
        atomic_store(&conn->control_sent, true);
        mo_eventcount_notify(&world->job.process.server_event);
    }
}

/* Fills parts with the unsent rest of the first item; returns their number. */
static int unsent_parts(const mo_tcp_conn *conn, struct iovec parts[2])
{
    mo_tcp_send_item *item = &conn->queue[conn->first];
    size_t header = sizeof item->header, sent = conn->sent;
    int at = 0;

    if (sent < header) {
        parts[at].iov_base = (char *) &item->header + sent;
        parts[at++].iov_len = header - sent;
        sent = header;
    }
    if (item->header.bytes > (int64_t) (sent - header)) {
        union {
            const char *read;
            void *base;
        } data = { item->data + (sent - header) };

        parts[at].iov_base = data.base;
        parts[at++].iov_len = (size_t) item->header.bytes - (sent - header);
    }
    return at;
}

bool mo_tcp_conn_has_unsent(const mo_tcp_conn *conn)
{
    return conn->n > 0 ||
           (conn->channel && mo_secure_channel_has_unsent(conn->channel));
}

/* The cause is in errno. That of a lost connection is reported by the failure
 * detector, which has more information. */
static void break_conn(mo_tcp_conn *conn)
{
    long long never = 0;

    if (errno == ENOMEM)
        atomic_store(&conn->lacked_memory, true);
    atomic_compare_exchange_strong(&conn->broken_ns, &never,
                                   mo_stop_clock_ns());
    conn->n = 0;
}

void mo_tcp_conn_flush(mo_tcp_world *world, mo_tcp_conn *conn)
{
    while (conn->n > 0) {
        size_t total_bytes = sizeof(mo_tcp_msg_header) +
                             (size_t) conn->queue[conn->first].header.bytes;
        struct iovec parts[2];
        int n_parts = unsent_parts(conn, parts);
        ssize_t sent = mo_secure_channel_send(conn->channel, parts, n_parts);

        if (sent < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                break_conn(conn);
            return;
        }
        conn->sent += (size_t) sent;
        if (conn->sent == total_bytes)
            finish_send(world, conn);
    }
    if (mo_secure_channel_flush(conn->channel) != 0 && errno != EAGAIN &&
        errno != EWOULDBLOCK)
        break_conn(conn);
}

mo_status mo_tcp_conn_enqueue(mo_tcp_world *world, mo_tcp_conn *conn,
                              mo_tcp_send_item item, bool *wake, mo_error *err)
{
    bool alone = conn->n == 0;
    mo_status status;

    if (atomic_load(&conn->broken_ns) != 0)
        return MO_OK;
    status = reserve_queue(conn, err);
    if (status != MO_OK)
        return status;
    conn->queue[conn->first + conn->n++] = item;
    /* Large messages are copied by the I/O thread, not by a device's thread. */
    if (alone && item.header.bytes <= MO_TCP_EAGER_BYTES)
        mo_tcp_conn_flush(world, conn);
    *wake |= mo_tcp_conn_has_unsent(conn);
    return MO_OK;
}

static mo_status send_vote(mo_tcp_world *world, int peer, bool vote,
                           mo_error *err)
{
    mo_tcp_conn *conn = &world->conns[peer];
    bool wake = false;
    mo_status status;

    pthread_mutex_lock(&conn->lock);
    status = mo_tcp_conn_enqueue(
        world, conn,
        (mo_tcp_send_item){ { MO_TCP_MSG_BARRIER, vote, 0 }, NULL }, &wake,
        err);
    pthread_mutex_unlock(&conn->lock);
    if (wake)
        mo_tcp_io_thread_wake(world);
    return status;
}

/* Rank 0 counts arrivals; returns true when all ranks have arrived. No rank
 * arrives for the next run before this one is released for it. */
static bool count_arrival(mo_tcp_world *world, bool vote, bool *verdict)
{
    bool all;

    pthread_mutex_lock(&world->barrier_lock);
    world->barrier_vote |= vote;
    all = ++world->barrier_arrived == world->job.n_ranks;
    *verdict = world->barrier_vote;
    if (all) {
        world->barrier_arrived = 0;
        world->barrier_vote = false;
        for (int r = 1; r < world->job.n_ranks; r++)
            world->conns[r].barrier_arrived = false;
    }
    pthread_mutex_unlock(&world->barrier_lock);
    return all;
}

/* Sets *state to value; returns whether it was another. */
static bool exchange_state(mo_tcp_world *world, bool *state, bool value)
{
    bool changed;

    pthread_mutex_lock(&world->barrier_lock);
    changed = *state != value;
    *state = value;
    pthread_mutex_unlock(&world->barrier_lock);
    return changed;
}

mo_status mo_tcp_barrier_arrive(mo_tcp_world *world, bool vote, mo_error *err)
{
    mo_status status = MO_OK;
    bool verdict;

    if (world->job.rank != 0) {
        exchange_state(world, &world->barrier_pending, true);
        return send_vote(world, 0, vote, err);
    }
    if (!count_arrival(world, vote, &verdict))
        return MO_OK;
    for (int r = 1; r < world->job.n_ranks && status == MO_OK; r++)
        status = send_vote(world, r, verdict, err);
    if (status == MO_OK)
        mo_vote_barrier_release(&world->job.process.barrier, verdict);
    return status;
}

const char *
mo_tcp_decode_header(const unsigned char bytes[sizeof(mo_tcp_msg_header)],
                     int n_transfers, mo_tcp_msg_header *header)
{
    mo_tcp_msg_header read;

    memcpy(&read, bytes, sizeof read);
    switch (read.kind) {
    case MO_TCP_MSG_DATA:
        if (read.arg < 0 || read.arg >= n_transfers || read.bytes < 0)
            return "a value that is not in the plan";
        break;
    case MO_TCP_MSG_CLEAR_TO_SEND:
        if (read.arg < 0 || read.arg >= n_transfers || read.bytes != 0)
            return "what is not in the plan";
        break;
    case MO_TCP_MSG_BARRIER:
        if (read.arg < 0 || read.arg > 1 || read.bytes != 0)
            return "a malformed vote";
        break;
    case MO_TCP_MSG_CONTROL:
        if (read.arg != 0 || read.bytes <= 0)
            return "a message of the wrong size";
        break;
    default:
        return "an unknown message";
    }
    *header = read;
    return NULL;
}

/* Bytes read from one connection before the others get their turn. */
enum { TURN_BYTES = 4 << 20 };

static int peer_of(const mo_tcp_world *world, const mo_tcp_conn *conn)
{
    return (int) (conn - world->conns);
}

static void fail_protocol(mo_tcp_world *world, mo_tcp_conn *conn,
                          const char *arg)
{
    int peer = peer_of(world, conn);
    mo_error why = { 0 };

    mo_fail(&why, MO_E_IO,
            "rank %d (host %s) sends %s: use the same moirai "
            "everywhere, and start all ranks with the same command",
            peer, world->job.endpoints[peer].host, arg);
    atomic_store(&conn->broken_ns, mo_stop_clock_ns());
    mo_transport_job_fail_peer(&world->job, peer, &why);
}

/* Returns the transfer of the current header if it belongs to this connection
 * and direction, with the right size; else NULL. */
static mo_tcp_transfer *find_transfer(const mo_tcp_world *world,
                                      const mo_tcp_conn *conn, bool inwards)
{
    const mo_tcp_msg_header *header = &conn->header;
    const mo_plan_transfer *transfer;
    int receiver;

    transfer = &world->job.plan->transfers[header->arg];
    receiver = world->job.rank_of[transfer->to];
    if (world->transfers[header->arg].conn != conn ||
        (receiver == world->job.rank) != inwards ||
        header->bytes != (inwards ? transfer->bytes : 0))
        return NULL;
    return &world->transfers[header->arg];
}

static void start_data(mo_tcp_world *world, mo_tcp_conn *conn)
{
    mo_tcp_transfer *t = find_transfer(world, conn, true);
    bool good, lacks_memory = false;

    if (!t) {
        fail_protocol(world, conn, "a value that is not in the plan");
        return;
    }
    pthread_mutex_lock(&conn->lock);
    good = t->receive_posted;
    if (t->receive_posted) {
        conn->read_pos = mo_transport_local_copy_target(
            world->job.process.copier, conn->header.arg);
    } else if (conn->header.bytes <= MO_TCP_EAGER_BYTES && !t->unexpected) {
        t->unexpected = malloc((size_t) conn->header.bytes + 1);
        conn->read_pos = t->unexpected;
        good = true;
        lacks_memory = !t->unexpected;
    }
    pthread_mutex_unlock(&conn->lock);
    conn->bytes_left = conn->header.bytes;
    if (lacks_memory) {
        atomic_store(&conn->lacked_memory, true);
        atomic_store(&conn->broken_ns, mo_stop_clock_ns());
    }
    if (!good)
        fail_protocol(world, conn, "a value that was not requested");
}

static void finish_data(mo_tcp_world *world, mo_tcp_conn *conn)
{
    mo_tcp_transfer *t = &world->transfers[conn->header.arg];
    mo_transport_local_copy *copier = world->job.process.copier;
    bool done;

    pthread_mutex_lock(&conn->lock);
    done = t->receive_posted;
    if (done && t->unexpected) {
        memcpy(mo_transport_local_copy_target(copier, conn->header.arg),
               t->unexpected, (size_t) conn->header.bytes);
        free(t->unexpected);
        t->unexpected = NULL;
    }
    t->arrived = !done;
    t->receive_posted = false;
    pthread_mutex_unlock(&conn->lock);
    if (done)
        mo_transport_local_copy_complete(copier, conn->header.arg);
}

static void handle_clear_to_send(mo_tcp_world *world, mo_tcp_conn *conn)
{
    mo_tcp_transfer *t = find_transfer(world, conn, false);
    bool wake = false;
    mo_error err = { 0 };

    if (!t) {
        fail_protocol(world, conn, "what is not in the plan");
        return;
    }
    pthread_mutex_lock(&conn->lock);
    if (t->data_ready) {
        const mo_plan_transfer *transfer =
            &world->job.plan->transfers[conn->header.arg];

        t->data_ready = false;
        mo_tcp_conn_enqueue(
            world, conn,
            (mo_tcp_send_item){
                { MO_TCP_MSG_DATA, conn->header.arg, transfer->bytes },
                mo_transport_local_copy_source(world->job.process.copier,
                                               conn->header.arg) },
            &wake, &err);
        mo_tcp_conn_flush(world, conn);
    } else {
        t->clear_to_send = true;
    }
    pthread_mutex_unlock(&conn->lock);
    if (err.status != MO_OK)
        mo_transport_job_fail(&world->job, &err);
}

static void handle_barrier(mo_tcp_world *world, mo_tcp_conn *conn)
{
    mo_error err = { 0 };
    bool vote = conn->header.arg != 0;

    if (world->job.rank != 0 && peer_of(world, conn) != 0) {
        fail_protocol(world, conn, "a message that only rank 0 may send");
    } else if (!world->transfers ||
               !exchange_state(world,
                               world->job.rank == 0 ? &conn->barrier_arrived
                                                    : &world->barrier_pending,
                               world->job.rank == 0)) {
        /* A rank arrives once a run, and rank 0 releases those that have. */
        fail_protocol(world, conn, "a vote out of turn");
    } else if (world->job.rank != 0) {
        mo_vote_barrier_release(&world->job.process.barrier, vote);
    } else if (mo_tcp_barrier_arrive(world, vote, &err) != MO_OK) {
        mo_transport_job_fail(&world->job, &err);
    }
}

static bool is_broken(mo_tcp_conn *conn)
{
    return atomic_load(&conn->broken_ns) != 0;
}

/* Reads up to so many bytes and returns their number; 0: none now, or the
 * connection is broken. */
static size_t read_some(mo_tcp_conn *conn, void *read_pos, size_t bytes)
{
    ssize_t got = mo_secure_channel_receive(conn->channel, read_pos, bytes);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) {
        atomic_store(&conn->lacked_memory, got < 0 && errno == ENOMEM);
        atomic_store(&conn->broken_ns, mo_stop_clock_ns());
    }
    return got > 0 ? (size_t) got : 0;
}

/* Starts on the body of a complete header. Returns false: not yet possible. */
static bool start_body(mo_tcp_world *world, mo_tcp_conn *conn)
{
    const char *wrong =
        mo_tcp_decode_header((const unsigned char *) &conn->header,
                             world->n_transfers, &conn->header);

    conn->bytes_left = 0;
    if (wrong) {
        fail_protocol(world, conn, wrong);
        return true;
    }
    switch (conn->header.kind) {
    case MO_TCP_MSG_DATA:
        start_data(world, conn);
        return true;
    case MO_TCP_MSG_CLEAR_TO_SEND:
        handle_clear_to_send(world, conn);
        return true;
    case MO_TCP_MSG_BARRIER:
        handle_barrier(world, conn);
        return true;
    case MO_TCP_MSG_CONTROL:
        /* Returns false while no receive is posted. */
        if (!atomic_load(&conn->control_expected))
            return false;
        if (conn->header.bytes != (int64_t) conn->control_bytes)
            fail_protocol(world, conn, "a message of the wrong size");
        conn->read_pos = conn->control_buffer;
        conn->bytes_left = conn->header.bytes;
        return true;
    default:
        return true; /* none: the header is checked */
    }
}

void mo_tcp_conn_receive(mo_tcp_world *world, mo_tcp_conn *conn)
{
    const size_t total_bytes = sizeof conn->header;
    size_t got, turn_bytes = 0;

    while (!is_broken(conn) && turn_bytes < TURN_BYTES) {
        if (conn->n_header < total_bytes) {
            got = read_some(conn, (char *) &conn->header + conn->n_header,
                            total_bytes - conn->n_header);
            conn->n_header += got;
            if (got == 0)
                return;
            continue;
        }
        if (!conn->body_started)
            conn->body_started = start_body(world, conn);
        if (!conn->body_started || is_broken(conn))
            return;
        if (conn->bytes_left > 0) {
            got = read_some(conn, conn->read_pos, (size_t) conn->bytes_left);
            if (got == 0)
                return;
            conn->read_pos += got;
            conn->bytes_left -= (int64_t) got;
            turn_bytes += got;
        }
        if (conn->bytes_left == 0) {
            if (conn->header.kind == MO_TCP_MSG_DATA)
                finish_data(world, conn);
            if (conn->header.kind == MO_TCP_MSG_CONTROL) {
                atomic_store(&conn->control_expected, false);
                mo_eventcount_notify(&world->job.process.server_event);
            }
            conn->body_started = false;
            conn->n_header = 0;
        }
    }
}
