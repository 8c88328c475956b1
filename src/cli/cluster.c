/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-cluster - discovers devices and links; makes tokens for ranks. */
#include <config.h>

#include <string.h>

#include "base/option.h"
#include "driver/exec/token.h"
#include "driver/profile/cluster_discover.h"
#include "cli/exec_version.h"
#include "base/host.h"

static const char *subcommand(size_t i)
{
    static const char *const names[] = { "discover", "token", NULL };

    return names[i];
}

static mo_status run_cluster(void *context, char **operands, size_t n_operands,
                             mo_error *err)
{
    if (strcmp(operands[0], "token") == 0)
        return mo_launch_token_write(n_operands > 1 ? operands[1] : NULL, err);
    if (strcmp(operands[0], "discover") != 0)
        return mo_fail(err, MO_E_USAGE,
                       "no subcommand '%s'; there are discover and token",
                       operands[0]);
    if (n_operands > 1)
        return mo_fail(err, MO_E_USAGE,
                       "discover takes no operand, and '%s' is one; --output "
                       "FILE writes a file",
                       operands[1]);
    return mo_driver_cluster_discover(context, err);
}

int main(int argc, char **argv)
{
    mo_driver_cluster_options o = { .precision = "f32",
                                    .job = MO_LAUNCH_OPTIONS_DEFAULTS,
                                    .logger = { .command = "moirai-cluster" } };
    const mo_option options[] = {
        { 'o', "output", "FILE", "write the cluster to FILE", MO_OPTION_TEXT,
          .to = &o.output },
        { 0, "measure", NULL, "measure devices and links", MO_OPTION_FLAG,
          .to = &o.measure },
        { 0, "gpus", "LIST|none", "use these GPUs only, as in 0,2-3",
          MO_OPTION_TEXT, .to = &o.gpus },
        { 0, "cpus", "N|none",
          "divide the processors into N devices (default 1)", MO_OPTION_TEXT,
          .to = &o.cpus },
        { 0, "precision", "P",
          "precision that the peak of a GPU refers to (default f32)",
          MO_OPTION_TEXT, .to = &o.precision, .choices = "f32|tf32|f16|bf16" },
        { 0, "nccl-topology", "FILE",
          "read the links between GPUs from NCCL's topology dump",
          MO_OPTION_TEXT, .to = &o.topology },
        { 0, "transport", "T",
          "transport between ranks (default: by the launcher)", MO_OPTION_TEXT,
          .to = &o.transport, .choices = "local|tcp|mpi|nccl" },
        MO_LAUNCH_OPTIONS(&o.job),
        MO_DRIVER_LOG_OPTIONS(&o.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-cluster",
        .synopsis = "discover [OPTION]... | token [FILE]",
        .purpose = "Discover devices and links and write them as a cluster.",
        .details =
            "Devices are those of this machine or, started by a launcher, "
            "those of all ranks. token writes a random token for --token-file "
            "to FILE, which only its owner may read.",
        .options = options,
        .min_operands = 1,
        .max_operands = 2,
        .suggest = subcommand,
        .version = mo_cli_exec_version,
    };
    int code = mo_command_main(&command, argc, argv, run_cluster, &o);

    mo_launch_options_clear(&o.job);
    mo_host_exit(code);
    return code;
}
