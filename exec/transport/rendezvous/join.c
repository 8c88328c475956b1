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

/* Open files besides the connections: the minimum, and what leaves room for
 * pending connections. */
enum { MIN_OTHER_FILES = 16, OTHER_FILES = 256 };

/* The address to listen at: --bind; loopback when all ranks are known to be on
 * this machine; NULL: any. */
static mo_status resolve_bind(const mo_rdv_params *params,
                              uint8_t address[MO_RDV_ADDRESS_BYTES],
                              const uint8_t **bind, mo_error *err)
{
    uint8_t found[1][MO_RDV_ADDRESS_BYTES];
    int n;

    memcpy(address, mo_rdv_address_loopback, MO_RDV_ADDRESS_BYTES);
    *bind =
        !*params->host || mo_rdv_address_parse_loopback(params->host, address)
            ? address
            : NULL;
    if (!params->bind)
        return MO_OK;
    n = mo_rdv_address_resolve(params->bind, found, 1);
    if (n < 0)
        return mo_fail_memory(err);
    if (n == 0)
        return mo_fail(err, MO_E_USAGE,
                       "'%.128s' is no address to listen at; --bind takes one "
                       "of this machine's",
                       params->bind);
    memcpy(address, found[0], MO_RDV_ADDRESS_BYTES);
    *bind = address;
    return MO_OK;
}

/* Raises the soft limit of open files, which is below the connections of large
 * jobs on many systems. */
static mo_status raise_file_limit(int n_ranks, int n_kinds, mo_error *err)
{
    const rlim_t needed = (rlim_t) (n_kinds + 1) * (rlim_t) n_ranks;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur >= needed + OTHER_FILES)
        return MO_OK;
    limit.rlim_cur = needed + OTHER_FILES;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur >= needed + MIN_OTHER_FILES)
        return MO_OK;
    return mo_fail(err, MO_E_LIMIT,
                   "%d ranks need %llu open files in each, and this one may "
                   "have %llu: raise that limit (ulimit -n)",
                   n_ranks, (unsigned long long) needed + MIN_OTHER_FILES,
                   (unsigned long long) limit.rlim_max);
}

static mo_status listen_mesh(const mo_rdv_params *params, const uint8_t *bind,
                             mo_rdv_endpoint *endpoint, int *listener,
                             mo_error *err)
{
    mo_status status =
        mo_rdv_endpoint_listen(params->n_ranks, bind, endpoint, listener, err);
    int error = errno;

    if (params->no_shm)
        endpoint->memory[0] = '\0';
    if (status == MO_OK || !params->bind)
        return status;
    return mo_fail(err, MO_E_IO,
                   "cannot listen at '%.128s': %s; --bind takes an address of "
                   "this machine",
                   params->bind, strerror(error));
}

static mo_status connect_all(mo_rdv_control *control,
                             const mo_rdv_join_options *options, int listener,
                             mo_secure_channel **channels, mo_error *err)
{
    int64_t deadline_ns =
        mo_stop_clock_ns() + (int64_t) (options->seconds * 1e9);
    const mo_rdv_mesh mesh = {
        .endpoints = control->endpoints,
        .n_ranks = control->params->n_ranks,
        .rank = control->params->rank,
        .listener = listener,
        .seconds = options->seconds / 2,
        .n_kinds = options->n_kinds,
        .is_secure =
            mo_rdv_security_of(control->params) != MO_RDV_SECURITY_NONE,
        .n_sealed_kinds = control->params->plain ? 1 : options->n_kinds,
        .is_aborted = mo_rdv_control_is_aborted,
        .context = control
    };
    mo_error why = { 0 };
    mo_status status = mo_rdv_mesh_connect(&mesh, channels, &why);
    int n = options->n_kinds * control->params->n_ranks;

    if (status == MO_OK)
        status = mo_rdv_control_finish(control, deadline_ns, &why);
    if (status == MO_OK)
        return MO_OK;
    mo_rdv_control_resolve_error(control, &why);
    for (int i = 0; i < n; i++) {
        mo_secure_channel_free(channels[i]);
        channels[i] = NULL;
    }
    if (err)
        *err = why;
    return status;
}

int mo_rdv_join_count(const mo_rdv_endpoint *endpoints, int n)
{
    int count = 0;

    for (int r = 0; r < n; r++)
        count += endpoints[r].port > 0;
    return count;
}

