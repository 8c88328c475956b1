/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/shm/shm.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/thread/cpu_pause.h"
#include "exec/transport/shm/segment.h"

/* Spinning lasts about as long as a thread needs to block and be woken. */
enum { SPIN_NS = 30000, SPINS_PER_CLOCK = 16 };

/* Of a segment; values that do not fit are sent by the transport. */
static const int64_t default_limit_bytes = 256 << 20;

enum { LINE_BYTES = 64, N_SECRETS = 2 };

/* A counter in bits 1 to 31; bit 0: a thread is blocked on the word. */
typedef atomic_uint counter;

/* The beginning of a segment. */
typedef struct header {
    uint64_t secret[N_SECRETS];
    counter generation; /* number of barriers that were released */
    atomic_uint n_arrived, vote, verdict;
    char padding[LINE_BYTES - N_SECRETS * sizeof(uint64_t) - 4 * sizeof(int)];
} header;

_Static_assert(sizeof(header) == LINE_BYTES, "slots begin at cache lines");

/* A slot, followed by the bytes of its value. */
typedef struct slot {
    counter n_sent;
    char padding[LINE_BYTES - sizeof(counter)];
} slot;

_Static_assert(sizeof(slot) == LINE_BYTES, "values begin at cache lines");

/* What the first rank of a host sends to the others of that host. */
typedef struct offer {
    int64_t pid, fd;
    int64_t bytes;       /* of the segment; 0: none */
    int64_t value_limit; /* larger values have no slot */
    uint64_t secret[N_SECRETS];
} offer;

struct mo_shm {
    mo_shm_options options;
    mo_shm_segment segment;
    int *first_of;       /* by rank: first rank of its host */
    offer *offers;       /* by rank */
    uint8_t *attached;   /* by rank, 0 or 1: has mapped the segment of its
                            host */
    int64_t *offset;     /* by transfer: of its slot; 0: none */
    unsigned *n_done;    /* by transfer: sent, or received, by this rank */
    unsigned n_barriers; /* that this rank has passed */
    bool has_barrier;
};

static bool has_reached(counter *word, unsigned count)
{
    return atomic_load(word) >> 1 == (count & (UINT32_MAX >> 1));
}

static bool spin(counter *word, unsigned count)
{
    int64_t end = mo_stop_clock_ns() + SPIN_NS;

    do {
        for (int i = 0; i < SPINS_PER_CLOCK; i++) {
            if (has_reached(word, count))
                return true;
            mo_thread_pause();
        }
        /* The thread that increments the counter may need this core. */
        sched_yield();
    } while (mo_stop_clock_ns() < end);
    return false;
}

static mo_status wait_count(mo_shm *shm, counter *word, unsigned count,
                            mo_error *err)
{
    if (spin(word, count))
        return MO_OK;
    while (!has_reached(word, count)) {
        unsigned value = atomic_load(word);

        if (mo_first_error_is_set(shm->options.failure))
            return mo_first_error_get(shm->options.failure, err);
        if (!(value & 1) &&
            !atomic_compare_exchange_strong(word, &value, value | 1))
            continue;
        if (value >> 1 != (count & (UINT32_MAX >> 1)))
            mo_shm_futex_wait(word, value | 1);
    }
    return MO_OK;
}

static void set_count(counter *word, unsigned count)
{
    if (atomic_exchange(word, count << 1) & 1)
        mo_shm_futex_wake(word);
}

/* Returns whether any two ranks can share memory at all. */
static bool find_first_ranks(mo_shm *shm)
{
    const mo_shm_options *o = &shm->options;
    bool any = false;

    for (int r = 0; r < o->n_ranks; r++) {
        int first = 0;

        while (first < r &&
               !(*o->endpoints[first].memory &&
                 mo_rdv_endpoint_same_machine(&o->endpoints[first],
                                              &o->endpoints[r]) &&
                 memcmp(o->endpoints[first].memory, o->endpoints[r].memory,
                        sizeof o->endpoints[first].memory) == 0))
            first++;
        shm->first_of[r] = first;
        any |= first < r;
    }
    return any;
}

/* Returns the first rank of the host that both ends of the transfer are on, if
 * they are two ranks; else -1. */
