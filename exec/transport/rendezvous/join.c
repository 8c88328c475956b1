/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/handshake.h"

/* Without which there is no use in beginning, and with which all goes well. */
enum { OTHER_FILES = 16, WELCOME_FILES = 256 };

/* Where to listen: where we were told; on this machine alone when all ranks
 * are known to be on it. */
static mo_status find_bind(const mo_rdv_params *job,
                           uint8_t address[MO_RDV_ADDRESS_BYTES],
                           const uint8_t **bind, mo_error *err)
{
    uint8_t found[1][MO_RDV_ADDRESS_BYTES];

    memcpy(address, mo_rdv_address_loopback, MO_RDV_ADDRESS_BYTES);
    *bind = !*job->host || mo_rdv_address_parse_loopback(job->host, address)
                ? address
                : NULL;
    if (!job->bind)
        return MO_OK;
    if (mo_rdv_address_resolve(job->bind, found, 1) == 0)
        return mo_fail(err, MO_E_USAGE,
                       "'%.128s' is no address to listen at; --bind takes one "
                       "of this machine's",
                       job->bind);
    memcpy(address, found[0], MO_RDV_ADDRESS_BYTES);
    *bind = address;
    return MO_OK;
}

/* Systems let a process open fewer files than large jobs have connections,
 * unless it asks.  Besides those: files, and strangers who call. */
static mo_status make_room(int n_ranks, int n_kinds, mo_error *err)
{
    const rlim_t needed = (rlim_t) (n_kinds + 1) * (rlim_t) n_ranks;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur >= needed + WELCOME_FILES)
        return MO_OK;
    limit.rlim_cur = needed + WELCOME_FILES;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur >= needed + OTHER_FILES)
        return MO_OK;
    return mo_fail(err, MO_E_LIMIT,
                   "%d ranks need %llu open files in each, and this one may "
                   "have %llu: raise that limit (ulimit -n)",
                   n_ranks, (unsigned long long) (needed + OTHER_FILES),
                   (unsigned long long) limit.rlim_max);
}

static mo_status listen_for_others(const mo_rdv_params *job,
                                   const uint8_t *bind, mo_rdv_endpoint *card,
                                   int *listener, mo_error *err)
{
    mo_status status =
        mo_rdv_endpoint_listen(job->n_ranks, bind, card, listener, err);
    int error = errno;

    if (status == MO_OK || !job->bind)
        return status;
    return mo_fail(err, MO_E_IO,
                   "cannot listen at '%.128s': %s; --bind takes an address of "
                   "this machine",
                   job->bind, strerror(error));
}

static mo_status connect_all(mo_rdv_control *star,
                             const mo_rdv_join_options *options, int listener,
                             int *sockets, mo_error *err)
{
    int64_t deadline_ns =
        mo_stop_clock_ns() + (int64_t) (options->seconds * 1e9);
    const mo_rdv_mesh meeting = { .cards = star->cards,
                                  .n_ranks = star->job->n_ranks,
                                  .rank = star->job->rank,
                                  .listener = listener,
                                  .seconds = options->seconds / 2,
                                  .n_kinds = options->n_kinds,
                                  .called_off = mo_rdv_control_is_aborted,
                                  .context = star };
    mo_error why = { 0 };
    mo_status status = mo_rdv_mesh_connect(&meeting, sockets, &why);
    int n = options->n_kinds * star->job->n_ranks;

    if (status == MO_OK)
        status = mo_rdv_control_finish(star, deadline_ns, &why);
    if (status == MO_OK)
        return MO_OK;
    mo_rdv_control_resolve_error(star, &why);
    for (int i = 0; i < n; i++) {
        if (sockets[i] >= 0)
            close(sockets[i]);
        sockets[i] = -1;
    }
    if (err)
        *err = why;
    return status;
}

static mo_status make_star(const mo_rdv_params *job,
                           const mo_rdv_endpoint *cards, const int *ends,
                           mo_rdv_control *star, mo_error *err)
{
    size_t n = (size_t) job->n_ranks;

    *star = (mo_rdv_control){ .job = job, .cards = cards };
    star->wires = calloc(n, sizeof *star->wires);
    star->done = calloc(n, sizeof *star->done);
    if (!star->wires || !star->done)
        return mo_fail_memory(err);
    for (int r = 0; r < job->n_ranks; r++) {
        mo_rdv_msg_channel_init(&star->wires[r], ends[r]);
        star->done[r] = ends[r] < 0;
    }
    return MO_OK;
}

/* ends: the connections of the star, by rank, which are closed in any case. */
static mo_status meet(const mo_rdv_params *job,
                      const mo_rdv_join_options *options, int listener,
                      const mo_rdv_endpoint *cards, const int *ends,
                      int *sockets, mo_error *err)
{
    mo_rdv_control star;
    mo_status status = make_star(job, cards, ends, &star, err);

    if (status == MO_OK)
        status = connect_all(&star, options, listener, sockets, err);
    for (int r = 0; r < job->n_ranks; r++)
        if (star.wires && star.done)
            mo_rdv_msg_channel_close(&star.wires[r]);
        else if (ends[r] >= 0)
            close(ends[r]);
    free(star.wires);
    free(star.done);
    return status;
}

static mo_status join_at(const mo_rdv_params *job,
                         const mo_rdv_join_options *options, int listener,
                         const uint8_t *bind, mo_rdv_endpoint *cards,
                         int *sockets, mo_error *err)
{
    int *ends = malloc((size_t) job->n_ranks * sizeof *ends);
    mo_status status;

    if (!ends)
        return mo_fail_memory(err);
    for (int r = 0; r < job->n_ranks; r++)
        ends[r] = -1;
    status = job->rank == 0
                 ? mo_rdv_join_server(job, options, bind, cards, ends, err)
                 : mo_rdv_join_client(job, options, cards, &ends[0], err);
    if (status == MO_OK)
        status = meet(job, options, listener, cards, ends, sockets, err);
    free(ends);
    return status;
}

mo_status mo_rdv_join(const mo_rdv_params *job,
                      const mo_rdv_join_options *options,
                      mo_rdv_endpoint *cards, int *sockets, mo_error *err)
{
    uint8_t address[MO_RDV_ADDRESS_BYTES];
    const uint8_t *bind;
    int listener = -1;
    mo_status status = find_bind(job, address, &bind, err);

    if (status == MO_OK)
        status = make_room(job->n_ranks, options->n_kinds, err);
    for (int i = 0; i < options->n_kinds * job->n_ranks; i++)
        sockets[i] = -1;
    if (status == MO_OK)
        status =
            listen_for_others(job, bind, &cards[job->rank], &listener, err);
    if (status == MO_OK && job->n_ranks > 1)
        status = join_at(job, options, listener, bind, cards, sockets, err);
    if (listener >= 0)
        close(listener);
    return status;
}
