/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/bound_targets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

enum {
    EXACT_MAX_OPS = 22,
    EXACT_MAX_EFFORT = 7, /* then a target is given up */
    COLGEN_MAX_EFFORT = 7,
    MIN_PATHS = 5,
    PLAN_WORK = 100000000, /* targets x paths */
    MAX_PATHS = 400,       /* lengthened in one plan */
    GOAL_STEPS = 8,        /* steps from the bound to the goal */
    GAIN_PART = 8,         /* a target gains at least this part of the best */
    RAISE_PART = 12,       /* largest raise at once, as a part of the bound */
    EXACT_RAISE_PART = 4,  /* the same for small blocks */
    MIN_RAISE_PART = 2000  /* least raise, as a part of the bound */
};

bool mo_search_bound_targets_is_exact(const mo_search_bound_targets *m,
                                      int block)
{
    return m->blocks->blocks[block].segment->n <= EXACT_MAX_OPS;
}

static int max_effort(const mo_search_bound_targets *m, int block)
{
    return mo_search_bound_targets_is_exact(m, block) ? EXACT_MAX_EFFORT
                                                      : COLGEN_MAX_EFFORT;
}

/* Returns the largest target: not above the best known time, and halfway below
 * one that has failed. */
static int64_t max_target_ns(const mo_search_bound_targets *m, int block,
                             int boundary)
{
    const mo_chain_block *b = &m->blocks->blocks[block];
    const mo_search_bound_target *it =
        mo_search_bound_target_at(m, block, boundary);
    int64_t least_ns = b->lower_ns[boundary], most = b->upper_ns[boundary],
            step_ns;

    if (b->segment->n == 0 || it->effort == 0 ||
        it->effort > max_effort(m, block))
        return least_ns;
    step_ns = least_ns / (mo_search_bound_targets_is_exact(m, block)
                              ? EXACT_RAISE_PART
                              : RAISE_PART) +
              1;
    if (most - least_ns > step_ns)
        most = least_ns + step_ns;
    if (it->failed_ns != INT64_MAX &&
        least_ns + (it->failed_ns - least_ns) / 2 < most)
        most = least_ns + (it->failed_ns - least_ns) / 2;
    return most - least_ns > least_ns / MIN_RAISE_PART ? most : least_ns;
}

void mo_search_bound_targets_reset(mo_search_bound_targets *m)
{
    size_t size = (size_t) m->n_boundaries * sizeof(int64_t);

    for (int i = 0; i < m->blocks->n; i++) {
        memcpy(m->raised_ns[i], m->blocks->blocks[i].lower_ns, size);
        for (int p = 0; p < m->n_boundaries; p++)
            mo_search_bound_target_at(m, i, p)->turn = 0;
    }
    for (int i = 0; i < m->search->classes->n; i++) {
        const mo_decomp_class *cls = &m->search->classes->classes[i];

        m->search->path->tables[i] = cls->part ? m->times_ns[i] : cls->lower_ns;
        if (cls->part)
            memcpy(m->times_ns[i], cls->lower_ns, size);
    }
}

/* Computes the class bounds that follow from raised_ns. */
static mo_status compute_class_times(mo_search_bound_targets *m, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < m->search->classes->n && status == MO_OK; i++) {
        const mo_decomp_class *cls = &m->search->classes->classes[i];

        if (!cls->part)
            continue;
        status = mo_chain_blocks_min_times(m->blocks, i, m->raised_ns,
                                           m->times_ns[i], err);
        for (int p = 0; p < m->n_boundaries && status == MO_OK; p++)
            if (m->times_ns[i][p] < cls->lower_ns[p])
                m->times_ns[i][p] = cls->lower_ns[p];
    }
    return status;
}

