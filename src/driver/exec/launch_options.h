/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_options.h - the options that tell a command of the other ranks of its
 * job.
 */
#ifndef MO_DRIVER_EXEC_LAUNCH_OPTIONS_H
#define MO_DRIVER_EXEC_LAUNCH_OPTIONS_H

#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "exec/transport/rendezvous/launcher.h"

typedef struct mo_launch_options {
    int64_t rank, ranks; /* -1 and 0: not told */
    const char *master, *bind;
    const char *token, *token_file;
    char *read; /* of the file; mo_launch_options_clear frees it */
} mo_launch_options;

#define MO_LAUNCH_OPTIONS_DEFAULTS                                             \
    {                                                                          \
        .rank = -1                                                             \
    }

/* The rows of an option table for these. */
/* clang-format off */
#define MO_LAUNCH_OPTIONS(job)                                                    \
    { 0, "rank", "R", "which of the ranks this is, from 0", MO_OPTION_INT,     \
      .to = &(job)->rank, .min = 0, .max = 4095 },                             \
    { 0, "ranks", "N", "how many there are", MO_OPTION_INT,                    \
      .to = &(job)->ranks, .min = 1, .max = 4096 },                            \
    { 0, "master", "HOST[:PORT]", "where rank 0 is", MO_OPTION_TEXT,           \
      .to = &(job)->master },                                                  \
    { 0, "bind", "ADDRESS", "listen there only", MO_OPTION_TEXT,               \
      .to = &(job)->bind },                                                    \
    { 0, "token-file", "FILE", "only ranks with the same text join",           \
      MO_OPTION_TEXT, .to = &(job)->token_file },                              \
    { 0, "token", "TEXT", "the same, for all users to see; MOIRAI_TOKEN",      \
      MO_OPTION_TEXT, .to = &(job)->token }
/* clang-format on */

/* What the transport is told; launch lives no longer than job. */
mo_status mo_launch_options_read(mo_launch_options *job,
                                 mo_rdv_launch_options *launch, mo_error *err);
void mo_launch_options_clear(mo_launch_options *job);

#endif
