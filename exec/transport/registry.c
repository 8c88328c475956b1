/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "exec/transport/rendezvous/launch.h"
#include "exec/transport/transport.h"

#ifdef HAVE_MPI
#define MPI_TOO &mo_transport_mpi,
#else
#define MPI_TOO
#endif

#ifdef HAVE_NCCL
#define NCCL_TOO &mo_transport_nccl,
#else
#define NCCL_TOO
#endif

const mo_transport *const mo_transport_table[] = { &mo_transport_local,
                                                   &mo_transport_tcp,
                                                   NCCL_TOO MPI_TOO NULL };

static const char no_mpi[] = "this build cannot do it: install MPI "
                             "(libopenmpi-dev), then configure and make again";
static const char no_nccl[] = "this build cannot do it: install the headers of "
                              "NCCL 2.18 or later beside those of CUDA, then "
                              "configure and make again";

static mo_status find(const char *name, const char *asked_by,
                      const mo_transport **transport, mo_error *err)
{
    for (int i = 0; mo_transport_table[i]; i++)
        if (strcmp(mo_transport_table[i]->name, name) == 0) {
            *transport = mo_transport_table[i];
            return MO_OK;
        }
    if (strcmp(name, "mpi") == 0)
        return mo_fail(err, MO_E_SUPPORT, "%s asks for MPI, but %s", asked_by,
                       no_mpi);
    if (strcmp(name, "nccl") == 0)
        return mo_fail(err, MO_E_SUPPORT, "%s asks for NCCL, but %s", asked_by,
                       no_nccl);
    return mo_fail(err, MO_E_USAGE,
                   "%s names a transport '%s' that does not exist; there are "
                   "local, tcp, nccl and mpi",
                   asked_by, name);
}

/* Somebody who has said where the ranks meet, or which this is, does not ask
 * for MPI; nor does a launcher that knows nothing of it. */
static bool asks_for_tcp(const mo_rdv_launch_options *told,
                         const mo_rdv_params *job)
{
    const char *master = getenv("MOIRAI_MASTER");

    return job->by_us || told->master || (master && *master) ||
           strcmp(job->by, "torchrun") == 0;
}

static bool has_mpi(void)
{
#ifdef HAVE_MPI
    return true;
#else
    return false;
#endif
}

/* Which devices are GPUs is not known yet: with NCCL values of others travel as
 * without it. */
static const mo_transport *between_ranks(void)
{
#ifdef HAVE_NCCL
    return &mo_transport_nccl;
#else
    return &mo_transport_tcp;
#endif
}

/* Launchers of MPI may keep from us how many processes they have started. */
static mo_status choose_by_launch(const mo_rdv_launch_options *told,
                                  const mo_transport **transport, mo_error *err)
{
    mo_rdv_launcher launcher;
    mo_rdv_params job;
    mo_status status = mo_rdv_params_resolve(told, &job, err);

    *transport = &mo_transport_local;
    if (has_mpi() && job.by && !asks_for_tcp(told, &job) &&
        mo_rdv_launcher_detect(&launcher) && launcher.n_ranks != 1)
        return find("mpi", launcher.name, transport, err);
    if (status == MO_OK && job.n_ranks > 1)
        *transport = between_ranks();
    return status;
}

/* Somebody who says which rank this is does not want what knows of none, or
 * what knows better: each of the processes would take itself for the only one.
 * Variables may be there for other commands. */
static mo_status check_wish(const mo_transport *transport,
                            const mo_rdv_launch_options *told, mo_error *err)
{
    bool by_itself = strcmp(transport->name, "local") == 0 ||
                     strcmp(transport->name, "mpi") == 0;

    if (!by_itself || (!told->rank_told && told->n_ranks == 0) ||
        told->n_ranks == 1)
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "--rank and --ranks are for the transports tcp and nccl; "
                   "with %s there is %s",
                   transport->name,
                   strcmp(transport->name, "local") == 0 ? "one process"
                                                         : "mpirun to say it");
}

static mo_status choose_by_name(const char *name, const char *asked_by,
                                const mo_rdv_launch_options *told,
                                const mo_transport **transport, mo_error *err)
{
    mo_status status = find(name, asked_by, transport, err);

    return status == MO_OK ? check_wish(*transport, told, err) : status;
}

mo_status mo_transport_select_with(const char *name,
                                   const mo_rdv_launch_options *told,
                                   const mo_transport **transport,
                                   mo_error *err)
{
    const char *wish = getenv("MOIRAI_TRANSPORT");

    if (name)
        return choose_by_name(name, "--transport", told, transport, err);
    if (wish && *wish)
        return choose_by_name(wish, "MOIRAI_TRANSPORT", told, transport, err);
    return choose_by_launch(told, transport, err);
}

mo_status mo_transport_select(const char *name, const mo_transport **transport,
                              mo_error *err)
{
    const mo_rdv_launch_options nothing = { 0 };

    return mo_transport_select_with(name, &nothing, transport, err);
}