mo_status mo_search_bound_targets_count_uses(mo_search_bound_targets *m,
                                             mo_error *err)
{
    size_t n_boundaries;
    size_t n_aims = (size_t) m->blocks->n * (size_t) m->n_boundaries;
    mo_status status = MO_OK;

    for (size_t i = 0; i < n_aims; i++)
        m->targets[i].uses = 0;
    /* Counts the occurrences of each boundary of a class on the path. */
    n_boundaries = (size_t) m->n_boundaries;
    memset(m->uses, 0,
           (size_t) m->search->classes->n * n_boundaries * sizeof *m->uses);
    for (int i = 0; i < m->search->segments->n; i++)
        m->uses[(size_t) m->search->segments->cls[i] * n_boundaries +
                (size_t) mo_decomp_path_boundary(m->search->path, i)]++;
    for (int i = 0; i < m->search->classes->n; i++)
        for (int p = 0; m->search->classes->classes[i].part &&
                        p < m->n_boundaries && status == MO_OK;
             p++) {
            int uses =
                m->uses[(size_t) i * (size_t) m->n_boundaries + (size_t) p];

            if (uses > 0) {
                /* Adds the uses of a class's boundary to the blocks on its
                 * shortest chain path. */
                const mo_chain_partition *c = &m->blocks->partitions[i];

                status = mo_chain_blocks_shortest_path(
                    m->blocks, i, p, m->raised_ns, m->boundaries, err);
                for (int s = 0; s < c->chain->n && status == MO_OK; s++)
                    mo_search_bound_target_at(m, c->block[s], m->boundaries[s])
                        ->uses += uses;
            }
        }
    return status;
}

/* Returns by how much the path grows if the target is raised to its maximum. */
static double gain_of(const mo_search_bound_targets *m, int block, int boundary)
{
    const mo_search_bound_target *it =
        mo_search_bound_target_at(m, block, boundary);

    return it->uses == 0 ? 0
                         : (double) it->uses *
                               (double) (max_target_ns(m, block, boundary) -
                                         m->raised_ns[block][boundary]);
}

/* Returns what the path can grow, and the gain of the targets to be raised:
 * every one costs a job, so that those that gain little beside the best of the
 * path are not. */
static double find_gains(const mo_search_bound_targets *m, double *least)
{
    double most = 0, sum_ns = 0;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            most = fmax(most, gain_of(m, i, p));
    *least = most / GAIN_PART;
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            if (gain_of(m, i, p) >= *least)
                sum_ns += gain_of(m, i, p);
    return sum_ns;
}

/* Raises the targets on the path by this part of their maxima. */
static void raise_path_targets(mo_search_bound_targets *m, double least,
                               double part, int turn)
{
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++) {
            int64_t most = max_target_ns(m, i, p), now = m->raised_ns[i][p];

            mo_search_bound_target *it = mo_search_bound_target_at(m, i, p);

            if (it->uses == 0 || most <= now || gain_of(m, i, p) < least)
                continue;
            it->turn = it->turn == 0 ? turn : it->turn;
            now += (int64_t) (part * (double) (most - now)) + 1;
            m->raised_ns[i][p] = mo_min_i64(now, most);
        }
}

/* Every path costs a pass over all targets. */
int mo_search_bound_targets_max_paths(const mo_search_bound_targets *m)
{
    int64_t paths = PLAN_WORK / ((int64_t) m->blocks->n * m->n_boundaries + 1);

    return paths < MIN_PATHS   ? MIN_PATHS
           : paths > MAX_PATHS ? MAX_PATHS
                               : (int) paths;
}

/* Lengthens the last path by missing_ns if possible; *any: some target could
 * be raised. */
static mo_status lengthen_path(mo_search_bound_targets *m, double missing_ns,
                               int turn, bool *any, mo_error *err)
{
    mo_status status = mo_search_bound_targets_count_uses(m, err);
    double least, room_ns = find_gains(m, &least);

    *any = status == MO_OK && room_ns > 0;
    if (!*any)
        return status;
    raise_path_targets(m, least,
                       missing_ns < room_ns ? missing_ns / room_ns : 1, turn);
    return compute_class_times(m, err);
}