static mo_status init_control(const mo_rdv_params *params,
                              const mo_rdv_join_options *options,
                              const int *origins,
                              const mo_rdv_endpoint *endpoints,
                              mo_secure_channel *const *control_channels,
                              mo_rdv_control *control, mo_error *err)
{
    size_t n = (size_t) params->n_ranks;

    *control = (mo_rdv_control){ .params = params,
                                 .endpoints = endpoints,
                                 .options = options,
                                 .origins = origins };
    control->channels = calloc(n, sizeof *control->channels);
    control->done = calloc(n, sizeof *control->done);
    if (!control->channels || !control->done)
        return mo_fail_memory(err);
    for (int r = 0; r < params->n_ranks; r++) {
        mo_rdv_msg_channel_init(&control->channels[r], control_channels[r]);
        control->done[r] = !control_channels[r];
    }
    return MO_OK;
}

/* Joins the ranks that have come, numbered anew. control_channels: by rank;
 * freed in any case. */
static mo_status connect_present(const mo_rdv_params *params,
                                 const mo_rdv_join_options *options,
                                 int listener, const mo_rdv_endpoint *endpoints,
                                 mo_secure_channel **control_channels,
                                 mo_secure_channel **channels, mo_error *err)
{
    size_t room = (size_t) params->n_ranks;
    mo_rdv_endpoint *present = calloc(room, sizeof *present);
    int *origins = calloc(room, sizeof *origins);
    mo_rdv_params own = *params;
    mo_rdv_control control = { .params = NULL };
    mo_status status = present && origins ? MO_OK : mo_fail_memory(err);
    int n = 0;

    for (int r = 0; r < params->n_ranks && status == MO_OK; r++) {
        if (endpoints[r].port <= 0)
            continue;
        if (r == params->rank)
            own.rank = n;
        present[n] = endpoints[r];
        origins[n] = r;
        control_channels[n] = control_channels[r];
        if (n < r)
            control_channels[r] = NULL;
        n++;
    }
    own.n_ranks = n > 0 ? n : params->n_ranks;
    if (status == MO_OK)
        status = init_control(&own, options, origins, present, control_channels,
                              &control, err);
    if (status == MO_OK && n > 1)
        status = connect_all(&control, options, listener, channels, err);
    for (int r = 0; r < own.n_ranks; r++)
        if (control.channels && control.done)
            mo_rdv_msg_channel_close(&control.channels[r]);
        else
            mo_secure_channel_free(control_channels[r]);
    free(control.channels);
    free(control.done);
    free(origins);
    free(present);
    return status;
}

static mo_status rendezvous(const mo_rdv_params *params,
                            const mo_rdv_join_options *options, int listener,
                            const uint8_t *bind, mo_rdv_endpoint *endpoints,
                            mo_secure_channel **channels, mo_error *err)
{
    mo_secure_channel **control_channels =
        calloc((size_t) params->n_ranks, sizeof *control_channels);
    mo_status status;

    if (!control_channels)
        return mo_fail_memory(err);
    status = params->rank == 0
                 ? mo_rdv_join_server(params, options, bind, endpoints,
                                      control_channels, err)
                 : mo_rdv_join_client(params, options, endpoints,
                                      &control_channels[0], err);
    if (status == MO_OK)
        status = connect_present(params, options, listener, endpoints,
                                 control_channels, channels, err);
    free(control_channels);
    return status;
}

mo_status mo_rdv_join(const mo_rdv_params *params,
                      const mo_rdv_join_options *options,
                      mo_rdv_endpoint *endpoints, mo_secure_channel **channels,
                      mo_error *err)
{
    uint8_t address[MO_RDV_ADDRESS_BYTES];
    const uint8_t *bind;
    int listener = -1;
    mo_status status = resolve_bind(params, address, &bind, err);

    if (status == MO_OK)
        status = raise_file_limit(params->n_ranks, options->n_kinds, err);
    for (int i = 0; i < options->n_kinds * params->n_ranks; i++)
        channels[i] = NULL;
    if (status == MO_OK)
        status =
            listen_mesh(params, bind, &endpoints[params->rank], &listener, err);
    if (status == MO_OK && params->n_ranks > 1)
        status = rendezvous(params, options, listener, bind, endpoints,
                            channels, err);
    if (listener >= 0)
        close(listener);
    return status;
}
