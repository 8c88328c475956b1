/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_options.h - options that describe the ranks of a job.
 */
#ifndef MO_DRIVER_EXEC_LAUNCH_OPTIONS_H
#define MO_DRIVER_EXEC_LAUNCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/output_guard.h"
#include "exec/transport/rendezvous/launcher.h"

typedef struct mo_launch_options {
    int64_t rank, ranks; /* -1 and 0: not given */
    const char *master, *bind;
    const char *token, *token_file;
    const char *tls_cert, *tls_key, *tls_ca;
    bool open, plain, no_shm;
    char *read; /* contents of the file; freed by mo_launch_options_clear */
} mo_launch_options;

#define MO_LAUNCH_OPTIONS_DEFAULTS                                             \
    {                                                                          \
        .rank = -1                                                             \
    }

/* Rows of an option table for these options. */
/* clang-format off */
#define MO_LAUNCH_OPTIONS(job)                                                    \
    { 0, "rank", "R", "number of this rank, from 0", MO_OPTION_INT,     \
      .to = &(job)->rank, .min = 0, .max = 4095 },                             \
    { 0, "ranks", "N", "number of ranks", MO_OPTION_INT,                    \
      .to = &(job)->ranks, .min = 1, .max = 4096 },                            \
    { 0, "master", "HOST[:PORT]", "address of rank 0", MO_OPTION_TEXT,           \
      .to = &(job)->master },                                                  \
    { 0, "bind", "ADDRESS", "listen on this address only", MO_OPTION_TEXT,               \
      .to = &(job)->bind },                                                    \
    { 0, "token-file", "FILE", "only ranks with the same token may join",           \
      MO_OPTION_TEXT, .to = &(job)->token_file },                              \
    { 0, "token", "TEXT", "the token, visible to all users; or MOIRAI_TOKEN",      \
      MO_OPTION_TEXT, .to = &(job)->token },                                   \
    { 0, "tls-cert", "FILE", "certificate of this rank, instead of a token",     \
      MO_OPTION_TEXT, .to = &(job)->tls_cert },                                \
    { 0, "tls-key", "FILE", "private key of the certificate",                  \
      MO_OPTION_TEXT, .to = &(job)->tls_key },                                 \
    { 0, "tls-ca", "FILE", "authority that certified all ranks",               \
      MO_OPTION_TEXT, .to = &(job)->tls_ca },                                  \
    { 0, "open", NULL, "without a token, any process may join",                \
      MO_OPTION_FLAG, .to = &(job)->open },                                    \
    { 0, "plain", NULL, "do not seal values, for a trusted network",           \
      MO_OPTION_FLAG, .to = &(job)->plain },                                   \
    { 0, "no-shm", NULL, "no shared memory between ranks of a host",           \
      MO_OPTION_FLAG, .to = &(job)->no_shm }
/* clang-format on */

/* Fills the launch parameters of the transport; they borrow from job. note, if
 * not NULL, receives a line when other users may read the file of the token. */
mo_status mo_launch_options_read(mo_launch_options *job,
                                 void (*note)(const char *text),
                                 mo_rdv_launch_options *launch, mo_error *err);

/* Fails with MO_E_USAGE if an output would replace the token, or a file of
 * TLS. */
mo_status mo_launch_options_check_outputs(const mo_launch_options *job,
                                          const mo_output_guard *guard,
                                          mo_error *err);
void mo_launch_options_clear(mo_launch_options *job);

#endif