static int host_of_transfer(const mo_shm *shm, int t)
{
    const mo_plan_transfer *transfer = &shm->options.plan->transfers[t];
    int from = shm->options.rank_of[transfer->from];
    int to = shm->options.rank_of[transfer->to];

    return from != to && shm->first_of[from] == shm->first_of[to]
               ? shm->first_of[from]
               : -1;
}

static int64_t slot_bytes(int64_t value_bytes)
{
    return (int64_t) sizeof(slot) +
           (value_bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

/* The largest size such that all transfers of this host up to it fit into the
 * limit together; -1: none does. sizes is a buffer. */
static int64_t choose_value_limit(const mo_shm *shm, int64_t *sizes)
{
    int64_t limit = shm->options.limit_bytes, total = sizeof(header);
    int64_t value_limit = -1;
    size_t n = 0;

    for (int t = 0; t < shm->options.plan->n_transfers; t++)
        if (host_of_transfer(shm, t) == shm->options.rank)
            sizes[n++] = shm->options.plan->transfers[t].bytes;
    if (n > 0)
        qsort(sizes, n, sizeof *sizes, mo_compare_i64);
    for (size_t i = 0; i < n; i++) {
        if (sizes[i] > limit || total + slot_bytes(sizes[i]) > limit)
            break;
        total += slot_bytes(sizes[i]);
        if (i + 1 == n || sizes[i + 1] > sizes[i])
            value_limit = sizes[i];
    }
    return value_limit;
}

/* Sets the offsets of this host's slots; returns the size of the segment. */
static int64_t assign_slots(mo_shm *shm, int64_t value_limit)
{
    int own = shm->first_of[shm->options.rank];
    int64_t total = sizeof(header);

    for (int t = 0; t < shm->options.plan->n_transfers; t++) {
        int64_t bytes = shm->options.plan->transfers[t].bytes;

        shm->offset[t] = 0;
        if (host_of_transfer(shm, t) != own || bytes > value_limit)
            continue;
        shm->offset[t] = total;
        total += slot_bytes(bytes);
    }
    return total;
}

static header *header_of(const mo_shm *shm)
{
    return shm->segment.memory;
}

static mo_status make_offer(mo_shm *shm, offer *own, mo_error *err)
{
    size_t n = (size_t) shm->options.plan->n_transfers + 1;
    int64_t *sizes = calloc(n, sizeof *sizes);
    int64_t bytes;

    if (!sizes)
        return mo_fail_memory(err);
    own->value_limit = choose_value_limit(shm, sizes);
    free(sizes);
    bytes = assign_slots(shm, own->value_limit);
    if (getrandom(own->secret, sizeof own->secret, 0) != sizeof own->secret ||
        !mo_shm_segment_create(&shm->segment, (size_t) bytes))
        return MO_OK;
    memcpy(header_of(shm)->secret, own->secret, sizeof own->secret);
    own->pid = getpid();
    own->fd = shm->segment.fd;
    own->bytes = bytes;
    return MO_OK;
}

/* Maps the segment that the first rank of this host offers, if it is laid out
 * as here. */
static bool accept_offer(mo_shm *shm, const offer *theirs)
{
    if (theirs->bytes <= 0 || theirs->bytes > shm->options.limit_bytes ||
        theirs->fd < 0 || theirs->fd > INT32_MAX ||
        assign_slots(shm, theirs->value_limit) != theirs->bytes ||
        !mo_shm_segment_open(&shm->segment, theirs->pid, (int) theirs->fd,
                             (size_t) theirs->bytes))
        return false;
    if (memcmp(header_of(shm)->secret, theirs->secret, sizeof theirs->secret) ==
        0)
        return true;
    mo_shm_segment_clear(&shm->segment);
    return false;
}

static mo_status share_segments(mo_shm *shm, mo_error *err)
{
    const mo_shm_options *o = &shm->options;
    int first = shm->first_of[o->rank], next = o->rank + 1;
    offer own = { .fd = -1 };
    mo_status status = MO_OK;
    uint8_t attached = 0;

    while (next < o->n_ranks && shm->first_of[next] != o->rank)
        next++;
    if (next < o->n_ranks) /* the first of several */
        status = make_offer(shm, &own, err);
    if (status == MO_OK)
        status = o->allgather(o->context, &own, shm->offers, sizeof own, err);
    if (status != MO_OK)
        return status;
    attached = first == o->rank ? own.bytes > 0
                                : accept_offer(shm, &shm->offers[first]);
    status = o->allgather(o->context, &attached, shm->attached, sizeof attached,
                          err);
    mo_shm_segment_unpublish(&shm->segment);
    if (status != MO_OK)
        return status;
    shm->has_barrier = true;
    for (int r = 0; r < o->n_ranks; r++) {
        if (shm->attached[r] > 1)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) sends a flag of value %d: use "
                           "the same moirai everywhere",
                           r, o->endpoints[r].host, shm->attached[r]);
        shm->has_barrier &= shm->attached[r] && shm->first_of[r] == 0;
    }
    return MO_OK;
}

