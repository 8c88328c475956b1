/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/handshake.h"
#include "exec/transport/rendezvous/pending_conns.h"

/* How long to look for calls before looking after those who have come; how long
 * to tell all of them. */
static const int64_t look_ns = 20000000, tell_ns = 2000000000;
/* How long those are waited for who have not heard yet that it is over. */
static const int64_t late_ns = 2000000000;

enum { GREETING, CLAIM };

/* Whoever tries again and again shall not fill anybody's screen. */
enum { MOST_NOTES = 16 };

/* What is kept of a guest between the two. */
typedef struct known {
    mo_rdv_hello greeting;
    uint8_t number[MO_RDV_NONCE_BYTES];
} known;

typedef struct hall {
    const mo_rdv_params *job;
    const mo_rdv_join_options *options;
    mo_rdv_endpoint *cards;
    int *sockets; /* by rank */
    int64_t deadline_ns;
    char refused[MO_RDV_REASON_BYTES]; /* the last one, and why; or empty */
    int n_notes;
    bool *told;                     /* by rank: it knows that it is over */
    char over[MO_RDV_REASON_BYTES]; /* why; or empty */
} hall;

_Static_assert(sizeof(mo_rdv_response) <= MO_RDV_PENDING_BYTES, "a claim fits");
_Static_assert(sizeof(mo_rdv_hello) <= MO_RDV_PENDING_BYTES, "a greeting fits");
_Static_assert(sizeof(known) <= MO_RDV_PENDING_BYTES, "what is known fits");

/* ----------------------------------------------------------------- refusing */

static void note(hall *h, const char *text)
{
    snprintf(h->refused, sizeof h->refused, "%s", text);
    if (h->options->note && h->n_notes++ < MOST_NOTES)
        h->options->note(text);
}

static void send_verdict(int socket, bool refused, const char *text)
{
    mo_rdv_verdict verdict = { .refused = refused };

    snprintf(verdict.text, sizeof verdict.text, "%s", text);
    mo_rdv_send_all(socket, &verdict, sizeof verdict, 0);
}

/* Says why to whoever listens here, and to the guest as it knows itself. */
static mo_rdv_pending_action refuse(hall *h, const mo_rdv_pending_conn *guest,
                                    uint32_t rank, const char *format, ...)
{
    char text[MO_RDV_REASON_BYTES], address[MO_RDV_ADDRESS_TEXT],
        why[MO_RDV_REASON_BYTES / 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "rank %u at %s %s", (unsigned) rank,
             mo_rdv_address_format_peer(guest->socket, address), why);
    send_verdict(guest->socket, true, text);
    note(h, text);
    return MO_RDV_PENDING_CLOSE;
}

/* ------------------------------------------------------------------ hearing */

/* Can it be understood at all? */
static mo_rdv_pending_action
check_kind(hall *h, const mo_rdv_pending_conn *guest, const mo_rdv_hello *g)
{
    if (g->order != MO_RDV_BYTE_ORDER_MARK)
        return refuse(h, guest, g->rank,
                      "has another order of bytes: ranks must be machines of "
                      "one kind");
    if (g->version != MO_RDV_PROTOCOL_VERSION ||
        g->card_bytes != sizeof(mo_rdv_endpoint))
        return refuse(h, guest, g->rank,
                      "is another version of moirai: use the same everywhere");
    return MO_RDV_PENDING_KEEP;
}

static mo_rdv_pending_action hear_greeting(hall *h, mo_rdv_pending_conn *guest)
{
    mo_rdv_challenge answer;
    known k;

    memcpy(&k.greeting, guest->bytes, sizeof k.greeting);
    if (memcmp(k.greeting.magic, mo_rdv_magic, sizeof mo_rdv_magic) != 0 ||
        mo_rdv_is_other_user(guest->socket) ||
        mo_rdv_random_nonce(k.number, NULL) != MO_OK)
        return MO_RDV_PENDING_CLOSE;
    memcpy(guest->notes, &k, sizeof k);
    memcpy(answer.magic, mo_rdv_magic, sizeof answer.magic);
    memcpy(answer.number, k.number, sizeof answer.number);
    mo_rdv_compute_proof(h->job->token, MO_RDV_SERVER, &k.greeting, k.number,
                         answer.proof);
    if (!mo_rdv_send_all(guest->socket, &answer, sizeof answer, 0))
        return MO_RDV_PENDING_CLOSE;
    guest->stage = CLAIM;
    guest->wanted = sizeof(mo_rdv_response);
    return check_kind(h, guest, &k.greeting);
}

