/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/path_anneal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/random.h"
#include "schedule/allowed_devices.h"

enum {
    LONGEST_RUN = 6,  /* cuts that change state together */
    RANDOM_EVERY = 5, /* of variants beside a cut that changes state: one of
                         so many is random, the others are the cheapest */
    COOLINGS = 64     /* steps from hot to cold */
};

/* Devices without a multiplier get this part of the mean of the others. */
#define LEAST_PRICE 0.3

/* A variant at a boundary of a class. */
typedef struct choice {
    int64_t time_ns;
    const int64_t *bytes; /* by device */
    unsigned char number;
} choice;

typedef struct path_annealing {
    const mo_decomp_classes *classes;
    const mo_primal_path_anneal_options *options;
    int n, n_states, n_boundaries, n_devices;

    int *first; /* by class and boundary: its choices, one more at the end */
    choice *choices;
    int *cheapest;         /* by class and boundary: by priced time; -1: none */
    int64_t *direct_bytes; /* by class without a part, exit state and device */
    double *penalty_ns;    /* by device, for an excess byte */

    int *state;               /* by cut */
    int *now;                 /* by segment: a choice */
    int64_t *used;            /* by device */
    int64_t time_ns;          /* of the path */
    double cost_ns;           /* with penalties */
    int64_t *more;            /* by device: of a move */
    int *least, *least_state; /* the best: as now and state */
    int64_t least_ns;
    mo_random random;
} path_annealing;

/* Adds the choices of a boundary, or, where choices is NULL, counts them. */
static int add_choices(const path_annealing *a, int number, int boundary,
                       choice *choices)
{
    const mo_decomp_class *cls = &a->classes->classes[number];
    const mo_decomp_variant *variants;
    int n = 0;

    if (!cls->part) {
        if (cls->upper_ns[boundary] == INT64_MAX)
            return 0;
        if (choices)
            choices[0] = (choice){ cls->upper_ns[boundary],
                                   a->direct_bytes +
                                       ((size_t) number * (size_t) a->n_states +
                                        (size_t) (boundary % a->n_states)) *
                                           (size_t) a->n_devices,
                                   0 };
        return 1;
    }
    variants = cls->boundaries[boundary].variants;
    for (int i = 0; variants && i < a->classes->n_variants; i++) {
        if (!variants[i].schedule)
            continue;
        if (choices)
            choices[n] = (choice){ variants[i].schedule->makespan_ns,
                                   variants[i].bytes, (unsigned char) i };
        n++;
    }
    return n;
}

/* The bytes of segments without a part: those of their exit op. */
static void fill_direct_bytes(path_annealing *a)
{
    const mo_decomp_classes *classes = a->classes;

    for (int c = 0; c < classes->n; c++) {
        int v = mo_decomp_segment_exit(classes->segments,
                                       classes->segments->first[c]);

        for (int s = 0; s < a->n_states && v != MO_FREE; s++)
            a->direct_bytes[((size_t) c * (size_t) a->n_states + (size_t) s) *
                                (size_t) a->n_devices +
                            (size_t) classes->states->device[s]] =
                mo_regime_resident_bytes(classes->x, classes->regime.memory, v);
    }
}

static mo_status fill_choices(path_annealing *a, mo_error *err)
{
    int n_classes = a->classes->n, n = 0;

    for (int c = 0; c < n_classes; c++)
        for (int b = 0; b < a->n_boundaries; b++) {
            a->first[c * a->n_boundaries + b] = n;
            n += add_choices(a, c, b, NULL);
        }
    a->first[n_classes * a->n_boundaries] = n;
    a->choices = malloc(((size_t) n + 1) * sizeof *a->choices);
    if (!a->choices)
        return mo_fail_memory(err);
    for (int at = 0; at < n_classes * a->n_boundaries; at++) {
        double least_ns = INFINITY;

        add_choices(a, at / a->n_boundaries, at % a->n_boundaries,
                    a->choices + a->first[at]);
        a->cheapest[at] = -1;
        for (int i = a->first[at]; i < a->first[at + 1]; i++) {
            double ns =
                (double) a->choices[i].time_ns +
                mo_decomp_priced_bytes_ns(a->classes, a->options->price_ns,
                                          a->choices[i].bytes);

            if (ns < least_ns) {
                least_ns = ns;
                a->cheapest[at] = i;
            }
        }
    }
    return MO_OK;
}

static void set_penalties(path_annealing *a)
{
    double sum_ns = 0;
    int n = 0;

    for (int k = 0; k < a->n_devices; k++)
        if (a->options->price_ns[k] > 0) {
            sum_ns += a->options->price_ns[k];
            n++;
        }
    for (int k = 0; k < a->n_devices; k++)
        a->penalty_ns[k] =
            a->options->penalty *
            fmax(a->options->price_ns[k], n > 0 ? LEAST_PRICE * sum_ns / n : 1);
}

