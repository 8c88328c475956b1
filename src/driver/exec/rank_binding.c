/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/rank_binding.h"

#include <stdio.h>
#include <string.h>

#include "base/host.h"
#include "exec/thread/affinity.h"
#include "exec/transport/rendezvous/launcher.h"

/* Of a rank. */
typedef struct binding {
    int threads;  /* of its CPU devices */
    int progress; /* 1: and one for messages */
    int cpus;     /* that it may use; 0: it is not bound */
} binding;

enum { MAX_COUNT = 1 << 20 }; /* of threads, and processors, of a rank */

static mo_status find_binding(const mo_exec_units *units,
                              const mo_exec_plan *plan,
                              const char *const *paths, int rank, binding *own,
                              mo_error *err)
{
    mo_thread_cpus cpus = { 0 };
    mo_status status = mo_thread_cpus_read(&cpus, err);

    *own = (binding){ 0 };
    if (status == MO_OK && cpus.n < mo_host_cpu_count())
        own->cpus = mo_thread_cpus_usable(&cpus);
    mo_thread_cpus_clear(&cpus);
    for (int k = 0; k < units->n; k++)
        if (units->rank_of[k] == rank && !units->backends[k]->separate_memory)
            own->threads += units->options[k].threads;
    /* Values of this rank go by messages of a transport. */
    for (int t = 0; t < plan->n_transfers; t++)
        own->progress |=
            (units->rank_of[plan->transfers[t].from] == rank ||
             units->rank_of[plan->transfers[t].to] == rank) &&
            (strcmp(paths[t], "mpi") == 0 || strcmp(paths[t], "tcp") == 0);
    return status;
}

const char *mo_exec_binding_remedy(int needed, char text[MO_EXEC_REMEDY_SIZE])
{
    mo_rdv_launcher launcher = { .name = "" };

    mo_rdv_launcher_detect(&launcher);
    if (strcmp(launcher.name, "srun") == 0)
        snprintf(text, MO_EXEC_REMEDY_SIZE, "srun --cpus-per-task=%d", needed);
    else if (*launcher.name)
        snprintf(text, MO_EXEC_REMEDY_SIZE,
                 "mpirun --bind-to none, or --map-by slot:PE=%d", needed);
    else
        snprintf(text, MO_EXEC_REMEDY_SIZE, "taskset, control group");
    return text;
}

mo_status mo_exec_rank_binding_log(const mo_transport *transport,
                                   mo_transport_world *world,
                                   const mo_exec_units *units,
                                   const mo_exec_plan *plan,
                                   const char *const *paths,
                                   const mo_driver_log *logger, mo_error *err)
{
    int rank = transport->rank(world), n_ranks = transport->n_ranks(world);
    char remedy[MO_EXEC_REMEDY_SIZE];
    bool logged = logger->quiet;
    binding own, b;
    mo_status status;

    if (n_ranks == 1)
        return MO_OK;
    status = find_binding(units, plan, paths, rank, &own, err);
    if (rank != 0)
        return status == MO_OK
                   ? transport->collect(world, rank, &own, sizeof own, err)
                   : status;
    for (int r = 0; r < n_ranks && status == MO_OK; r++) {
        b = own;
        if (r > 0)
            status = transport->collect(world, r, &b, sizeof b, err);
        if (status == MO_OK && (b.threads < 0 || b.threads > MAX_COUNT ||
                                b.cpus < 0 || b.cpus > MAX_COUNT))
            status = mo_fail(err, MO_E_IO,
                             "rank %d sends %d threads on %d processors: use "
                             "the same moirai everywhere",
                             r, b.threads, b.cpus);
        if (status != MO_OK || logged || !b.progress || b.cpus == 0 ||
            b.cpus != b.threads)
            continue;
        fprintf(stderr,
                "%s: rank %d is bound to %d processor%s for %d thread%s, and "
                "messages need one, too; give it more (%s)\n",
                logger->command, r, b.cpus, b.cpus > 1 ? "s" : "", b.threads,
                b.threads > 1 ? "s" : "",
                mo_exec_binding_remedy(b.threads + 1, remedy));
        logged = true;
    }
    return status;
}
