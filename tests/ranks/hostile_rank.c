/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_rank - a rank that has the token and breaks the protocol.
 *
 *     MOIRAI_RANK=1 MOIRAI_RANKS=2 ... hostile_rank WORD
 *
 * As any other rank but 0, or as rank 0, it sends an endpoint that is wrong
 * (addresses, no-addresses, port, name, escape), claims a rank (rank=N), or
 * connects as it should and then sends one message that the plan does not
 * have: header=KIND,ARG,BYTES, a header alone; early-gates, votes before the
 * plan; close, CLOSE before the end; text, an error of control characters;
 * loss, that the other rank is lost, where no loss is tolerated;
 * silent, nothing; gone, it exits. Prints "refused: TEXT" when it was not let
 * in. The word tls: exits with 0 where TLS is built in.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/failure_detector.h"
#include "exec/transport/rendezvous/handshake.h"
#include "exec/transport/tcp/tcp_internal.h"

enum { MAX_RANKS = 16 };

static const double patience_s = 20;

/* Spoils the endpoint; returns false for words that are about something
 * else. */
static bool spoil_endpoint(const char *word, mo_rdv_endpoint *endpoint)
{
    if (strcmp(word, "addresses") == 0)
        endpoint->n_addresses = 1 << 30;
    else if (strcmp(word, "no-addresses") == 0)
        endpoint->n_addresses = -1;
    else if (strcmp(word, "port") == 0)
        endpoint->port = 1 << 20;
    else if (strcmp(word, "name") == 0)
        memset(endpoint->host, 'H',
               sizeof endpoint->host + sizeof endpoint->machine);
    else if (strcmp(word, "escape") == 0)
        snprintf(endpoint->host, sizeof endpoint->host, "a\033[31m\nb");
    else
        return false;
    return true;
}

/* The rendezvous alone, with a spoiled endpoint or another rank. */
static int join_only(mo_rdv_params *params, const char *word)
{
    const mo_rdv_join_options options = { .seconds = patience_s, .n_kinds = 2 };
    static mo_rdv_endpoint endpoints[MAX_RANKS];
    mo_secure_channel *channels[MAX_RANKS] = { NULL };
    int listener = -1;
    mo_error err = { 0 };
    mo_status status = mo_rdv_endpoint_listen(
        params->n_ranks, mo_rdv_address_loopback,
        &endpoints[params->rank % MAX_RANKS], &listener, &err);

    spoil_endpoint(word, &endpoints[params->rank % MAX_RANKS]);
    if (status == MO_OK)
        status =
            params->rank == 0
                ? mo_rdv_join_server(params, &options, mo_rdv_address_loopback,
                                     endpoints, channels, &err)
                : mo_rdv_join_client(params, &options, endpoints, &channels[0],
                                     &err);
    if (status != MO_OK)
        printf("refused: %s\n", err.text);
    else
        sleep(1);
    for (int r = 0; r < MAX_RANKS; r++)
        mo_secure_channel_free(channels[r]);
    return status == MO_OK ? 0 : 1;
}

static void send_header(mo_tcp_world *world, uint32_t kind, int32_t arg,
                        int64_t bytes)
{
    mo_tcp_msg_header header = { kind, arg, bytes };
    struct iovec part = { &header, sizeof header };
    int peer = world->job.rank == 0 ? 1 : 0;
    mo_tcp_conn *conn = &world->conns[peer];

    pthread_mutex_lock(&conn->lock);
    mo_secure_channel_send(conn->channel, &part, 1);
    mo_secure_channel_flush(conn->channel);
    pthread_mutex_unlock(&conn->lock);
}

static void send_forged(mo_tcp_world *world, const char *word)
{
    long long bytes = 0;
    int arg = 0;
    char kind = 0;

    if (sscanf(word, "header=%c,%d,%lld", &kind, &arg, &bytes) == 3)
        send_header(world, (unsigned char) kind, arg, bytes);
    else if (strcmp(word, "early-gates") == 0)
        for (int i = 0; i < 64; i++)
            send_header(world, MO_TCP_MSG_BARRIER, 1, 0);
    else if (strcmp(word, "close") == 0)
        mo_failure_detector_stop(world->job.detector);
    else if (strcmp(word, "text") == 0) {
        mo_error why = { .status = MO_E_IO };

        snprintf(why.text, sizeof why.text, "one\ntwo\033[31m\r three");
        mo_transport_job_fail(&world->job, &why);
    } else if (strcmp(word, "loss") == 0) {
        mo_error why = { .status = MO_E_IO, .text = "it was\033[31m lost" };

        mo_failure_detector_lose(world->job.detector, 1 - world->job.rank,
                                 &why);
    }
}

int main(int argc, char **argv)
{
    const mo_transport_world_options options = { .peer_timeout_s = patience_s };
    const mo_rdv_launch_options none = { 0 };
    const char *word = argc > 1 ? argv[1] : "";
    mo_rdv_endpoint unused = { 0 };
    mo_transport_world *world = NULL;
    mo_error err = { 0 };
    mo_rdv_params params;
    int rank;

    if (strcmp(word, "tls") == 0)
        return mo_secure_is_available() ? 0 : 1;
    if (mo_rdv_params_resolve(&none, &params, &err) != MO_OK)
        return 2;
    if (sscanf(word, "rank=%d", &rank) == 1) {
        params.rank = rank;
        return join_only(&params, word);
    }
    if (spoil_endpoint(word, &unused))
        return join_only(&params, word);
    if (mo_tcp_open(&options, &world, &err) != MO_OK) {
        printf("refused: %s\n", err.text);
        return 1;
    }
    if (strcmp(word, "gone") == 0)
        _exit(0);
    send_forged(mo_tcp_world_of(world), word);
    sleep(1);
    _exit(0);
}
