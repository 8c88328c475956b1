/* SPDX-License-Identifier: Apache-2.0 */
/* Server side of the rendezvous: rank 0. */
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

/* Poll interval; time to send the endpoints to all clients. */
static const int64_t poll_ns = 20000000, send_ns = 2000000000;
/* Time in which late clients still receive the reason of a failure. */
static const int64_t notify_ns = 2000000000;

enum { HELLO, RESPONSE };

/* Limits the messages about refused connections. */
enum { MAX_NOTES = 16 };

/* State of a pending connection between hello and response. */
typedef struct pending_state {
    mo_rdv_hello hello;
    uint8_t nonce[MO_RDV_NONCE_BYTES];
} pending_state;

typedef struct server {
    const mo_rdv_params *params;
    const mo_rdv_join_options *options;
    mo_rdv_endpoint *endpoints;
    int *sockets; /* by rank */
    int64_t deadline_ns;
    char last_refused[MO_RDV_REASON_BYTES]; /* the last refused connection, and
                                               why; or empty */
    int n_notes;
    bool *notified; /* by rank: it has received the reason of the failure */
    char failure_text[MO_RDV_REASON_BYTES]; /* the reason; or empty */
} server;

_Static_assert(sizeof(mo_rdv_response) <= MO_RDV_PENDING_BYTES, "a claim fits");
_Static_assert(sizeof(mo_rdv_hello) <= MO_RDV_PENDING_BYTES, "a greeting fits");
_Static_assert(sizeof(pending_state) <= MO_RDV_PENDING_BYTES,
               "what is known fits");

/* ---------------------------------------------------------------- refusing */

static void send_verdict(int socket, bool refused, const char *text)
{
    mo_rdv_verdict verdict = { .refused = refused };

    snprintf(verdict.text, sizeof verdict.text, "%s", text);
    mo_rdv_send_all(socket, &verdict, sizeof verdict, 0);
}

/* Sends the reason to the client, in its own terms, and to options->note. */
static mo_rdv_pending_action refuse(server *h, const mo_rdv_pending_conn *conn,
                                    uint32_t rank, const char *format, ...)
{
    char text[MO_RDV_REASON_BYTES], address[MO_RDV_ADDRESS_TEXT],
        why[MO_RDV_REASON_BYTES / 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "rank %u at %s %s", (unsigned) rank,
             mo_rdv_address_format_peer(conn->socket, address), why);
    send_verdict(conn->socket, true, text);
    snprintf(h->last_refused, sizeof h->last_refused, "%s", text);
    if (h->options->note && h->n_notes++ < MAX_NOTES)
        h->options->note(text);
    return MO_RDV_PENDING_CLOSE;
}

/* --------------------------------------------------------------- handshake */

/* Checks byte order and version. */
static mo_rdv_pending_action
check_version(server *h, const mo_rdv_pending_conn *conn, const mo_rdv_hello *g)
{
    if (g->order != MO_RDV_BYTE_ORDER_MARK)
        return refuse(h, conn, g->rank,
                      "has another order of bytes: ranks must be machines of "
                      "one kind");
    if (g->version != MO_RDV_PROTOCOL_VERSION ||
        g->endpoint_bytes != sizeof(mo_rdv_endpoint))
        return refuse(h, conn, g->rank,
                      "is another version of moirai: use the same everywhere");
    return MO_RDV_PENDING_KEEP;
}

static mo_rdv_pending_action handle_hello(server *h, mo_rdv_pending_conn *conn)
{
    mo_rdv_challenge challenge;
    pending_state k;

    memcpy(&k.hello, conn->bytes, sizeof k.hello);
    if (memcmp(k.hello.magic, mo_rdv_magic, sizeof mo_rdv_magic) != 0 ||
        mo_rdv_is_other_user(conn->socket) ||
        mo_rdv_random_nonce(k.nonce, NULL) != MO_OK)
        return MO_RDV_PENDING_CLOSE;
    memcpy(conn->state, &k, sizeof k);
    memcpy(challenge.magic, mo_rdv_magic, sizeof challenge.magic);
    memcpy(challenge.nonce, k.nonce, sizeof challenge.nonce);
    mo_rdv_compute_proof(h->params->token, MO_RDV_SERVER, &k.hello, k.nonce,
                         challenge.proof);
    if (!mo_rdv_send_all(conn->socket, &challenge, sizeof challenge, 0))
        return MO_RDV_PENDING_CLOSE;
    conn->stage = RESPONSE;
    conn->wanted = sizeof(mo_rdv_response);
    return check_version(h, conn, &k.hello);
}

