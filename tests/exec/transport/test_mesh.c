/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/transport/rendezvous/mesh.h. */
#include <config.h>

#include "exec/transport/rendezvous/mesh.h"

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/support/suite.h"

enum { N_RANKS = 4 };

typedef struct mesh_rank {
    const mo_rdv_endpoint *endpoints;
    int rank, listener;
    mo_secure_channel *channels[N_RANKS];
    bool is_secure;
    mo_status status;
} mesh_rank;

static mo_status connect_mesh(const mo_rdv_endpoint *endpoints, int n_ranks,
                              int rank, int listener, double seconds,
                              bool is_secure, mo_secure_channel **channels,
                              mo_error *err)
{
    const mo_rdv_mesh mesh = { .endpoints = endpoints,
                               .n_ranks = n_ranks,
                               .rank = rank,
                               .listener = listener,
                               .seconds = seconds,
                               .n_kinds = 1,
                               .is_secure = is_secure,
                               .n_sealed_kinds = 1 };

    return mo_rdv_mesh_connect(&mesh, channels, err);
}

static void *run_rank(void *context)
{
    mesh_rank *g = context;

    g->status = connect_mesh(g->endpoints, N_RANKS, g->rank, g->listener, 5,
                             g->is_secure, g->channels, NULL);
    return NULL;
}

/* Two connections without the secret. */
static void connect_strangers(const mo_rdv_endpoint *host,
                              mo_secure_channel *strangers[2])
{
    mo_rdv_endpoint stranger[2] = { *host, *host };
    mo_secure_channel *channels[2];

    stranger[0].secret[0] ^= 1;
    for (int i = 0; i < 2; i++) {
        /* As the highest rank it connects, and accepts none. */
        MUST(connect_mesh(stranger, 2, 1, -1, 5, false, channels, &err));
        strangers[i] = channels[0];
    }
}

START_TEST(all_ranks_connect_and_strangers_do_not)
{
    mo_rdv_endpoint endpoints[N_RANKS];
    mesh_rank mesh_ranks[N_RANKS];
    pthread_t threads[N_RANKS];
    mo_secure_channel *strangers[2];
    bool is_secure = _i == 1;

    if (is_secure && !mo_secure_is_available())
        return;

    for (int r = 0; r < N_RANKS; r++) {
        mesh_ranks[r] = (mesh_rank){ .endpoints = endpoints,
                                     .rank = r,
                                     .is_secure = is_secure };
        MUST(mo_rdv_endpoint_listen(N_RANKS, NULL, &endpoints[r],
                                    &mesh_ranks[r].listener, &err));
    }
    connect_strangers(&endpoints[0], strangers);
    for (int r = 0; r < N_RANKS; r++)
        pthread_create(&threads[r], NULL, run_rank, &mesh_ranks[r]);
    for (int r = 0; r < N_RANKS; r++)
        pthread_join(threads[r], NULL);
    for (int a = 0; a < N_RANKS; a++) {
        ck_assert_int_eq(mesh_ranks[a].status, MO_OK);
        for (int b = 0; b < N_RANKS; b++) {
            char byte = (char) (10 * a + b), got = 0;

            if (a == b)
                continue;
            ck_assert_int_eq(mo_secure_channel_send(mesh_ranks[a].channels[b],
                                                    &(struct iovec){ &byte, 1 },
                                                    1),
                             1);
            while (mo_secure_channel_receive(mesh_ranks[b].channels[a], &got,
                                             1) < 0)
                usleep(100);
            ck_assert_int_eq(got, byte);
        }
    }
    for (int r = 0; r < N_RANKS; r++) {
        for (int b = 0; b < N_RANKS; b++)
            mo_secure_channel_free(mesh_ranks[r].channels[b]);
        close(mesh_ranks[r].listener);
    }
    mo_secure_channel_free(strangers[0]);
    mo_secure_channel_free(strangers[1]);
}
END_TEST

START_TEST(a_rank_that_cannot_be_reached_is_named)
{
    mo_rdv_endpoint endpoints[2];
    mo_secure_channel *channels[2];
    int listeners[2];
    mo_error why = { 0 };

    for (int r = 0; r < 2; r++)
        MUST(mo_rdv_endpoint_listen(2, NULL, &endpoints[r], &listeners[r],
                                    &err));
    close(listeners[0]);
    ck_assert_int_eq(
        connect_mesh(endpoints, 2, 1, listeners[1], 1, false, channels, &why),
        MO_E_IO);
    ck_assert_ptr_nonnull(strstr(why.text, "rank 0 (host "));
    ck_assert_int_eq(
        connect_mesh(endpoints, 2, 0, listeners[1], 0.1, false, channels, &why),
        MO_E_IO);
    ck_assert_ptr_nonnull(strstr(why.text, "rank 1 (host "));
    close(listeners[1]);
}
END_TEST

SUITE(mesh)
{
    EACH(all_ranks_connect_and_strangers_do_not, 2);
    TEST(a_rank_that_cannot_be_reached_is_named);
}
