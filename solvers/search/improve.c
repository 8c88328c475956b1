#include "solvers/search/improve.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"

enum {
    EXACT_OPS = 24,       /* so few are searched through at once */
    MAYBE_EXACT_OPS = 45, /* so few now and then, annealing in between */
    ALONG_OPS = 300,      /* so many are placed along a chain, now and then */
    ALONG_MOVES = 100,    /* for each op; triples by level */
    ALONG_LEVELS = 6,
    MOST_LEVEL = 24,
    MOST_COPIES = 4,      /* of an attempt, with seeds of their own */
    MOST_PATHS = 24,      /* looked for in one round */
    FIRST_NODES = 2000,   /* doubles by level */
    START_WORK = 4000000, /* ops by pairs by devices, for first schedules */
    LEAST_MOVES = 2000,
    LEAST_SHARE = 10 /* what promises a tenth of the best still is tried */
};

/* What might be tried, and what could come of it for the whole. */
typedef struct option {
    int kind, pair;
    mo_try_way how;
    double gain_ns;
} option;

struct mo_improver {
    mo_search *search;
    int64_t **hoped_ns; /* by kind and pair */
    mo_fork **forks;    /* by kind: of its largest block; or NULL */

    /* Of the round that is planned: */
    int *uses;    /* by kind and pair: on the path that is looked at */
    bool *chosen; /* by kind and pair */
    option *options;
    size_t n, room;
    double hoped; /* part of the makespan */
};

static mo_status reserve(mo_improver *m, mo_error *err)
{
    const mo_kinds *kinds = m->search->kinds;
    size_t n_kinds = (size_t) kinds->n;
    size_t n_pairs = (size_t) kinds->states->n * (size_t) kinds->states->n;

    m->hoped_ns = calloc(n_kinds, sizeof *m->hoped_ns);
    m->forks = calloc(n_kinds, sizeof *m->forks);
    m->chosen = calloc(n_kinds, n_pairs * sizeof *m->chosen);
    m->uses = calloc(n_kinds, n_pairs * sizeof *m->uses);
    if (!m->hoped_ns || !m->forks || !m->chosen || !m->uses)
        return mo_fail_memory(err);
    for (int i = 0; i < kinds->n; i++) {
        if (!kinds->kinds[i].part)
            continue;
        m->hoped_ns[i] = malloc(n_pairs * sizeof **m->hoped_ns);
        if (!m->hoped_ns[i])
            return mo_fail_memory(err);
    }
    return MO_OK;
}

static const mo_segment *largest_segment(const mo_chain *chain)
{
    const mo_segment *largest = &chain->segments[0];

    for (int s = 1; s < chain->n; s++)
        if (chain->segments[s].n > largest->n)
            largest = &chain->segments[s];
    return largest;
}

static mo_status find_forks(mo_improver *m, mo_error *err)
{
    const mo_blocks *blocks = m->search->blocks;
    mo_status status = MO_OK;

    for (int i = 0; blocks && i < m->search->kinds->n && status == MO_OK; i++) {
        const mo_chained *c = &blocks->chained[i];

        if (c->chain && m->search->kinds->kinds[i].n > EXACT_OPS)
            status = mo_fork_find(&c->places, largest_segment(c->chain),
                                  &m->forks[i], err);
    }
    return status;
}

mo_status mo_improver_new(mo_search *search, mo_improver **improver,
                          mo_error *err)
{
    mo_improver *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->search = search;
    status = reserve(m, err);
    if (status == MO_OK)
        status = find_forks(m, err);
    if (status == MO_OK)
        *improver = m;
    else
        mo_improver_free(m);
    return status;
}

void mo_improver_free(mo_improver *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->search->kinds->n; i++) {
        if (m->hoped_ns)
            free(m->hoped_ns[i]);
        if (m->forks)
            mo_fork_free(m->forks[i]);
    }
    free(m->hoped_ns);
    free(m->forks);
    free(m->chosen);
    free(m->uses);
    free(m->options);
    free(m);
}

/* Pairs of ends that the kind can have. */
static int count_pairs(const mo_kinds *kinds, const mo_kind *kind)
{
    int n = 0;

    for (int p = 0; p < kinds->states->n * kinds->states->n; p++)
        n += kind->lower_ns[p] != INT64_MAX;
    return n;
}

