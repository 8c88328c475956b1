/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/bound_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

enum {
    EXACT_MAX_OPS = 22,      /* blocks up to this size are searched exactly */
    EXACT_MAX_EFFORT = 7,    /* then a target is given up */
    COLGEN_FIRST_EFFORT = 5, /* first that raises large blocks */
    COLGEN_MAX_EFFORT = 7,
    MIN_PATHS = 5,
    PLAN_WORK = 100000000,   /* targets x paths */
    MAX_PATHS = 400,         /* lengthened in one plan */
    GOAL_STEPS = 8,          /* steps from the bound to the goal */
    GAIN_PART = 8,           /* a target gains at least this part of the best */
    RAISE_PART = 12,         /* largest raise at once, as a part of the bound */
    EXACT_RAISE_PART = 4,    /* the same for small blocks */
    MIN_RAISE_PART = 2000,   /* least raise, as a part of the bound */
    LOAD_BOUND_WORK = 20000, /* ops x boundaries: all run at once */
    COLGEN_STEPS = 1200      /* per round: about as long as a primal job */
};

#define DEFAULT_GAP 0.02 /* gap to aim at if the task has none */
#define NEAR_GAP    4    /* times that gap: aim at once */
#define GAP_SHARE   0.85 /* of the gap: proving a little more costs the same */

/* State of a block at a boundary. */
typedef struct bound_target {
    int64_t failed_ns; /* least target failed at this effort, or INT64_MAX */
    int64_t uses;      /* while planning: occurrences on the current path */
    int effort;        /* from 1 on; 0: the load bound has not run */
    int turn; /* while planning: path that raised it first, from 1 on */
} bound_target;

struct mo_search_bound_plan {
    mo_search_state *search;
    mo_chain_blocks *blocks;
    int n_boundaries;
    mo_forkjoin **forks;   /* by block; NULL: not needed yet */
    bound_target *targets; /* by block and boundary */
    int64_t **raised_ns;   /* by block and boundary: with targets proven */
    int64_t **times_ns; /* by class and boundary: what follows from raised_ns */
    int *uses;          /* by class and boundary: occurrences on the path */
    int *boundaries;    /* scratch, by segment of a chain */
    mo_search_bound_job
        interrupted[MO_SEARCH_MAX_BOUND_JOBS]; /* oldest first */
    int n_interrupted;
};

static bound_target *target_of(const mo_search_bound_plan *m, int block,
                               int boundary)
{
    return &m->targets[(size_t) block * (size_t) m->n_boundaries +
                       (size_t) boundary];
}

/* Small blocks are searched exactly; others get the load bound first. */
static bool is_exact_block(const mo_search_bound_plan *m, int block)
{
    return m->blocks->blocks[block].segment->n <= EXACT_MAX_OPS;
}

static int max_effort(const mo_search_bound_plan *m, int block)
{
    return is_exact_block(m, block) ? EXACT_MAX_EFFORT : COLGEN_MAX_EFFORT;
}

/* Returns the largest target: not above the best known time, and halfway below
 * one that has failed. */
static int64_t max_target_ns(const mo_search_bound_plan *m, int block,
                             int boundary)
{
    const mo_chain_block *b = &m->blocks->blocks[block];
    const bound_target *it = target_of(m, block, boundary);
    int64_t least_ns = b->lower_ns[boundary], most = b->upper_ns[boundary],
            step_ns;

    if (b->segment->n == 0 || it->effort == 0 ||
        it->effort > max_effort(m, block))
        return least_ns;
    step_ns =
        least_ns / (is_exact_block(m, block) ? EXACT_RAISE_PART : RAISE_PART) +
        1;
    if (most - least_ns > step_ns)
        most = least_ns + step_ns;
    if (it->failed_ns != INT64_MAX &&
        least_ns + (it->failed_ns - least_ns) / 2 < most)
        most = least_ns + (it->failed_ns - least_ns) / 2;
    return most - least_ns > least_ns / MIN_RAISE_PART ? most : least_ns;
}

static void reset_plan(mo_search_bound_plan *m)
{
    size_t size = (size_t) m->n_boundaries * sizeof(int64_t);

    for (int i = 0; i < m->blocks->n; i++) {
        memcpy(m->raised_ns[i], m->blocks->blocks[i].lower_ns, size);
        for (int p = 0; p < m->n_boundaries; p++)
            target_of(m, i, p)->turn = 0;
    }
    for (int i = 0; i < m->search->classes->n; i++) {
        const mo_decomp_class *cls = &m->search->classes->classes[i];

        m->search->path->tables[i] = cls->part ? m->times_ns[i] : cls->lower_ns;
        if (cls->part)
            memcpy(m->times_ns[i], cls->lower_ns, size);
    }
}

