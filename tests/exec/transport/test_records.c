/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/transport/secure/channel.h: the sealed channel against a plain
 * connection of OpenSSL, which is the oracle: both read what the other writes,
 * across changes of keys, padding and the end of the connection. */
#include <config.h>

#include "tests/support/suite.h"

#ifdef HAVE_OPENSSL

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "exec/transport/secure/channel.h"

enum { KEY_FILL = 7, STREAM_BYTES = 1 << 20, MAX_PIECE = 40000 };

/* channel -- oracle: one of them is the client. */
typedef struct pair {
    mo_secure_channel *channel;
    SSL_CTX *context;
    SSL *oracle;
    int socket;
} pair;

static unsigned client_key(SSL *ssl, const char *hint, char *identity,
                           unsigned identity_size, unsigned char *key,
                           unsigned size)
{
    (void) ssl;
    (void) hint;
    snprintf(identity, identity_size, "rank 1 of 2");
    ck_assert_uint_ge(size, MO_SECURE_KEY_BYTES);
    memset(key, KEY_FILL, MO_SECURE_KEY_BYTES);
    return MO_SECURE_KEY_BYTES;
}

static unsigned server_key(SSL *ssl, const char *identity, unsigned char *key,
                           unsigned size)
{
    (void) ssl;
    ck_assert_str_eq(identity, "rank 1 of 2");
    ck_assert_uint_ge(size, MO_SECURE_KEY_BYTES);
    memset(key, KEY_FILL, MO_SECURE_KEY_BYTES);
    return MO_SECURE_KEY_BYTES;
}

static void open_oracle(pair *p, bool is_server)
{
    p->context = SSL_CTX_new(TLS_method());
    ck_assert_ptr_nonnull(p->context);
    SSL_CTX_set_min_proto_version(p->context, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(p->context, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_num_tickets(p->context, 0);
    SSL_CTX_set_mode(p->context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                     SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_psk_client_callback(p->context, client_key);
    SSL_CTX_set_psk_server_callback(p->context, server_key);
    p->oracle = SSL_new(p->context);
    SSL_set_fd(p->oracle, p->socket);
    if (is_server)
        SSL_set_accept_state(p->oracle);
    else
        SSL_set_connect_state(p->oracle);
}

static void open_pair(pair *p, bool oracle_is_server)
{
    uint8_t key[MO_SECURE_KEY_BYTES];
    mo_secure_credentials *credentials = NULL;
    mo_secure_progress progress = MO_SECURE_AGAIN;
    mo_error why = { 0 };
    int ends[2];

    memset(key, KEY_FILL, sizeof key);
    MUST(mo_secure_credentials_from_key(key, &credentials, &err));
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends),
                     0);
    p->channel = mo_secure_channel_new(ends[0]);
    p->socket = ends[1];
    open_oracle(p, oracle_is_server);
    MUST(mo_secure_channel_start(
        p->channel, credentials,
        oracle_is_server ? MO_SECURE_CLIENT : MO_SECURE_SERVER,
        oracle_is_server ? "rank 1 of 2" : NULL, &err));
    mo_secure_credentials_free(credentials);
    for (int i = 0; i < 20; i++) {
        if (progress == MO_SECURE_AGAIN)
            progress = mo_secure_channel_handshake(p->channel, &why);
        SSL_do_handshake(p->oracle);
    }
    ck_assert_msg(progress == MO_SECURE_DONE, "%s", why.text);
    ck_assert(SSL_is_init_finished(p->oracle));
}

static void close_pair(pair *p)
{
    mo_secure_channel_free(p->channel);
    SSL_free(p->oracle);
    SSL_CTX_free(p->context);
    close(p->socket);
}

static unsigned char *random_bytes(mo_random *random)
{
    unsigned char *bytes = malloc(STREAM_BYTES);

    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < STREAM_BYTES; i++)
        bytes[i] = (unsigned char) mo_random_below(random, 256);
    return bytes;
}

static size_t piece(mo_random *random, size_t at)
{
    size_t n =
        1 + (size_t) mo_random_below(
                random, mo_random_below(random, 4) == 0 ? MAX_PIECE : 100);

    return n < STREAM_BYTES - at ? n : STREAM_BYTES - at;
}

/* Sends up to n bytes in two parts. Returns their number. */
static size_t send_some(pair *p, unsigned char *bytes, size_t n)
{
    struct iovec parts[2] = { { bytes, n / 3 }, { bytes + n / 3, n - n / 3 } };
    ssize_t sent = mo_secure_channel_send(p->channel, parts, 2);

    ck_assert(sent > 0 || (sent < 0 && errno == EAGAIN));
    return sent > 0 ? (size_t) sent : 0;
}

/* As the client or the server, with many changes of keys, some of them on
 * request of the oracle. */
START_TEST(the_oracle_reads_what_the_channel_sends)
{
    mo_random random = { 11 };
    unsigned char *sent = random_bytes(&random), *got = calloc(1, STREAM_BYTES);
    size_t n_sent = 0, n_got = 0, n;
    pair p;
    char byte;

    open_pair(&p, _i == 0);
    mo_secure_channel_set_rekey_bytes(p.channel, 30000);
    while (n_got < STREAM_BYTES) {
        if (n_sent < STREAM_BYTES)
            n_sent += send_some(&p, sent + n_sent, piece(&random, n_sent));
        else
            mo_secure_channel_flush(p.channel);
        if (mo_random_below(&random, 50) == 0) {
            SSL_key_update(p.oracle, SSL_KEY_UPDATE_REQUESTED);
            ck_assert_int_eq(SSL_do_handshake(p.oracle), 1);
            ck_assert_int_eq(
                (int) mo_secure_channel_receive(p.channel, &byte, 1), -1);
            ck_assert_int_eq(errno, EAGAIN);
        }
        if (SSL_read_ex(p.oracle, got + n_got, STREAM_BYTES - n_got, &n) == 1)
            n_got += n;
        else
            ck_assert_int_eq(SSL_get_error(p.oracle, 0), SSL_ERROR_WANT_READ);
    }
    ck_assert_mem_eq(sent, got, STREAM_BYTES);
    mo_secure_channel_free(p.channel);
    p.channel = NULL;
    ck_assert_int_eq(SSL_read_ex(p.oracle, got, 1, &n), 0);
    ck_assert_int_eq(SSL_get_error(p.oracle, 0), SSL_ERROR_ZERO_RETURN);
    free(sent);
    free(got);
    close_pair(&p);
}
END_TEST

