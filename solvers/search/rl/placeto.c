/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/placeto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/search/rl/nn/categorical.h"
#include "solvers/search/rl/features.h"

/* An episode tells all units of a graph anew for each of its parts: so many
 * parts that this stays bounded, but never fewer than a few.  Up to 64 units
 * each is a part of its own, as in print. */
enum { PARTS_MOST = 64, PARTS_LEAST = 4, TOLD_MOST = 1 << 16 };

/* Rows that are learned from at once: many enough that the work is in the
 * numbers, few enough that they stay near. */
enum { ROWS_MOST = 512 };

/* rate: of learning; evenness: what it is worth at first, since a policy must
 * not be sure before it knows enough; tires: how much of that remains with each
 * batch; stays: how much likelier than not a unit stays where it is before
 * anything is learned, as a logit: what is good already is changed in a few
 * places at a time. */
static const double rate = 0.01, evenness = 4, tires = 0.98, stays = 1.3;

/* -------------------------------------------------------------------- parts */

static mo_status make_parts(mo_rl_placeto *p, mo_error *err)
{
    int n = TOLD_MOST / (p->n + 1);

    if (n > PARTS_MOST)
        n = PARTS_MOST;
    if (n < PARTS_LEAST)
        n = PARTS_LEAST;
    if (n > p->n)
        n = p->n;
    p->n_parts = n;
    p->together = ROWS_MOST / (p->n + 1);
    if (p->together > n)
        p->together = n;
    if (p->together < 1)
        p->together = 1;
    p->first = calloc((size_t) n + 1, sizeof *p->first);
    if (!p->first)
        return mo_fail_memory(err);
    for (int c = 0; c <= n; c++)
        p->first[c] = n > 0 ? (int) ((int64_t) p->n * c / n) : 0;
    return MO_OK;
}

mo_status mo_rl_placeto_init(const mo_method_task *task,
                             const mo_placement_units *units,
                             mo_rl_placeto *placeto, mo_error *err)
{
    mo_rl_placeto *p = placeto;
    mo_status status;

    p->task = task;
    p->units = units;
    p->n = units->n;
    p->n_devices = p->about[0] = task->x->n_devices;
    p->n_features = 2 * p->n_devices + MO_RL_PLACETO_UNIT_FEATURES;
    p->stays = p->n_devices > 1 ? stays + log(p->n_devices - 1) : 0;
    status = make_parts(p, err);
    if (status == MO_OK)
        status = mo_rl_placeto_init_features(p, err);
    if (status == MO_OK)
        status = mo_rl_single_device_placement(task->x, units, &p->begin, err);
    if (status == MO_OK)
        status = mo_rl_placeto_init_params(p, task->seed, err);
    return status;
}

void mo_rl_placeto_clear(mo_rl_placeto *placeto)
{
    free(placeto->first);
    mo_rl_adjacency_clear(&placeto->parents);
    mo_rl_adjacency_clear(&placeto->children);
    mo_rl_ancestors_clear(&placeto->near);
    mo_rl_ancestors_clear(&placeto->near_together);
    free(placeto->fixed);
    free(placeto->begin);
    mo_rl_params_clear(&placeto->weights);
}

/* ----------------------------------------------------------------- episodes */

/* What an episode needs while it goes on. */
typedef struct desk {
    mo_rl_real *features;
    int64_t *starts;
    int *device;
} desk;

/* How many numbers a look at all units is. */
static size_t features_of(const mo_rl_placeto *p)
{
    return (size_t) p->n * (size_t) p->n_features;
}

static mo_status open_desk(const mo_rl_placeto *p, const int *begin, desk *d,
                           mo_error *err)
{
    d->features =
        calloc((size_t) p->together * features_of(p) + 1, sizeof *d->features);
    d->starts = calloc((size_t) p->task->x->n + 1, sizeof *d->starts);
    d->device = calloc((size_t) p->n + 1, sizeof *d->device);
    if (!d->features || !d->starts || !d->device)
        return mo_fail_memory(err);
    memcpy(d->device, begin, (size_t) p->n * sizeof *d->device);
    return MO_OK;
}

static void close_desk(desk *d)
{
    free(d->features);
    free(d->starts);
    free(d->device);
}

static mo_status choose_part(const mo_rl_placeto *p, mo_rl_tape *tape, desk *d,
                             int c, mo_random *random, bool likeliest,
                             mo_error *err)
{
    int k = p->n_devices;
    mo_rl_var logs;

    mo_rl_tape_reset(tape);
    mo_rl_placeto_features(p, d->device, c, d->starts, d->features);
    logs = mo_rl_placeto_log_probs(p, tape, d->features, c, 1);
    if (mo_rl_tape_failed(tape))
        return mo_fail_memory(err);
    for (int u = p->first[c]; u < p->first[c + 1]; u++) {
        const mo_rl_real *row = mo_rl_tape_values(tape, logs) +
                                (size_t) (u - p->first[c]) * (size_t) k;

        d->device[u] = likeliest ? mo_rl_categorical_argmax(row, k)
                                 : mo_rl_categorical_sample(row, k, random);
        if (p->units->pin[u] != MO_FREE)
            d->device[u] = p->units->pin[u];
    }
    return MO_OK;
}

