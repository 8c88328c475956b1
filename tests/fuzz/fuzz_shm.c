/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of the set-up of shared memory (exec/transport/shm/shm.h): whatever
 * the other ranks offer, this rank maps a segment that is laid out as its own
 * plan needs, or none, or fails with the cause; every slot lies within it.
 */
#include <config.h>

#include <assert.h>
#include <unistd.h>

#include "exec/transport/shm/segment.h"
#include "exec/transport/shm/shm.h"
#include "tests/fuzz/fuzz.h"

enum { N_RANKS = 3, N_TRANSFERS = 4 };

typedef struct peers {
    fuzz_input in;
    int rank;
    const mo_shm_segment *published;
} peers;

static const int rank_of[N_RANKS] = { 0, 1, 2 };

/* What the others send is drawn; now and then with a process and descriptor
 * that exist. */
static mo_status allgather(void *context, const void *own, void *all,
                           size_t bytes, mo_error *err)
{
    peers *p = context;

    (void) err;
    for (int r = 0; r < N_RANKS; r++) {
        char *to = (char *) all + (size_t) r * bytes;
        int64_t place[2] = { getpid(), p->published->fd };

        if (r == p->rank) {
            memcpy(to, own, bytes);
            continue;
        }
        fuzz_bytes(&p->in, to, bytes);
        if (bytes >= sizeof place && fuzz_bool(&p->in))
            memcpy(to, place, sizeof place);
    }
    return MO_OK;
}

static void draw_plan(fuzz_input *in, mo_exec_plan *plan,
                      mo_plan_transfer *transfers)
{
    for (int t = 0; t < N_TRANSFERS; t++) {
        int from = fuzz_below(in, N_RANKS);

        transfers[t] =
            (mo_plan_transfer){ .from = from,
                                .to = (from + 1 + fuzz_below(in, N_RANKS - 1)) %
                                      N_RANKS,
                                .bytes = fuzz_below(in, 5000) };
    }
    *plan = (mo_exec_plan){ .n_devices = N_RANKS,
                            .n_transfers = N_TRANSFERS,
                            .transfers = transfers };
}

/* Only one end of a transfer is here: nothing is waited for. */
static void use_slots(mo_shm *shm, const mo_exec_plan *plan, int rank)
{
    static const char value[5000];

    for (int t = 0; t < N_TRANSFERS; t++)
        if (mo_shm_carries(shm, t) && plan->transfers[t].from == rank)
            mo_shm_send(shm, t, value);
    mo_shm_has_barrier(shm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    peers p = { .in = fuzz_input_of(data, size) };
    mo_plan_transfer transfers[N_TRANSFERS];
    mo_rdv_endpoint endpoints[N_RANKS] = { 0 };
    mo_shm_segment published = { 0 };
    mo_first_error failure;
    mo_exec_plan plan;
    mo_error err = { 0 };
    mo_shm *shm = NULL;
    mo_status status;

    p.rank = fuzz_below(&p.in, N_RANKS);
    draw_plan(&p.in, &plan, transfers);
    for (int r = 0; r < N_RANKS; r++) {
        strcpy(endpoints[r].machine, "m");
        strcpy(endpoints[r].memory, fuzz_byte(&p.in) & 1 ? "n" : "o");
    }
    assert(mo_shm_segment_create(&published,
                                 64 + (size_t) fuzz_below(&p.in, 20000)));
    p.published = &published;
    mo_first_error_init(&failure);
    status = mo_shm_new(&(mo_shm_options){ .plan = &plan,
                                           .rank_of = rank_of,
                                           .endpoints = endpoints,
                                           .rank = p.rank,
                                           .n_ranks = N_RANKS,
                                           .failure = &failure,
                                           .allgather = allgather,
                                           .context = &p },
                        &shm, &err);
    assert(status == MO_OK ? shm != NULL : err.text[0] != '\0');
    if (shm)
        use_slots(shm, &plan, p.rank);
    mo_shm_free(shm);
    mo_first_error_destroy(&failure);
    mo_shm_segment_clear(&published);
    return 0;
}