/* Computes the class bounds that follow from raised_ns. */
static mo_status compute_class_times(mo_search_bound_plan *m, mo_error *err)
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

/* Counts the occurrences of every target on the last path. */
static mo_status count_path_uses(mo_search_bound_plan *m, mo_error *err)
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
                    target_of(m, c->block[s], m->boundaries[s])->uses += uses;
            }
        }
    return status;
}

/* Returns by how much the path grows if the target is raised to its maximum. */
static double gain_of(const mo_search_bound_plan *m, int block, int boundary)
{
    const bound_target *it = target_of(m, block, boundary);

    return it->uses == 0 ? 0
                         : (double) it->uses *
                               (double) (max_target_ns(m, block, boundary) -
                                         m->raised_ns[block][boundary]);
}

/* Every target costs a job: those that gain little beside the best of the path
 * are not raised. */
static double least_gain(const mo_search_bound_plan *m)
{
    double most = 0;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            if (gain_of(m, i, p) > most)
                most = gain_of(m, i, p);
    return most / GAIN_PART;
}

static double gain_on_path(const mo_search_bound_plan *m, double least)
{
    double room_ns = 0;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            if (gain_of(m, i, p) >= least)
                room_ns += gain_of(m, i, p);
    return room_ns;
}

/* Raises the targets on the path by this part of their maxima. */
static void raise_path_targets(mo_search_bound_plan *m, double least,
                               double part, int turn)
{
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++) {
            int64_t most = max_target_ns(m, i, p), now = m->raised_ns[i][p];

            bound_target *it = target_of(m, i, p);

            if (it->uses == 0 || most <= now || gain_of(m, i, p) < least)
                continue;
            it->turn = it->turn == 0 ? turn : it->turn;
            now += (int64_t) (part * (double) (most - now)) + 1;
            m->raised_ns[i][p] = mo_min_i64(now, most);
        }
}

/* Every path costs a pass over all targets. */
static int max_paths(const mo_search_bound_plan *m)
{
    int64_t paths = PLAN_WORK / ((int64_t) m->blocks->n * m->n_boundaries + 1);

    return paths < MIN_PATHS   ? MIN_PATHS
           : paths > MAX_PATHS ? MAX_PATHS
                               : (int) paths;
}

/* Lengthens the last path by missing_ns if possible; *any: some target could
 * be raised. */
static mo_status lengthen_path(mo_search_bound_plan *m, double missing_ns,
                               int turn, bool *any, mo_error *err)
{
    mo_status status = count_path_uses(m, err);
    double least = least_gain(m), room_ns = gain_on_path(m, least);

    *any = status == MO_OK && room_ns > 0;
    if (!*any)
        return status;
    raise_path_targets(m, least,
                       missing_ns < room_ns ? missing_ns / room_ns : 1, turn);
    return compute_class_times(m, err);
}

/* Raises targets until the shortest path has the goal's length or cannot grow.
 * All paths grow together, step by step: boundaries shared by many paths are
 * then raised no more than others. */
static mo_status raise_paths(mo_search_bound_plan *m, int64_t goal_ns,
                             mo_error *err)
{
    int64_t step_ns = (goal_ns - m->search->lower_ns) / GOAL_STEPS + 1;
    int64_t next_ns = m->search->lower_ns;
    mo_status status = MO_OK;
    bool any = true;

    reset_plan(m);
    for (int i = 0; i < max_paths(m) && any && status == MO_OK; i++) {
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

/* Returns the number of segments of the longest chain. */
static int longest_chain(const mo_chain_blocks *blocks)
{
    int most = 0;

    for (int i = 0; i < blocks->classes->n; i++)
        if (blocks->partitions[i].chain &&
            blocks->partitions[i].chain->n > most)
            most = blocks->partitions[i].chain->n;
    return most;
}

static mo_status reserve_tables(mo_search_bound_plan *m, mo_error *err)
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
            *target_of(m, i, p) =
                (bound_target){ .failed_ns = INT64_MAX,
                                .effort = is_exact_block(m, i) };
    return MO_OK;
}

static mo_status reserve_arrays(mo_search_bound_plan *m, mo_error *err)
{
    size_t n = (size_t) m->blocks->n + 1,
           n_boundaries = (size_t) m->n_boundaries;
    size_t n_classes = (size_t) m->search->classes->n;

    m->forks = calloc(n, sizeof *m->forks);
    m->targets = calloc(n, n_boundaries * sizeof *m->targets);
    m->raised_ns = calloc(n, sizeof *m->raised_ns);
    m->times_ns = calloc(n_classes, sizeof *m->times_ns);
    m->uses = calloc(n_classes, n_boundaries * sizeof *m->uses);
    m->boundaries =
        calloc((size_t) longest_chain(m->blocks) + 1, sizeof *m->boundaries);
    if (!m->forks || !m->targets || !m->raised_ns || !m->times_ns || !m->uses ||
        !m->boundaries)
        return mo_fail_memory(err);
    return reserve_tables(m, err);
}

mo_status mo_search_bound_plan_new(mo_search_state *search,
                                   mo_search_bound_plan **plan, mo_error *err)
{
    mo_search_bound_plan *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->search = search;
    m->blocks = search->blocks;
    m->n_boundaries = search->x->n_devices * search->x->n_devices;
    status = reserve_arrays(m, err);
    if (status == MO_OK)
        *plan = m;
    else
        mo_search_bound_plan_free(m);
    return status;
}

void mo_search_bound_plan_free(mo_search_bound_plan *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->blocks->n; i++) {
        if (m->forks)
            mo_forkjoin_free(m->forks[i]);
        if (m->raised_ns)
            free(m->raised_ns[i]);
    }
    for (int i = 0; i < m->search->classes->n && m->times_ns; i++)
        free(m->times_ns[i]);
    free(m->forks);
    free(m->targets);
    free(m->raised_ns);
    free(m->times_ns);
    free(m->uses);
    free(m->boundaries);
    for (int i = 0; i < m->n_interrupted; i++)
        mo_search_bound_job_clear(&m->interrupted[i]);
    free(m);
}