mo_status mo_improver_begin(mo_improver *m, mo_try **tries, int *n,
                            mo_error *err)
{
    const mo_kinds *kinds = m->search->kinds;
    int n_pairs = kinds->states->n * kinds->states->n;
    int64_t work = 0, n_tries = 0;

    for (int i = 0; i < kinds->n; i++)
        if (kinds->kinds[i].part) {
            int pairs = count_pairs(kinds, &kinds->kinds[i]);

            n_tries += pairs;
            work += (int64_t) pairs * kinds->kinds[i].n *
                    (kinds->states->n + kinds->x->n_devices);
        }
    *n = 0;
    *tries = NULL;
    if (work > START_WORK)
        return MO_OK;
    *tries = calloc((size_t) n_tries + 1, sizeof **tries);
    if (!*tries)
        return mo_fail_memory(err);
    for (int i = 0; i < kinds->n; i++)
        for (int p = 0; kinds->kinds[i].part && p < n_pairs; p++)
            if (kinds->kinds[i].lower_ns[p] != INT64_MAX)
                (*tries)[(*n)++] =
                    (mo_try){ .kind = i, .pair = p, .how = MO_TRY_START };
    return MO_OK;
}

/* How much of the room between the bounds is hoped for, by level. */
static double hope(int level)
{
    static const double part[] = { 1.0,  0.5,   0.25,  0.12,
                                   0.06, 0.035, 0.025, 0.02 };
    int n = sizeof part / sizeof *part;

    return level < n ? part[level] : 0.16 / level;
}

static int64_t hoped_for(const mo_kind *kind, int pair)
{
    int64_t upper_ns = kind->upper_ns[pair], lower_ns = kind->lower_ns[pair];
    int level = kind->pairs[pair].level;

    if (lower_ns >= upper_ns || level >= MOST_LEVEL)
        return upper_ns;
    if (upper_ns == INT64_MAX)
        return level == 0 ? lower_ns : INT64_MAX;
    return upper_ns - (int64_t) (hope(level) * (double) (upper_ns - lower_ns));
}

static void set_hopes(mo_improver *m)
{
    mo_search *s = m->search;
    int n_pairs = s->states.n * s->states.n;

    for (int i = 0; i < s->kinds->n; i++) {
        const mo_kind *kind = &s->kinds->kinds[i];

        s->path->tables[i] = kind->part ? m->hoped_ns[i] : kind->upper_ns;
        for (int p = 0; kind->part && p < n_pairs; p++)
            m->hoped_ns[i][p] = hoped_for(kind, p);
    }
}

/* Instead of what is hoped for, what is proven. */
static void set_bounds(mo_improver *m)
{
    mo_search *s = m->search;
    size_t n_pairs = (size_t) s->states.n * (size_t) s->states.n;

    for (int i = 0; i < s->kinds->n; i++)
        if (s->kinds->kinds[i].part)
            memcpy(m->hoped_ns[i], s->kinds->kinds[i].lower_ns,
                   n_pairs * sizeof **m->hoped_ns);
}

/* A glance at first, to see which pairs matter; then one long walk is better
 * than several short ones. */
static int64_t moves_for(const mo_kind *kind, int level)
{
    static const int64_t work[] = { 4000000, 20000000, 60000000, 120000000,
                                    200000000 };
    int n = sizeof work / sizeof *work;
    int64_t moves = work[level <= n ? level - 1 : n - 1] / kind->n;

    return moves > LEAST_MOVES ? moves : LEAST_MOVES;
}

static bool is_exact_next(const mo_kind *kind, int level)
{
    return kind->n <= EXACT_OPS ||
           (kind->n <= MAYBE_EXACT_OPS && level % 2 == 0);
}

/* Anew first, and between the attempts to make that better. */
static bool is_along_next(const mo_kind *kind, int level)
{
    return kind->n > ALONG_OPS && level <= ALONG_LEVELS && level % 2 == 1;
}

/* What a failed proof says of the largest block on the way that the bound
 * takes, if it says anything. */
static mo_status find_hint(mo_improver *m, mo_try *it, mo_error *err)
{
    const mo_blocks *blocks = m->search->blocks;
    const mo_chained *c = &blocks->chained[it->kind];
    int *pairs = calloc((size_t) c->chain->n, sizeof *pairs), most = -1;
    mo_status status =
        pairs ? mo_blocks_trace(blocks, it->kind, it->pair, NULL, pairs, err)
              : mo_fail_memory(err);

    for (int s = 0; s < c->chain->n && status == MO_OK; s++) {
        const mo_segment *segment = &c->chain->segments[s];
        const mo_hint *hint = &blocks->blocks[c->block[s]].hints[pairs[s]];

        if (!hint->device || segment->n <= most)
            continue;
        most = segment->n;
        it->hint = hint;
        it->segment = segment;
        it->segment_pair = pairs[s];
    }
    free(pairs);
    return status;
}

