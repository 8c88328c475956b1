/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/hrl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/search/rl/nn/categorical.h"

/* rate: of learning; fades: how much of what was expected remains with each
 * episode. */
static const double rate = 0.01, fades = 0.9;

/* What the evenness of all units is worth together at first, and how much of it
 * remains with each batch: small graphs are learned too soon, and there is time
 * to begin anew. */
typedef struct spirit {
    double evenness, tires;
} spirit;

static const spirit small_graphs = { 8, 0.985 }, others = { 3.6, 0.995 };

mo_status mo_rl_hrl_init(const mo_method_task *task,
                         const mo_placement_units *units, mo_rl_hrl *hrl,
                         mo_error *err)
{
    mo_status status;

    hrl->task = task;
    hrl->units = units;
    hrl->n = units->n;
    hrl->n_devices = hrl->about[0] = task->x->n_devices;
    hrl->n_groups =
        hrl->n < MO_RL_HRL_MAX_GROUPS ? hrl->n : MO_RL_HRL_MAX_GROUPS;
    status = mo_rl_hrl_init_features(hrl, err);
    return status == MO_OK ? mo_rl_hrl_init_params(hrl, task->seed, err)
                           : status;
}

void mo_rl_hrl_clear(mo_rl_hrl *hrl)
{
    free(hrl->told);
    free(hrl->begins);
    free(hrl->flow_ns);
    free(hrl->begin);
    mo_rl_params_clear(&hrl->weights);
}

/* ------------------------------------------------------------------ drawing */

static int choose(const mo_rl_real *logs, int n, mo_random *random,
                  bool likeliest)
{
    return likeliest ? mo_rl_categorical_argmax(logs, n)
                     : mo_rl_categorical_sample(logs, n, random);
}

static mo_status draw_grouping(const mo_rl_hrl *h, mo_rl_tape *tape,
                               mo_random *random, bool likeliest, int *group,
                               mo_error *err)
{
    mo_rl_var logs = mo_rl_hrl_group_log_probs(h, tape);

    if (mo_rl_tape_failed(tape))
        return mo_fail_memory(err);
    for (int u = 0; u < h->n; u++)
        group[u] = choose(mo_rl_tape_values(tape, logs) +
                              (size_t) u * (size_t) h->n_groups,
                          h->n_groups, random, likeliest);
    return MO_OK;
}

/* chosen: by group, then placement.  Where the likeliest is wanted it is the
 * first, so that the others teach something, too. */
static mo_status draw_devices(const mo_rl_hrl *h, mo_rl_tape *tape,
                              const mo_rl_hrl_groups *groups, mo_random *random,
                              bool likeliest, int *chosen, mo_error *err)
{
    mo_rl_hrl_placer placer =
        mo_rl_hrl_placer_init(h, tape, groups, MO_RL_HRL_SAMPLES);

    for (int t = 0; t < groups->n; t++) {
        mo_rl_var known = mo_rl_hrl_placer_step(&placer, t, chosen), logs;
        int at[MO_RL_HRL_SAMPLES];

        for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
            at[i] = t;
        logs = mo_rl_hrl_placer_log_probs(&placer, known, at);
        if (mo_rl_tape_failed(tape))
            return mo_fail_memory(err);
        for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
            chosen[t * MO_RL_HRL_SAMPLES + i] =
                choose(mo_rl_tape_values(tape, logs) + i * h->n_devices,
                       h->n_devices, random, likeliest && i == 0);
    }
    return MO_OK;
}

static mo_status draw(const mo_rl_hrl *h, mo_rl_tape *tape, mo_random *random,
                      bool likeliest, int *choices, mo_rl_hrl_groups *groups,
                      mo_error *err)
{
    mo_status status;

    mo_rl_tape_reset(tape);
    status = draw_grouping(h, tape, random, likeliest, choices, err);
    if (status == MO_OK)
        status = mo_rl_hrl_groups_init(h, choices, groups, err);
    mo_rl_tape_reset(tape);
    if (status == MO_OK && groups->n > 0)
        status = draw_devices(h, tape, groups, random, likeliest,
                              choices + h->n, err);
    return status;
}

/* -------------------------------------------------------------------- school
 */

static void place_units(const mo_rl_hrl *h, const mo_rl_hrl_groups *groups,
                        const int *chosen, int i, int *device)
{
    for (int u = 0; u < h->n; u++)
        device[u] = groups->of_unit[u] < 0
                        ? h->units->pin[u]
                        : chosen[groups->of_unit[u] * MO_RL_HRL_SAMPLES + i];
}

/* All placements are judged; the best of them is the episode's. */
static mo_status judge(const mo_rl_hrl *h, const mo_rl_hrl_groups *groups,
                       const int *chosen, mo_rl_evaluator *score, int *device,
                       double *scores, mo_rl_episode_result *drawn,
                       mo_error *err)
{
    int best = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < MO_RL_HRL_SAMPLES && status == MO_OK; i++) {
        mo_rl_evaluation is;

        place_units(h, groups, chosen, i, device);
        status = mo_rl_evaluator_evaluate(score, device, &is, err);
        if (status != MO_OK)
            break;
        scores[i] = -sqrt(is.score);
        drawn->mean += is.score / MO_RL_HRL_SAMPLES;
        if (i == 0 || mo_rl_evaluation_better(&is, &drawn->best)) {
            best = i;
            drawn->best = is;
        }
    }
    scores[MO_RL_HRL_SAMPLES] = 0;
    place_units(h, groups, chosen, best, device);
    return status;
}

