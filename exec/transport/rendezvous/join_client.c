/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/handshake.h"

/* Between two calls; for an answer; and how much longer than rank 0 itself
 * somebody waits whom it has let in. */
static const int64_t pause_ns = 50000000, answer_ns = 3000000000,
                     longer_ns = 2000000000;

typedef struct calling {
    const mo_rdv_params *job;
    int64_t deadline_ns;
    mo_rdv_endpoint *cards;
    int socket;
    bool final; /* there is no use in calling again */
} calling;

static void rest(void)
{
    struct timespec a_while = { .tv_nsec = (long) pause_ns };

    nanosleep(&a_while, NULL);
}

static int64_t soon(const calling *c)
{
    int64_t then = mo_stop_clock_ns() + answer_ns;

    return then < c->deadline_ns ? then : c->deadline_ns;
}

static mo_status greet(const calling *c, mo_rdv_hello *greeting,
                       mo_rdv_challenge *answer, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];
    mo_status status;

    *greeting = (mo_rdv_hello){ .order = MO_RDV_BYTE_ORDER_MARK,
                                .version = MO_RDV_PROTOCOL_VERSION,
                                .rank = (uint32_t) c->job->rank,
                                .n_ranks = (uint32_t) c->job->n_ranks,
                                .card_bytes = sizeof(mo_rdv_endpoint) };
    memcpy(greeting->magic, mo_rdv_magic, sizeof greeting->magic);
    status = mo_rdv_random_nonce(greeting->number, err);
    if (status != MO_OK)
        return status;
    if (mo_rdv_send_all(c->socket, greeting, sizeof *greeting, soon(c)) &&
        mo_rdv_receive_all(c->socket, answer, sizeof *answer, soon(c)) &&
        memcmp(answer->magic, mo_rdv_magic, sizeof mo_rdv_magic) == 0 &&
        !mo_rdv_is_other_user(c->socket))
        return MO_OK;
    return mo_fail(err, MO_E_IO,
                   "what answers at %s is not rank 0: choose another port with "
                   "--master HOST:PORT",
                   mo_rdv_format_master(c->job, place));
}

/* Rank 0 must show first that it knows the token; but it shall hear from us in
 * any case, to say who has another. */
static mo_status claim(calling *c, const mo_rdv_hello *greeting,
                       const mo_rdv_challenge *answer, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];
    uint8_t proof[MO_HMAC_BYTES];
    mo_rdv_verdict verdict;
    mo_rdv_response own = { .card = c->cards[c->job->rank] };
    bool heard;

    mo_rdv_format_master(c->job, place);
    mo_rdv_compute_proof(c->job->token, MO_RDV_CLIENT, greeting, answer->number,
                         own.proof);
    /* Should it have hung up, it has said why. */
    mo_rdv_send_all(c->socket, &own, sizeof own, soon(c));
    heard = mo_rdv_receive_all(c->socket, &verdict, sizeof verdict, soon(c));
    mo_rdv_compute_proof(c->job->token, MO_RDV_SERVER, greeting, answer->number,
                         proof);
    c->final = true;
    if (!mo_hmac_equal(proof, answer->proof))
        return mo_fail(err, MO_E_IO,
                       "rank 0 at %s has another token: give all ranks the "
                       "same MOIRAI_TOKEN",
                       place);
    if (heard && !verdict.refused)
        return MO_OK;
    c->final = heard;
    verdict.text[MO_RDV_REASON_BYTES - 1] = '\0';
    return heard ? mo_fail(err, MO_E_IO, "rank 0 at %s refuses: %s", place,
                           verdict.text)
                 : mo_fail(err, MO_E_IO, "rank 0 at %s has hung up", place);
}

static mo_status introduce(calling *c, mo_error *err)
{
    mo_rdv_hello greeting;
    mo_rdv_challenge answer;
    mo_status status = greet(c, &greeting, &answer, err);

    return status == MO_OK ? claim(c, &greeting, &answer, err) : status;
}

/* Calls once. */
static mo_status try(calling *c, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];
    mo_status status;

    c->socket = mo_rdv_connect(c->job, c->deadline_ns, err);
    if (c->socket < 0 && err->status != MO_OK)
        return err->status;
    if (c->socket < 0)
        return mo_fail(err, MO_E_IO,
                       "rank 0 cannot be reached at %s: see that it has been "
                       "started, and that no firewall is in between",
                       mo_rdv_format_master(c->job, place));
    status = introduce(c, err);
    if (status == MO_OK)
        return MO_OK;
    close(c->socket);
    c->socket = -1;
    return status;
}

/* Rank 0 answers as soon as it has heard of all, or knows who is missing. */
static mo_status await_cards(const calling *c, double seconds, mo_error *err)
{
    int64_t deadline_ns =
        mo_stop_clock_ns() + (int64_t) (seconds * 1e9) + longer_ns;
    size_t bytes = (size_t) c->job->n_ranks * sizeof *c->cards;
    mo_rdv_verdict verdict;
    char place[MO_RDV_HOST_SIZE + 16];

    mo_rdv_format_master(c->job, place);
    if (mo_rdv_receive_all(c->socket, &verdict, sizeof verdict, deadline_ns)) {
        verdict.text[MO_RDV_REASON_BYTES - 1] = '\0';
        if (verdict.refused)
            return mo_fail(err, MO_E_IO, "%s", verdict.text);
        if (mo_rdv_receive_all(c->socket, c->cards, bytes, deadline_ns))
            return MO_OK;
    }
    if (mo_stop_clock_ns() >= deadline_ns)
        return mo_fail(err, MO_E_IO,
                       "rank 0 (at %s) has not been heard of for %g s: it was "
                       "stopped, or its machine or the network is down",
                       place, seconds + (double) longer_ns * 1e-9);
    return mo_fail(err, MO_E_IO,
                   "rank 0 (at %s) is gone: it was killed, or has failed",
                   place);
}

/* We know an address of rank 0 that works. */
static void keep_way(const calling *c)
{
    struct sockaddr_storage at;
    socklen_t length = sizeof at;
    uint8_t address[MO_RDV_ADDRESS_BYTES];

    if (*c->cards[0].network &&
        getpeername(c->socket, (struct sockaddr *) &at, &length) == 0 &&
        mo_rdv_address_from_sockaddr((struct sockaddr *) &at, address))
        mo_rdv_endpoint_prefer_address(&c->cards[0], address);
}

mo_status mo_rdv_join_client(const mo_rdv_params *job,
                             const mo_rdv_join_options *options,
                             mo_rdv_endpoint *cards, int *socket, mo_error *err)
{
    calling c = { .job = job, .cards = cards, .socket = -1 };
    mo_error why = { 0 };
    mo_status status;

    c.deadline_ns = mo_stop_clock_ns() + (int64_t) (options->seconds * 1e9);
    do {
        why = (mo_error){ 0 };
        status = try(&c, &why);
        if (status != MO_OK && !c.final)
            rest();
    } while (status != MO_OK && !c.final && mo_stop_clock_ns() < c.deadline_ns);
    if (status == MO_OK)
        status = await_cards(&c, options->seconds, &why);
    if (status == MO_OK)
        keep_way(&c);
    else if (c.socket >= 0)
        close(c.socket);
    *socket = status == MO_OK ? c.socket : -1;
    if (status != MO_OK && err)
        *err = why;
    return status;
}
