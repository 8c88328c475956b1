/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS 1.3 by OpenSSL 3 over a nonblocking socket.
 *
 * The handshake is the library's, by a BIO that receives no more than one
 * call of the library needs and appends to the output of the sender. Then the
 * records are those of records.h, under the secrets that the handshake has
 * agreed on.
 */
#include <config.h>

#include "exec/transport/secure/tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "exec/transport/secure/openssl_internal.h"

static const uint64_t default_rekey_bytes = UINT64_C(64) << 30;

/* Bytes after the handshake are sealed by other means, or plain: they stay in
 * the socket. */
static int read_bio(BIO *bio, char *data, int size)
{
    mo_secure_tls *tls = BIO_get_data(bio);
    ssize_t got = recv(tls->receiver.socket, data, (size_t) size, MSG_DONTWAIT);

    BIO_clear_retry_flags(bio);
    tls->is_ended |= got == 0;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        BIO_set_retry_read(bio);
    return (int) got;
}

static int write_bio(BIO *bio, const char *data, int size)
{
    mo_secure_tls *tls = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    return mo_secure_sender_append(&tls->sender, data, (size_t) size) ? size
                                                                      : -1;
}

static long control_bio(BIO *bio, int command, long number, void *pointer)
{
    const mo_secure_tls *tls = BIO_get_data(bio);

    (void) number;
    (void) pointer;
    return command == BIO_CTRL_FLUSH ||
           (command == BIO_CTRL_EOF && tls->is_ended);
}

BIO_METHOD *mo_secure_bio_method_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "moirai socket");

    if (method && BIO_meth_set_read(method, read_bio) == 1 &&
        BIO_meth_set_write(method, write_bio) == 1 &&
        BIO_meth_set_ctrl(method, control_bio) == 1)
        return method;
    BIO_meth_free(method);
    return NULL;
}

/* The line is "LABEL RANDOM SECRET", the last two in hexadecimal. */
void mo_secure_keep_secret(const SSL *ssl, const char *line)
{
    static const char *const labels[] = { [MO_SECURE_CLIENT] =
                                              "CLIENT_TRAFFIC_SECRET_0 ",
                                          [MO_SECURE_SERVER] =
                                              "SERVER_TRAFFIC_SECRET_0 " };
    mo_secure_tls *tls = SSL_get_app_data(ssl);
    const char *secret = strrchr(line, ' ');

    for (int role = 0; role < 2 && tls && secret; role++) {
        size_t n = 0;

        if (strncmp(line, labels[role], strlen(labels[role])) != 0)
            continue;
        tls->has_secret[role] =
            OPENSSL_hexstr2buf_ex(tls->secrets[role], MO_SECURE_SECRET_BYTES,
                                  &n, secret + 1, '\0') == 1 &&
            n == MO_SECURE_SECRET_BYTES;
    }
}

/* The handshake is complete: the records begin, and the library is no longer
 * needed. */
static bool start_records(mo_secure_tls *tls)
{
    int peer = 1 - (int) tls->role;
    bool done = tls->has_secret[0] && tls->has_secret[1] &&
                mo_secure_traffic_start(&tls->sender.traffic,
                                        tls->secrets[tls->role], true) &&
                mo_secure_traffic_start(&tls->receiver.traffic,
                                        tls->secrets[peer], false);

    OPENSSL_cleanse(tls->secrets, sizeof tls->secrets);
    ERR_clear_error();
    SSL_free(tls->ssl);
    tls->ssl = NULL;
    return done;
}

static bool attach(mo_secure_tls *tls)
{
    BIO *bio = BIO_new(tls->credentials->bio);

    if (!bio)
        return false;
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->ssl, bio, bio);
    return SSL_set_app_data(tls->ssl, tls) == 1;
}

mo_status mo_secure_tls_new(mo_secure_credentials *credentials,
                            mo_secure_role role, const char *identity,
                            int socket, mo_secure_tls **tls, mo_error *err)
{
    mo_secure_tls *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    atomic_fetch_add(&credentials->n_references, 1);
    made->credentials = credentials;
    made->role = role;
    made->sender.socket = socket;
    made->sender.rekey_bytes = default_rekey_bytes;
    made->receiver.socket = socket;
    made->receiver.sender = &made->sender;
    made->receiver.alert = -1;
    if (identity)
        snprintf(made->identity, sizeof made->identity, "%s", identity);
    made->ssl = SSL_new(credentials->context);
    if (!made->ssl || !attach(made) ||
        !mo_secure_sender_reserve(&made->sender) ||
        !mo_secure_receiver_reserve(&made->receiver)) {
        mo_secure_tls_free(made);
        ERR_clear_error();
        return mo_fail_memory(err);
    }
    if (role == MO_SECURE_SERVER)
        SSL_set_accept_state(made->ssl);
    else
        SSL_set_connect_state(made->ssl);
    *tls = made;
    return MO_OK;
}

void mo_secure_tls_close(mo_secure_tls *tls)
{
    int error = atomic_load(&tls->error);

    if (!tls->is_sealed || (error != 0 && error != EBADMSG))
        return;
    if (tls->receiver.alert < 0)
        mo_secure_sender_alert(&tls->sender, error == 0
                                                 ? MO_SECURE_CLOSE_NOTIFY
                                                 : MO_SECURE_BAD_RECORD_MAC);
    mo_secure_sender_flush(&tls->sender);
}

