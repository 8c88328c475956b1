/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/transport/secure/channel.h: what is sent arrives, and altered,
 * repeated, reordered or missing bytes are never delivered. */
#include <config.h>

#include "exec/transport/secure/channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/support/suite.h"

/* Two channels with a relay between them:
 * client [0] -- [1] relay [2] -- [3] server. */
typedef struct wire {
    int relay[2];
    mo_secure_channel *client, *server;
} wire;

enum { TEXT_BYTES = 48, N_RECORDS = 4, RELAY_BYTES = 1 << 16 };

static mo_secure_credentials *make_key(uint8_t fill)
{
    uint8_t key[MO_SECURE_KEY_BYTES];
    mo_secure_credentials *credentials = NULL;

    memset(key, fill, sizeof key);
    MUST(mo_secure_credentials_from_key(key, &credentials, &err));
    return credentials;
}

static void open_wire(wire *w)
{
    int a[2], b[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, a), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, b), 0);
    w->client = mo_secure_channel_new(a[0]);
    w->relay[0] = a[1];
    w->relay[1] = b[0];
    w->server = mo_secure_channel_new(b[1]);
}

static void close_wire(wire *w)
{
    mo_secure_channel_free(w->client);
    mo_secure_channel_free(w->server);
    close(w->relay[0]);
    close(w->relay[1]);
}

/* Forwards what has come at one end; returns the number of bytes. */
static size_t forward(const wire *w, int from)
{
    static char bytes[RELAY_BYTES];
    ssize_t got = recv(w->relay[from], bytes, sizeof bytes, 0);

    if (got > 0)
        ck_assert_int_eq(send(w->relay[1 - from], bytes, (size_t) got, 0), got);
    return got > 0 ? (size_t) got : 0;
}

static mo_secure_progress shake(wire *w, mo_secure_credentials *client,
                                mo_secure_credentials *server, mo_error why[2])
{
    mo_secure_progress a = MO_SECURE_AGAIN, b = MO_SECURE_AGAIN;

    MUST(mo_secure_channel_start(w->client, client, MO_SECURE_CLIENT,
                                 "rank 1 of 2", &err));
    MUST(mo_secure_channel_start(w->server, server, MO_SECURE_SERVER, NULL,
                                 &err));
    for (int i = 0; i < 20; i++) {
        if (a == MO_SECURE_AGAIN)
            a = mo_secure_channel_handshake(w->client, &why[0]);
        forward(w, 0);
        if (b == MO_SECURE_AGAIN)
            b = mo_secure_channel_handshake(w->server, &why[1]);
        forward(w, 1);
    }
    return a == MO_SECURE_DONE ? b : a;
}

static void open_sealed(wire *w)
{
    mo_secure_credentials *key = make_key(7);
    mo_error why[2] = { { 0 } };

    open_wire(w);
    ck_assert_msg(shake(w, key, key, why) == MO_SECURE_DONE, "%s, %s",
                  why[0].text, why[1].text);
    mo_secure_credentials_free(key);
}

static void send_text(mo_secure_channel *channel, int number)
{
    char text[TEXT_BYTES] = { 0 };
    struct iovec parts[2] = { { text, 16 }, { text + 16, TEXT_BYTES - 16 } };

    snprintf(text, sizeof text, "text %d", number);
    ck_assert_int_eq(mo_secure_channel_send(channel, parts, 2), TEXT_BYTES);
    ck_assert(!mo_secure_channel_has_unsent(channel));
}

/* Returns the number of complete texts, which must be 0, 1, 2, ... in this
 * order; *error is the errno at the end, 0 for an orderly one. */
static int receive_texts(mo_secure_channel *channel, int *error)
{
    char text[TEXT_BYTES], expected[TEXT_BYTES];
    int n = 0;
    ssize_t got;

    while ((got = mo_secure_channel_receive(channel, text, sizeof text)) > 0) {
        memset(expected, 0, sizeof expected);
        snprintf(expected, sizeof expected, "text %d", n);
        ck_assert_int_eq(got, TEXT_BYTES);
        ck_assert_mem_eq(text, expected, TEXT_BYTES);
        n++;
    }
    *error = got < 0 ? errno : 0;
    return n;
}

/* Sends N_RECORDS texts and takes their sealed bytes off the wire; ends[i] is
 * the end of record i. */
static size_t capture(wire *w, unsigned char *bytes, size_t ends[N_RECORDS])
{
    size_t n = 0;

    for (int i = 0; i < N_RECORDS; i++) {
        ssize_t got;

        send_text(w->client, i);
        got = recv(w->relay[0], bytes + n, RELAY_BYTES - n, 0);
        ck_assert_int_gt(got, TEXT_BYTES);
        n += (size_t) got;
        ends[i] = n;
    }
    return n;
}

static void inject(const wire *w, const unsigned char *bytes, size_t n)
{
    ck_assert_int_eq(send(w->relay[1], bytes, n, 0), (ssize_t) n);
}

