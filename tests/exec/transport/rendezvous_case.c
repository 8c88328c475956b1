/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/exec/transport/rendezvous_case.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/support/suite.h"

char join_notes[4096];

static void note_refusal(const char *text)
{
    size_t length = strlen(join_notes);

    snprintf(join_notes + length, sizeof join_notes - length, "%s\n", text);
}

int join_free_port(void)
{
    int listener = mo_rdv_socket_listen(mo_rdv_address_loopback, 0, 1);
    int port = mo_rdv_socket_local_port(listener);

    ck_assert_int_gt(port, 0);
    close(listener);
    return port;
}

void join_free_address(char *master, size_t size)
{
    snprintf(master, size, "127.0.0.1:%d", join_free_port());
}

const char *join_token(void)
{
    return mo_secure_is_available() ? "sesame" : NULL;
}

void join_set_up(join_rank *ranks, int n, int port)
{
    static int jobs;

    join_notes[0] = '\0';
    jobs++;
    for (int r = 0; r < n; r++) {
        mo_rdv_params *job = &ranks[r].job;

        memset(&ranks[r], 0, sizeof ranks[r]);
        job->source = "a test";
        job->rank = r;
        job->n_ranks = n;
        job->token = "sesame";
        job->has_token = mo_secure_is_available();
        job->port = port;
        if (port > 0)
            strcpy(job->host, "127.0.0.1");
        snprintf(job->name, sizeof job->name, "test-%ld-%d", (long) getpid(),
                 jobs);
        ranks[r].seconds = TIMEOUT_S;
    }
}

static void *run_rank(void *context)
{
    join_rank *r = context;
    const mo_rdv_join_options options = { .seconds = r->seconds,
                                          .n_kinds = JOIN_KINDS,
                                          .note = note_refusal };

    r->status = mo_rdv_join(&r->job, &options, r->cards, r->channels, &r->err);
    atomic_store(&r->is_done, true);
    return NULL;
}

void join_start(join_rank *r)
{
    ck_assert_int_eq(pthread_create(&r->thread, NULL, run_rank, r), 0);
}

void join_finish(join_rank *r)
{
    pthread_join(r->thread, NULL);
}

void join_hang_up(join_rank *r)
{
    for (int i = 0; i < JOIN_KINDS * r->job.n_ranks; i++)
        mo_secure_channel_free(r->channels[i]);
}

void join_check(const join_rank *ranks, int n)
{
    for (int k = 0; k < JOIN_KINDS; k++)
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                char byte = (char) (k * 100 + a * 10 + b), got = 0;

                if (a == b)
                    continue;
                ck_assert_int_eq(
                    mo_secure_channel_send(ranks[a].channels[k * n + b],
                                           &(struct iovec){ &byte, 1 }, 1),
                    1);
                while (mo_secure_channel_receive(ranks[b].channels[k * n + a],
                                                 &got, 1) < 0)
                    usleep(100);
                ck_assert_int_eq(got, byte);
            }
}

void join_expect(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "'%s' is not in: %s", words,
                  text);
}