/* What a placement comes to is known anyway after each part: the best counts,
 * wherever in the episode it was. */
static mo_status judge(const mo_rl_placeto *p, mo_rl_evaluator *score,
                       const int *now, double *is, int *device,
                       mo_rl_episode_result *drawn, mo_error *err)
{
    mo_rl_evaluation scored;
    mo_status status = mo_rl_evaluator_evaluate(score, now, &scored, err);

    if (status != MO_OK)
        return status;
    *is = drawn->mean = scored.score;
    if (mo_rl_evaluation_better(&scored, &drawn->best)) {
        drawn->best = scored;
        memcpy(device, now, (size_t) p->n * sizeof *device);
    }
    return MO_OK;
}

static mo_status attend(const mo_rl_policy *pupil, mo_rl_tape *tape,
                        mo_rl_evaluator *score, mo_random *random,
                        bool likeliest, int *choices, int *device,
                        double *scores, mo_rl_episode_result *drawn,
                        mo_error *err)
{
    const mo_rl_placeto *p = pupil->context;
    desk d = { 0 };
    mo_status status = open_desk(p, device, &d, err);

    memcpy(choices + p->n, device, (size_t) p->n * sizeof *choices);
    if (status == MO_OK)
        status = judge(p, score, d.device, &scores[0], device, drawn, err);
    for (int c = 0; c < p->n_parts && status == MO_OK; c++) {
        drawn->stopped = mo_stop_reached(p->task->stop);
        if (drawn->stopped)
            break;
        status = choose_part(p, tape, &d, c, random, likeliest, err);
        if (status == MO_OK)
            status =
                judge(p, score, d.device, &scores[c + 1], device, drawn, err);
    }
    if (status == MO_OK)
        memcpy(choices, d.device, (size_t) p->n * sizeof *choices);
    close_desk(&d);
    return status;
}

/* What the network saw when it chose for parts c, ..., c + many - 1. */
static void look_again(const mo_rl_placeto *p, desk *d, int c, int many,
                       const int *choices)
{
    for (int j = 0; j < many; j++) {
        int u = p->first[c + j], n = p->first[c + j + 1] - u;

        mo_rl_placeto_features(p, d->device, c + j, d->starts,
                               d->features + (size_t) j * features_of(p));
        memcpy(d->device + u, choices + u, (size_t) n * sizeof *choices);
    }
}

static mo_status learn_parts(const mo_rl_placeto *p, mo_rl_tape *tape, desk *d,
                             int c, int many, const int *choices,
                             const double *factors, double entropy,
                             mo_error *err)
{
    int first = p->first[c];
    mo_rl_var logs, chosen, even;

    mo_rl_tape_reset(tape);
    look_again(p, d, c, many, choices);
    logs = mo_rl_placeto_log_probs(p, tape, d->features, c, many);
    if (mo_rl_tape_failed(tape))
        return mo_fail_memory(err);
    chosen = mo_rl_tape_sum_rows(
        tape, mo_rl_tape_gather_elements(tape, logs, choices + first,
                                         factors + first));
    even = mo_rl_tape_scale(tape, mo_rl_categorical_neg_entropy(tape, logs),
                            entropy);
    mo_rl_tape_backward(tape, mo_rl_tape_add(tape, chosen, even));
    return mo_rl_tape_failed(tape) ? mo_fail_memory(err) : MO_OK;
}

static mo_status learn(const mo_rl_policy *pupil, mo_rl_tape *tape,
                       const int *choices, const double *advantage,
                       double entropy, mo_error *err)
{
    const mo_rl_placeto *p = pupil->context;
    double *factors = calloc((size_t) p->n + 1, sizeof *factors);
    desk d = { 0 };
    mo_status status =
        factors ? open_desk(p, choices + p->n, &d, err) : mo_fail_memory(err);

    for (int c = 0; c < p->n_parts && status == MO_OK; c++)
        for (int u = p->first[c]; u < p->first[c + 1]; u++)
            factors[u] = -advantage[c];
    for (int c = 0; c < p->n_parts && status == MO_OK; c += p->together) {
        int left = p->n_parts - c;

        if (mo_stop_reached(p->task->stop))
            break;
        status =
            learn_parts(p, tape, &d, c, left < p->together ? left : p->together,
                        choices, factors, entropy, err);
    }
    close_desk(&d);
    free(factors);
    return status;
}

mo_rl_policy mo_rl_placeto_policy(mo_rl_placeto *placeto)
{
    return (mo_rl_policy){
        .kind = "placeto",
        .weights = &placeto->weights,
        .about = placeto->about,
        .n_about = 1,
        .n_choices = 2 * placeto->n, /* and what it went on from */
        .begin = placeto->begin,
        .resumes = true,
        .n_parts = placeto->n_parts,
        .rate = rate,
        .entropy = evenness / (placeto->n + 1),
        .tires = tires,
        .context = placeto,
        .attend = attend,
        .learn = learn,
    };
}