mo_status mo_shm_new(const mo_shm_options *options, mo_shm **shm, mo_error *err)
{
    mo_shm *s = calloc(1, sizeof *s);
    size_t n_ranks = (size_t) options->n_ranks;
    size_t n_transfers = (size_t) options->plan->n_transfers + 1;
    mo_status status = MO_OK;

    *shm = NULL;
    if (!s)
        return mo_fail_memory(err);
    s->options = *options;
    s->segment.fd = -1;
    if (s->options.limit_bytes <= 0)
        s->options.limit_bytes = default_limit_bytes;
    s->first_of = calloc(n_ranks, sizeof *s->first_of);
    s->offers = calloc(n_ranks, sizeof *s->offers);
    s->attached = calloc(n_ranks, sizeof *s->attached);
    s->offset = calloc(n_transfers, sizeof *s->offset);
    s->n_done = calloc(n_transfers, sizeof *s->n_done);
    if (!s->first_of || !s->offers || !s->attached || !s->offset || !s->n_done)
        status = mo_fail_memory(err);
    else if (find_first_ranks(s))
        status = share_segments(s, err);
    if (status != MO_OK)
        mo_shm_free(s);
    else
        *shm = s;
    return status;
}

void mo_shm_free(mo_shm *shm)
{
    if (!shm)
        return;
    mo_shm_segment_clear(&shm->segment);
    free(shm->first_of);
    free(shm->offers);
    free(shm->attached);
    free(shm->offset);
    free(shm->n_done);
    free(shm);
}

bool mo_shm_carries(const mo_shm *shm, int transfer)
{
    const mo_plan_transfer *t;
    int host;

    if (!shm)
        return false;
    t = &shm->options.plan->transfers[transfer];
    host = host_of_transfer(shm, transfer);
    return host >= 0 && shm->attached[shm->options.rank_of[t->from]] &&
           shm->attached[shm->options.rank_of[t->to]] &&
           t->bytes <= shm->offers[host].value_limit;
}

bool mo_shm_has_barrier(const mo_shm *shm)
{
    return shm && shm->has_barrier;
}

static slot *slot_of(const mo_shm *shm, int transfer)
{
    char *memory = shm->segment.memory;

    return (slot *) (void *) (memory + shm->offset[transfer]);
}

void mo_shm_send(mo_shm *shm, int transfer, const void *data)
{
    size_t bytes = (size_t) shm->options.plan->transfers[transfer].bytes;
    slot *to = slot_of(shm, transfer);

    if (bytes > 0)
        memcpy(to + 1, data, bytes);
    set_count(&to->n_sent, ++shm->n_done[transfer]);
}

mo_status mo_shm_receive(mo_shm *shm, int transfer, void *data, mo_error *err)
{
    size_t bytes = (size_t) shm->options.plan->transfers[transfer].bytes;
    slot *from = slot_of(shm, transfer);
    mo_status status =
        wait_count(shm, &from->n_sent, ++shm->n_done[transfer], err);

    if (status == MO_OK && bytes > 0)
        memcpy(data, from + 1, bytes);
    return status;
}

mo_status mo_shm_barrier(mo_shm *shm, bool vote, bool *verdict, mo_error *err)
{
    header *h = header_of(shm);
    unsigned round = ++shm->n_barriers;
    mo_status status = MO_OK;

    if (vote)
        atomic_store(&h->vote, 1);
    if (atomic_fetch_add(&h->n_arrived, 1) + 1 ==
        (unsigned) shm->options.n_ranks) {
        atomic_store(&h->n_arrived, 0);
        atomic_store(&h->verdict, atomic_exchange(&h->vote, 0));
        set_count(&h->generation, round);
    } else {
        status = wait_count(shm, &h->generation, round, err);
    }
    *verdict = atomic_load(&h->verdict) != 0;
    return status;
}