START_TEST(sealed_bytes_arrive_both_ways)
{
    enum { BIG = 3 << 20 };
    mo_random random = { 5 };
    unsigned char *sent = malloc(BIG), *got = calloc(1, BIG);
    size_t n_sent = 0, n_got = 0;
    wire w;

    open_sealed(&w);
    ck_assert_str_eq(mo_secure_channel_identity(w.server), "rank 1 of 2");
    mo_secure_channel_set_rekey_bytes(w.client, 100000); /* several times */
    for (size_t i = 0; i < BIG; i++)
        sent[i] = (unsigned char) mo_random_below(&random, 256);
    while (n_got < BIG) {
        struct iovec part = { sent + n_sent, BIG - n_sent };
        ssize_t n = 0;

        if (n_sent < BIG)
            n = mo_secure_channel_send(_i == 0 ? w.client : w.server, &part, 1);
        else
            mo_secure_channel_flush(_i == 0 ? w.client : w.server);
        n_sent += n > 0 ? (size_t) n : 0;
        forward(&w, _i);
        n = mo_secure_channel_receive(_i == 0 ? w.server : w.client,
                                      got + n_got, BIG - n_got);
        ck_assert(n > 0 || (n < 0 && errno == EAGAIN));
        n_got += n > 0 ? (size_t) n : 0;
    }
    ck_assert_mem_eq(sent, got, BIG);
    free(sent);
    free(got);
    close_wire(&w);
}
END_TEST

START_TEST(an_orderly_end_is_told_from_a_cut)
{
    wire w;
    int error;

    open_sealed(&w);
    send_text(w.client, 0);
    if (_i == 0) {
        mo_secure_channel_free(w.client); /* with close_notify */
        w.client = NULL;
    }
    forward(&w, 0);
    shutdown(w.relay[1], SHUT_WR);
    ck_assert_int_eq(receive_texts(w.server, &error), 1);
    ck_assert_int_eq(error, _i == 0 ? 0 : ECONNRESET);
    ck_assert(_i == 0 || mo_secure_channel_is_closed(w.server));
    close_wire(&w);
}
END_TEST

START_TEST(an_unsealed_channel_is_plain_and_loses_nothing)
{
    wire w;
    char text[8] = "";

    open_sealed(&w);
    mo_secure_channel_unseal(w.client);
    ck_assert_int_eq(
        mo_secure_channel_send(w.client,
                               &(struct iovec){ (char[]){ "values" }, 6 }, 1),
        6);
    ck_assert_int_eq((int) forward(&w, 0), 6);
    mo_secure_channel_unseal(w.server);
    ck_assert_int_eq(mo_secure_channel_receive(w.server, text, 8), 6);
    ck_assert_str_eq(text, "values");
    close_wire(&w);
}
END_TEST

/* Every bit of every record: the texts before it arrive, nothing after. */
START_TEST(a_flipped_bit_is_an_error)
{
    unsigned char bytes[RELAY_BYTES];
    size_t ends[N_RECORDS], n;
    wire w;

    open_sealed(&w);
    n = capture(&w, bytes, ends);
    close_wire(&w);
    for (size_t at = (size_t) _i; at < n; at += 8) {
        int whole = 0, error, texts;

        open_sealed(&w);
        ck_assert_uint_eq(capture(&w, bytes, ends), n);
        while (ends[whole] <= at)
            whole++;
        bytes[at] ^= (unsigned char) (1 << (at / 8 + (size_t) _i) % 8);
        inject(&w, bytes, n);
        texts = receive_texts(w.server, &error);
        ck_assert_msg(texts == whole, "byte %zu: %d texts", at, texts);
        /* A longer length waits for bytes that do not come. */
        ck_assert_msg(error == EBADMSG || error == EAGAIN, "byte %zu: %d", at,
                      error);
        if (error == EAGAIN) {
            shutdown(w.relay[1], SHUT_WR);
            ck_assert_int_eq(receive_texts(w.server, &error), 0);
            ck_assert(error == ECONNRESET || error == EBADMSG);
        }
        close_wire(&w);
    }
}
END_TEST

START_TEST(order_and_number_of_records_are_checked)
{
    unsigned char bytes[RELAY_BYTES];
    size_t ends[N_RECORDS];
    int error, expected = 1;
    wire w;

    open_sealed(&w);
    capture(&w, bytes, ends);
    inject(&w, bytes, ends[0]);
    if (_i == 0) /* repeated */
        inject(&w, bytes, ends[0]);
    else if (_i == 1) /* the second is missing */
        inject(&w, bytes + ends[1], ends[2] - ends[1]);
    else if (_i == 2) { /* exchanged */
        inject(&w, bytes + ends[1], ends[2] - ends[1]);
        inject(&w, bytes + ends[0], ends[1] - ends[0]);
    } else { /* the server's own record, reflected */
        unsigned char own[RELAY_BYTES];
        ssize_t n;

        send_text(w.server, 1);
        n = recv(w.relay[1], own, sizeof own, 0);
        ck_assert_int_gt(n, 0);
        inject(&w, own, (size_t) n);
    }
    ck_assert_int_eq(receive_texts(w.server, &error), expected);
    ck_assert_int_eq(error, EBADMSG);
    ck_assert(strstr(mo_secure_channel_failure(w.server), "altered"));
    /* It stays broken, in both directions. */
    ck_assert_int_eq(receive_texts(w.server, &error), 0);
    ck_assert_int_eq(error, EBADMSG);
    ck_assert_int_eq(mo_secure_channel_send(
                         w.server, &(struct iovec){ (char[]){ "x" }, 1 }, 1),
                     -1);
    close_wire(&w);
}
END_TEST

