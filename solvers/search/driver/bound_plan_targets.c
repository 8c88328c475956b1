/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "solvers/search/driver/bound_plan_internal.h"

enum {
    LEAST_PATHS = 5,
    PLAN_WORK = 100000000, /* aims by paths */
    MOST_PATHS = 400,      /* made longer in one plan */
    RISES = 8,             /* from the bound to the goal */
    LITTLE = 8,            /* part of what the best brings */
    STEP = 12,             /* part of a time to raise it by at once */
    SMALL_STEP = 4,        /* the same where that is no effort */
    FINE = 2000            /* parts of a time that are too few to be a target */
};

/* What may be aimed at: not above what was seen, and not what has failed. */
static int64_t most_ns(const mo_search_bound_plan *m, int block, int boundary)
{
    const mo_chain_block *b = &m->blocks->blocks[block];
    const mo_search_bound_target *it = aim_of(m, block, boundary);
    int64_t least_ns = b->lower_ns[boundary], most = b->seen_ns[boundary],
            step_ns;

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

void mo_search_bound_plan_reset(mo_search_bound_plan *m)
{
    size_t size = (size_t) m->n_boundaries * sizeof(int64_t);

    for (int i = 0; i < m->blocks->n; i++) {
        memcpy(m->raised_ns[i], m->blocks->blocks[i].lower_ns, size);
        for (int p = 0; p < m->n_boundaries; p++)
            aim_of(m, i, p)->turn = 0;
    }
    for (int i = 0; i < m->search->classes->n; i++) {
        const mo_decomp_class *cls = &m->search->classes->classes[i];

        m->search->path->tables[i] = cls->part ? m->times_ns[i] : cls->lower_ns;
        if (cls->part)
            memcpy(m->times_ns[i], cls->lower_ns, size);
    }
}

/* What the raised times come to. */
static mo_status add_up(mo_search_bound_plan *m, mo_error *err)
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

/* How often each boundary of a class is on the path. */
static void count_uses(mo_search_bound_plan *m)
{
    const mo_search_state *s = m->search;
    size_t n_boundaries = (size_t) m->n_boundaries;

    memset(m->uses, 0, (size_t) s->classes->n * n_boundaries * sizeof *m->uses);
    for (int i = 0; i < s->segments->n; i++)
        m->uses[(size_t) s->segments->cls[i] * n_boundaries +
                (size_t) mo_decomp_path_boundary(s->path, i)]++;
}

/* Spreads the uses of a boundary of a class over its blocks. */
static mo_status use_blocks(mo_search_bound_plan *m, int cls, int boundary,
                            int uses, mo_error *err)
{
    const mo_chain_partition *c = &m->blocks->chained[cls];
    mo_status status = mo_chain_blocks_shortest_path(
        m->blocks, cls, boundary, m->raised_ns, m->boundaries, err);

    for (int s = 0; s < c->chain->n && status == MO_OK; s++)
        aim_of(m, c->block[s], m->boundaries[s])->uses += uses;
    return status;
}

/* Fills uses of the aims for the path found last. */
mo_status mo_search_bound_plan_count_path(mo_search_bound_plan *m,
                                          mo_error *err)
{
    size_t n_aims = (size_t) m->blocks->n * (size_t) m->n_boundaries;
    mo_status status = MO_OK;

    for (size_t i = 0; i < n_aims; i++)
        m->aims[i].uses = 0;
    count_uses(m);
    for (int i = 0; i < m->search->classes->n; i++)
        for (int p = 0; m->search->classes->classes[i].part &&
                        p < m->n_boundaries && status == MO_OK;
             p++) {
            int uses =
                m->uses[(size_t) i * (size_t) m->n_boundaries + (size_t) p];

            if (uses > 0)
                status = use_blocks(m, i, p, uses, err);
        }
    return status;
}

/* What the path would become longer by, if all of an aim's room is used. */
static double worth(const mo_search_bound_plan *m, int block, int boundary)
{
    const mo_search_bound_target *it = aim_of(m, block, boundary);

    return it->uses == 0
               ? 0
               : (double) it->uses * (double) (most_ns(m, block, boundary) -
                                               m->raised_ns[block][boundary]);
}

/* Every aim is a proof, whatever it is worth: those that bring little beside
 * the best of the path are left alone. */
static double least_worth(const mo_search_bound_plan *m)
{
    double most = 0;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            if (worth(m, i, p) > most)
                most = worth(m, i, p);
    return most / LITTLE;
}

static double room_on_path(const mo_search_bound_plan *m, double least)
{
    double room_ns = 0;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            if (worth(m, i, p) >= least)
                room_ns += worth(m, i, p);
    return room_ns;
}

/* Raises what is on the path by this part of its room. */
static void raise_path(mo_search_bound_plan *m, double least, double part,
                       int turn)
{
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++) {
            int64_t most = most_ns(m, i, p), now = m->raised_ns[i][p];

            mo_search_bound_target *it = aim_of(m, i, p);

            if (it->uses == 0 || most <= now || worth(m, i, p) < least)
                continue;
            it->turn = it->turn == 0 ? turn : it->turn;
            now += (int64_t) (part * (double) (most - now)) + 1;
            m->raised_ns[i][p] = now < most ? now : most;
        }
}

/* Each looks at all aims. */
int mo_search_bound_plan_max_paths(const mo_search_bound_plan *m)
{
    int64_t paths = PLAN_WORK / ((int64_t) m->blocks->n * m->n_boundaries + 1);

    return paths < LEAST_PATHS  ? LEAST_PATHS
           : paths > MOST_PATHS ? MOST_PATHS
                                : (int) paths;
}

/* Makes the path found last longer, up to the goal if it can be; *any: it can.
 */
static mo_status lengthen(mo_search_bound_plan *m, double missing_ns, int turn,
                          bool *any, mo_error *err)
{
    mo_status status = mo_search_bound_plan_count_path(m, err);
    double least = least_worth(m), room_ns = room_on_path(m, least);

    *any = status == MO_OK && room_ns > 0;
    if (!*any)
        return status;
    raise_path(m, least, missing_ns < room_ns ? missing_ns / room_ns : 1, turn);
    return add_up(m, err);
}

/* Raises paths until the shortest is as long as the goal, or cannot be.  They
 * rise together, step by step: boundaries that lie on many then bear no more of
 * it than others. */
mo_status mo_search_bound_plan_raise_paths(mo_search_bound_plan *m,
                                           int64_t goal_ns, mo_error *err)
{
    int64_t step_ns = (goal_ns - m->search->lower_ns) / RISES + 1;
    int64_t next_ns = m->search->lower_ns;
    mo_status status = MO_OK;
    bool any = true;

    mo_search_bound_plan_reset(m);
    for (int i = 0;
         i < mo_search_bound_plan_max_paths(m) && any && status == MO_OK; i++) {
        int64_t length_ns = mo_decomp_path_shortest(m->search->path);

        if (length_ns >= goal_ns)
            break;
        while (next_ns <= length_ns)
            next_ns += step_ns;
        if (next_ns > goal_ns)
            next_ns = goal_ns;
        status = lengthen(m, (double) (next_ns - length_ns), i + 1, &any, err);
    }
    return status;
}
