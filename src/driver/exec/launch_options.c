/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/launch_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/reader.h"

/* Reads the first line of the file. A zero byte is refused: it would truncate
 * the token. */
static mo_status read_token(mo_launch_options *job, mo_error *err)
{
    size_t size = 0, length;
    mo_status status = mo_reader_all(job->token_file, &job->read, &size, err);

    if (status != MO_OK)
        return status;
    length = strcspn(job->read, "\r\n");
    if (length < size && job->read[length] == '\0')
        return mo_fail_at(err, MO_E_INPUT, job->token_file, 1,
                          "has a zero byte: a token is a line of text");
    job->read[length] = '\0';
    if (strspn(job->read, " \t") == length)
        return mo_fail_at(err, MO_E_INPUT, job->token_file, 1,
                          "has no token in its first line; 'moirai-cluster "
                          "token FILE' makes one");
    job->token = job->read;
    return MO_OK;
}

/* A pipe or a device has no permissions of its own. */
static void note_permissions(const char *path, void (*note)(const char *text))
{
    char text[512];
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        (info.st_mode & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH)) == 0)
        return;
    snprintf(text, sizeof text,
             "%.300s: other users may read or change this token: chmod 600",
             path);
    note(text);
}

mo_status mo_launch_options_check_outputs(const mo_launch_options *job,
                                          const mo_output_guard *guard,
                                          mo_error *err)
{
    const char *inputs[] = { job->token_file, job->tls_cert, job->tls_key,
                             job->tls_ca };

    return mo_output_guard_check_inputs(guard, inputs,
                                        sizeof inputs / sizeof *inputs, err);
}

mo_status mo_launch_options_read(mo_launch_options *job,
                                 void (*note)(const char *text),
                                 mo_rdv_launch_options *launch, mo_error *err)
{
    mo_status status = MO_OK;

    if (job->token && job->token_file)
        return mo_fail(err, MO_E_USAGE,
                       "--token and --token-file are two tokens; give one");
    if (job->token && !job->token[strspn(job->token, " \t\r\n")])
        return mo_fail(err, MO_E_USAGE,
                       "--token is empty; leave it out, or give one that "
                       "'moirai-cluster token' makes");
    if (job->token_file)
        status = read_token(job, err);
    if (job->token_file && status == MO_OK && note)
        note_permissions(job->token_file, note);
    *launch =
        (mo_rdv_launch_options){ .has_rank = job->rank >= 0,
                                 .rank = job->rank >= 0 ? (int) job->rank : 0,
                                 .n_ranks = (int) job->ranks,
                                 .master = job->master,
                                 .token = job->token,
                                 .bind = job->bind,
                                 .no_shm = job->no_shm,
                                 .open = job->open,
                                 .plain = job->plain,
                                 .tls_cert = job->tls_cert,
                                 .tls_key = job->tls_key,
                                 .tls_ca = job->tls_ca };
    return status;
}

void mo_launch_options_clear(mo_launch_options *job)
{
    free(job->read);
    job->read = NULL;
}