/* The records of one connection are of no use on another with the same key. */
START_TEST(a_recorded_connection_cannot_be_replayed)
{
    unsigned char bytes[RELAY_BYTES];
    size_t ends[N_RECORDS], n;
    wire recorded, w;
    int error;

    open_sealed(&recorded);
    n = capture(&recorded, bytes, ends);
    open_sealed(&w);
    inject(&w, bytes, n);
    ck_assert_int_eq(receive_texts(w.server, &error), 0);
    ck_assert_int_eq(error, EBADMSG);
    close_wire(&recorded);
    close_wire(&w);
}
END_TEST

START_TEST(another_key_is_refused_by_both)
{
    mo_secure_credentials *a = make_key(7), *b = make_key(8);
    mo_error why[2] = { { 0 } };
    wire w;

    open_wire(&w);
    ck_assert_int_eq(shake(&w, a, b, why), MO_SECURE_FAILED);
    ck_assert_int_eq(why[0].status, MO_E_INPUT);
    ck_assert_int_eq(why[1].status, MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(why[0].text, "has another token"));
    ck_assert_ptr_nonnull(strstr(why[1].text, "has another token"));
    ck_assert(!mo_secure_channel_is_sealed(w.client));
    ck_assert(!mo_secure_channel_is_sealed(w.server));
    close_wire(&w);
    mo_secure_credentials_free(a);
    mo_secure_credentials_free(b);
}
END_TEST

START_TEST(another_protocol_is_refused)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: tau\r\n\r\n";
    mo_secure_credentials *key = make_key(7);
    mo_error why = { 0 };
    wire w;

    open_wire(&w);
    MUST(mo_secure_channel_start(w.server, key, MO_SECURE_SERVER, NULL, &err));
    inject(&w, (const unsigned char *) request, sizeof request - 1);
    ck_assert_int_eq(mo_secure_channel_handshake(w.server, &why),
                     MO_SECURE_FAILED);
    ck_assert_ptr_nonnull(strstr(why.text, "TLS handshake"));
    close_wire(&w);
    mo_secure_credentials_free(key);
}
END_TEST

START_TEST(keys_depend_on_token_and_salt)
{
    static const char *const tokens[] = { "sesame", "sesame", "sesamf" };
    static const uint8_t salts[3] = { 1, 2, 1 };
    uint8_t keys[3][MO_SECURE_KEY_BYTES], again[MO_SECURE_KEY_BYTES];
    uint8_t salt[MO_SECURE_SALT_BYTES] = { 0 };

    for (int i = 0; i < 3; i++) {
        salt[0] = salts[i];
        MUST(mo_secure_derive_key(tokens[i], salt, keys[i], &err));
        for (int j = 0; j < i; j++)
            ck_assert_mem_ne(keys[i], keys[j], MO_SECURE_KEY_BYTES);
    }
    MUST(mo_secure_derive_key(tokens[2], salt, again, &err));
    ck_assert_mem_eq(again, keys[2], MO_SECURE_KEY_BYTES);
}
END_TEST

START_TEST(a_build_without_tls_names_the_remedy)
{
    uint8_t key[MO_SECURE_KEY_BYTES] = { 0 };
    mo_secure_credentials *credentials = NULL;
    mo_error why = { 0 };

    ck_assert_int_eq(mo_secure_credentials_from_key(key, &credentials, &why),
                     MO_E_SUPPORT);
    ck_assert_ptr_nonnull(strstr(why.text, "libssl-dev"));
    ck_assert_ptr_null(mo_secure_library());
}
END_TEST

SUITE(secure)
{
    if (!mo_secure_is_available()) {
        TEST(a_build_without_tls_names_the_remedy);
        return;
    }
    EACH(sealed_bytes_arrive_both_ways, 2);
    EACH(an_orderly_end_is_told_from_a_cut, 2);
    TEST(an_unsealed_channel_is_plain_and_loses_nothing);
    EACH(a_flipped_bit_is_an_error, 8);
    EACH(order_and_number_of_records_are_checked, 4);
    TEST(a_recorded_connection_cannot_be_replayed);
    TEST(another_key_is_refused_by_both);
    TEST(another_protocol_is_refused);
    TEST(keys_depend_on_token_and_salt);
}
