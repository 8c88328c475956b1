#include "solvers/search/prove.h"

#include <stdlib.h>
#include <string.h>

enum {
    EXACT_OPS = 22,   /* blocks of so few are searched through */
    MOST_EFFORT = 7,  /* then there is no more hope for a target */
    TIMED_EFFORT = 4, /* the first that tells much, of large blocks */
    MOST_TIMED_EFFORT = 16,
    LEAST_PATHS = 5,
    PLAN_WORK = 100000000, /* aims by paths */
    MOST_PATHS = 100,      /* made longer in one plan */
    FAST_WORK = 20000, /* ops by pairs, to be looked at the fast way at once */
    STEP = 40,         /* part of a time to raise it by at once */
    SMALL_STEP = 4,    /* the same where that is no effort */
    FINE = 2000        /* parts of a time that are too few to be a target */
};

/* By block and pair. */
typedef struct aim {
    int64_t failed_ns; /* not proven with this effort; INT64_MAX: all others */
    int64_t uses;      /* while planning: on the path that is looked at */
    int effort;        /* from 1 on; 0: not even the fast way has been gone */
    int turn;          /* while planning: when it was raised first, from 1 on */
} aim;

struct mo_prover {
    mo_search *search;
    mo_blocks *blocks;
    int n_pairs;
    mo_fork **forks;     /* by block, or NULL until one is asked for */
    aim *aims;           /* by block and pair */
    int64_t **raised_ns; /* by block and pair: taken to be proven */
    int64_t **times_ns;  /* by kind and pair: what those come to */
    int *uses;           /* by kind and pair: on the path */
    int *pairs;          /* by segment of a kind */
};

static aim *aim_of(const mo_prover *m, int block, int pair)
{
    return &m->aims[(size_t) block * (size_t) m->n_pairs + (size_t) pair];
}

/* Small blocks are searched through; others are looked at the fast way first.
 */
static bool is_small(const mo_prover *m, int block)
{
    return m->blocks->blocks[block].segment->n <= EXACT_OPS;
}

static int most_effort(const mo_prover *m, int block)
{
    return is_small(m, block) ? MOST_EFFORT : MOST_TIMED_EFFORT;
}

static int longest_chain(const mo_blocks *blocks)
{
    int most = 0;

    for (int i = 0; i < blocks->kinds->n; i++)
        if (blocks->chained[i].chain && blocks->chained[i].chain->n > most)
            most = blocks->chained[i].chain->n;
    return most;
}

static mo_status reserve_tables(mo_prover *m, mo_error *err)
{
    size_t size = (size_t) m->n_pairs * sizeof(int64_t);

    for (int i = 0; i < m->blocks->n; i++) {
        m->raised_ns[i] = malloc(size);
        if (!m->raised_ns[i])
            return mo_fail_memory(err);
    }
    for (int i = 0; i < m->search->kinds->n; i++) {
        if (!m->search->kinds->kinds[i].part)
            continue;
        m->times_ns[i] = malloc(size);
        if (!m->times_ns[i])
            return mo_fail_memory(err);
    }
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_pairs; p++)
            *aim_of(m, i, p) =
                (aim){ .failed_ns = INT64_MAX, .effort = is_small(m, i) };
    return MO_OK;
}

static mo_status reserve(mo_prover *m, mo_error *err)
{
    size_t n = (size_t) m->blocks->n + 1, n_pairs = (size_t) m->n_pairs;
    size_t n_kinds = (size_t) m->search->kinds->n;

    m->forks = calloc(n, sizeof *m->forks);
    m->aims = calloc(n, n_pairs * sizeof *m->aims);
    m->raised_ns = calloc(n, sizeof *m->raised_ns);
    m->times_ns = calloc(n_kinds, sizeof *m->times_ns);
    m->uses = calloc(n_kinds, n_pairs * sizeof *m->uses);
    m->pairs = calloc((size_t) longest_chain(m->blocks) + 1, sizeof *m->pairs);
    if (!m->forks || !m->aims || !m->raised_ns || !m->times_ns || !m->uses ||
        !m->pairs)
        return mo_fail_memory(err);
    return reserve_tables(m, err);
}

