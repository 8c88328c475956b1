/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/launcher.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

/* Variables that a launcher sets for each process it starts. */
typedef struct launcher_variables {
    const char *name;
    const char *marker; /* set by this launcher only */
    const char *rank, *size, *local_size, *job_name;
} launcher_variables;

static const launcher_variables families[] = {
    { "mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
      "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
      "OMPI_MCA_ess_base_jobid" },
    { "the launcher (PMI)", "PMI_SIZE", "PMI_RANK", "PMI_SIZE",
      "MPI_LOCALNRANKS", "PMI_JOBID" },
    /* Within a batch script SLURM_NTASKS is set, too, but no step has started
     * there: one process. */
    { "srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
      NULL, "SLURM_JOB_ID" },
    { "the launcher (PMIx)", "PMIX_RANK", "PMIX_RANK", NULL, NULL,
      "PMIX_NAMESPACE" },
};

/* Returns the number in a variable, or fallback. */
static int read_env_int(const char *variable, int fallback)
{
    const char *text = variable ? getenv(variable) : NULL;
    char *end;
    long value;

    if (!text || !*text)
        return fallback;
    errno = 0;
    value = strtol(text, &end, 10);
    if (errno != 0 || *end || value < 0 || value > INT_MAX)
        return fallback;
    return (int) value;
}

bool mo_rdv_launcher_detect(mo_rdv_launcher *launcher)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const launcher_variables *f = &families[i];
        const char *marker = getenv(f->marker);

        if (!marker || !*marker)
            continue;
        launcher->name = f->name;
        launcher->rank = read_env_int(f->rank, -1);
        launcher->n_ranks = read_env_int(f->size, 0);
        launcher->one_host =
            launcher->n_ranks > 0 &&
            read_env_int(f->local_size, 0) == launcher->n_ranks;
        launcher->job_name = getenv(f->job_name);
        return true;
    }
    return false;
}