/* MO_RDV_PENDING_KEEP when nothing is wrong with what it said of itself. */
static mo_rdv_pending_action doubt(hall *h, const mo_rdv_pending_conn *guest,
                                   const mo_rdv_hello *g)
{
    const mo_rdv_params *job = h->job;

    if (g->n_ranks != (uint32_t) job->n_ranks)
        return refuse(h, guest, g->rank, "was told of %u ranks, rank 0 of %d",
                      (unsigned) g->n_ranks, job->n_ranks);
    if (g->rank == 0 || g->rank >= g->n_ranks)
        return refuse(h, guest, g->rank, "is none of 1 to %d",
                      job->n_ranks - 1);
    if (h->sockets[g->rank] >= 0)
        return refuse(h, guest, g->rank,
                      "has come already, from host %s: give each process a "
                      "rank of its own",
                      h->cards[g->rank].host);
    return MO_RDV_PENDING_KEEP;
}

/* By the address it came from others will reach it, too. */
static void keep_card(mo_rdv_endpoint *card, const mo_rdv_response *claim,
                      int socket)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    uint8_t address[MO_RDV_ADDRESS_BYTES];

    *card = claim->card;
    card->host[MO_RDV_ENDPOINT_NAME_SIZE - 1] = '\0';
    if (card->n_addresses < 0 || card->n_addresses > MO_RDV_ENDPOINT_ADDRESSES)
        card->n_addresses = 0;
    if (*card->network &&
        getpeername(socket, (struct sockaddr *) &from, &length) == 0 &&
        mo_rdv_address_from_sockaddr((struct sockaddr *) &from, address) &&
        !mo_rdv_address_is_loopback(address))
        mo_rdv_endpoint_prefer_address(card, address);
}

static mo_rdv_pending_action hear_claim(hall *h, mo_rdv_pending_conn *guest)
{
    uint8_t proof[MO_HMAC_BYTES];
    mo_rdv_response claim;
    mo_rdv_pending_action fate;
    known k;

    memcpy(&k, guest->notes, sizeof k);
    memcpy(&claim, guest->bytes, sizeof claim);
    mo_rdv_compute_proof(h->job->token, MO_RDV_CLIENT, &k.greeting, k.number,
                         proof);
    if (!mo_hmac_equal(proof, claim.proof))
        return refuse(h, guest, k.greeting.rank,
                      "has another token: give all ranks the same "
                      "MOIRAI_TOKEN");
    fate = doubt(h, guest, &k.greeting);
    if (fate != MO_RDV_PENDING_KEEP)
        return fate;
    if (*h->over) {
        send_verdict(guest->socket, true, h->over);
        h->told[k.greeting.rank] = true;
        return MO_RDV_PENDING_CLOSE;
    }
    h->sockets[k.greeting.rank] = guest->socket;
    keep_card(&h->cards[k.greeting.rank], &claim, guest->socket);
    send_verdict(guest->socket, false, "");
    return MO_RDV_PENDING_ACCEPTED;
}

static mo_rdv_pending_action hear(void *context, mo_rdv_pending_conn *guest)
{
    return guest->stage == GREETING ? hear_greeting(context, guest)
                                    : hear_claim(context, guest);
}

/* ------------------------------------------------------------------ waiting */

static int first_missing(const hall *h)
{
    for (int r = 1; r < h->job->n_ranks; r++)
        if (h->sockets[r] < 0)
            return r;
    return -1;
}

static mo_status check_gone(const hall *h, mo_error *err)
{
    char byte;

    for (int r = 1; r < h->job->n_ranks; r++)
        if (h->sockets[r] >= 0 &&
            recv(h->sockets[r], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) is gone: it was killed, or has "
                           "failed",
                           r, h->cards[r].host);
    return MO_OK;
}

static mo_status say_missing(const hall *h, int missing, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];

    mo_rdv_format_master(h->job, place);
    if (*h->refused)
        return mo_fail(err, MO_E_IO,
                       "rank %d has never come to rank 0 at %s within %g s; "
                       "refused was: %s",
                       missing, place, h->options->seconds, h->refused);
    return mo_fail(err, MO_E_IO,
                   "rank %d has never come to rank 0 at %s within %g s: start "
                   "all %d ranks, and see that it can be reached there",
                   missing, place, h->options->seconds, h->job->n_ranks);
}

