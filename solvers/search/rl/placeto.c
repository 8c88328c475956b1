/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/placeto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/search/rl/nn/categorical.h"
#include "solvers/search/rl/features.h"

/* An episode embeds all units of a graph again for each of its parts: the
 * number of parts keeps this bounded, but is never below a few.  Up to 64
 * units each is a part of its own, as in the paper. */
enum { MAX_PARTS = 64, MIN_PARTS = 4, MAX_EPISODE_ROWS = 1 << 16 };

/* Rows of a training batch: enough to amortize the overhead, few enough to
 * stay in the cache. */
enum { MAX_BATCH_ROWS = 512 };

/* rate: learning rate; entropy_weight: initial weight of the entropy bonus,
 * since a policy must not become certain too early; entropy_decay: its decay
 * per batch; stay_logit: initial logit of staying on the current device: a good
 * placement is changed in a few places at a time. */
static const double rate = 0.01, entropy_weight = 4, entropy_decay = 0.98,
                    stay_logit = 1.3;

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
    p->stay_logit = p->n_devices > 1 ? stay_logit + log(p->n_devices - 1) : 0;

    int n = MAX_EPISODE_ROWS / (p->n + 1);

    if (n > MAX_PARTS)
        n = MAX_PARTS;
    if (n < MIN_PARTS)
        n = MIN_PARTS;
    if (n > p->n)
        n = p->n;
    p->n_parts = n;
    p->batch_parts = MAX_BATCH_ROWS / (p->n + 1);
    if (p->batch_parts > n)
        p->batch_parts = n;
    if (p->batch_parts < 1)
        p->batch_parts = 1;
    p->first = calloc((size_t) n + 1, sizeof *p->first);
    if (!p->first) {
        status = mo_fail_memory(err);
    } else {
        for (int c = 0; c <= n; c++)
            p->first[c] = n > 0 ? (int) ((int64_t) p->n * c / n) : 0;
        status = MO_OK;
    }
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

/* Buffers of an episode. */
typedef struct episode_buffers {
    mo_rl_real *features;
    int64_t *starts;
    int *device;
} episode_buffers;

/* Number of features of all units. */
static size_t feature_count(const mo_rl_placeto *p)
{
    return (size_t) p->n * (size_t) p->n_features;
}

static mo_status alloc_buffers(const mo_rl_placeto *p, const int *begin,
                               episode_buffers *d, mo_error *err)
{
    d->features = calloc((size_t) p->batch_parts * feature_count(p) + 1,
                         sizeof *d->features);
    d->starts = calloc((size_t) p->task->x->n + 1, sizeof *d->starts);
    d->device = calloc((size_t) p->n + 1, sizeof *d->device);
    if (!d->features || !d->starts || !d->device)
        return mo_fail_memory(err);
    memcpy(d->device, begin, (size_t) p->n * sizeof *d->device);
    return MO_OK;
}

static void free_buffers(episode_buffers *d)
{
    free(d->features);
    free(d->starts);
    free(d->device);
}

/* A placement is evaluated after each part in any case: the best counts,
 * wherever in the episode it was. */
static mo_status evaluate_placement(const mo_rl_placeto *p,
                                    const mo_rl_sampling *s, const int *now,
                                    double *is, mo_error *err)
{
    mo_rl_evaluation scored;
    mo_status status =
        mo_rl_evaluator_evaluate(s->evaluator, now, &scored, err);

    if (status != MO_OK)
        return status;
    *is = s->result->mean = scored.score;
    if (mo_rl_evaluation_better(&scored, &s->result->best)) {
        s->result->best = scored;
        memcpy(s->device, now, (size_t) p->n * sizeof *now);
    }
    return MO_OK;
}