/* Increases the effort of the targets on the path that have failed at the
 * present one, and reopens them. */
static bool raise_effort(mo_search_bound_plan *m)
{
    bool any = false;

    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++) {
            const mo_chain_block *b = &m->blocks->blocks[i];
            bound_target *it = target_of(m, i, p);

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

/* Fills a job for a block at a boundary; the caller reserves *job. */
static mo_status add_job(mo_search_bound_plan *m, int block, int boundary,
                         mo_search_bound_algo how, mo_search_bound_job *job,
                         mo_error *err)
{
    const mo_chain_block *b = &m->blocks->blocks[block];
    mo_status status = MO_OK;

    if (!m->forks[block])
        status = mo_forkjoin_find(&m->blocks->partitions[b->cls].places,
                                  b->segment, &m->forks[block], err);
    *job =
        (mo_search_bound_job){ .block = block,
                               .boundary = boundary,
                               .how = how,
                               .target_ns = m->raised_ns[block][boundary],
                               .effort = target_of(m, block, boundary)->effort,
                               .steps = COLGEN_STEPS,
                               .fork = m->forks[block],
                               .failed_ns = INT64_MAX };
    return status;
}

static bool needs_load_bound(const mo_search_bound_plan *m, int block,
                             int boundary)
{
    const mo_chain_block *b = &m->blocks->blocks[block];

    return target_of(m, block, boundary)->effort == 0 &&
           b->lower_ns[boundary] != INT64_MAX;
}

/* Adds load bounds for blocks on the path that have had none. */
static mo_status plan_load_bounds(mo_search_bound_plan *m,
                                  mo_search_bound_job *jobs, int most, int *n,
                                  mo_error *err)
{
    mo_status status;

    reset_plan(m);
    mo_decomp_path_shortest(m->search->path);
    status = count_path_uses(m, err);
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries && *n < most && status == MO_OK;
             p++)
            if (target_of(m, i, p)->uses > 0 && needs_load_bound(m, i, p))
                status =
                    add_job(m, i, p, MO_SEARCH_BOUND_LOAD, &jobs[(*n)++], err);
    return status;
}

mo_status mo_search_bound_plan_initial_jobs(mo_search_bound_plan *m,
                                            mo_search_bound_job **jobs, int *n,
                                            mo_error *err)
{
    int64_t count = 0;
    mo_status status = MO_OK;

    *n = 0;
    *jobs = NULL;
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries; p++)
            count +=
                needs_load_bound(m, i, p) ? m->blocks->blocks[i].segment->n : 0;
    if (count > LOAD_BOUND_WORK)
        return MO_OK;
    *jobs = calloc((size_t) count + 1, sizeof **jobs);
    if (!*jobs)
        return mo_fail_memory(err);
    reset_plan(m);
    for (int i = 0; i < m->blocks->n; i++)
        for (int p = 0; p < m->n_boundaries && status == MO_OK; p++)
            if (needs_load_bound(m, i, p))
                status = add_job(m, i, p, MO_SEARCH_BOUND_LOAD,
                                 &(*jobs)[(*n)++], err);
    return status;
}

