/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - byte stream between two ranks over a connected socket: plain, or
 * sealed by TLS 1.3 (RFC 8446).
 *
 * A channel is plain at first; mo_secure_channel_start() and a complete
 * handshake seal it: from then on every byte is encrypted, and altered,
 * repeated, reordered or removed bytes are detected and never delivered. No
 * function blocks. Credentials (credentials.h) are a pre-shared key, or a
 * certificate with its authority.
 *
 * One thread may receive while another sends; two threads may not do the same
 * thing at once. mo_secure_channel_flush() and ..._has_unsent() belong to
 * sending, ..._has_received(), ..._has_partial() and ..._is_closed() to
 * receiving. All other functions are for one thread at a time.
 */
#ifndef MO_EXEC_TRANSPORT_SECURE_CHANNEL_H
#define MO_EXEC_TRANSPORT_SECURE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/error.h"
#include "exec/transport/secure/credentials.h"

enum { MO_SECURE_IDENTITY_SIZE = 64, MO_SECURE_MAX_PARTS = 2 };

typedef struct mo_secure_channel mo_secure_channel;

typedef enum mo_secure_role {
    MO_SECURE_CLIENT,
    MO_SECURE_SERVER
} mo_secure_role;

typedef enum mo_secure_progress {
    MO_SECURE_DONE,
    MO_SECURE_AGAIN, /* after mo_secure_channel_events() have occurred */
    MO_SECURE_FAILED
} mo_secure_progress;

/* Takes a connected socket, which the channel owns and sets to be nonblocking.
 * Returns NULL when out of memory; then the socket is closed. */
mo_secure_channel *mo_secure_channel_new(int socket);
/* Closes the connection; a sealed one with close_notify. NULL is allowed. */
void mo_secure_channel_free(mo_secure_channel *channel);

int mo_secure_channel_socket(const mo_secure_channel *channel);

/*
 * Begins the handshake on a plain channel whose received bytes have all been
 * consumed. The caller may free the credentials at any time. A client with a
 * pre-shared key presents the identity, which the handshake authenticates; a
 * server passes NULL and reads that of its client.
 */
mo_status mo_secure_channel_start(mo_secure_channel *channel,
                                  mo_secure_credentials *credentials,
                                  mo_secure_role role, const char *identity,
                                  mo_error *err);

/* Continues the handshake. On failure the text of *err is what the peer has
 * done wrong, without its name: "has another token", with MO_E_INPUT; or
 * MO_E_IO when the connection was lost. */
mo_secure_progress mo_secure_channel_handshake(mo_secure_channel *channel,
                                               mo_error *err);

/* Server: the identity that the client presents, or an empty text. It is
 * authentic once the handshake is complete, and printable at any time. */
const char *mo_secure_channel_identity(const mo_secure_channel *channel);

/* Returns whether bytes are sealed: the handshake is complete. */
bool mo_secure_channel_is_sealed(const mo_secure_channel *channel);

/* After the handshake, before any other byte, at both ends: the peer is
 * authenticated, and what follows is plain. */
void mo_secure_channel_unseal(mo_secure_channel *channel);

/* Poll events that the channel waits for during the handshake, and later when
 * it has unsent bytes. */
short mo_secure_channel_events(const mo_secure_channel *channel);

/*
 * As recv() and sendmsg() on a nonblocking socket: the number of bytes, or -1
 * with errno: EAGAIN; EBADMSG when sealed bytes were altered on the way; or
 * another error. Receiving returns 0 when the peer has closed the connection.
 * Bytes count as sent when they are in the channel's own buffer:
 * mo_secure_channel_flush() continues with these.
 */
ssize_t mo_secure_channel_receive(mo_secure_channel *channel, void *data,
                                  size_t bytes);
ssize_t mo_secure_channel_send(mo_secure_channel *channel,
                               const struct iovec *parts, int n_parts);

/* Returns 0 when no byte is left in the channel's buffer, or -1 with errno as
 * above. */
int mo_secure_channel_flush(mo_secure_channel *channel);
bool mo_secure_channel_has_unsent(mo_secure_channel *channel);

/* Returns whether received bytes may be left in the channel's buffer, where
 * poll() does not see them. */
bool mo_secure_channel_has_received(mo_secure_channel *channel);

/* Returns whether a part of a record has been received, which cannot be opened
 * before the rest has come. */
bool mo_secure_channel_has_partial(const mo_secure_channel *channel);

/* Returns whether the peer has closed the connection; for a channel on which
 * it sends nothing now. */
bool mo_secure_channel_is_closed(mo_secure_channel *channel);

/* What the peer has done wrong, without its name: it has altered bytes, or
 * refused the certificate of this rank; empty: nothing. Valid until the
 * channel is freed. */
const char *mo_secure_channel_failure(const mo_secure_channel *channel);

/* A sealed channel gets new keys each time it has sent so many bytes; by
 * default 64 GiB, well within the limits of AES-GCM (RFC 8446, 5.5). */
void mo_secure_channel_set_rekey_bytes(mo_secure_channel *channel,
                                       uint64_t bytes);

#endif
