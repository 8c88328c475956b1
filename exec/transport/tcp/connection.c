/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/tcp/tcp_internal.h"

void mo_tcp_conn_init(mo_tcp_conn *link, int socket)
{
    memset(link, 0, sizeof *link);
    link->socket = socket;
    atomic_init(&link->broken_ns, 0);
    atomic_init(&link->talk_wanted, false);
    atomic_init(&link->talk_told, false);
    pthread_mutex_init(&link->lock, NULL);
}

void mo_tcp_conn_clear(mo_tcp_conn *link)
{
    if (link->socket >= 0)
        close(link->socket);
    free(link->queue);
    pthread_mutex_destroy(&link->lock);
}

void mo_tcp_io_thread_wake(mo_transport_world *world)
{
    /* A full pipe wakes as well. */
    if (write(world->pipe[1], "", 1) < 0)
        return;
}

/* ------------------------------------------------------------------ writing */

static mo_status make_room(mo_tcp_conn *link, mo_error *err)
{
    size_t room = link->room > 0 ? 2 * link->room : 16;
    mo_tcp_send_item *queue;

    if (link->first + link->n < link->room)
        return MO_OK;
    if (link->first > link->room / 2) {
        memmove(link->queue, link->queue + link->first,
                link->n * sizeof *link->queue);
        link->first = 0;
        return MO_OK;
    }
    queue = realloc(link->queue, room * sizeof *queue);
    if (!queue)
        return mo_fail_memory(err);
    link->queue = queue;
    link->room = room;
    return MO_OK;
}

/* The watch finds out whether the peer is gone: it knows more. */
static void break_off(mo_tcp_conn *link)
{
    long long never = 0;

    atomic_compare_exchange_strong(&link->broken_ns, &never,
                                   mo_stop_clock_ns());
    link->n = 0;
}

static void finish_item(mo_transport_world *world, mo_tcp_conn *link)
{
    const mo_tcp_send_item item = link->queue[link->first];

    link->first = --link->n > 0 ? link->first + 1 : 0;
    link->sent = 0;
    if (item.head.kind == MO_TCP_MSG_DATA)
        mo_transport_local_copy_complete(world->ranks.inside.post,
                                         item.head.what);
    if (item.head.kind == MO_TCP_MSG_CONTROL) {
        atomic_store(&link->talk_told, true);
        mo_eventcount_notify(&world->ranks.inside.server);
    }
}

/* What is left of the first item. */
static size_t what_is_left(const mo_tcp_conn *link, struct iovec parts[2])
{
    mo_tcp_send_item *item = &link->queue[link->first];
    size_t head = sizeof item->head, sent = link->sent, at = 0;

    if (sent < head) {
        parts[at].iov_base = (char *) &item->head + sent;
        parts[at++].iov_len = head - sent;
        sent = head;
    }
    if (item->head.bytes > (int64_t) (sent - head)) {
        union {
            const char *read;
            void *base;
        } data = { item->data + (sent - head) };

        parts[at].iov_base = data.base;
        parts[at++].iov_len = (size_t) item->head.bytes - (sent - head);
    }
    return at;
}

void mo_tcp_conn_flush(mo_transport_world *world, mo_tcp_conn *link)
{
    while (link->n > 0) {
        size_t whole = sizeof(mo_tcp_msg_header) +
                       (size_t) link->queue[link->first].head.bytes;
        struct iovec parts[2];
        struct msghdr message = { .msg_iov = parts };
        ssize_t sent;

        message.msg_iovlen = what_is_left(link, parts);
        sent = sendmsg(link->socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                break_off(link);
            return;
        }
        link->sent += (size_t) sent;
        if (link->sent == whole)
            finish_item(world, link);
    }
}

mo_status mo_tcp_conn_enqueue(mo_transport_world *world, mo_tcp_conn *link,
                              mo_tcp_msg_kind kind, int what, const void *data,
                              int64_t bytes, bool *wake, mo_error *err)
{
    bool alone = link->n == 0;
    mo_status status;

    if (atomic_load(&link->broken_ns) != 0)
        return MO_OK;
    status = make_room(link, err);
    if (status != MO_OK)
        return status;
    link->queue[link->first + link->n++] =
        (mo_tcp_send_item){ { (uint32_t) kind, what, bytes }, data };
    /* A device has better things to do than to copy much. */
    if (alone && bytes <= MO_TCP_EAGER_BYTES)
        mo_tcp_conn_flush(world, link);
    *wake |= link->n > 0;
    return MO_OK;
}