mo_status mo_prover_new(mo_search *search, mo_prover **prover, mo_error *err)
{
    mo_prover *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->search = search;
    m->blocks = search->blocks;
    m->n_pairs = search->x->n_devices * search->x->n_devices;
    status = reserve(m, err);
    if (status == MO_OK)
        *prover = m;
    else
        mo_prover_free(m);
    return status;
}

void mo_prover_free(mo_prover *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->blocks->n; i++) {
        if (m->forks)
            mo_fork_free(m->forks[i]);
        if (m->raised_ns)
            free(m->raised_ns[i]);
    }
    for (int i = 0; i < m->search->kinds->n && m->times_ns; i++)
        free(m->times_ns[i]);
    free(m->forks);
    free(m->aims);
    free(m->raised_ns);
    free(m->times_ns);
    free(m->uses);
    free(m->pairs);
    free(m);
}

/* What may be aimed at: not above what was seen, and not what has failed. */
static int64_t most_ns(const mo_prover *m, int block, int pair)
{
    const mo_block *b = &m->blocks->blocks[block];
    const aim *it = aim_of(m, block, pair);
    int64_t least_ns = b->lower_ns[pair], most = b->seen_ns[pair], step_ns;

    if (b->segment->n == 0 || it->effort == 0 ||
        it->effort > most_effort(m, block))
        return least_ns;
    step_ns = least_ns / (is_small(m, block) ? SMALL_STEP : STEP) + 1;
    if (most - least_ns > step_ns)
        most = least_ns + step_ns;
    if (it->failed_ns != INT64_MAX &&
        least_ns + (it->failed_ns - least_ns) / 2 < most)
        most = least_ns + (it->failed_ns - least_ns) / 2;
    return most - least_ns > least_ns / FINE ? most : least_ns;
}

static void begin_plan(mo_prover *m)
{
    size_t size = (size_t) m->n_pairs * sizeof(int64_t);

    for (int i = 0; i < m->blocks->n; i++) {
        memcpy(m->raised_ns[i], m->blocks->blocks[i].lower_ns, size);
        for (int p = 0; p < m->n_pairs; p++)
            aim_of(m, i, p)->turn = 0;
    }
    for (int i = 0; i < m->search->kinds->n; i++) {
        const mo_kind *kind = &m->search->kinds->kinds[i];

        m->search->path->tables[i] =
            kind->part ? m->times_ns[i] : kind->lower_ns;
        if (kind->part)
            memcpy(m->times_ns[i], kind->lower_ns, size);
    }
}

/* What the raised times come to. */
static mo_status add_up(mo_prover *m, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < m->search->kinds->n && status == MO_OK; i++) {
        const mo_kind *kind = &m->search->kinds->kinds[i];

        if (!kind->part)
            continue;
        status =
            mo_blocks_add_up(m->blocks, i, m->raised_ns, m->times_ns[i], err);
        for (int p = 0; p < m->n_pairs && status == MO_OK; p++)
            if (m->times_ns[i][p] < kind->lower_ns[p])
                m->times_ns[i][p] = kind->lower_ns[p];
    }
    return status;
}

/* How often each pair of a kind is on the path. */
static void count_uses(mo_prover *m)
{
    const mo_search *s = m->search;
    size_t n_pairs = (size_t) m->n_pairs;

    memset(m->uses, 0, (size_t) s->kinds->n * n_pairs * sizeof *m->uses);
    for (int i = 0; i < s->pieces->n; i++)
        m->uses[(size_t) s->pieces->kind[i] * n_pairs +
                (size_t) mo_path_pair(s->path, i)]++;
}

/* Spreads the uses of a pair of a kind over its blocks. */
static mo_status use_blocks(mo_prover *m, int kind, int pair, int uses,
                            mo_error *err)
{
    const mo_chained *c = &m->blocks->chained[kind];
    mo_status status =
        mo_blocks_trace(m->blocks, kind, pair, m->raised_ns, m->pairs, err);

    for (int s = 0; s < c->chain->n && status == MO_OK; s++)
        aim_of(m, c->block[s], m->pairs[s])->uses += uses;
    return status;
}

