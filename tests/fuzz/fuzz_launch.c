/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of exec/transport/rendezvous/launch.h: any variables of launchers and
 * any options give the parameters of a job, or a one-line error.
 *
 * A line of the input is a byte, which chooses a variable or an option, and its
 * value.
 */
#include <config.h>

#include <assert.h>

#include "exec/transport/rendezvous/launch.h"
#include "tests/fuzz/fuzz.h"

static const char *const variables[] = {
    "MOIRAI_RANK",
    "MOIRAI_RANKS",
    "MOIRAI_MASTER",
    "MOIRAI_TOKEN",
    "MOIRAI_BIND",
    "MOIRAI_NO_SHM",
    "MOIRAI_OPEN",
    "MOIRAI_PLAIN",
    "RANK",
    "WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "TORCHELASTIC_RUN_ID",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "PMIX_NAMESPACE",
    "PMIX_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "MPI_LOCALNRANKS",
    "PMI_JOBID",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_JOB_NODELIST",
    "SLURM_STEP_NODELIST",
    "SLURM_NNODES",
    "SLURM_STEP_NUM_NODES",
    "SLURM_NODELIST",
};

enum {
    N_VARIABLES = sizeof variables / sizeof *variables,
    N_OPTIONS = 6,
    MAX_LINES = 16
};

static void set_option(mo_rdv_launch_options *launch, int option, char *value)
{
    switch (option) {
    case 0:
        launch->has_rank = true;
        launch->rank = atoi(value);
        break;
    case 1:
        launch->n_ranks = atoi(value);
        break;
    case 2:
        launch->master = value;
        break;
    case 3:
        launch->token = value;
        break;
    case 4:
        launch->bind = value;
        break;
    default:
        launch->no_shm = launch->open = launch->plain = true;
    }
}

static void check_params(const mo_rdv_params *params)
{
    mo_error err = { 0 };

    assert(params->source && params->token);
    assert(params->n_ranks >= 1 && params->n_ranks <= MO_RDV_MAX_RANKS);
    assert(params->rank >= 0 && params->rank < params->n_ranks);
    assert(memchr(params->host, '\0', sizeof params->host));
    assert(memchr(params->name, '\0', sizeof params->name));
    assert(params->n_ranks == 1 || params->host[0] || params->name[0]);
    assert(params->port >= 0 && params->port <= 65535);
    assert(mo_rdv_params_check(params, NULL, &err) == MO_OK ||
           err.text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = fuzz_input_of(data, size);
    mo_rdv_launch_options launch = { 0 };
    mo_rdv_params params = { 0 };
    mo_error err = { 0 };
    char *lines[MAX_LINES];
    int n = 0;
    mo_status status;

    for (int i = 0; i < N_VARIABLES; i++)
        unsetenv(variables[i]);
    while (n < MAX_LINES && fuzz_left(&in) > 0) {
        int choice = fuzz_below(&in, N_VARIABLES + N_OPTIONS);

        lines[n] = fuzz_text(&in, '\n', NULL);
        if (choice < N_VARIABLES)
            setenv(variables[choice], lines[n], 1);
        else
            set_option(&launch, choice - N_VARIABLES, lines[n]);
        n++;
    }
    status = mo_rdv_params_resolve(&launch, &params, &err);
    assert(status == MO_OK || (err.text[0] != '\0' && !strchr(err.text, '\n')));
    if (status == MO_OK)
        check_params(&params);
    mo_rdv_launch_excludes_shm(&launch);
    for (int i = 0; i < n; i++)
        free(lines[i]);
    return 0;
}
