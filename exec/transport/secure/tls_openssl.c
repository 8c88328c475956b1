/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS 1.3 by OpenSSL 3 over a nonblocking socket, handshake and records.
 *
 * A connection of the library serves one thread at a time: a lock lets one
 * thread send while another receives. The lock is held for one record, or for
 * a nonblocking call of the kernel.
 *
 * The BIO receives from the socket and appends to the output, which is sent
 * many records at a time and keeps what the socket does not take: the library
 * never has to repeat a write. The library reads ahead once the handshake is
 * complete, many records at a time as well; in the handshake it does not,
 * since plain bytes may follow, which stay in the socket.
 */
#include <config.h>

#include "exec/transport/secure/tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/minmax.h"
#include "exec/transport/secure/openssl_internal.h"

static const uint64_t default_rekey_bytes = UINT64_C(64) << 30;

/* Bytes of a record; those that are sealed before they are sent; records under
 * the same keys, for which the limits of AES-GCM allow (RFC 8446, 5.5). */
enum {
    RECORD_BYTES = SSL3_RT_MAX_PLAIN_LENGTH,
    BATCH_BYTES = 8 * RECORD_BYTES,
    MAX_RECORDS = 1 << 24
};

/* An alert of the peer: the library's reason is this plus its number. */
enum {
    ALERT_HANDSHAKE_FAILURE = SSL_AD_REASON_OFFSET + SSL_AD_HANDSHAKE_FAILURE,
    ALERT_ILLEGAL_PARAMETER = SSL_AD_REASON_OFFSET + SSL_AD_ILLEGAL_PARAMETER,
    ALERT_DECRYPT_ERROR = SSL_AD_REASON_OFFSET + SSL_AD_DECRYPT_ERROR,
    ALERT_FIRST_CERTIFICATE = SSL_AD_REASON_OFFSET + SSL_AD_BAD_CERTIFICATE,
    ALERT_LAST_CERTIFICATE = SSL_AD_REASON_OFFSET + SSL_AD_CERTIFICATE_UNKNOWN,
    ALERT_UNKNOWN_CA = SSL_AD_REASON_OFFSET + SSL_AD_UNKNOWN_CA,
    ALERT_REQUIRED = SSL_AD_REASON_OFFSET + SSL_AD_CERTIFICATE_REQUIRED
};

/* Texts for what the peer has done wrong, without its name. */

static void describe_other_token(mo_secure_tls *tls)
{
    snprintf(tls->failure, MO_SECURE_FAILURE_SIZE,
             "has another token: give all ranks the same MOIRAI_TOKEN");
}

static void describe_loss(mo_secure_tls *tls)
{
    tls->is_lost = true;
    snprintf(tls->failure, MO_SECURE_FAILURE_SIZE,
             "has closed the connection in the TLS handshake");
}

static void describe_certificate(mo_secure_tls *tls, int reason,
                                 const char *text)
{
    char *failure = tls->failure;

    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
        snprintf(
            failure, MO_SECURE_FAILURE_SIZE,
            "has a certificate that is not accepted: %s",
            X509_verify_cert_error_string(SSL_get_verify_result(tls->ssl)));
    else if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
        snprintf(failure, MO_SECURE_FAILURE_SIZE,
                 "has no certificate: give it --tls-cert and --tls-key");
    else if ((reason >= ALERT_FIRST_CERTIFICATE &&
              reason <= ALERT_LAST_CERTIFICATE) ||
             reason == ALERT_UNKNOWN_CA || reason == ALERT_REQUIRED ||
             reason == ALERT_DECRYPT_ERROR)
        snprintf(failure, MO_SECURE_FAILURE_SIZE,
                 "does not accept the certificate of this rank: %s", text);
    else
        snprintf(failure, MO_SECURE_FAILURE_SIZE,
                 "fails in the TLS handshake: %s", text);
}

