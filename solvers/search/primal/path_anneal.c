/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/rcsp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "base/parallel_for.h"
#include "base/random.h"
#include "schedule/allowed_devices.h"
#include "schedule/heuristic/annealer.h"

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

/* A proposed change of the segments from `from` on, and the cuts between. */
typedef struct move {
    int from, n;
    int choice[LONGEST_RUN + 1];
    int state; /* of all cuts between */
} move;

typedef struct path_annealing {
    const mo_primal_rcsp *problem;
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

    move moves[2]; /* proposed at once: n_moves */
    int n_moves;
    int64_t more_ns;       /* of them */
    double new_penalty_ns; /* with them */
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
                mo_decomp_priced_bytes_ns(a->classes, a->problem->price_ns,
                                          a->choices[i].bytes);

            if (ns < least_ns) {
                least_ns = ns;
                a->cheapest[at] = i;
            }
        }
    }
    return MO_OK;
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
        if (used[k] > a->problem->capacity_bytes[k])
            sum_ns += a->penalty_ns[k] *
                      (double) (used[k] - a->problem->capacity_bytes[k]);
    return sum_ns;
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

        int n = a->first[at + 1] - a->first[at];
        bool cheapest =
            n_cuts > 0 && mo_random_below(&a->random, RANDOM_EVERY) > 0;

        m->choice[i] = n == 0 || cheapest
                           ? a->cheapest[at]
                           : a->first[at] + mo_random_below(&a->random, n);
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

/* One move, or two at once, of different segments. */
static mo_status propose_moves(void *search, mo_annealer *annealer,
                               bool *accepted, mo_error *err)
{
    path_annealing *a = search;
    move *m = a->moves;

    (void) err;
    a->n_moves = 1 + mo_random_below(&a->random, 2);
    if (!draw_move(a, &m[0]) || (a->n_moves > 1 && !draw_move(a, &m[1])))
        return MO_OK;
    if (a->n_moves > 1 && m[0].from < m[1].from + m[1].n &&
        m[1].from < m[0].from + m[0].n)
        return MO_OK;
    memcpy(a->more, a->used, (size_t) a->n_devices * sizeof *a->more);
    a->more_ns = try_move(a, &m[0]);
    if (a->n_moves > 1)
        a->more_ns += try_move(a, &m[1]);
    a->new_penalty_ns = penalty_of(a, a->more);
    *accepted =
        mo_annealer_accepts(annealer, (double) (a->time_ns + a->more_ns) +
                                          a->new_penalty_ns - a->cost_ns);
    return MO_OK;
}

static mo_status accept_moves(void *search, mo_error *err)
{
    path_annealing *a = search;

    (void) err;
    memcpy(a->used, a->more, (size_t) a->n_devices * sizeof *a->used);
    a->time_ns += a->more_ns;
    a->cost_ns = (double) a->time_ns + a->new_penalty_ns;
    for (const move *m = a->moves; m < a->moves + a->n_moves; m++)
        for (int i = 0; i < m->n; i++) {
            a->now[m->from + i] = m->choice[i];
            if (i < m->n - 1)
                a->state[m->from + i] = m->state;
        }
    if (a->new_penalty_ns > 0 || a->time_ns >= a->least_ns)
        return MO_OK;
    a->least_ns = a->time_ns;
    memcpy(a->least, a->now, (size_t) a->n * sizeof *a->least);
    memcpy(a->least_state, a->state, (size_t) a->n * sizeof *a->least_state);
    return MO_OK;
}

static mo_status run_moves(path_annealing *a, mo_error *err)
{
    static const mo_annealer_moves functions = { .propose = propose_moves,
                                                 .accept = accept_moves };
    const mo_primal_path_anneal_options *o = a->options;
    double mean_ns = (double) a->time_ns / a->n;
    mo_annealer annealer = { .rule = MO_ANNEALER_TOLERANCE,
                             .cooling = { .hot = o->hot * mean_ns,
                                          .cold = o->cold * mean_ns,
                                          .power = 4,
                                          .levels = COOLINGS },
                             .unit = 1,
                             .steps = o->moves,
                             .random = &a->random };

    return mo_annealer_run(&annealer, &functions, a, err);
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
    /* The bytes of segments without a part: those of their exit op. */
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

    double sum_ns = 0;
    int count = 0;

    for (int k = 0; k < a->n_devices; k++)
        if (a->problem->price_ns[k] > 0) {
            sum_ns += a->problem->price_ns[k];
            count++;
        }
    for (int k = 0; k < a->n_devices; k++)
        a->penalty_ns[k] = a->options->penalty *
                           fmax(a->problem->price_ns[k],
                                count > 0 ? LEAST_PRICE * sum_ns / count : 1);
    return fill_choices(a, err);
}

