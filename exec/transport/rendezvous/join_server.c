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
#include "exec/transport/rendezvous/decode.h"
#include "exec/transport/rendezvous/handshake.h"
#include "exec/transport/rendezvous/pending_conns.h"

/* Poll interval; time to send the endpoints to all clients. */
static const int64_t poll_ns = 20000000, send_ns = 2000000000;
/* Time in which late clients still receive the reason of a failure. */
static const int64_t notify_ns = 2000000000;

enum { PREAMBLE, HELLO };

/* Limits the messages about refused connections. */
enum { MAX_NOTES = 16 };

typedef struct server {
    const mo_rdv_params *params;
    const mo_rdv_join_options *options;
    mo_rdv_endpoint *endpoints;
    mo_secure_channel **channels;       /* by rank */
    mo_secure_credentials *credentials; /* NULL: no security */
    mo_rdv_preamble preamble;
    int64_t deadline_ns;
    char last_refused[MO_RDV_REASON_BYTES]; /* the last refused connection, and
                                               why; or empty */
    bool last_noted;                        /* options->note has received it */
    int n_notes;
    bool *notified; /* by rank: it has received the reason of the failure */
    char failure_text[MO_RDV_REASON_BYTES]; /* the reason; or empty */
} server;

_Static_assert(sizeof(mo_rdv_hello) <= MO_RDV_PENDING_BYTES, "a hello fits");
_Static_assert(sizeof(mo_rdv_preamble) <= MO_RDV_PENDING_BYTES,
               "a preamble fits");

static void send_verdict(mo_secure_channel *channel, bool refused,
                         const char *text)
{
    mo_rdv_verdict verdict = { .refused = refused };

    snprintf(verdict.text, sizeof verdict.text, "%s", text);
    mo_rdv_send_all(channel, &verdict, sizeof verdict, 0);
}

/* Sends the reason to options->note, and to a client whose hello has come. */
static mo_rdv_pending_action refuse(server *h, const mo_rdv_pending_conn *conn,
                                    uint32_t rank, const char *format, ...)
{
    char text[MO_RDV_REASON_BYTES], why[MO_RDV_REASON_BYTES / 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "rank %u at %s %s", (unsigned) rank,
             conn->address, why);
    if (conn->stage == HELLO)
        send_verdict(conn->channel, true, text);
    snprintf(h->last_refused, sizeof h->last_refused, "%s", text);
    h->last_noted = h->options->note && h->n_notes++ < MAX_NOTES;
    if (h->last_noted)
        h->options->note(text);
    return MO_RDV_PENDING_CLOSE;
}

static mo_rdv_pending_action check_preamble(server *h,
                                            const mo_rdv_pending_conn *conn,
                                            const mo_rdv_preamble *p)
{
    static const char *const names[] = { "has neither token nor certificate",
                                         "has a token", "has a certificate" };

    if (p->order != MO_RDV_BYTE_ORDER_MARK)
        return refuse(h, conn, p->rank,
                      "has another order of bytes: ranks must be machines of "
                      "one kind");
    if (p->version != MO_RDV_PROTOCOL_VERSION ||
        p->security > MO_RDV_SECURITY_CERTIFICATE)
        return refuse(h, conn, p->rank,
                      "is another version of moirai: use the same everywhere");
    if (p->security != h->preamble.security)
        return refuse(h, conn, p->rank, "%s, but rank 0 %s", names[p->security],
                      names[h->preamble.security]);
    return MO_RDV_PENDING_KEEP;
}

static mo_rdv_pending_action handle_preamble(server *h,
                                             mo_rdv_pending_conn *conn)
{
    mo_rdv_preamble p;
    mo_rdv_pending_action action;

    memcpy(&p, conn->bytes, sizeof p);
    if (memcmp(p.magic, mo_rdv_magic, sizeof mo_rdv_magic) != 0 ||
        mo_rdv_is_other_user(mo_secure_channel_socket(conn->channel)) ||
        !mo_rdv_send_all(conn->channel, &h->preamble, sizeof h->preamble, 0))
        return MO_RDV_PENDING_CLOSE;
    action = check_preamble(h, conn, &p);
    if (action != MO_RDV_PENDING_KEEP)
        return action;
    if (h->credentials &&
        mo_secure_channel_start(conn->channel, h->credentials, MO_SECURE_SERVER,
                                NULL, NULL) != MO_OK)
        return MO_RDV_PENDING_NO_MEMORY;
    memcpy(conn->state, &p, sizeof p);
    conn->stage = HELLO;
    conn->wanted = sizeof(mo_rdv_hello);
    return MO_RDV_PENDING_KEEP;
}