static mo_status sample_episode(const mo_rl_policy *policy,
                                const mo_rl_sampling *s, mo_error *err)
{
    const mo_rl_placeto *p = policy->context;
    episode_buffers d = { 0 };
    mo_status status = alloc_buffers(p, s->device, &d, err);

    memcpy(s->choices + p->n, s->device, (size_t) p->n * sizeof *s->choices);
    if (status == MO_OK)
        status = evaluate_placement(p, s, d.device, &s->scores[0], err);
    for (int c = 0; c < p->n_parts && status == MO_OK; c++) {
        s->result->stopped = mo_stop_reached(p->task->stop);
        if (s->result->stopped)
            break;

        int k = p->n_devices;
        mo_rl_var logs;

        mo_rl_tape_reset(s->tape);
        mo_rl_placeto_features(p, d.device, c, d.starts, d.features);
        logs = mo_rl_placeto_log_probs(p, s->tape, d.features, c, 1);
        if (mo_rl_tape_failed(s->tape)) {
            status = mo_fail_memory(err);
        } else {
            for (int u = p->first[c]; u < p->first[c + 1]; u++) {
                const mo_rl_real *row = mo_rl_tape_values(s->tape, logs) +
                                        (size_t) (u - p->first[c]) * (size_t) k;

                d.device[u] = s->greedy
                                  ? mo_rl_categorical_argmax(row, k)
                                  : mo_rl_categorical_sample(row, k, s->random);
                if (p->units->pin[u] != MO_FREE)
                    d.device[u] = p->units->pin[u];
            }
            status = MO_OK;
        }
        if (status == MO_OK)
            status = evaluate_placement(p, s, d.device, &s->scores[c + 1], err);
    }
    if (status == MO_OK)
        memcpy(s->choices, d.device, (size_t) p->n * sizeof *s->choices);
    free_buffers(&d);
    return status;
}

/* The loss of an episode. */
typedef struct episode_loss {
    const int *choices;
    double *factors; /* by unit: of the log-probability of its choice */
    double entropy;
} episode_loss;

static mo_status accumulate_gradient(const mo_rl_policy *policy,
                                     mo_rl_tape *tape, const int *choices,
                                     const double *advantage, double entropy,
                                     mo_error *err)
{
    const mo_rl_placeto *p = policy->context;
    episode_loss loss = { choices,
                          calloc((size_t) p->n + 1, sizeof *loss.factors),
                          entropy };
    episode_buffers d = { 0 };
    mo_status status = loss.factors ? alloc_buffers(p, choices + p->n, &d, err)
                                    : mo_fail_memory(err);

    for (int c = 0; c < p->n_parts && status == MO_OK; c++)
        for (int u = p->first[c]; u < p->first[c + 1]; u++)
            loss.factors[u] = -advantage[c];
    for (int c = 0; c < p->n_parts && status == MO_OK; c += p->batch_parts) {
        int left = p->n_parts - c;

        if (mo_stop_reached(p->task->stop))
            break;

        int many = left < p->batch_parts ? left : p->batch_parts;
        int first = p->first[c];
        mo_rl_var logs, chosen, even;

        mo_rl_tape_reset(tape);
        /* Recomputes the features from which parts c, ..., c + many - 1 were
         * chosen. */
        for (int j = 0; j < many; j++) {
            int u = p->first[c + j], n = p->first[c + j + 1] - u;

            mo_rl_placeto_features(p, d.device, c + j, d.starts,
                                   d.features + (size_t) j * feature_count(p));
            memcpy(d.device + u, loss.choices + u,
                   (size_t) n * sizeof *loss.choices);
        }
        logs = mo_rl_placeto_log_probs(p, tape, d.features, c, many);
        if (mo_rl_tape_failed(tape)) {
            status = mo_fail_memory(err);
        } else {
            chosen = mo_rl_tape_sum_rows(
                tape,
                mo_rl_tape_gather_elements(tape, logs, loss.choices + first,
                                           loss.factors + first));
            even = mo_rl_tape_scale(
                tape, mo_rl_categorical_neg_entropy(tape, logs), loss.entropy);
            mo_rl_tape_backward(tape, mo_rl_tape_add(tape, chosen, even));
            status = mo_rl_tape_failed(tape) ? mo_fail_memory(err) : MO_OK;
        }
    }
    free_buffers(&d);
    free(loss.factors);
    return status;
}

mo_rl_policy mo_rl_placeto_policy(mo_rl_placeto *placeto)
{
    return (mo_rl_policy){
        .kind = "placeto",
        .weights = &placeto->weights,
        .about = placeto->about,
        .n_about = 1,
        .n_choices =
            2 * placeto->n, /* and the placement that it started from */
        .begin = placeto->begin,
        .resumes = true,
        .n_parts = placeto->n_parts,
        .rate = rate,
        .entropy = entropy_weight / (placeto->n + 1),
        .entropy_decay = entropy_decay,
        .context = placeto,
        .sample = sample_episode,
        .learn = accumulate_gradient,
    };
}