static int entry_of(const path_annealing *a, int segment)
{
    return segment > 0 ? a->state[segment - 1] : 0;
}

static int exit_of(const path_annealing *a, int segment)
{
    return segment < a->n - 1 ? a->state[segment] : 0;
}

static int table_at(const path_annealing *a, int segment, int entry, int exit)
{
    return a->classes->segments->cls[segment] * a->n_boundaries +
           entry * a->n_states + exit;
}

static double penalty_of(const path_annealing *a, const int64_t *used)
{
    double sum_ns = 0;

    for (int k = 0; k < a->n_devices; k++)
        if (used[k] > a->options->capacity_bytes[k])
            sum_ns += a->penalty_ns[k] *
                      (double) (used[k] - a->options->capacity_bytes[k]);
    return sum_ns;
}

/* A proposed change of the segments from `from` on, and the cuts between. */
typedef struct move {
    int from, n;
    int choice[LONGEST_RUN + 1];
    int state; /* of all cuts between */
} move;

/* The cheapest choice, or a random one; -1: none. */
static int draw_choice(path_annealing *a, int at, bool cheapest)
{
    int n = a->first[at + 1] - a->first[at];

    if (n == 0 || cheapest)
        return a->cheapest[at];
    return a->first[at] + mo_random_below(&a->random, n);
}

/* Draws a move; returns false where it is none. */
static bool draw_move(path_annealing *a, move *m)
{
    int kind = mo_random_below(&a->random, 4), n_cuts = 0;
    int first = mo_random_below(&a->random, a->n);

    m->state = 0;
    if (kind > 0 && a->n > 1) {
        n_cuts = kind < 3 ? 1 : 1 + mo_random_below(&a->random, LONGEST_RUN);
        n_cuts = mo_min_int(n_cuts, a->n - 1);
        first = mo_random_below(&a->random, a->n - n_cuts);
        m->state = mo_random_below(&a->random, a->n_states);
    }
    m->from = first;
    m->n = n_cuts + 1;
    for (int i = 0; i < m->n; i++) {
        int s = first + i;
        int at = table_at(a, s, i > 0 ? m->state : entry_of(a, s),
                          i < n_cuts ? m->state : exit_of(a, s));

        m->choice[i] = draw_choice(
            a, at, n_cuts > 0 && mo_random_below(&a->random, RANDOM_EVERY) > 0);
        if (m->choice[i] < 0)
            return false;
    }
    return true;
}

/* Adds the bytes of the move; returns how much longer the path is. */
static int64_t try_move(const path_annealing *a, const move *m)
{
    int64_t more_ns = 0;

    for (int i = 0; i < m->n; i++) {
        const choice *old = &a->choices[a->now[m->from + i]],
                     *new = &a->choices[m->choice[i]];

        if (old == new)
            continue;
        more_ns += new->time_ns - old->time_ns;
        for (int k = 0; k < a->n_devices; k++)
            a->more[k] += new->bytes[k] - old->bytes[k];
    }
    return more_ns;
}

static bool is_disjoint(const move *m, const move *other)
{
    return m->from + m->n <= other->from || other->from + other->n <= m->from;
}

static void make_move(path_annealing *a, const move *m)
{
    for (int i = 0; i < m->n; i++) {
        a->now[m->from + i] = m->choice[i];
        if (i < m->n - 1)
            a->state[m->from + i] = m->state;
    }
}

static void keep_least(path_annealing *a)
{
    a->least_ns = a->time_ns;
    memcpy(a->least, a->now, (size_t) a->n * sizeof *a->least);
    memcpy(a->least_state, a->state, (size_t) a->n * sizeof *a->least_state);
}

