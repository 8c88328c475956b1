/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/solvers/child_case.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/support/suite.h"

void child_collect(void *listener, const char *text)
{
    child_output *h = listener;
    size_t length = strlen(text);

    h->lines++;
    h->bytes += length;
    if (length > h->longest)
        h->longest = length;
    snprintf(h->last, sizeof h->last, "%s", text);
}

mo_child_result child_shell(const char *script, const mo_child_job *more,
                            child_output *h)
{
    const char *const argv[] = { "sh", "-c", script, NULL };
    mo_child_job job = { 0 };
    mo_child_result result;

    if (more)
        job = *more;
    job.argv = argv;
    if (h) {
        memset(h, 0, sizeof *h);
        job.line = child_collect;
        job.listener = h;
    }
    MUST(mo_child_run(&job, &result, &err));
    return result;
}

void child_wait_ms(int ms)
{
    const struct timespec pause = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&pause, NULL);
}