static void handle_failure(void *context, mo_rdv_pending_conn *conn,
                           const mo_error *why)
{
    mo_rdv_preamble p;

    memcpy(&p, conn->state, sizeof p);
    conn->stage = PREAMBLE; /* no verdict can be sent */
    if (why->status == MO_E_INPUT)
        refuse(context, conn, p.rank, "%s",
               mo_secure_channel_failure(conn->channel));
}

/* The identity that TLS has authenticated is that of the hello. */
static bool is_identical(const server *h, const mo_rdv_pending_conn *conn,
                         const mo_rdv_hello *g)
{
    char identity[MO_SECURE_IDENTITY_SIZE];

    mo_rdv_format_identity(identity, g->rank, g->n_ranks);
    return h->preamble.security != MO_RDV_SECURITY_TOKEN ||
           strcmp(identity, mo_secure_channel_identity(conn->channel)) == 0;
}

/* Checks the hello; returns MO_RDV_PENDING_KEEP when it is valid. */
static mo_rdv_pending_action
check_hello(server *h, const mo_rdv_pending_conn *conn, const mo_rdv_hello *g)
{
    const mo_rdv_params *params = h->params;
    char job[MO_RDV_JOB_NAME_SIZE];

    if (g->endpoint_bytes != sizeof g->endpoint)
        return refuse(h, conn, g->rank,
                      "is another version of moirai: use the same everywhere");
    mo_rdv_format_job(params, job);
    if (memcmp(job, g->job, sizeof job) != 0)
        return refuse(h, conn, g->rank,
                      "is of another job: choose another port for one of them "
                      "with --master HOST:PORT");
    if (!is_identical(h, conn, g))
        return refuse(h, conn, g->rank, "has authenticated as another rank");
    if (g->n_ranks != (uint32_t) params->n_ranks)
        return refuse(h, conn, g->rank, "was given %u ranks, but rank 0 %d",
                      (unsigned) g->n_ranks, params->n_ranks);
    if (g->rank == 0 || g->rank >= g->n_ranks)
        return refuse(h, conn, g->rank, "is none of 1 to %d",
                      params->n_ranks - 1);
    if ((g->plain_values != 0) != params->plain)
        return refuse(h, conn, g->rank,
                      "was %s --plain, but rank 0 was%s: give it to all ranks, "
                      "or to none",
                      g->plain_values ? "given" : "not given",
                      params->plain ? "" : " not");
    if (h->channels[g->rank])
        return refuse(h, conn, g->rank,
                      "has come already, from host %s: give each process a "
                      "rank of its own",
                      h->endpoints[g->rank].host);
    return MO_RDV_PENDING_KEEP;
}

/* The address that the client connects from is tried first by the others. */
static void prefer_source_address(mo_rdv_endpoint *endpoint, int socket)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    uint8_t address[MO_RDV_ADDRESS_BYTES];

    if (*endpoint->network &&
        getpeername(socket, (struct sockaddr *) &from, &length) == 0 &&
        mo_rdv_address_from_sockaddr((struct sockaddr *) &from, address) &&
        !mo_rdv_address_is_loopback(address))
        mo_rdv_endpoint_prefer_address(endpoint, address);
}

static mo_rdv_pending_action handle_hello(server *h, mo_rdv_pending_conn *conn)
{
    mo_rdv_pending_action action;
    mo_error why = { 0 };
    mo_rdv_hello hello;

    memcpy(&hello, conn->bytes, sizeof hello);
    action = check_hello(h, conn, &hello);
    if (action != MO_RDV_PENDING_KEEP)
        return action;
    if (*h->failure_text) {
        send_verdict(conn->channel, true, h->failure_text);
        h->notified[hello.rank] = true;
        return MO_RDV_PENDING_CLOSE;
    }
    if (mo_rdv_decode_endpoint(&hello.endpoint, sizeof hello.endpoint,
                               &h->endpoints[hello.rank], &why) != MO_OK)
        return refuse(h, conn, hello.rank,
                      "sends %s: use the same moirai everywhere", why.text);
    h->channels[hello.rank] = conn->channel;
    prefer_source_address(&h->endpoints[hello.rank],
                          mo_secure_channel_socket(conn->channel));
    send_verdict(conn->channel, false, "");
    return MO_RDV_PENDING_ACCEPTED;
}

static mo_rdv_pending_action handle_message(void *context,
                                            mo_rdv_pending_conn *conn)
{
    return conn->stage == PREAMBLE ? handle_preamble(context, conn)
                                   : handle_hello(context, conn);
}

static int first_missing(const server *h)
{
    for (int r = 1; r < h->params->n_ranks; r++)
        if (!h->channels[r])
            return r;
    return -1;
}