static void run_moves(path_annealing *a)
{
    int64_t moves = a->options->moves;
    double mean_ns = (double) a->time_ns / a->n;
    double hot_ns = a->options->hot * mean_ns,
           cold_ns = a->options->cold * mean_ns;

    for (int step = 0; step < COOLINGS; step++) {
        /* Quartic in the remaining steps. */
        double left = (double) (COOLINGS - step) / COOLINGS;
        double now_ns =
            cold_ns + (hot_ns - cold_ns) * left * left * left * left;

        for (int64_t i = moves * step / COOLINGS;
             i < moves * (step + 1) / COOLINGS; i++) {
            move m[2];
            int n_moves = 1 + mo_random_below(&a->random, 2);
            double cost_ns, penalty_ns, allowed_ns;
            int64_t more_ns;

            if (!draw_move(a, &m[0]) ||
                (n_moves > 1 &&
                 (!draw_move(a, &m[1]) || !is_disjoint(&m[0], &m[1]))))
                continue;
            memcpy(a->more, a->used, (size_t) a->n_devices * sizeof *a->more);
            more_ns = try_move(a, &m[0]);
            if (n_moves > 1)
                more_ns += try_move(a, &m[1]);
            penalty_ns = penalty_of(a, a->more);
            cost_ns = (double) (a->time_ns + more_ns) + penalty_ns;
            allowed_ns = a->cost_ns + (double) mo_random_exponential(
                                          &a->random, (int64_t) now_ns);
            if (cost_ns > allowed_ns)
                continue;
            memcpy(a->used, a->more, (size_t) a->n_devices * sizeof *a->used);
            a->time_ns += more_ns;
            a->cost_ns = cost_ns;
            for (int j = 0; j < n_moves; j++)
                make_move(a, &m[j]);
            if (penalty_ns == 0 && a->time_ns < a->least_ns)
                keep_least(a);
        }
    }
}

/* Returns the choice of a variant at a boundary. */
static int find_choice(const path_annealing *a, int at, unsigned char variant)
{
    int i = a->first[at];

    while (i < a->first[at + 1] - 1 && a->choices[i].number != variant)
        i++;
    return i;
}

static void set_start(path_annealing *a, const mo_decomp_path *path,
                      const unsigned char *variants)
{
    for (int i = 0; i < a->n - 1; i++)
        a->state[i] = path->state[i];
    for (int i = 0; i < a->n; i++) {
        const choice *c;

        a->now[i] = find_choice(
            a, table_at(a, i, entry_of(a, i), exit_of(a, i)), variants[i]);
        c = &a->choices[a->now[i]];
        a->time_ns += c->time_ns;
        for (int k = 0; k < a->n_devices; k++)
            a->used[k] += c->bytes[k];
    }
    a->cost_ns = (double) a->time_ns + penalty_of(a, a->used);
}

static mo_status open_annealing(path_annealing *a, mo_error *err)
{
    size_t n = (size_t) a->n, n_devices = (size_t) a->n_devices;
    size_t n_tables = (size_t) a->classes->n * (size_t) a->n_boundaries;

    a->first = calloc(n_tables + 1, sizeof *a->first);
    a->cheapest = calloc(n_tables + 1, sizeof *a->cheapest);
    a->direct_bytes =
        calloc((size_t) a->classes->n * (size_t) a->n_states * n_devices + 1,
               sizeof *a->direct_bytes);
    a->penalty_ns = calloc(n_devices, sizeof *a->penalty_ns);
    a->state = calloc(n, sizeof *a->state);
    a->now = calloc(n, sizeof *a->now);
    a->used = calloc(n_devices, sizeof *a->used);
    a->more = calloc(n_devices, sizeof *a->more);
    a->least = calloc(n, sizeof *a->least);
    a->least_state = calloc(n, sizeof *a->least_state);
    if (!a->first || !a->cheapest || !a->direct_bytes || !a->penalty_ns ||
        !a->state || !a->now || !a->used || !a->more || !a->least ||
        !a->least_state)
        return mo_fail_memory(err);
    fill_direct_bytes(a);
    set_penalties(a);
    return fill_choices(a, err);
}

static void close_annealing(path_annealing *a)
{
    free(a->first);
    free(a->choices);
    free(a->cheapest);
    free(a->direct_bytes);
    free(a->penalty_ns);
    free(a->state);
    free(a->now);
    free(a->used);
    free(a->more);
    free(a->least);
    free(a->least_state);
}

mo_status mo_primal_path_anneal(const mo_decomp_classes *classes,
                                const mo_primal_path_anneal_options *options,
                                mo_decomp_path *path, unsigned char *variants,
                                int64_t *least_ns, mo_error *err)
{
    path_annealing a = { .classes = classes,
                         .options = options,
                         .n = classes->segments->n,
                         .n_states = classes->states->n,
                         .n_boundaries =
                             classes->states->n * classes->states->n,
                         .n_devices = classes->x->n_devices,
                         .least_ns = *least_ns,
                         .random = { options->seed } };
    mo_status status = open_annealing(&a, err);

    if (status == MO_OK) {
        set_start(&a, path, variants);
        run_moves(&a);
    }
    if (status == MO_OK && a.least_ns < *least_ns) {
        *least_ns = a.least_ns;
        for (int i = 0; i < a.n; i++)
            variants[i] = a.choices[a.least[i]].number;
        for (int i = 0; i < a.n - 1; i++)
            path->state[i] = a.least_state[i];
    }
    close_annealing(&a);
    return status;
}