void mo_secure_tls_free(mo_secure_tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl);
    mo_secure_credentials_free(tls->credentials);
    mo_secure_sender_clear(&tls->sender);
    mo_secure_receiver_clear(&tls->receiver);
    OPENSSL_cleanse(tls->secrets, sizeof tls->secrets);
    free(tls);
}

static mo_secure_progress fail_handshake(mo_secure_tls *tls, mo_error *err)
{
    atomic_store(&tls->error, ECONNABORTED);
    mo_secure_sender_flush(&tls->sender); /* an alert */
    mo_fail(err, tls->is_lost ? MO_E_IO : MO_E_INPUT, "%s", tls->failure);
    return MO_SECURE_FAILED;
}

/* Continues in the library. Returns MO_SECURE_DONE when it has finished. */
static mo_secure_progress advance(mo_secure_tls *tls, mo_error *err)
{
    int result, reason;

    ERR_clear_error();
    result = SSL_do_handshake(tls->ssl);
    reason = SSL_get_error(tls->ssl, result);
    if (result != 1 && reason != SSL_ERROR_WANT_READ) {
        mo_secure_describe_handshake(tls);
        return fail_handshake(tls, err);
    }
    if (mo_secure_sender_flush(&tls->sender) != 0 && errno != EAGAIN) {
        mo_secure_describe_loss(tls);
        return fail_handshake(tls, err);
    }
    return result == 1 ? MO_SECURE_DONE : MO_SECURE_AGAIN;
}

mo_secure_progress mo_secure_tls_handshake(mo_secure_tls *tls, mo_error *err)
{
    if (tls->is_sealed)
        return MO_SECURE_DONE;
    if (!SSL_is_init_finished(tls->ssl)) {
        mo_secure_progress progress = advance(tls, err);

        if (progress != MO_SECURE_DONE)
            return progress;
    }
    /* Without the key there would be a certificate, or nothing. */
    if (tls->credentials->has_key && SSL_session_reused(tls->ssl) != 1) {
        mo_secure_describe_other_token(tls);
        return fail_handshake(tls, err);
    }
    if (mo_secure_sender_flush(&tls->sender) != 0)
        return MO_SECURE_AGAIN;
    if (!start_records(tls)) {
        atomic_store(&tls->error, ENOMEM);
        mo_fail_memory(err);
        return MO_SECURE_FAILED;
    }
    tls->is_sealed = true;
    return MO_SECURE_DONE;
}

const char *mo_secure_tls_identity(const mo_secure_tls *tls)
{
    return tls->identity;
}

bool mo_secure_tls_is_sealed(const mo_secure_tls *tls)
{
    return tls->is_sealed;
}

short mo_secure_tls_events(const mo_secure_tls *tls)
{
    return mo_secure_tls_has_unsent(tls) ? POLLIN | POLLOUT : POLLIN;
}

const char *mo_secure_tls_failure(const mo_secure_tls *tls)
{
    return tls->failure;
}

void mo_secure_tls_set_rekey_bytes(mo_secure_tls *tls, uint64_t bytes)
{
    tls->sender.rekey_bytes = bytes;
}

/* Receives; an error breaks both directions. */
static ssize_t receive(mo_secure_tls *tls, void *data, size_t bytes)
{
    ssize_t got;
    int error;

    if (!tls->is_sealed) {
        errno = EAGAIN;
        return -1;
    }
    got = mo_secure_receiver_receive(&tls->receiver, data, bytes);
    error = tls->receiver.error;
    if (got >= 0 || error == 0)
        return got;
    if (atomic_load(&tls->error) != error) {
        mo_secure_describe_record(tls);
        atomic_store(&tls->error, error);
        ERR_clear_error();
    }
    errno = error;
    return -1;
}

ssize_t mo_secure_tls_receive(mo_secure_tls *tls, void *data, size_t bytes)
{
    return receive(tls, data, bytes);
}

bool mo_secure_tls_has_received(const mo_secure_tls *tls)
{
    return mo_secure_receiver_has_received(&tls->receiver);
}

bool mo_secure_tls_has_partial(const mo_secure_tls *tls)
{
    return mo_secure_receiver_has_partial(&tls->receiver);
}

bool mo_secure_tls_is_closed(mo_secure_tls *tls)
{
    char none;
    ssize_t got = receive(tls, &none, 0);

    return got == 0 || (got < 0 && errno != EAGAIN);
}

ssize_t mo_secure_tls_send(mo_secure_tls *tls, const struct iovec *parts,
                           int n_parts)
{
    errno = tls->is_sealed ? atomic_load(&tls->error) : EAGAIN;
    return errno != 0 ? -1
                      : mo_secure_sender_send(&tls->sender, parts, n_parts);
}

int mo_secure_tls_flush(mo_secure_tls *tls)
{
    return mo_secure_sender_flush(&tls->sender);
}

bool mo_secure_tls_has_unsent(const mo_secure_tls *tls)
{
    return tls->sender.output.n > 0;
}
