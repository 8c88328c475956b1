/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of the transports, and selection of one by name, launcher and options.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "exec/transport/rendezvous/launch.h"
#include "exec/transport/transport.h"

#ifdef HAVE_MPI
#define MPI_ENTRY &mo_transport_mpi,
#else
#define MPI_ENTRY
#endif

#ifdef HAVE_NCCL
#define NCCL_ENTRY &mo_transport_nccl,
#else
#define NCCL_ENTRY
#endif

const mo_transport *const mo_transport_table[] = { &mo_transport_local,
                                                   &mo_transport_tcp,
                                                   NCCL_ENTRY MPI_ENTRY NULL };

static const char no_mpi[] = "this build cannot do it: install MPI "
                             "(libopenmpi-dev), then configure and make again";
static const char no_nccl[] = "this build cannot do it: install the headers of "
                              "NCCL 2.18 or later beside those of CUDA, then "
                              "configure and make again";

static mo_status find_transport(const char *name, const char *source,
                                const mo_transport **transport, mo_error *err)
{
    for (int i = 0; mo_transport_table[i]; i++)
        if (strcmp(mo_transport_table[i]->name, name) == 0) {
            *transport = mo_transport_table[i];
            return MO_OK;
        }
    if (strcmp(name, "mpi") == 0)
        return mo_fail(err, MO_E_SUPPORT, "%s requests MPI, but %s", source,
                       no_mpi);
    if (strcmp(name, "nccl") == 0)
        return mo_fail(err, MO_E_SUPPORT, "%s requests NCCL, but %s", source,
                       no_nccl);
    return mo_fail(err, MO_E_USAGE,
                   "%s names a transport '%s' that does not exist; there are "
                   "local, tcp, nccl and mpi",
                   source, name);
}

/* An explicit rank contradicts a transport that has one process or gets ranks
 * from MPI: each process would assume that it is the only one. Environment
 * variables are not checked, since they may be meant for other commands. */
static mo_status check_rank_options(const mo_transport *transport,
                                    const mo_rdv_launch_options *launch,
                                    mo_error *err)
{
    bool assigns_ranks = strcmp(transport->name, "local") == 0 ||
                         strcmp(transport->name, "mpi") == 0;

    if (!assigns_ranks || (!launch->has_rank && launch->n_ranks == 0) ||
        launch->n_ranks == 1)
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "--rank and --ranks are for the transports tcp and nccl; "
                   "with %s there is %s",
                   transport->name,
                   strcmp(transport->name, "local") == 0
                       ? "one process"
                       : "mpirun to set them");
}

static mo_status select_by_name(const char *name, const char *source,
                                const mo_rdv_launch_options *launch,
                                const mo_transport **transport, mo_error *err)
{
    mo_status status = find_transport(name, source, transport, err);

    return status == MO_OK ? check_rank_options(*transport, launch, err)
                           : status;
}

mo_status mo_transport_select_with(const char *name,
                                   const mo_rdv_launch_options *launch,
                                   const mo_transport **transport,
                                   mo_error *err)
{
    const char *variable = getenv("MOIRAI_TRANSPORT");
    mo_rdv_params params;
    mo_status status;

    if (name)
        return select_by_name(name, "--transport", launch, transport, err);
    if (variable && *variable)
        return select_by_name(variable, "MOIRAI_TRANSPORT", launch, transport,
                              err);
    status = mo_rdv_params_resolve(launch, &params, err);
    *transport = &mo_transport_local;
#ifdef HAVE_MPI
    const char *master = getenv("MOIRAI_MASTER");
    mo_rdv_launcher launcher;

    /* A rendezvous address, or an explicit rank, excludes MPI; so does a
     * launcher that does not support it. Launchers of MPI may not export the
     * number of processes they have started. */
    if (params.source && !params.from_options && !launch->master &&
        !(master && *master) && strcmp(params.source, "torchrun") != 0 &&
        mo_rdv_launcher_detect(&launcher) && launcher.n_ranks != 1)
        return find_transport("mpi", launcher.name, transport, err);
#endif
    /* Which devices are GPUs is not known yet: nccl sends the values of other
     * devices over TCP, as tcp does. */
    if (status == MO_OK && params.n_ranks > 1)
#ifdef HAVE_NCCL
        *transport = &mo_transport_nccl;
#else
        *transport = &mo_transport_tcp;
#endif
    return status;
}

mo_status mo_transport_select(const char *name, const mo_transport **transport,
                              mo_error *err)
{
    const mo_rdv_launch_options none = { 0 };

    return mo_transport_select_with(name, &none, transport, err);
}