mo_status mo_search_bound_targets_raise_paths(mo_search_bound_targets *m,
                                              int64_t goal_ns, mo_error *err)
{
    int64_t step_ns = (goal_ns - m->search->lower_ns) / GOAL_STEPS + 1;
    int64_t next_ns = m->search->lower_ns;
    mo_status status = MO_OK;
    bool any = true;

    mo_search_bound_targets_reset(m);
    for (int i = 0;
         i < mo_search_bound_targets_max_paths(m) && any && status == MO_OK;
         i++) {
        int64_t length_ns = mo_decomp_path_shortest(m->search->path);

        if (length_ns >= goal_ns)
            break;
        while (next_ns <= length_ns)
            next_ns += step_ns;
        if (next_ns > goal_ns)
            next_ns = goal_ns;
        status =
            lengthen_path(m, (double) (next_ns - length_ns), i + 1, &any, err);
    }
    return status;
}

static mo_status reserve_tables(mo_search_bound_targets *m, mo_error *err)
{
    size_t size = (size_t) m->n_boundaries * sizeof(int64_t);

    for (int i = 0; i < m->blocks->n; i++) {
        m->raised_ns[i] = malloc(size);
        if (!m->raised_ns[i])
            return mo_fail_memory(err);
    }
    for (int i = 0; i < m->search->classes->n; i++) {
        if (!m->search->classes->classes[i].part)
            continue;
        m->times_ns[i] = malloc(size);
        if (!m->times_ns[i])
            return mo_fail_memory(err);
    }
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            *mo_search_bound_target_at(m, i, p) = (mo_search_bound_target){
                .failed_ns = INT64_MAX,
                .effort = mo_search_bound_targets_is_exact(m, i)
            };
    return MO_OK;
}

mo_status mo_search_bound_targets_init(mo_search_bound_targets *m,
                                       mo_search_state *search, mo_error *err)
{
    size_t n = (size_t) search->blocks->n + 1, n_boundaries;
    size_t n_classes = (size_t) search->classes->n, longest = 0;

    for (size_t i = 0; i < n_classes; i++) {
        const mo_bound_chain *chain = search->blocks->partitions[i].chain;

        if (chain && (size_t) chain->n > longest)
            longest = (size_t) chain->n;
    }
    m->search = search;
    m->blocks = search->blocks;
    m->n_boundaries = search->x->n_devices * search->x->n_devices;
    n_boundaries = (size_t) m->n_boundaries;
    m->targets = calloc(n, n_boundaries * sizeof *m->targets);
    m->raised_ns = calloc(n, sizeof *m->raised_ns);
    m->times_ns = calloc(n_classes, sizeof *m->times_ns);
    m->uses = calloc(n_classes, n_boundaries * sizeof *m->uses);
    m->boundaries = calloc(longest + 1, sizeof *m->boundaries);
    if (!m->targets || !m->raised_ns || !m->times_ns || !m->uses ||
        !m->boundaries)
        return mo_fail_memory(err);
    return reserve_tables(m, err);
}

void mo_search_bound_targets_clear(mo_search_bound_targets *m)
{
    for (int i = 0; m->raised_ns && i < m->blocks->n; i++)
        free(m->raised_ns[i]);
    for (int i = 0; m->times_ns && i < m->search->classes->n; i++)
        free(m->times_ns[i]);
    free(m->targets);
    free(m->raised_ns);
    free(m->times_ns);
    free(m->uses);
    free(m->boundaries);
}

bool mo_search_bound_targets_raise_effort(mo_search_bound_targets *m)
{
    bool any = false;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++) {
            const mo_chain_block *b = &m->blocks->blocks[i];
            mo_search_bound_target *it = mo_search_bound_target_at(m, i, p);

            if (it->uses == 0 || it->failed_ns == INT64_MAX ||
                it->effort > max_effort(m, i) ||
                b->lower_ns[p] >= b->upper_ns[p])
                continue;
            it->effort++;
            it->failed_ns = INT64_MAX;
            any = true;
        }
    return any;
}