/* Fills uses of the aims for the path found last. */
static mo_status use_path(mo_prover *m, mo_error *err)
{
    size_t n_aims = (size_t) m->blocks->n * (size_t) m->n_pairs;
    mo_status status = MO_OK;

    for (size_t i = 0; i < n_aims; i++)
        m->aims[i].uses = 0;
    count_uses(m);
    for (int i = 0; i < m->search->kinds->n; i++)
        for (int p = 0; m->search->kinds->kinds[i].part && p < m->n_pairs &&
                        status == MO_OK;
             p++) {
            int uses = m->uses[(size_t) i * (size_t) m->n_pairs + (size_t) p];

            if (uses > 0)
                status = use_blocks(m, i, p, uses, err);
        }
    return status;
}

/* What the path could become longer by, if all that may be aimed at is met. */
static double room_on_path(const mo_prover *m)
{
    double room_ns = 0;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_pairs; p++) {
            const aim *it = aim_of(m, i, p);

            if (it->uses > 0)
                room_ns += (double) it->uses *
                           (double) (most_ns(m, i, p) - m->raised_ns[i][p]);
        }
    return room_ns;
}

/* Raises what is on the path by this part of its room. */
static void raise_path(mo_prover *m, double part, int turn)
{
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_pairs; p++) {
            int64_t most = most_ns(m, i, p), now = m->raised_ns[i][p];

            aim *it = aim_of(m, i, p);

            if (it->uses == 0 || most <= now)
                continue;
            it->turn = it->turn == 0 ? turn : it->turn;
            now += (int64_t) (part * (double) (most - now)) + 1;
            m->raised_ns[i][p] = now < most ? now : most;
        }
}

/* Aims that no longer may be raised with the effort so far and lie on the path
 * get more of it, and all targets are open again. */
static bool try_harder(mo_prover *m)
{
    bool any = false;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_pairs; p++) {
            const mo_block *b = &m->blocks->blocks[i];
            aim *it = aim_of(m, i, p);

            if (it->uses == 0 || it->failed_ns == INT64_MAX ||
                it->effort > most_effort(m, i) ||
                b->lower_ns[p] >= b->seen_ns[p])
                continue;
            it->effort = is_small(m, i) ? it->effort + 1 : 2 * it->effort;
            it->failed_ns = INT64_MAX;
            any = true;
        }
    return any;
}

/* Each looks at all aims. */
static int most_paths(const mo_prover *m)
{
    int64_t paths = PLAN_WORK / ((int64_t) m->blocks->n * m->n_pairs + 1);

    return paths < LEAST_PATHS  ? LEAST_PATHS
           : paths > MOST_PATHS ? MOST_PATHS
                                : (int) paths;
}

/* Raises paths until the shortest is as long as the goal, or cannot be. */
static mo_status reach(mo_prover *m, int64_t goal_ns, mo_error *err)
{
    mo_status status = MO_OK;

    begin_plan(m);
    for (int i = 0; i < most_paths(m) && status == MO_OK; i++) {
        int64_t length_ns = mo_path_find(m->search->path);
        double room_ns;

        if (length_ns >= goal_ns)
            break;
        status = use_path(m, err);
        room_ns = room_on_path(m);
        if (status != MO_OK || room_ns <= 0)
            break;
        raise_path(m,
                   (double) (goal_ns - length_ns) < room_ns
                       ? (double) (goal_ns - length_ns) / room_ns
                       : 1,
                   i + 1);
        status = add_up(m, err);
    }
    return status;
}

static mo_status find_fork(mo_prover *m, int block, mo_error *err)
{
    const mo_block *b = &m->blocks->blocks[block];

    if (m->forks[block])
        return MO_OK;
    return mo_fork_find(&m->blocks->chained[b->kind].places, b->segment,
                        &m->forks[block], err);
}