/* Whether the target has been proven, or disproved by a schedule, meanwhile. */
static bool is_settled(const mo_search_bound_plan *m,
                       const mo_search_bound_job *it)
{
    const mo_chain_block *b = &m->blocks->blocks[it->block];

    return b->lower_ns[it->boundary] >= it->target_ns ||
           b->upper_ns[it->boundary] < it->target_ns;
}

static void continue_jobs(mo_search_bound_plan *m, mo_search_bound_job *jobs,
                          int most, int *n)
{
    int left = 0;

    for (int i = 0; i < m->n_interrupted; i++) {
        mo_search_bound_job *it = &m->interrupted[i];

        if (is_settled(m, it))
            mo_search_bound_job_clear(it);
        else if (*n < most)
            jobs[(*n)++] = *it;
        else
            m->interrupted[left++] = *it;
    }
    m->n_interrupted = left;
}

static bool is_planned(const mo_search_bound_job *jobs, int n, int block,
                       int boundary)
{
    for (int i = 0; i < n; i++)
        if (jobs[i].block == block && jobs[i].boundary == boundary)
            return true;
    return false;
}

/* Targets that were raised first are on the shortest paths. */
static mo_status plan_target_jobs(mo_search_bound_plan *m,
                                  mo_search_bound_job *jobs, int most, int *n,
                                  mo_error *err)
{
    mo_status status = MO_OK;
    int n_before = *n;

    for (int turn = 1; turn <= max_paths(m) && *n < most; turn++)
        for (int i = 0; i < m->blocks->n; i++)
            for (int p = 0; p < m->n_boundaries && *n < most && status == MO_OK;
                 p++)
                if (target_of(m, i, p)->turn == turn &&
                    !is_planned(jobs, n_before, i, p))
                    status =
                        add_job(m, i, p,
                                is_exact_block(m, i) ? MO_SEARCH_BOUND_EXACT
                                                     : MO_SEARCH_BOUND_COLGEN,
                                &jobs[(*n)++], err);
    return status;
}

/* Returns half the way to the makespan; but where the tolerated gap is near,
 * by the makespan hoped for, all of it at once: small raises cost as much as
 * large ones. */
static int64_t choose_goal(const mo_search_bound_plan *m, double hoped)
{
    double lower_ns = (double) m->search->lower_ns;
    double upper_ns = (double) m->search->upper_path_ns;
    double asked =
        m->search->task->gap > 0 ? m->search->task->gap : DEFAULT_GAP;
    double enough_ns = (1 - hoped) * (1 - GAP_SHARE * asked) * upper_ns;

    if (upper_ns - lower_ns < NEAR_GAP * asked * upper_ns &&
        enough_ns > lower_ns)
        return (int64_t) enough_ns;
    return m->search->lower_ns +
           (m->search->upper_path_ns - m->search->lower_ns) / 2;
}

mo_status mo_search_bound_plan_next_jobs(mo_search_bound_plan *m,
                                         bool take_time, double hoped,
                                         mo_search_bound_job *jobs, int most,
                                         int *n, mo_error *err)
{
    int64_t upper_ns = m->search->upper_path_ns;
    int64_t lower_ns = m->search->lower_ns;
    mo_status status;

    *n = 0;
    status = plan_load_bounds(m, jobs, most, n, err);
    if (status != MO_OK || *n > 0 || !take_time || upper_ns <= lower_ns)
        return status;
    continue_jobs(m, jobs, most, n);
    if (*n == most)
        return MO_OK;
    do {
        status = raise_paths(m, choose_goal(m, hoped), err);
        if (status == MO_OK)
            status = plan_target_jobs(m, jobs, most, n, err);
    } while (status == MO_OK && *n == 0 && raise_effort(m));
    return status;
}

void mo_search_bound_plan_merge_result(mo_search_bound_plan *m,
                                       mo_search_bound_job *it)
{
    int64_t *lower_ns = &m->blocks->blocks[it->block].lower_ns[it->boundary];
    bound_target *a = target_of(m, it->block, it->boundary);

    if (it->ladder) {
        m->interrupted[m->n_interrupted++] = *it;
        return;
    }
    if (it->how == MO_SEARCH_BOUND_LOAD)
        a->effort = COLGEN_FIRST_EFFORT;
    else if (it->failed_ns < a->failed_ns)
        a->failed_ns = it->failed_ns;
    if (it->lower_ns > *lower_ns)
        *lower_ns = it->lower_ns;
    if (it->hint.device)
        mo_chain_blocks_set_hint(m->blocks, it->block, it->boundary, it->hint);
    it->hint = (mo_decomp_solution_hint){ 0 };
}