/* Checks the rank; returns MO_RDV_PENDING_KEEP when it is valid. */
static mo_rdv_pending_action
check_rank(server *h, const mo_rdv_pending_conn *conn, const mo_rdv_hello *g)
{
    const mo_rdv_params *params = h->params;

    if (g->n_ranks != (uint32_t) params->n_ranks)
        return refuse(h, conn, g->rank, "was given %u ranks, but rank 0 %d",
                      (unsigned) g->n_ranks, params->n_ranks);
    if (g->rank == 0 || g->rank >= g->n_ranks)
        return refuse(h, conn, g->rank, "is none of 1 to %d",
                      params->n_ranks - 1);
    if (h->sockets[g->rank] >= 0)
        return refuse(h, conn, g->rank,
                      "has come already, from host %s: give each process a "
                      "rank of its own",
                      h->endpoints[g->rank].host);
    return MO_RDV_PENDING_KEEP;
}

/* Stores the endpoint; the address that the client connects from is tried
 * first by the others. */
static void store_endpoint(mo_rdv_endpoint *endpoint,
                           const mo_rdv_response *response, int socket)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    uint8_t address[MO_RDV_ADDRESS_BYTES];

    *endpoint = response->endpoint;
    endpoint->host[MO_RDV_ENDPOINT_NAME_SIZE - 1] = '\0';
    if (endpoint->n_addresses < 0 ||
        endpoint->n_addresses > MO_RDV_ENDPOINT_ADDRESSES)
        endpoint->n_addresses = 0;
    if (*endpoint->network &&
        getpeername(socket, (struct sockaddr *) &from, &length) == 0 &&
        mo_rdv_address_from_sockaddr((struct sockaddr *) &from, address) &&
        !mo_rdv_address_is_loopback(address))
        mo_rdv_endpoint_prefer_address(endpoint, address);
}

static mo_rdv_pending_action handle_response(server *h,
                                             mo_rdv_pending_conn *conn)
{
    uint8_t proof[MO_HMAC_BYTES];
    mo_rdv_response response;
    mo_rdv_pending_action action;
    pending_state k;

    memcpy(&k, conn->state, sizeof k);
    memcpy(&response, conn->bytes, sizeof response);
    mo_rdv_compute_proof(h->params->token, MO_RDV_CLIENT, &k.hello, k.nonce,
                         proof);
    if (!mo_hmac_equal(proof, response.proof))
        return refuse(h, conn, k.hello.rank,
                      "has another token: give all ranks the same "
                      "MOIRAI_TOKEN");
    action = check_rank(h, conn, &k.hello);
    if (action != MO_RDV_PENDING_KEEP)
        return action;
    if (*h->failure_text) {
        send_verdict(conn->socket, true, h->failure_text);
        h->notified[k.hello.rank] = true;
        return MO_RDV_PENDING_CLOSE;
    }
    h->sockets[k.hello.rank] = conn->socket;
    store_endpoint(&h->endpoints[k.hello.rank], &response, conn->socket);
    send_verdict(conn->socket, false, "");
    return MO_RDV_PENDING_ACCEPTED;
}

static mo_rdv_pending_action handle_message(void *context,
                                            mo_rdv_pending_conn *conn)
{
    return conn->stage == HELLO ? handle_hello(context, conn)
                                : handle_response(context, conn);
}

/* ----------------------------------------------------------------- waiting */

static int first_missing(const server *h)
{
    for (int r = 1; r < h->params->n_ranks; r++)
        if (h->sockets[r] < 0)
            return r;
    return -1;
}

static mo_status check_gone(const server *h, mo_error *err)
{
    char byte;

    for (int r = 1; r < h->params->n_ranks; r++)
        if (h->sockets[r] >= 0 &&
            recv(h->sockets[r], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) is gone: it was killed, or has "
                           "failed",
                           r, h->endpoints[r].host);
    return MO_OK;
}

static mo_status fail_missing(const server *h, int missing, mo_error *err)
{
    char address_text[MO_RDV_HOST_SIZE + 16];

    mo_rdv_format_master(h->params, address_text);
    if (*h->last_refused)
        return mo_fail(err, MO_E_IO,
                       "rank %d has never come to rank 0 at %s within %g s; "
                       "refused was: %s",
                       missing, address_text, h->options->seconds,
                       h->last_refused);
    return mo_fail(err, MO_E_IO,
                   "rank %d has never come to rank 0 at %s within %g s: start "
                   "all %d ranks, and see that it can be reached there",
                   missing, address_text, h->options->seconds,
                   h->params->n_ranks);
}