static mo_status add(mo_prover *m, int block, int pair, mo_proof_way how,
                     mo_proof *proof, mo_error *err)
{
    mo_status status = find_fork(m, block, err);

    *proof = (mo_proof){ .block = block,
                         .pair = pair,
                         .how = how,
                         .target_ns = m->raised_ns[block][pair],
                         .effort = aim_of(m, block, pair)->effort,
                         .fork = m->forks[block] };
    return status;
}

static bool needs_fast(const mo_prover *m, int block, int pair)
{
    const mo_block *b = &m->blocks->blocks[block];

    return aim_of(m, block, pair)->effort == 0 &&
           b->lower_ns[pair] != INT64_MAX;
}

/* What is on the path and was not even looked at the fast way. */
static mo_status plan_fast(mo_prover *m, mo_proof *proofs, int most, int *n,
                           mo_error *err)
{
    mo_status status;

    begin_plan(m);
    mo_path_find(m->search->path);
    status = use_path(m, err);
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_pairs && *n < most && status == MO_OK; p++)
            if (aim_of(m, i, p)->uses > 0 && needs_fast(m, i, p))
                status = add(m, i, p, MO_PROOF_FAST, &proofs[(*n)++], err);
    return status;
}

mo_status mo_prover_begin(mo_prover *m, mo_proof **proofs, int *n,
                          mo_error *err)
{
    int64_t count = 0;
    mo_status status = MO_OK;

    *n = 0;
    *proofs = NULL;
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_pairs; p++)
            count += needs_fast(m, i, p) ? m->blocks->blocks[i].segment->n : 0;
    if (count > FAST_WORK)
        return MO_OK;
    *proofs = calloc((size_t) count + 1, sizeof **proofs);
    if (!*proofs)
        return mo_fail_memory(err);
    begin_plan(m);
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_pairs && status == MO_OK; p++)
            if (needs_fast(m, i, p))
                status = add(m, i, p, MO_PROOF_FAST, &(*proofs)[(*n)++], err);
    return status;
}

/* Those that were raised first are on the shortest paths. */
static mo_status plan_targets(mo_prover *m, mo_proof *proofs, int most, int *n,
                              mo_error *err)
{
    mo_status status = MO_OK;

    for (int turn = 1; turn <= MOST_PATHS; turn++)
        for (int i = 0; i < m->blocks->n; i++)
            for (int p = 0; p < m->n_pairs && *n < most && status == MO_OK; p++)
                if (aim_of(m, i, p)->turn == turn)
                    status =
                        add(m, i, p,
                            is_small(m, i) ? MO_PROOF_EXACT : MO_PROOF_TIMED,
                            &proofs[(*n)++], err);
    return status;
}

mo_status mo_prover_plan(mo_prover *m, bool take_time, mo_proof *proofs,
                         int most, int *n, mo_error *err)
{
    int64_t upper_ns = m->search->upper_path_ns;
    int64_t lower_ns = m->search->lower_ns;
    mo_status status;

    *n = 0;
    status = plan_fast(m, proofs, most, n, err);
    if (status != MO_OK || *n > 0 || !take_time || upper_ns <= lower_ns)
        return status;
    do {
        status = reach(m, lower_ns + (upper_ns - lower_ns) / 2, err);
        if (status == MO_OK)
            status = plan_targets(m, proofs, most, n, err);
    } while (status == MO_OK && *n == 0 && try_harder(m));
    return status;
}

void mo_prover_take(mo_prover *m, mo_proof *it)
{
    int64_t *lower_ns = &m->blocks->blocks[it->block].lower_ns[it->pair];
    aim *a = aim_of(m, it->block, it->pair);

    if (it->how == MO_PROOF_FAST)
        a->effort = TIMED_EFFORT;
    else if (it->lower_ns < it->target_ns && it->target_ns < a->failed_ns)
        a->failed_ns = it->target_ns;
    if (it->lower_ns > *lower_ns)
        *lower_ns = it->lower_ns;
    if (it->hint.device)
        mo_blocks_keep_hint(m->blocks, it->block, it->pair, it->hint);
    it->hint = (mo_hint){ 0 };
}
