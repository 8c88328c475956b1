/* SPDX-License-Identifier: Apache-2.0 */
/* Client side of the rendezvous: ranks other than 0. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/transport/rendezvous/handshake.h"

/* Time between two attempts; for an answer; and how much longer than rank 0
 * itself an accepted client waits. */
static const int64_t retry_ns = 50000000, answer_ns = 3000000000,
                     extra_wait_ns = 2000000000;

typedef struct client {
    const mo_rdv_params *params;
    int64_t deadline_ns;
    mo_rdv_endpoint *endpoints;
    int socket;
    bool is_final; /* a further attempt would fail likewise */
} client;

static int64_t answer_deadline(const client *c)
{
    return mo_min_i64(mo_stop_clock_ns() + answer_ns, c->deadline_ns);
}

static mo_status exchange_hello(const client *c, mo_rdv_hello *hello,
                                mo_rdv_challenge *challenge, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];
    mo_status status;

    *hello = (mo_rdv_hello){ .order = MO_RDV_BYTE_ORDER_MARK,
                             .version = MO_RDV_PROTOCOL_VERSION,
                             .rank = (uint32_t) c->params->rank,
                             .n_ranks = (uint32_t) c->params->n_ranks,
                             .endpoint_bytes = sizeof(mo_rdv_endpoint) };
    memcpy(hello->magic, mo_rdv_magic, sizeof hello->magic);
    status = mo_rdv_random_nonce(hello->nonce, err);
    if (status != MO_OK)
        return status;
    if (mo_rdv_send_all(c->socket, hello, sizeof *hello, answer_deadline(c)) &&
        mo_rdv_receive_all(c->socket, challenge, sizeof *challenge,
                           answer_deadline(c)) &&
        memcmp(challenge->magic, mo_rdv_magic, sizeof mo_rdv_magic) == 0 &&
        !mo_rdv_is_other_user(c->socket))
        return MO_OK;
    return mo_fail(err, MO_E_IO,
                   "what answers at %s is not rank 0: choose another port with "
                   "--master HOST:PORT",
                   mo_rdv_format_master(c->params, place));
}

/* Rank 0 has to prove the token first; but the response is sent in any case,
 * so that rank 0 can report which rank has another token. */
static mo_status respond(client *c, const mo_rdv_hello *hello,
                         const mo_rdv_challenge *challenge, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];
    uint8_t proof[MO_HMAC_BYTES];
    mo_rdv_verdict verdict;
    mo_rdv_response response = { .endpoint = c->endpoints[c->params->rank] };
    bool received;

    mo_rdv_format_master(c->params, place);
    mo_rdv_compute_proof(c->params->token, MO_RDV_CLIENT, hello,
                         challenge->nonce, response.proof);
    /* If rank 0 has closed the connection, its verdict comes before that. */
    mo_rdv_send_all(c->socket, &response, sizeof response, answer_deadline(c));
    received = mo_rdv_receive_all(c->socket, &verdict, sizeof verdict,
                                  answer_deadline(c));
    mo_rdv_compute_proof(c->params->token, MO_RDV_SERVER, hello,
                         challenge->nonce, proof);
    c->is_final = true;
    if (!mo_hmac_equal(proof, challenge->proof))
        return mo_fail(err, MO_E_IO,
                       "rank 0 at %s has another token: give all ranks the "
                       "same MOIRAI_TOKEN",
                       place);
    if (received && !verdict.refused)
        return MO_OK;
    c->is_final = received;
    verdict.text[MO_RDV_REASON_BYTES - 1] = '\0';
    return received ? mo_fail(err, MO_E_IO, "rank 0 at %s refuses: %s", place,
                              verdict.text)
                    : mo_fail(err, MO_E_IO,
                              "rank 0 at %s has closed the connection", place);
}