/* The level counts from 1 on: what has not been tried at all is at 0. */
static mo_status fill_try(mo_improver *m, const option *chosen, int copy,
                          uint64_t seed, mo_try *it, mo_error *err)
{
    const mo_kind *kind = &m->search->kinds->kinds[chosen->kind];
    int level = kind->pairs[chosen->pair].level + 1;

    *it = (mo_try){ .kind = chosen->kind,
                    .pair = chosen->pair,
                    .how = MO_TRY_ANNEAL,
                    .seed = seed,
                    .fork = m->forks[chosen->kind] };
    if (chosen->how == MO_TRY_EXACT ||
        (copy == 0 && is_exact_next(kind, level))) {
        it->how = MO_TRY_EXACT;
        it->effort = (int64_t) FIRST_NODES << (level < 24 ? level : 24);
        return MO_OK;
    }
    if (copy == 0 && is_along_next(kind, level)) {
        it->how = MO_TRY_ALONG;
        it->effort = ALONG_MOVES;
        for (int i = 0; i < level; i++)
            it->effort *= 3;
        return MO_OK;
    }
    it->effort = moves_for(kind, level);
    if (copy % 2 == 1 && m->search->blocks)
        return find_hint(m, it, err);
    /* Now and then from far away: some of the best are in other valleys. */
    if (copy % 4 == 2)
        it->hot = 0.004;
    return MO_OK;
}

static bool is_worth_trying(const mo_improver *m, int number, int pair,
                            mo_try_way how)
{
    const mo_kind *kind = &m->search->kinds->kinds[number];

    if (!kind->part || kind->pairs[pair].level >= MOST_LEVEL ||
        (how == MO_TRY_EXACT && kind->n > MAYBE_EXACT_OPS))
        return false;
    return m->hoped_ns[number][pair] < kind->upper_ns[pair];
}

/* Without any schedule yet, as if there were one of twice the bound. */
static double gain_of(const mo_improver *m, int number, int pair)
{
    int64_t upper_ns = m->search->kinds->kinds[number].upper_ns[pair];
    int64_t hoped_ns = m->hoped_ns[number][pair];

    return upper_ns == INT64_MAX ? (double) hoped_ns
                                 : (double) (upper_ns - hoped_ns);
}

/* A pair on a path is an option; it is taken to bring nothing then, so that the
 * next path is another. */
static mo_status add_option(mo_improver *m, int number, int pair,
                            mo_try_way how, double weight, mo_error *err)
{
    size_t at = (size_t) number * (size_t) m->search->states.n *
                    (size_t) m->search->states.n +
                (size_t) pair;
    mo_status status = MO_OK;

    if (!m->chosen[at]) {
        status = MO_PUSH(m->options, m->n, m->room, err);
        if (status == MO_OK)
            m->options[m->n++] = (option){ number, pair, how,
                                           weight * gain_of(m, number, pair) };
    }
    m->chosen[at] = true;
    m->hoped_ns[number][pair] = m->search->kinds->kinds[number].upper_ns[pair];
    return status;
}

/* Adds the pairs on the path found last; *any: there are some. */
static mo_status add_path(mo_improver *m, mo_try_way how, double weight,
                          bool *any, mo_error *err)
{
    const mo_search *s = m->search;
    size_t n_pairs = (size_t) s->states.n * (size_t) s->states.n;
    mo_status status = MO_OK;

    *any = false;
    for (int i = 0; i < s->pieces->n; i++)
        m->uses[(size_t) s->pieces->kind[i] * n_pairs +
                (size_t) mo_path_pair(s->path, i)]++;
    for (int i = 0; i < s->pieces->n && status == MO_OK; i++) {
        int number = s->pieces->kind[i], pair = mo_path_pair(s->path, i);
        int *uses = &m->uses[(size_t) number * n_pairs + (size_t) pair];

        if (*uses > 0 && is_worth_trying(m, number, pair, how)) {
            status = add_option(m, number, pair, how, *uses * weight, err);
            *any = true;
        }
        *uses = 0;
    }
    return status;
}

/* Those on the shortest paths by what the tables say.  The shorter a path, the
 * more its pairs weigh. */
static mo_status add_paths(mo_improver *m, mo_try_way how, mo_error *err)
{
    mo_search *s = m->search;
    double most_ns = 0;
    mo_status status = MO_OK;
    bool any = true;

    for (int i = 0; i < MOST_PATHS && any && status == MO_OK; i++) {
        int64_t length_ns = mo_path_find(s->path);
        double saved_ns = (double) s->upper_path_ns - (double) length_ns;

        if (length_ns >= s->upper_path_ns)
            break;
        most_ns = i == 0 ? saved_ns : most_ns;
        if (i == 0 && how == MO_TRY_ANNEAL)
            m->hoped = saved_ns / (double) s->upper_path_ns;
        status = add_path(m, how, saved_ns / most_ns, &any, err);
    }
    return status;
}