mo_status mo_primal_path_anneal(const mo_primal_rcsp *problem,
                                const mo_primal_path_anneal_options *options,
                                mo_decomp_path *path, unsigned char *variants,
                                int64_t *least_ns, mo_error *err)
{
    const mo_decomp_classes *classes = problem->classes;
    path_annealing a = { .problem = problem,
                         .classes = classes,
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
        for (int i = 0; i < a.n - 1; i++)
            a.state[i] = path->state[i];
        for (int i = 0; i < a.n; i++) {
            int at = table_at(&a, i, entry_of(&a, i), exit_of(&a, i));
            const choice *c;

            a.now[i] = a.first[at];
            while (a.now[i] < a.first[at + 1] - 1 &&
                   a.choices[a.now[i]].number != variants[i])
                a.now[i]++;
            c = &a.choices[a.now[i]];
            a.time_ns += c->time_ns;
            for (int k = 0; k < a.n_devices; k++)
                a.used[k] += c->bytes[k];
        }
        a.cost_ns = (double) a.time_ns + penalty_of(&a, a.used);
        status = run_moves(&a, err);
    }
    if (status == MO_OK && a.least_ns < *least_ns) {
        *least_ns = a.least_ns;
        for (int i = 0; i < a.n; i++)
            variants[i] = a.choices[a.least[i]].number;
        for (int i = 0; i < a.n - 1; i++)
            path->state[i] = a.least_state[i];
    }
    free(a.first);
    free(a.choices);
    free(a.cheapest);
    free(a.direct_bytes);
    free(a.penalty_ns);
    free(a.state);
    free(a.now);
    free(a.used);
    free(a.more);
    free(a.least);
    free(a.least_state);
    return status;
}

enum {
    MAX_MOVES = 400000,  /* of a run */
    SEGMENT_MOVES = 6000 /* the same, by segment */
};

/* Of several runs: the last temperature, the first one and the penalty of each.
 * None is best everywhere.  Those of a wave run at once, from the best path of
 * the wave before. */
#define RUNS_COLD 0.0005
enum { WAVES = 2, WAVE_RUNS = 4 };
static const struct {
    double hot, penalty;
} anneal_runs[WAVES][WAVE_RUNS] = {
    { { 0.1, 3 }, { 0.03, 2 }, { 0.1, 6 }, { 0.03, 1.2 } },
    { { 0.01, 1.5 }, { 0.03, 1.5 }, { 0.01, 3 }, { 0.03, 3 } },
};

/* One of the runs at once. */
typedef struct anneal_run {
    const mo_primal_rcsp *problem;
    mo_primal_path_anneal_options options;
    mo_decomp_path path; /* owns state, the rest is shared and not used */
    unsigned char *variants;
    int64_t least_ns;
    mo_status status;
    mo_error err;
} anneal_run;

static void run_annealing(void *context, int run, int thread)
{
    anneal_run *r = (anneal_run *) context + run;

    (void) thread;
    r->status = mo_primal_path_anneal(r->problem, &r->options, &r->path,
                                      r->variants, &r->least_ns, &r->err);
}

/* Copies the states of cuts and the variants. */
static void copy_path(int n, const mo_decomp_path *path,
                      const unsigned char *variants, mo_decomp_path *to,
                      unsigned char *to_variants)
{
    memcpy(to->state, path->state, (size_t) (n - 1) * sizeof *to->state);
    memcpy(to_variants, variants, (size_t) n);
}

mo_status mo_primal_path_anneal_runs(const mo_primal_rcsp *problem,
                                     mo_decomp_path *path,
                                     unsigned char *variants, int64_t *least_ns,
                                     mo_error *err)
{
    int n = problem->classes->segments->n;
    anneal_run runs[WAVE_RUNS];
    mo_status status = MO_OK;

    if (mo_ablated(MO_ABLATION_path_anneal))
        return MO_OK;
    for (int i = 0; i < WAVE_RUNS; i++) {
        runs[i] = (anneal_run){
            .problem = problem,
            .options = { .moves =
                             mo_min_i64(MAX_MOVES, (int64_t) SEGMENT_MOVES * n),
                         .cold = RUNS_COLD },
            .path = *path
        };
        runs[i].path.state = calloc((size_t) n, sizeof *runs[i].path.state);
        runs[i].variants = calloc((size_t) n, sizeof *runs[i].variants);
        if (!runs[i].path.state || !runs[i].variants)
            status = mo_fail_memory(err);
    }
    for (int wave = 0; wave < WAVES && status == MO_OK; wave++) {
        for (int i = 0; i < WAVE_RUNS; i++) {
            runs[i].options.seed = mo_random_seed(
                problem->seed, (uint64_t) (wave * WAVE_RUNS + i));
            runs[i].options.hot = anneal_runs[wave][i].hot;
            runs[i].options.penalty = anneal_runs[wave][i].penalty;
            runs[i].least_ns = *least_ns;
            copy_path(n, path, variants, &runs[i].path, runs[i].variants);
        }
        mo_parallel_for(problem->threads, WAVE_RUNS, run_annealing, runs);
        for (int i = 0; i < WAVE_RUNS && status == MO_OK; i++) {
            status = runs[i].status;
            if (status != MO_OK && err)
                *err = runs[i].err;
            if (status == MO_OK && runs[i].least_ns < *least_ns) {
                *least_ns = runs[i].least_ns;
                copy_path(n, &runs[i].path, runs[i].variants, path, variants);
            }
        }
    }
    for (int i = 0; i < WAVE_RUNS; i++) {
        free(runs[i].path.state);
        free(runs[i].variants);
    }
    return status;
}