static mo_status attend(const mo_rl_policy *pupil, mo_rl_tape *tape,
                        mo_rl_evaluator *score, mo_random *random,
                        bool likeliest, int *choices, int *device,
                        double *scores, mo_rl_episode_result *drawn,
                        mo_error *err)
{
    const mo_rl_hrl *h = pupil->context;
    mo_rl_hrl_groups groups = { 0 };
    mo_status status = draw(h, tape, random, likeliest, choices, &groups, err);

    if (status == MO_OK)
        status = judge(h, &groups, choices + h->n, score, device, scores, drawn,
                       err);
    mo_rl_hrl_groups_clear(&groups);
    return status;
}

/* Adds what shall fall of the logarithms of probabilities and of their
 * evenness. */
static mo_rl_var falls(mo_rl_tape *tape, mo_rl_var logs, const int *picks,
                       const double *factors, double entropy)
{
    mo_rl_var chosen = mo_rl_tape_sum_rows(
        tape, mo_rl_tape_gather_elements(tape, logs, picks, factors));
    mo_rl_var uneven = mo_rl_categorical_neg_entropy(tape, logs);

    return mo_rl_tape_add(tape, chosen,
                          mo_rl_tape_scale(tape, uneven, entropy));
}

/* What a grouping is worth is the mean of what was made of it. */
static mo_status learn_grouping(const mo_rl_hrl *h, mo_rl_tape *tape,
                                const int *choices, const double *advantage,
                                double entropy, mo_error *err)
{
    double *factors = calloc((size_t) h->n + 1, sizeof *factors);
    double mean = 0;

    if (!factors)
        return mo_fail_memory(err);
    for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
        mean += advantage[i] / MO_RL_HRL_SAMPLES;
    for (int u = 0; u < h->n; u++)
        factors[u] = h->units->pin[u] == MO_FREE ? -mean : 0;
    mo_rl_tape_reset(tape);
    mo_rl_tape_backward(tape, falls(tape, mo_rl_hrl_group_log_probs(h, tape),
                                    choices, factors, entropy));
    free(factors);
    return mo_rl_tape_failed(tape) ? mo_fail_memory(err) : MO_OK;
}

/* With all that was chosen known, devices are looked at at once. */
static mo_status learn_devices(const mo_rl_hrl *h, mo_rl_tape *tape,
                               const mo_rl_hrl_groups *groups,
                               const int *chosen, const double *advantage,
                               double entropy, mo_error *err)
{
    int at[MO_RL_HRL_MAX_GROUPS * MO_RL_HRL_SAMPLES];
    double factors[MO_RL_HRL_MAX_GROUPS * MO_RL_HRL_SAMPLES];
    mo_rl_var known[MO_RL_HRL_MAX_GROUPS], logs;
    mo_rl_hrl_placer placer;

    mo_rl_tape_reset(tape);
    placer = mo_rl_hrl_placer_init(h, tape, groups, MO_RL_HRL_SAMPLES);
    for (int t = 0; t < groups->n; t++) {
        known[t] = mo_rl_hrl_placer_step(&placer, t, chosen);
        for (int i = 0; i < MO_RL_HRL_SAMPLES; i++) {
            at[t * MO_RL_HRL_SAMPLES + i] = t;
            factors[t * MO_RL_HRL_SAMPLES + i] =
                -advantage[i] / MO_RL_HRL_SAMPLES;
        }
    }
    logs = mo_rl_hrl_placer_log_probs(
        &placer, mo_rl_tape_concat_rows(tape, known, groups->n), at);
    mo_rl_tape_backward(
        tape, falls(tape, logs, chosen, factors, entropy / MO_RL_HRL_SAMPLES));
    return mo_rl_tape_failed(tape) ? mo_fail_memory(err) : MO_OK;
}

static mo_status learn(const mo_rl_policy *pupil, mo_rl_tape *tape,
                       const int *choices, const double *advantage,
                       double entropy, mo_error *err)
{
    const mo_rl_hrl *h = pupil->context;
    mo_rl_hrl_groups groups = { 0 };
    mo_status status = mo_rl_hrl_groups_init(h, choices, &groups, err);

    if (status == MO_OK && groups.n > 0)
        status = learn_grouping(h, tape, choices, advantage, entropy, err);
    if (status == MO_OK && groups.n > 0)
        status = learn_devices(h, tape, &groups, choices + h->n, advantage,
                               entropy, err);
    mo_rl_hrl_groups_clear(&groups);
    return status;
}

mo_rl_policy mo_rl_hrl_policy(mo_rl_hrl *hrl)
{
    const spirit *has = hrl->n_groups == hrl->n ? &small_graphs : &others;

    return (mo_rl_policy){
        .kind = "hrl",
        .weights = &hrl->weights,
        .about = hrl->about,
        .n_about = 1,
        .n_choices = hrl->n + MO_RL_HRL_MAX_GROUPS * MO_RL_HRL_SAMPLES,
        .begin = hrl->begin,
        .n_parts = MO_RL_HRL_SAMPLES,
        .rate = rate,
        .entropy = has->evenness / (hrl->n + 1),
        .tires = has->tires,
        .fades = fades,
        .context = hrl,
        .attend = attend,
        .learn = learn,
    };
}
