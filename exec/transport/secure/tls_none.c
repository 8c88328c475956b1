/* SPDX-License-Identifier: Apache-2.0 */
/* Neither credentials nor TLS: no channel is ever sealed. */
#include <config.h>

#include "exec/transport/secure/tls.h"

#include <errno.h>
#include <poll.h>

bool mo_secure_is_available(void)
{
    return false;
}

const char *mo_secure_library(void)
{
    return NULL;
}

static mo_status fail_absent(mo_error *err)
{
    return mo_fail(err, MO_E_SUPPORT,
                   "this build has no TLS, which a token and certificates "
                   "need: configure it with OpenSSL (package libssl-dev), or "
                   "run all ranks on one machine or by MPI, without a token");
}

mo_status mo_secure_derive_key(const char *token,
                               const uint8_t salt[MO_SECURE_SALT_BYTES],
                               uint8_t key[MO_SECURE_KEY_BYTES], mo_error *err)
{
    (void) token;
    (void) salt;
    (void) key;
    return fail_absent(err);
}

mo_status mo_secure_credentials_from_key(const uint8_t key[MO_SECURE_KEY_BYTES],
                                         mo_secure_credentials **credentials,
                                         mo_error *err)
{
    (void) key;
    (void) credentials;
    return fail_absent(err);
}

mo_status mo_secure_credentials_from_files(const char *cert, const char *key,
                                           const char *ca,
                                           mo_secure_credentials **credentials,
                                           mo_error *err)
{
    (void) cert;
    (void) key;
    (void) ca;
    (void) credentials;
    return fail_absent(err);
}

void mo_secure_credentials_free(mo_secure_credentials *credentials)
{
    (void) credentials;
}

mo_status mo_secure_tls_new(mo_secure_credentials *credentials,
                            mo_secure_role role, const char *identity,
                            int socket, mo_secure_tls **tls, mo_error *err)
{
    (void) credentials;
    (void) role;
    (void) identity;
    (void) socket;
    (void) tls;
    return fail_absent(err);
}

void mo_secure_tls_close(mo_secure_tls *tls)
{
    (void) tls;
}

void mo_secure_tls_free(mo_secure_tls *tls)
{
    (void) tls;
}

mo_secure_progress mo_secure_tls_handshake(mo_secure_tls *tls, mo_error *err)
{
    (void) tls;
    fail_absent(err);
    return MO_SECURE_FAILED;
}

const char *mo_secure_tls_identity(const mo_secure_tls *tls)
{
    (void) tls;
    return "";
}

bool mo_secure_tls_is_sealed(const mo_secure_tls *tls)
{
    (void) tls;
    return false;
}

short mo_secure_tls_events(mo_secure_tls *tls)
{
    (void) tls;
    return POLLIN;
}

ssize_t mo_secure_tls_receive(mo_secure_tls *tls, void *data, size_t bytes)
{
    (void) tls;
    (void) data;
    (void) bytes;
    errno = ENOSYS;
    return -1;
}

ssize_t mo_secure_tls_send(mo_secure_tls *tls, const struct iovec *parts,
                           int n_parts)
{
    (void) tls;
    (void) parts;
    (void) n_parts;
    errno = ENOSYS;
    return -1;
}

int mo_secure_tls_flush(mo_secure_tls *tls)
{
    (void) tls;
    return 0;
}

bool mo_secure_tls_has_unsent(mo_secure_tls *tls)
{
    (void) tls;
    return false;
}

bool mo_secure_tls_has_received(mo_secure_tls *tls)
{
    (void) tls;
    return false;
}

bool mo_secure_tls_has_partial(mo_secure_tls *tls)
{
    (void) tls;
    return false;
}

bool mo_secure_tls_is_closed(mo_secure_tls *tls)
{
    (void) tls;
    return true;
}

const char *mo_secure_tls_failure(const mo_secure_tls *tls)
{
    (void) tls;
    return "";
}

void mo_secure_tls_set_rekey_bytes(mo_secure_tls *tls, uint64_t bytes)
{
    (void) tls;
    (void) bytes;
}
