/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/minmax.h"
#include "exec/transport/secure/records.h"

/* Bytes that are sealed before they are sent; records under the same keys, for
 * which the limits of AES-GCM allow (RFC 8446, 5.5). */
enum { BATCH_BYTES = 64 << 10, MAX_RECORDS = 1 << 24 };

enum { LEVEL_WARNING = 1, LEVEL_FATAL = 2 };

void mo_secure_sender_clear(mo_secure_sender *sender)
{
    mo_secure_traffic_clear(&sender->traffic);
    free(sender->output.bytes);
    sender->output = (mo_secure_buffer){ 0 };
}

/* Returns the place of the next n bytes of the output, or NULL. */
static uint8_t *reserve(mo_secure_buffer *b, size_t n)
{
    if (b->n == 0)
        b->first = 0;
    if (b->first + b->n + n > b->capacity) {
        size_t capacity = mo_max_size(b->first + b->n + n, 2 * b->capacity);
        uint8_t *bytes = realloc(b->bytes, capacity);

        if (!bytes)
            return NULL;
        b->bytes = bytes;
        b->capacity = capacity;
    }
    return b->bytes + b->first + b->n;
}

bool mo_secure_sender_reserve(mo_secure_sender *sender)
{
    return reserve(&sender->output, MO_SECURE_MAX_RECORD_BYTES) != NULL;
}

bool mo_secure_sender_append(mo_secure_sender *sender, const void *bytes,
                             size_t n)
{
    uint8_t *at = reserve(&sender->output, n);

    if (!at)
        return false;
    memcpy(at, bytes, n);
    sender->output.n += n;
    return true;
}

int mo_secure_sender_flush(mo_secure_sender *sender)
{
    mo_secure_buffer *b = &sender->output;

    while (b->n > 0) {
        ssize_t sent = send(sender->socket, b->bytes + b->first, b->n,
                            MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            if (errno == EWOULDBLOCK)
                errno = EAGAIN;
            return -1;
        }
        b->first += (size_t) sent;
        b->n -= (size_t) sent;
    }
    return 0;
}

static bool seal(mo_secure_sender *sender, mo_secure_content type,
                 const struct iovec *parts, int n_parts, size_t at, size_t n)
{
    size_t length = n + MO_SECURE_OVERHEAD_BYTES;
    uint8_t *record = reserve(&sender->output, length);

    if (!record || !mo_secure_traffic_seal(&sender->traffic, type, parts,
                                           n_parts, at, n, record))
        return false;
    sender->output.n += length;
    sender->sealed_bytes += n;
    return true;
}

/* Changes the keys of this direction when they are used up, or when the peer
 * has requested it. */
static bool rekey(mo_secure_sender *sender)
{
    static uint8_t message[5] = { MO_SECURE_KEY_UPDATE, 0, 0, 1, 0 };

    if (!atomic_exchange(&sender->update_requested, false) &&
        sender->sealed_bytes < sender->rekey_bytes &&
        sender->traffic.sequence < MAX_RECORDS)
        return true;
    if (!seal(sender, MO_SECURE_HANDSHAKE,
              &(struct iovec){ message, sizeof message }, 1, 0,
              sizeof message) ||
        !mo_secure_traffic_update(&sender->traffic))
        return false;
    sender->sealed_bytes = 0;
    return true;
}

ssize_t mo_secure_sender_send(mo_secure_sender *sender,
                              const struct iovec *parts, int n_parts)
{
    size_t total = 0, sealed = 0;

    for (int i = 0; i < n_parts; i++)
        total += parts[i].iov_len;
    if (mo_secure_sender_flush(sender) != 0)
        return -1;
    while (sealed < total && sender->output.n < BATCH_BYTES) {
        size_t n = mo_min_size(total - sealed, MO_SECURE_CONTENT_BYTES);

        if (!rekey(sender) ||
            !seal(sender, MO_SECURE_DATA, parts, n_parts, sealed, n)) {
            errno = ENOMEM;
            return -1;
        }
        sealed += n;
    }
    if (mo_secure_sender_flush(sender) != 0 && errno != EAGAIN)
        return -1;
    return (ssize_t) sealed;
}

void mo_secure_sender_alert(mo_secure_sender *sender, int description)
{
    uint8_t message[2] = { description == MO_SECURE_CLOSE_NOTIFY ? LEVEL_WARNING
                                                                 : LEVEL_FATAL,
                           (uint8_t) description };

    seal(sender, MO_SECURE_ALERT, &(struct iovec){ message, sizeof message }, 1,
         0, sizeof message);
}