/* With padding of several sizes, up to records of the greatest length; read in
 * pieces that are smaller and larger than records. */
START_TEST(the_channel_reads_what_the_oracle_sends)
{
    static const size_t blocks[] = { 0, 16, 1000, 16384 };
    mo_random random = { 12 };
    unsigned char *sent = random_bytes(&random), *got = calloc(1, STREAM_BYTES);
    size_t n_sent = 0, n_got = 0, n_next, n;
    ssize_t received;
    pair p;

    open_pair(&p, _i % 2 == 0);
    SSL_set_block_padding(p.oracle, blocks[_i / 2]);
    n_next = piece(&random, 0);
    while (n_got < STREAM_BYTES) {
        /* A write that would block is repeated with the same bytes. */
        if (n_sent < STREAM_BYTES &&
            SSL_write_ex(p.oracle, sent + n_sent, n_next, &n) == 1) {
            n_sent += n;
            n_next = piece(&random, n_sent);
            if (mo_random_below(&random, 50) == 0)
                SSL_key_update(p.oracle, SSL_KEY_UPDATE_NOT_REQUESTED);
        }
        received = mo_secure_channel_receive(p.channel, got + n_got,
                                             piece(&random, n_got));
        ck_assert(received > 0 || (received < 0 && errno == EAGAIN));
        n_got += received > 0 ? (size_t) received : 0;
    }
    ck_assert_mem_eq(sent, got, STREAM_BYTES);
    ck_assert(!mo_secure_channel_is_closed(p.channel));
    SSL_shutdown(p.oracle);
    ck_assert(mo_secure_channel_is_closed(p.channel));
    ck_assert_int_eq((int) mo_secure_channel_receive(p.channel, got, 1), 0);
    free(sent);
    free(got);
    close_pair(&p);
}
END_TEST

START_TEST(altered_bytes_are_reported_to_the_peer)
{
    unsigned char junk[40] = { 23, 3, 3, 0, 35 }, byte;
    size_t n;
    pair p;

    open_pair(&p, _i == 0);
    ck_assert_int_eq(send(p.socket, junk, sizeof junk, 0), sizeof junk);
    ck_assert_int_eq((int) mo_secure_channel_receive(p.channel, &byte, 1), -1);
    ck_assert_int_eq(errno, EBADMSG);
    mo_secure_channel_free(p.channel);
    p.channel = NULL;
    ck_assert_int_eq(SSL_read_ex(p.oracle, &byte, 1, &n), 0);
    ck_assert_int_eq(SSL_get_error(p.oracle, 0), SSL_ERROR_SSL);
    close_pair(&p);
}
END_TEST

static long n_until_failure = -1; /* allocations of the library; -1: any */

static bool fails(void)
{
    return n_until_failure >= 0 && n_until_failure-- == 0;
}

static void *failing_malloc(size_t n, const char *file, int line)
{
    (void) file;
    (void) line;
    return fails() ? NULL : malloc(n);
}

static void *failing_realloc(void *block, size_t n, const char *file, int line)
{
    (void) file;
    (void) line;
    return fails() ? NULL : realloc(block, n);
}

static void plain_free(void *block, const char *file, int line)
{
    (void) file;
    (void) line;
    free(block);
}

/* Every allocation of the library fails once: never is that taken for a
 * library without TLS 1.3. */
START_TEST(out_of_memory_is_reported_as_that)
{
    const uint8_t key[MO_SECURE_KEY_BYTES] = { 1 };
    mo_secure_credentials *credentials;
    mo_status status = MO_E_MEMORY;
    mo_error why = { 0 };
    int n_failures = 0;

    /* Only before the first allocation: in a process of its own. */
    if (CRYPTO_set_mem_functions(failing_malloc, failing_realloc, plain_free) !=
        1)
        return;
    MUST(mo_secure_credentials_from_key(key, &credentials, &err));
    mo_secure_credentials_free(credentials);
    for (long n = 0; n_until_failure < 0; n++) {
        n_until_failure = n;
        status = mo_secure_credentials_from_key(key, &credentials, &why);
        if (status == MO_OK)
            mo_secure_credentials_free(credentials);
        else
            ck_assert_msg(status == MO_E_MEMORY, "allocation %ld: %s", n,
                          why.text);
        n_failures += status != MO_OK;
    }
    n_until_failure = -1;
    ck_assert_int_eq(status, MO_OK);
    ck_assert_int_gt(n_failures, 10);
}
END_TEST

#endif

SUITE(records)
{
#ifdef HAVE_OPENSSL
    TEST(out_of_memory_is_reported_as_that);
    EACH(the_oracle_reads_what_the_channel_sends, 2);
    EACH(the_channel_reads_what_the_oracle_sends, 8);
    EACH(altered_bytes_are_reported_to_the_peer, 2);
#else
    (void) tests;
#endif
}
