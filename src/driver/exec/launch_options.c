/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/launch_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/reader.h"

/* Reads the first line of the file. A zero byte is refused: it would truncate
 * the token. */
static mo_status read_token(mo_launch_options *job, mo_error *err)
{
    size_t size = 0, length;
    mo_status status =
        mo_reader_all(job->token_file, &job->read, &size, err);

    if (status != MO_OK)
        return status;
    length = strcspn(job->read, "\r\n");
    if (length < size && job->read[length] == '\0')
        return mo_fail_at(err, MO_E_INPUT, job->token_file, 1,
                          "has a zero byte: a token is a line of text");
    job->read[length] = '\0';
    if (!*job->read)
        return mo_fail_at(err, MO_E_INPUT, job->token_file, 1,
                          "has no token in its first line");
    job->token = job->read;
    return MO_OK;
}

mo_status mo_launch_options_read(mo_launch_options *job,
                                 mo_rdv_launch_options *launch, mo_error *err)
{
    mo_status status = MO_OK;

    if (job->token && job->token_file)
        return mo_fail(err, MO_E_USAGE,
                       "--token and --token-file are two tokens; give one");
    if (job->token && !*job->token)
        return mo_fail(err, MO_E_USAGE,
                       "--token is empty, as if there were none; leave it out, "
                       "or say one");
    if (job->token_file)
        status = read_token(job, err);
    *launch =
        (mo_rdv_launch_options){ .has_rank = job->rank >= 0,
                                 .rank = job->rank >= 0 ? (int) job->rank : 0,
                                 .n_ranks = (int) job->ranks,
                                 .master = job->master,
                                 .token = job->token,
                                 .bind = job->bind,
                                 .no_shm = job->no_shm };
    return status;
}

void mo_launch_options_clear(mo_launch_options *job)
{
    free(job->read);
    job->read = NULL;
}