static mo_status wait_for_all(hall *h, mo_rdv_pending_conns *lobby,
                              mo_error *err)
{
    int missing;

    while ((missing = first_missing(h)) >= 0) {
        int wait_ms = mo_rdv_timeout_ms(h->deadline_ns, look_ns);
        mo_status status = check_gone(h, err);

        if (status != MO_OK)
            return status;
        if (wait_ms == 0)
            return say_missing(h, missing, err);
        mo_rdv_pending_conns_poll(lobby, wait_ms);
    }
    return MO_OK;
}

/* ------------------------------------------------------------------ telling */

static mo_status hand_out_cards(const hall *h, mo_error *err)
{
    int64_t deadline_ns = mo_stop_clock_ns() + tell_ns;
    size_t bytes = (size_t) h->job->n_ranks * sizeof *h->cards;
    mo_rdv_verdict welcome = { 0 };

    for (int r = 1; r < h->job->n_ranks; r++)
        if (!mo_rdv_send_all(h->sockets[r], &welcome, sizeof welcome,
                             deadline_ns) ||
            !mo_rdv_send_all(h->sockets[r], h->cards, bytes, deadline_ns))
            return mo_fail(err, MO_E_IO, "rank %d (host %s) is gone", r,
                           h->cards[r].host);
    return MO_OK;
}

static bool all_told(const hall *h)
{
    for (int r = 1; r < h->job->n_ranks; r++)
        if (!h->told[r])
            return false;
    return true;
}

/* Those who are here are told at once; others may still be on their way. */
static void tell_all(hall *h, mo_rdv_pending_conns *lobby, const mo_error *why)
{
    int64_t deadline_ns = mo_stop_clock_ns() + late_ns;
    int wait_ms;

    mo_error_format(why, h->over, sizeof h->over);
    for (int r = 1; r < h->job->n_ranks; r++)
        if (h->sockets[r] >= 0) {
            send_verdict(h->sockets[r], true, h->over);
            close(h->sockets[r]);
            h->sockets[r] = -1;
            h->told[r] = true;
        }
    if (deadline_ns > h->deadline_ns)
        deadline_ns = h->deadline_ns;
    while (!all_told(h) &&
           (wait_ms = mo_rdv_timeout_ms(deadline_ns, look_ns)) > 0)
        mo_rdv_pending_conns_poll(lobby, wait_ms);
}

static mo_status receive_all(hall *h, int listener, mo_error *err)
{
    mo_rdv_pending_conns lobby;
    mo_status status = mo_rdv_pending_conns_init(
        &lobby, listener, sizeof(mo_rdv_hello), hear, h, err);

    if (status == MO_OK)
        status = wait_for_all(h, &lobby, err);
    if (status == MO_OK)
        status = hand_out_cards(h, err);
    if (status != MO_OK && lobby.guests)
        tell_all(h, &lobby, err);
    mo_rdv_pending_conns_clear(&lobby);
    return status;
}

static mo_status open_hall(const mo_rdv_params *job, const uint8_t *bind,
                           int *listener, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];

    *listener = mo_rdv_listen(job, bind);
    if (*listener >= 0)
        return MO_OK;
    if (errno == EADDRINUSE)
        return mo_fail(err, MO_E_IO,
                       "%s is taken: another rank 0 is there, or another "
                       "program; choose a port with --master HOST:PORT",
                       mo_rdv_format_master(job, place));
    return mo_fail(err, MO_E_IO, "rank 0 cannot listen at port %d: %s",
                   job->port, strerror(errno));
}

mo_status mo_rdv_join_server(const mo_rdv_params *job,
                             const mo_rdv_join_options *options,
                             const uint8_t *bind, mo_rdv_endpoint *cards,
                             int *sockets, mo_error *err)
{
    hall h = {
        .job = job, .options = options, .cards = cards, .sockets = sockets
    };
    mo_error why = { 0 };
    int listener = -1;
    mo_status status;

    for (int r = 0; r < job->n_ranks; r++)
        sockets[r] = -1;
    h.deadline_ns = mo_stop_clock_ns() + (int64_t) (options->seconds * 1e9);
    h.told = calloc((size_t) job->n_ranks, sizeof *h.told);
    status =
        h.told ? open_hall(job, bind, &listener, &why) : mo_fail_memory(&why);
    if (status == MO_OK)
        status = receive_all(&h, listener, &why);
    if (listener >= 0)
        close(listener);
    free(h.told);
    if (status != MO_OK && err)
        *err = why;
    return status;
}
