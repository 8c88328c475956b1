/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of exec/transport/rendezvous/control_msg.h: any bytes of a peer, in
 * pieces of any size, are complete messages, or close the connection; every
 * message that is received would be sent with the same bytes.
 */
#include <config.h>

#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exec/transport/rendezvous/control_msg.h"
#include "tests/fuzz/fuzz.h"

enum { HEAD_BYTES = 3 };

/* The bytes of a message as control_msg.c documents them. */
static void check_message(const uint8_t *sent, mo_rdv_msg_kind kind,
                          const char *text)
{
    size_t length = sent[1] | (size_t) sent[2] << 8;

    assert(memchr("bfyel", kind, 5) && sent[0] == (uint8_t) kind);
    assert(length < MO_RDV_MSG_TEXT_SIZE && strlen(text) <= length);
    assert(strncmp(text, (const char *) sent + HEAD_BYTES, length) == 0);
}

static size_t take_messages(mo_rdv_msg_channel *channel, const uint8_t *sent,
                            bool *closed)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_rdv_msg_kind kind;
    size_t taken = 0;

    while (!*closed && mo_rdv_msg_next(channel, &kind, text, closed)) {
        check_message(sent + taken, kind, text);
        taken += HEAD_BYTES + (sent[taken + 1] | (size_t) sent[taken + 2] << 8);
    }
    return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = fuzz_input_of(data, size);
    size_t piece = 1 + (size_t) fuzz_below(&in, 2048), taken = 0;
    mo_rdv_msg_channel channel;
    bool closed = false;
    int pair[2];
    const uint8_t *sent = in.at;

    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    mo_rdv_msg_channel_init(&channel, mo_secure_channel_new(pair[0]));
    while (fuzz_left(&in) > 0 && !closed) {
        size_t n = fuzz_left(&in) < piece ? fuzz_left(&in) : piece;

        assert(send(pair[1], in.at, n, MSG_DONTWAIT) == (ssize_t) n);
        in.at += n;
        for (size_t before = SIZE_MAX;
             !closed && before != channel.n_pending;) {
            before = channel.n_pending;
            mo_rdv_msg_receive(&channel, &closed);
            taken += take_messages(&channel, sent + taken, &closed);
        }
    }
    assert(taken <= size);
    mo_rdv_msg_channel_close(&channel);
    close(pair[1]);
    return 0;
}