static int compare_options(const void *a, const void *b)
{
    const option *s = a, *t = b;

    if (s->gain_ns != t->gain_ns)
        return s->gain_ns > t->gain_ns ? -1 : 1;
    if (s->kind != t->kind)
        return s->kind < t->kind ? -1 : 1;
    return (s->pair > t->pair) - (s->pair < t->pair);
}

static bool is_quick(const mo_improver *m, const option *o)
{
    return m->search->kinds->kinds[o->kind].n <= EXACT_OPS;
}

/* The options that promise most, in this order; what promises little beside the
 * first waits, unless it is quick. */
static int choose(mo_improver *m, int most)
{
    double least_ns;
    int n = 0;

    if (m->n > 1)
        qsort(m->options, m->n, sizeof *m->options, compare_options);
    least_ns = m->n > 0 ? m->options[0].gain_ns / LEAST_SHARE : 0;
    for (size_t i = 0; i < m->n && n < most; i++)
        if (m->options[i].gain_ns >= least_ns || is_quick(m, &m->options[i]))
            m->options[n++] = m->options[i];
    return n;
}

/* Where there is room for more attempts, those that promise most are made
 * several times. */
static int copies_of(const mo_improver *m, int i, int n, int most)
{
    const option *o = &m->options[i];
    int level = m->search->kinds->kinds[o->kind].pairs[o->pair].level;
    int most_copies = level < MOST_COPIES ? level + 1 : MOST_COPIES, copies;
    double sum_ns = 0;

    if (is_quick(m, o) || o->how == MO_TRY_EXACT)
        return 1;
    for (int j = 0; j < n; j++)
        sum_ns += m->options[j].gain_ns;
    copies = (int) ((most - n) * (o->gain_ns / sum_ns)) + 1;
    return copies < most_copies ? copies : most_copies;
}

static mo_status find_options(mo_improver *m, mo_error *err)
{
    size_t n_kinds = (size_t) m->search->kinds->n;
    size_t n_pairs =
        (size_t) m->search->states.n * (size_t) m->search->states.n;
    mo_status status;

    m->n = 0;
    m->hoped = 0;
    memset(m->chosen, 0, n_kinds * n_pairs * sizeof *m->chosen);
    set_hopes(m);
    status = add_paths(m, MO_TRY_ANNEAL, err);
    if (status != MO_OK)
        return status;
    set_bounds(m);
    return add_paths(m, MO_TRY_EXACT, err);
}

mo_status mo_improver_plan(mo_improver *m, int round, mo_try *tries, int most,
                           int *n, double *hoped, mo_error *err)
{
    uint64_t seed = mo_random_seed(m->search->task->seed, (uint64_t) round);
    mo_status status = find_options(m, err);
    int n_chosen;

    *n = 0;
    *hoped = m->hoped;
    if (status != MO_OK)
        return status;
    n_chosen = choose(m, most);
    for (int i = 0; i < n_chosen; i++) {
        int copies = copies_of(m, i, n_chosen, most);

        for (int c = 0; c < copies && *n < most && status == MO_OK; c++) {
            uint64_t own = mo_random_seed(seed, (uint64_t) *n);

            status = fill_try(m, &m->options[i], c, own, &tries[(*n)++], err);
        }
    }
    for (int i = 0; i < n_chosen; i++) {
        const option *o = &m->options[i];

        m->search->kinds->kinds[o->kind].pairs[o->pair].level++;
    }
    return status;
}

static mo_status take_schedule(mo_improver *m, const mo_try *it,
                               mo_schedule *schedule, mo_error *err)
{
    mo_search *s = m->search;

    if (schedule && s->blocks)
        mo_blocks_see(s->blocks, it->kind, schedule);
    return mo_kind_improve(s->kinds, &s->kinds->kinds[it->kind], it->pair,
                           schedule, err);
}

mo_status mo_improver_take(mo_improver *m, mo_try *it, mo_error *err)
{
    mo_pair *pair = &m->search->kinds->kinds[it->kind].pairs[it->pair];
    mo_status status = take_schedule(m, it, it->schedule, err);

    if (it->lower_ns > pair->own_ns)
        pair->own_ns = it->lower_ns;
    for (size_t i = 0; i < it->n_more; i++) {
        mo_status other = take_schedule(m, it, it->more[i], err);

        status = status == MO_OK ? other : status;
    }
    free(it->more);
    it->schedule = NULL;
    it->more = NULL;
    it->n_more = 0;
    return status;
}
