/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - TLS 1.3 over a socket, for channel.c; implemented by tls_openssl.c,
 * or by tls_none.c where there is no library.
 *
 * Threads as in channel.h.
 */
#ifndef MO_EXEC_TRANSPORT_SECURE_TLS_H
#define MO_EXEC_TRANSPORT_SECURE_TLS_H

#include "exec/transport/secure/channel.h"

typedef struct mo_secure_tls mo_secure_tls;

/* The functions of channel.h, without the plain case; socket stays the
 * caller's. */
mo_status mo_secure_tls_new(mo_secure_credentials *credentials,
                            mo_secure_role role, const char *identity,
                            int socket, mo_secure_tls **tls, mo_error *err);
/* Sends close_notify where that does not block, if the handshake is
 * complete. */
void mo_secure_tls_close(mo_secure_tls *tls);
void mo_secure_tls_free(mo_secure_tls *tls);
mo_secure_progress mo_secure_tls_handshake(mo_secure_tls *tls, mo_error *err);
const char *mo_secure_tls_identity(const mo_secure_tls *tls);
bool mo_secure_tls_is_sealed(const mo_secure_tls *tls);
short mo_secure_tls_events(mo_secure_tls *tls);
ssize_t mo_secure_tls_receive(mo_secure_tls *tls, void *data, size_t bytes);
ssize_t mo_secure_tls_send(mo_secure_tls *tls, const struct iovec *parts,
                           int n_parts);
int mo_secure_tls_flush(mo_secure_tls *tls);
bool mo_secure_tls_has_unsent(mo_secure_tls *tls);
bool mo_secure_tls_has_received(mo_secure_tls *tls);
bool mo_secure_tls_has_partial(mo_secure_tls *tls);
bool mo_secure_tls_is_closed(mo_secure_tls *tls);
const char *mo_secure_tls_failure(const mo_secure_tls *tls);
void mo_secure_tls_set_rekey_bytes(mo_secure_tls *tls, uint64_t bytes);

#endif
