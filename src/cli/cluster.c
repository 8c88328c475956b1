/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-cluster - discovers devices and links; makes tokens for ranks. */
#include <config.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/async_writer.h"
#include "base/atomic_file.h"
#include "base/option.h"
#include "base/out.h"
#include "driver/profile/cluster_discover.h"
#include "cli/exec_version.h"
#include "base/host.h"

/* 6 bits in a character: the last one holds 4 of them. */
enum { RANDOM_BYTES = 32, N_CHARS = (8 * RANDOM_BYTES + 5) / 6 };

/*
 * Draws 32 bytes from the random number generator of the kernel and writes them
 * as a line of 43 characters (base64url, RFC 4648) to a new file at path that
 * only its owner may read, or to standard output for NULL and "-". An existing
 * file is an error and stays as it is, since other ranks may have its token;
 * after a failure there is no file.
 */
static mo_status write_token(const char *path, mo_error *err)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "abcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t bytes[RANDOM_BYTES];
    char line[N_CHARS + 1];
    unsigned bits = 0;
    int n_bits = 0, n = 0, failure;
    mo_atomic_file *file;
    mo_status status;
    mo_out *out;

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t) sizeof bytes)
        return mo_fail_errno(err, NULL, "cannot draw random bytes");
    for (int i = 0; i < RANDOM_BYTES; i++) {
        bits = (bits << 8 | bytes[i]) & 0xffff;
        for (n_bits += 8; n_bits >= 6; n_bits -= 6)
            line[n++] = alphabet[bits >> (n_bits - 6) & 63];
    }
    line[n++] = alphabet[bits << (6 - n_bits) & 63];
    line[n] = '\n';
    if (!path || strcmp(path, "-") == 0) {
        status = mo_out_open("-", &out, err);
        if (status != MO_OK)
            return status;
        mo_out_bytes(out, line, N_CHARS + 1);
        return mo_out_commit(out, err);
    }
    status = mo_atomic_file_create(path, 0600, &file, err);
    if (status != MO_OK)
        return status;
    failure = mo_write_all(mo_atomic_file_fd(file), line, N_CHARS + 1);
    if (!failure && fsync(mo_atomic_file_fd(file)) != 0)
        failure = errno;
    return mo_atomic_file_commit(file, failure, err);
}

static const char *subcommand(size_t i)
{
    static const char *const names[] = { "discover", "token", NULL };

    return names[i];
}

static mo_status run_cluster(void *context, char **operands, size_t n_operands,
                             mo_error *err)
{
    const mo_driver_cluster_options *o = context;
    const char *file = n_operands > 1 ? operands[1] : NULL;

    if (strcmp(operands[0], "token") == 0) {
        if (file && o->output)
            return mo_fail(err, MO_E_USAGE,
                           "token writes one file; remove '%s' or --output %s",
                           file, o->output);
        return write_token(file ? file : o->output, err);
    }
    if (strcmp(operands[0], "discover") != 0)
        return mo_fail(err, MO_E_USAGE,
                       "no subcommand '%s'; there are discover and token",
                       operands[0]);
    if (file)
        return mo_fail(err, MO_E_USAGE,
                       "discover takes no operand, and '%s' is one; --output "
                       "FILE writes a file",
                       file);
    return mo_driver_cluster_discover(context, err);
}

int main(int argc, char **argv)
{
    mo_driver_cluster_options o = { .precision = "f32",
                                    .job = MO_LAUNCH_OPTIONS_DEFAULTS,
                                    .logger = { .command = "moirai-cluster" } };
    const mo_option options[] = {
        { 'o', "output", "FILE", "write the cluster or token to FILE",
          MO_OPTION_TEXT, .to = &o.output },
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