static mo_status authenticate(client *c, mo_error *err)
{
    mo_rdv_hello hello;
    mo_rdv_challenge challenge;
    mo_status status = exchange_hello(c, &hello, &challenge, err);

    return status == MO_OK ? respond(c, &hello, &challenge, err) : status;
}

/* One attempt. */
static mo_status attempt_join(client *c, mo_error *err)
{
    char place[MO_RDV_HOST_SIZE + 16];
    mo_status status;

    c->socket = mo_rdv_connect(c->params, c->deadline_ns, err);
    if (c->socket < 0 && err->status != MO_OK)
        return err->status;
    if (c->socket < 0)
        return mo_fail(err, MO_E_IO,
                       "rank 0 cannot be reached at %s: see that it has been "
                       "started, and that no firewall is in between",
                       mo_rdv_format_master(c->params, place));
    status = authenticate(c, err);
    if (status == MO_OK)
        return MO_OK;
    close(c->socket);
    c->socket = -1;
    return status;
}

/* Rank 0 answers as soon as all ranks have arrived, or one is known to be
 * missing. */
static mo_status wait_for_endpoints(const client *c, double seconds,
                                    mo_error *err)
{
    int64_t deadline_ns =
        mo_stop_clock_ns() + (int64_t) (seconds * 1e9) + extra_wait_ns;
    size_t bytes = (size_t) c->params->n_ranks * sizeof *c->endpoints;
    mo_rdv_verdict verdict;
    char place[MO_RDV_HOST_SIZE + 16];

    mo_rdv_format_master(c->params, place);
    if (mo_rdv_receive_all(c->socket, &verdict, sizeof verdict, deadline_ns)) {
        verdict.text[MO_RDV_REASON_BYTES - 1] = '\0';
        if (verdict.refused)
            return mo_fail(err, MO_E_IO, "%s", verdict.text);
        if (mo_rdv_receive_all(c->socket, c->endpoints, bytes, deadline_ns))
            return MO_OK;
    }
    if (mo_stop_clock_ns() >= deadline_ns)
        return mo_fail(err, MO_E_IO,
                       "rank 0 (at %s) has sent nothing for %g s: it was "
                       "stopped, or its machine or the network is down",
                       place, seconds + (double) extra_wait_ns * 1e-9);
    return mo_fail(err, MO_E_IO,
                   "rank 0 (at %s) is gone: it was killed, or has failed",
                   place);
}

mo_status mo_rdv_join_client(const mo_rdv_params *params,
                             const mo_rdv_join_options *options,
                             mo_rdv_endpoint *endpoints, int *socket,
                             mo_error *err)
{
    client c = { .params = params, .endpoints = endpoints, .socket = -1 };
    mo_error why = { 0 };
    mo_status status;

    c.deadline_ns = mo_stop_clock_ns() + (int64_t) (options->seconds * 1e9);
    do {
        why = (mo_error){ 0 };
        status = attempt_join(&c, &why);
        if (status != MO_OK && !c.is_final) {
            struct timespec delay = { .tv_nsec = (long) retry_ns };

            nanosleep(&delay, NULL);
        }
    } while (status != MO_OK && !c.is_final &&
             mo_stop_clock_ns() < c.deadline_ns);
    if (status == MO_OK)
        status = wait_for_endpoints(&c, options->seconds, &why);
    if (status == MO_OK) {
        /* The address of this connection is known to work: it is tried first.
         */
        struct sockaddr_storage at;
        socklen_t length = sizeof at;
        uint8_t address[MO_RDV_ADDRESS_BYTES];

        if (*c.endpoints[0].network &&
            getpeername(c.socket, (struct sockaddr *) &at, &length) == 0 &&
            mo_rdv_address_from_sockaddr((struct sockaddr *) &at, address))
            mo_rdv_endpoint_prefer_address(&c.endpoints[0], address);
    } else if (c.socket >= 0)
        close(c.socket);
    *socket = status == MO_OK ? c.socket : -1;
    if (status != MO_OK && err)
        *err = why;
    return status;
}