/* From the library's queue of errors, as the next one. */
static void describe_handshake(mo_secure_tls *tls)
{
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_REASON(code);
    const char *text = ERR_reason_error_string(code);

    if (!text)
        text = "unknown error";
    if (code == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        describe_loss(tls);
    else if (!tls->credentials->has_key)
        describe_certificate(tls, reason, text);
    else if (reason == SSL_R_BINDER_DOES_NOT_VERIFY ||
             reason == ALERT_ILLEGAL_PARAMETER ||
             reason == ALERT_DECRYPT_ERROR || reason == ALERT_HANDSHAKE_FAILURE)
        describe_other_token(tls);
    else
        snprintf(tls->failure, MO_SECURE_FAILURE_SIZE,
                 "fails in the TLS handshake: %s", text);
}

static void describe_record(mo_secure_tls *tls)
{
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_REASON(code);
    const char *text = ERR_reason_error_string(code);

    if (!text)
        text = "unknown error";
    switch (reason) {
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
        text = "bad record mac";
        break;
    case SSL_R_BAD_RECORD_TYPE:
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_LENGTH_TOO_SHORT:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_ENCRYPTED_LENGTH_TOO_LONG:
        text = "wrong record header";
        break;
    default:
        break;
    }
    if (reason >= SSL_AD_REASON_OFFSET && !tls->credentials->has_key)
        describe_certificate(tls, reason, text);
    else
        snprintf(tls->failure, MO_SECURE_FAILURE_SIZE,
                 "sends bytes that were altered on the way (%s)", text);
}

static int read_bio(BIO *bio, char *data, int size)
{
    mo_secure_tls *tls = BIO_get_data(bio);
    ssize_t got;

    do
        got = recv(tls->socket, data, (size_t) size, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    BIO_clear_retry_flags(bio);
    tls->is_ended |= got == 0;
    if (got > 0)
        tls->received_bytes += (uint64_t) got;
    else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        BIO_set_retry_read(bio);
    else if (got < 0)
        tls->receive_error = errno;
    return (int) got;
}

static int write_bio(BIO *bio, const char *data, int size)
{
    mo_secure_tls *tls = BIO_get_data(bio);
    size_t end = tls->n_sent + tls->n_unsent, n = (size_t) size;

    BIO_clear_retry_flags(bio);
    if (tls->n_unsent == 0)
        tls->n_sent = end = 0;
    if (end + n > tls->capacity) {
        size_t capacity = mo_max_size(end + n, 2 * tls->capacity);
        char *output = realloc(tls->output, capacity);

        if (!output)
            return -1;
        tls->output = output;
        tls->capacity = capacity;
    }
    memcpy(tls->output + end, data, n);
    tls->n_unsent += n;
    return size;
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

/* SSL_set_msg_callback: counts the bytes of the records that begin. */
static void count_record(int sends, int version, int type, const void *message,
                         size_t n, SSL *ssl, void *context)
{
    mo_secure_tls *tls = context;
    const unsigned char *header = message;

    (void) version;
    (void) ssl;
    if (!sends && type == SSL3_RT_HEADER && n == SSL3_RT_HEADER_LENGTH)
        tls->begun_bytes +=
            SSL3_RT_HEADER_LENGTH + ((uint64_t) header[3] << 8 | header[4]);
}

mo_status mo_secure_tls_new(mo_secure_credentials *credentials,
                            mo_secure_role role, const char *identity,
                            int socket, mo_secure_tls **tls, mo_error *err)
{
    mo_secure_tls *made = calloc(1, sizeof *made);
    BIO *bio;

    if (!made)
        return mo_fail_memory(err);
    atomic_fetch_add(&credentials->n_references, 1);
    made->credentials = credentials;
    made->socket = socket;
    made->rekey_bytes = default_rekey_bytes;
    pthread_mutex_init(&made->lock, NULL);
    if (identity)
        snprintf(made->identity, sizeof made->identity, "%s", identity);
    made->ssl = SSL_new(credentials->context);
    bio = made->ssl ? BIO_new(credentials->bio) : NULL;
    if (bio) {
        BIO_set_data(bio, made);
        BIO_set_init(bio, 1);
        SSL_set_bio(made->ssl, bio, bio);
    }
    if (!bio || SSL_set_app_data(made->ssl, made) != 1) {
        mo_secure_tls_free(made);
        ERR_clear_error();
        return mo_fail_memory(err);
    }
    SSL_set_msg_callback(made->ssl, count_record);
    SSL_set_msg_callback_arg(made->ssl, made);
    if (role == MO_SECURE_SERVER)
        SSL_set_accept_state(made->ssl);
    else
        SSL_set_connect_state(made->ssl);
    *tls = made;
    return MO_OK;
}

/* Sends the output. As mo_secure_channel_flush(). */
static int flush(mo_secure_tls *tls)
{
    while (tls->n_unsent > 0) {
        ssize_t sent = send(tls->socket, tls->output + tls->n_sent,
                            tls->n_unsent, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            if (errno == EWOULDBLOCK)
                errno = EAGAIN;
            return -1;
        }
        tls->n_sent += (size_t) sent;
        tls->n_unsent -= (size_t) sent;
    }
    return 0;
}

void mo_secure_tls_close(mo_secure_tls *tls)
{
    int error = atomic_load(&tls->error);

    if (!tls->is_sealed || (error != 0 && error != EBADMSG))
        return;
    /* The library has appended an alert after EBADMSG. */
    if (error == 0)
        SSL_shutdown(tls->ssl);
    ERR_clear_error();
    flush(tls);
}

void mo_secure_tls_free(mo_secure_tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl);
    mo_secure_credentials_free(tls->credentials);
    pthread_mutex_destroy(&tls->lock);
    free(tls->output);
    free(tls);
}

static mo_secure_progress fail_handshake(mo_secure_tls *tls, mo_error *err)
{
    ERR_clear_error();
    atomic_store(&tls->error, ECONNABORTED);
    flush(tls); /* an alert */
    mo_fail(err, tls->is_lost ? MO_E_IO : MO_E_INPUT, "%s", tls->failure);
    return MO_SECURE_FAILED;
}

mo_secure_progress mo_secure_tls_handshake(mo_secure_tls *tls, mo_error *err)
{
    if (tls->is_sealed)
        return MO_SECURE_DONE;
    if (!SSL_is_init_finished(tls->ssl)) {
        int result, reason;

        ERR_clear_error();
        result = SSL_do_handshake(tls->ssl);
        reason = SSL_get_error(tls->ssl, result);
        if (result != 1 && reason != SSL_ERROR_WANT_READ) {
            describe_handshake(tls);
            return fail_handshake(tls, err);
        }
        if (flush(tls) != 0 && errno != EAGAIN) {
            describe_loss(tls);
            return fail_handshake(tls, err);
        }
        if (result != 1)
            return MO_SECURE_AGAIN;
    }
    /* Without the key there would be a certificate, or nothing. */
    if (tls->credentials->has_key && SSL_session_reused(tls->ssl) != 1) {
        describe_other_token(tls);
        return fail_handshake(tls, err);
    }
    if (flush(tls) != 0)
        return MO_SECURE_AGAIN;
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

short mo_secure_tls_events(mo_secure_tls *tls)
{
    return mo_secure_tls_has_unsent(tls) ? POLLIN | POLLOUT : POLLIN;
}

const char *mo_secure_tls_failure(const mo_secure_tls *tls)
{
    return tls->failure;
}

void mo_secure_tls_set_rekey_bytes(mo_secure_tls *tls, uint64_t bytes)
{
    tls->rekey_bytes = bytes;
}

/* Returns the errno of a failed SSL_read() or SSL_write(): EAGAIN, 0 at the end
 * of the connection, or one that breaks it. */
static int classify_error(mo_secure_tls *tls, int result)
{
    unsigned long code = ERR_peek_error();

    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        if (tls->is_ended)
            return ECONNRESET;
        if (tls->receive_error != 0)
            return tls->receive_error;
        return ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE ? ENOMEM : EBADMSG;
    }
}

/* Reads from one record, under the lock; peeks at a byte of it for none.
 * Returns as recv(). */
static ssize_t read_record(mo_secure_tls *tls, void *data, size_t bytes)
{
    char peeked;
    size_t n = 0;
    int result, error;

    ERR_clear_error();
    result = bytes > 0 ? SSL_read_ex(tls->ssl, data, bytes, &n)
                       : SSL_peek_ex(tls->ssl, &peeked, 1, &n);
    tls->wants_more = false;
    if (result == 1)
        return (ssize_t) n;
    error = classify_error(tls, result);
    tls->wants_more = error == EAGAIN;
    if (error == 0)
        return 0;
    if (error != EAGAIN) {
        if (error == EBADMSG)
            describe_record(tls);
        atomic_store(&tls->error, error);
        ERR_clear_error();
    }
    errno = error;
    return -1;
}

/* bytes == 0: the next data is received and kept, and 1 is returned. */
ssize_t mo_secure_tls_receive(mo_secure_tls *tls, void *data, size_t bytes)
{
    size_t total = 0;
    ssize_t n;

    errno = tls->is_sealed ? atomic_load(&tls->error) : EAGAIN;
    if (errno != 0)
        return -1;
    do {
        pthread_mutex_lock(&tls->lock);
        SSL_set_read_ahead(tls->ssl, 1);
        n = read_record(tls, (char *) data + total, bytes - total);
        pthread_mutex_unlock(&tls->lock);
        if (n > 0)
            total += (size_t) n;
    } while (n > 0 && total < bytes);
    return total > 0 ? (ssize_t) total : n;
}

bool mo_secure_tls_is_closed(mo_secure_tls *tls)
{
    char none;
    ssize_t got = mo_secure_tls_receive(tls, &none, 0);

    return got == 0 || (got < 0 && errno != EAGAIN);
}

/* When the last read wanted more, the library has opened all complete
 * records. */
bool mo_secure_tls_has_received(mo_secure_tls *tls)
{
    bool has;

    pthread_mutex_lock(&tls->lock);
    has = atomic_load(&tls->error) == 0 && !tls->wants_more &&
          SSL_has_pending(tls->ssl) == 1;
    pthread_mutex_unlock(&tls->lock);
    return has;
}

bool mo_secure_tls_has_partial(mo_secure_tls *tls)
{
    bool has;

    pthread_mutex_lock(&tls->lock);
    has = tls->wants_more && tls->received_bytes != tls->begun_bytes;
    pthread_mutex_unlock(&tls->lock);
    return has;
}

/* Seals the bytes of a record under the lock, with new keys if the last ones
 * are used up. Returns false with errno. */
static bool write_record(mo_secure_tls *tls, const void *data, size_t bytes)
{
    size_t n;

    ERR_clear_error();
    if (tls->sealed_bytes >= tls->rekey_bytes ||
        tls->n_records == MAX_RECORDS) {
        SSL_key_update(tls->ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
        tls->sealed_bytes = 0;
        tls->n_records = 0;
    }
    if (SSL_write_ex(tls->ssl, data, bytes, &n) != 1) {
        errno = ENOMEM; /* the output takes all else */
        return false;
    }
    tls->sealed_bytes += bytes;
    tls->n_records++;
    return true;
}

/* Returns the n bytes of parts from the byte at on: in their place, or gathered
 * in the buffer. */
static const char *gather(const struct iovec *parts, int n_parts, size_t at,
                          size_t n, char buffer[RECORD_BYTES])
{
    size_t n_copied = 0;

    for (int i = 0; i < n_parts && n_copied < n; i++) {
        const char *base = parts[i].iov_base;
        size_t bytes = parts[i].iov_len, piece;

        if (at >= bytes) {
            at -= bytes;
            continue;
        }
        if (n_copied == 0 && bytes - at >= n)
            return base + at;
        piece = mo_min_size(bytes - at, n - n_copied);
        memcpy(buffer + n_copied, base + at, piece);
        n_copied += piece;
        at = 0;
    }
    return buffer;
}

/* Seals a batch of records into the output, and sends it. */
static ssize_t send_batch(mo_secure_tls *tls, const struct iovec *parts,
                          int n_parts)
{
    char gathered[RECORD_BYTES];
    size_t total = 0, sealed = 0;

    for (int i = 0; i < n_parts; i++)
        total += parts[i].iov_len;
    if (flush(tls) != 0)
        return -1;
    while (sealed < total && tls->n_unsent < BATCH_BYTES) {
        size_t n = mo_min_size(total - sealed, RECORD_BYTES);

        if (!write_record(tls, gather(parts, n_parts, sealed, n, gathered), n))
            return -1;
        sealed += n;
    }
    if (flush(tls) != 0 && errno != EAGAIN)
        return -1;
    return (ssize_t) sealed;
}

ssize_t mo_secure_tls_send(mo_secure_tls *tls, const struct iovec *parts,
                           int n_parts)
{
    ssize_t sent;

    errno = tls->is_sealed ? atomic_load(&tls->error) : EAGAIN;
    if (errno != 0)
        return -1;
    pthread_mutex_lock(&tls->lock);
    sent = send_batch(tls, parts, n_parts);
    pthread_mutex_unlock(&tls->lock);
    return sent;
}

int mo_secure_tls_flush(mo_secure_tls *tls)
{
    int result;

    pthread_mutex_lock(&tls->lock);
    result = flush(tls);
    pthread_mutex_unlock(&tls->lock);
    return result;
}

bool mo_secure_tls_has_unsent(mo_secure_tls *tls)
{
    bool has;

    pthread_mutex_lock(&tls->lock);
    has = tls->n_unsent > 0;
    pthread_mutex_unlock(&tls->lock);
    return has;
}