static mo_status wait_for_all(server *h, mo_rdv_pending_conns *pending,
                              mo_error *err)
{
    int missing;

    while ((missing = first_missing(h)) >= 0) {
        int wait_ms = mo_rdv_timeout_ms(h->deadline_ns, poll_ns);
        mo_status status = check_gone(h, err);

        if (status != MO_OK)
            return status;
        if (wait_ms == 0)
            return fail_missing(h, missing, err);
        mo_rdv_pending_conns_poll(pending, wait_ms);
    }
    return MO_OK;
}

/* ----------------------------------------------------------------- results */

static mo_status send_endpoints(const server *h, mo_error *err)
{
    int64_t deadline_ns = mo_stop_clock_ns() + send_ns;
    size_t bytes = (size_t) h->params->n_ranks * sizeof *h->endpoints;
    mo_rdv_verdict welcome = { 0 };

    for (int r = 1; r < h->params->n_ranks; r++)
        if (!mo_rdv_send_all(h->sockets[r], &welcome, sizeof welcome,
                             deadline_ns) ||
            !mo_rdv_send_all(h->sockets[r], h->endpoints, bytes, deadline_ns))
            return mo_fail(err, MO_E_IO, "rank %d (host %s) is gone", r,
                           h->endpoints[r].host);
    return MO_OK;
}

static bool all_notified(const server *h)
{
    for (int r = 1; r < h->params->n_ranks; r++)
        if (!h->notified[r])
            return false;
    return true;
}

/* Sends the reason of the failure to connected clients, and for a while to
 * late ones. */
static void notify_failure(server *h, mo_rdv_pending_conns *pending,
                           const mo_error *why)
{
    int64_t deadline_ns = mo_stop_clock_ns() + notify_ns;
    int wait_ms;

    mo_error_format(why, h->failure_text, sizeof h->failure_text);
    for (int r = 1; r < h->params->n_ranks; r++)
        if (h->sockets[r] >= 0) {
            send_verdict(h->sockets[r], true, h->failure_text);
            close(h->sockets[r]);
            h->sockets[r] = -1;
            h->notified[r] = true;
        }
    if (deadline_ns > h->deadline_ns)
        deadline_ns = h->deadline_ns;
    while (!all_notified(h) &&
           (wait_ms = mo_rdv_timeout_ms(deadline_ns, poll_ns)) > 0)
        mo_rdv_pending_conns_poll(pending, wait_ms);
}

static mo_status accept_all(server *h, int listener, mo_error *err)
{
    mo_rdv_pending_conns pending;
    mo_status status = mo_rdv_pending_conns_init(
        &pending, listener, sizeof(mo_rdv_hello), handle_message, h, err);

    if (status == MO_OK)
        status = wait_for_all(h, &pending, err);
    if (status == MO_OK)
        status = send_endpoints(h, err);
    if (status != MO_OK && pending.conns)
        notify_failure(h, &pending, err);
    mo_rdv_pending_conns_clear(&pending);
    return status;
}

static mo_status open_listener(const mo_rdv_params *params, const uint8_t *bind,
                               int *listener, mo_error *err)
{
    char address_text[MO_RDV_HOST_SIZE + 16];

    *listener = mo_rdv_listen(params, bind);
    if (*listener >= 0)
        return MO_OK;
    if (errno == EADDRINUSE)
        return mo_fail(err, MO_E_IO,
                       "%s is taken: another rank 0 is there, or another "
                       "program; choose a port with --master HOST:PORT",
                       mo_rdv_format_master(params, address_text));
    return mo_fail(err, MO_E_IO, "rank 0 cannot listen at port %d: %s",
                   params->port, strerror(errno));
}

mo_status mo_rdv_join_server(const mo_rdv_params *params,
                             const mo_rdv_join_options *options,
                             const uint8_t *bind, mo_rdv_endpoint *endpoints,
                             int *sockets, mo_error *err)
{
    server h = { .params = params,
                 .options = options,
                 .endpoints = endpoints,
                 .sockets = sockets };
    mo_error why = { 0 };
    int listener = -1;
    mo_status status;

    for (int r = 0; r < params->n_ranks; r++)
        sockets[r] = -1;
    h.deadline_ns = mo_stop_clock_ns() + (int64_t) (options->seconds * 1e9);
    h.notified = calloc((size_t) params->n_ranks, sizeof *h.notified);
    status = h.notified ? open_listener(params, bind, &listener, &why)
                        : mo_fail_memory(&why);
    if (status == MO_OK)
        status = accept_all(&h, listener, &why);
    if (listener >= 0)
        close(listener);
    free(h.notified);
    if (status != MO_OK && err)
        *err = why;
    return status;
}