static mo_status check_gone(const server *h, mo_error *err)
{
    for (int r = 1; r < h->params->n_ranks; r++)
        if (h->channels[r] && mo_secure_channel_is_closed(h->channels[r]))
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) is gone: it was killed, or has "
                           "failed",
                           r, h->endpoints[r].host);
    return MO_OK;
}

/* A refusal is the likely cause: the other ranks receive it, and rank 0 reports
 * it unless it has. */
static mo_status fail_missing(server *h, int missing, mo_error *err)
{
    char address_text[MO_RDV_HOST_SIZE + 16];
    mo_error why = { 0 };

    mo_rdv_format_master(h->params, address_text);
    if (*h->last_refused) {
        mo_fail(&why, MO_E_IO,
                "rank %d has never come to rank 0 at %s within %g s; refused "
                "was: %s",
                missing, address_text, h->options->seconds, h->last_refused);
        mo_error_format(&why, h->failure_text, sizeof h->failure_text);
        if (!h->last_noted)
            return mo_fail(err, MO_E_IO, "%s", why.text);
        return mo_fail(err, MO_E_IO,
                       "rank %d has never come to rank 0 at %s within %g s: "
                       "see the refusal above",
                       missing, address_text, h->options->seconds);
    }
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
        status = mo_rdv_pending_conns_poll(pending, wait_ms, err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

static mo_status send_endpoints(const server *h, mo_error *err)
{
    int64_t deadline_ns = mo_stop_clock_ns() + send_ns;
    size_t bytes = (size_t) h->params->n_ranks * sizeof *h->endpoints;
    mo_rdv_verdict welcome = { 0 };

    for (int r = 1; r < h->params->n_ranks; r++)
        if (!mo_rdv_send_all(h->channels[r], &welcome, sizeof welcome,
                             deadline_ns) ||
            !mo_rdv_send_all(h->channels[r], h->endpoints, bytes, deadline_ns))
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

    if (!*h->failure_text)
        mo_error_format(why, h->failure_text, sizeof h->failure_text);
    for (int r = 1; r < h->params->n_ranks; r++)
        if (h->channels[r]) {
            send_verdict(h->channels[r], true, h->failure_text);
            mo_secure_channel_free(h->channels[r]);
            h->channels[r] = NULL;
            h->notified[r] = true;
        }
    if (deadline_ns > h->deadline_ns)
        deadline_ns = h->deadline_ns;
    while (!all_notified(h) &&
           (wait_ms = mo_rdv_timeout_ms(deadline_ns, poll_ns)) > 0 &&
           mo_rdv_pending_conns_poll(pending, wait_ms, NULL) == MO_OK)
        continue;
}

static mo_status accept_all(server *h, int listener, mo_error *err)
{
    mo_rdv_pending_conns pending;
    mo_status status = mo_rdv_pending_conns_init(
        &pending, listener, sizeof(mo_rdv_preamble), handle_message, h, err);

    pending.on_failure = handle_failure;
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

/* The key is derived once, whatever the number of connections. */
static mo_status make_credentials(server *h, mo_error *err)
{
    mo_status status;

    mo_rdv_preamble_init(&h->preamble, h->params);
    status = mo_secure_random(h->preamble.salt, sizeof h->preamble.salt, err);
    if (status != MO_OK)
        return status;
    return mo_rdv_credentials_new(h->params, h->preamble.salt, &h->credentials,
                                  err);
}

mo_status mo_rdv_join_server(const mo_rdv_params *params,
                             const mo_rdv_join_options *options,
                             const uint8_t *bind, mo_rdv_endpoint *endpoints,
                             mo_secure_channel **channels, mo_error *err)
{
    server h = { .params = params,
                 .options = options,
                 .endpoints = endpoints,
                 .channels = channels };
    mo_error why = { 0 };
    int listener = -1;
    mo_status status;

    for (int r = 0; r < params->n_ranks; r++)
        channels[r] = NULL;
    h.notified = calloc((size_t) params->n_ranks, sizeof *h.notified);
    status = h.notified ? open_listener(params, bind, &listener, &why)
                        : mo_fail_memory(&why);
    if (status == MO_OK)
        status = make_credentials(&h, &why);
    h.deadline_ns = mo_stop_clock_ns() + (int64_t) (options->seconds * 1e9);
    if (status == MO_OK)
        status = accept_all(&h, listener, &why);
    if (listener >= 0)
        close(listener);
    mo_secure_credentials_free(h.credentials);
    free(h.notified);
    if (status != MO_OK && err)
        *err = why;
    return status;
}
