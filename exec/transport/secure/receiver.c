/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/minmax.h"
#include "exec/transport/secure/records.h"

/* Bytes of the input: of a channel with small messages, and of one with large
 * values. */
enum { MIN_INPUT_BYTES = 18 << 10, MAX_INPUT_BYTES = 256 << 10 };

void mo_secure_receiver_clear(mo_secure_receiver *receiver)
{
    mo_secure_traffic_clear(&receiver->traffic);
    free(receiver->input.bytes);
    receiver->input = (mo_secure_buffer){ 0 };
}

static ssize_t fail_errno(int error)
{
    errno = error;
    return -1;
}

static ssize_t fail_record(mo_secure_receiver *receiver, const char *wrong)
{
    receiver->wrong = wrong;
    return fail_errno(EBADMSG);
}

static bool resize(mo_secure_buffer *b, size_t capacity)
{
    uint8_t *bytes = realloc(b->bytes, capacity);

    if (!bytes)
        return false;
    b->bytes = bytes;
    b->capacity = capacity;
    return true;
}

bool mo_secure_receiver_reserve(mo_secure_receiver *receiver)
{
    return resize(&receiver->input, MIN_INPUT_BYTES);
}

/* Receives after the part of a record that the input holds. The input grows
 * while the socket has more. Returns as recv(). */
static ssize_t fill(mo_secure_receiver *receiver)
{
    mo_secure_buffer *b = &receiver->input;
    size_t end;
    ssize_t got;

    if (b->n == 0 ||
        b->capacity - b->first < (size_t) 2 * MO_SECURE_MAX_RECORD_BYTES) {
        memmove(b->bytes, b->bytes + b->first, b->n);
        b->first = 0;
    }
    end = b->first + b->n;
    do
        got = recv(receiver->socket, b->bytes + end, b->capacity - end,
                   MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return got;
    b->n += (size_t) got;
    if (b->first + b->n == b->capacity && b->capacity < MAX_INPUT_BYTES)
        resize(b, mo_min_size(2 * b->capacity, MAX_INPUT_BYTES));
    return got;
}

static bool is_key_update(const uint8_t *message, size_t n)
{
    return n == 5 && message[0] == MO_SECURE_KEY_UPDATE && message[1] == 0 &&
           message[2] == 0 && message[3] == 1 && message[4] <= 1;
}

/* Handles what is not data. Returns 0, or -1 with errno. */
static ssize_t handle_other(mo_secure_receiver *receiver, uint8_t type,
                            const uint8_t *message, size_t n)
{
    if (type == MO_SECURE_ALERT && n == 2) {
        receiver->is_closed = message[1] == MO_SECURE_CLOSE_NOTIFY;
        if (receiver->is_closed)
            return 0;
        receiver->alert = message[1];
        return fail_errno(EBADMSG);
    }
    if (type != MO_SECURE_HANDSHAKE || !is_key_update(message, n))
        return fail_record(receiver, "unexpected message");
    if (message[4] == 1)
        atomic_store(&receiver->sender->update_requested, true);
    return mo_secure_traffic_update(&receiver->traffic) ? 0
                                                        : fail_errno(ENOMEM);
}

/* Opens the record at the start of the input: into data if it has room for it,
 * else it is kept. Returns the bytes in data, or -1 with errno. */
static ssize_t open_record(mo_secure_receiver *receiver, size_t length,
                           void *data, size_t room)
{
    mo_secure_buffer *b = &receiver->input;
    bool is_direct = length - MO_SECURE_OVERHEAD_BYTES <= room;
    uint8_t *content = is_direct ? data : receiver->opened, type;
    size_t n;

    if (!mo_secure_traffic_open(&receiver->traffic, b->bytes + b->first, length,
                                content, &n, &type))
        return fail_record(receiver, "bad record mac");
    b->first += length;
    b->n -= length;
    if (type != MO_SECURE_DATA)
        return handle_other(receiver, type, content, n);
    if (is_direct)
        return (ssize_t) n;
    receiver->n_opened = n;
    receiver->n_taken = 0;
    return 0;
}

/* As mo_secure_record_length(), of the record at the start of the input. */
static size_t next_length(const mo_secure_buffer *b)
{
    return b->n == 0 ? 0 : mo_secure_record_length(b->bytes + b->first, b->n);
}

bool mo_secure_receiver_has_received(const mo_secure_receiver *receiver)
{
    return receiver->n_taken < receiver->n_opened ||
           (!receiver->is_closed && receiver->error == 0 &&
            next_length(&receiver->input) != 0);
}

bool mo_secure_receiver_has_partial(const mo_secure_receiver *receiver)
{
    return receiver->input.n > 0 && next_length(&receiver->input) == 0;
}

static size_t take_opened(mo_secure_receiver *receiver, void *data,
                          size_t bytes)
{
    size_t n = mo_min_size(bytes, receiver->n_opened - receiver->n_taken);

    memcpy(data, receiver->opened + receiver->n_taken, n);
    receiver->n_taken += n;
    return n;
}

/* Receives until there is a complete record, and returns its length; or -1 with
 * errno. */
static ssize_t await_record(mo_secure_receiver *receiver)
{
    ssize_t got = 1;
    size_t length;

    while ((length = next_length(&receiver->input)) == 0 && got > 0)
        got = fill(receiver);
    if (length == SIZE_MAX)
        return fail_record(receiver, "wrong record header");
    if (length > 0)
        return (ssize_t) length;
    return fail_errno(got == 0               ? ECONNRESET
                      : errno == EWOULDBLOCK ? EAGAIN
                                             : errno);
}

ssize_t mo_secure_receiver_receive(mo_secure_receiver *receiver, void *data,
                                   size_t bytes)
{
    size_t total = 0;

    do {
        ssize_t n;

        if (receiver->n_taken < receiver->n_opened) {
            if (bytes == 0)
                return 1;
            total +=
                take_opened(receiver, (char *) data + total, bytes - total);
            continue;
        }
        if (receiver->is_closed)
            break;
        if (receiver->error != 0)
            return total > 0 ? (ssize_t) total : fail_errno(receiver->error);
        n = await_record(receiver);
        if (n > 0)
            n = open_record(receiver, (size_t) n, (char *) data + total,
                            bytes - total);
        if (n < 0 && errno == EAGAIN)
            return total > 0 ? (ssize_t) total : -1;
        if (n < 0)
            receiver->error = errno;
        else
            total += (size_t) n;
    } while (total < bytes || bytes == 0);
    return (ssize_t) total;
}
