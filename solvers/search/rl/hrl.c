/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/hrl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/search/rl/nn/categorical.h"

/* Widths of layers. */
enum {
    GROUPER_WIDTH = 64,
    ENCODER_WIDTH = 32,
    DECODER_WIDTH = 32,
    HIDDEN_WIDTH = 32
};

typedef struct layer_shape {
    mo_rl_dense *layer;
    const char *name;
    int rows, cols;
} layer_shape;

/* The embedding has a row for each device chosen last, and one for none, and
 * enters the gates of the decoder directly. */
static mo_status init_params(mo_rl_hrl *hrl, uint64_t seed, mo_error *err)
{
    mo_rl_params *w = &hrl->weights;
    const layer_shape layers[] = {
        { &hrl->group_hidden, "look", hrl->n_features, GROUPER_WIDTH },
        { &hrl->group_output, "group", GROUPER_WIDTH, MO_RL_HRL_MAX_GROUPS },
        { &hrl->group_embed, "sum-up", hrl->n_group_features, ENCODER_WIDTH },
        { &hrl->place_hidden, "think", DECODER_WIDTH + 4 * ENCODER_WIDTH,
          HIDDEN_WIDTH },
        { &hrl->place_output, "choose", HIDDEN_WIDTH, hrl->n_devices },
    };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (status == MO_OK)
            status =
                mo_rl_dense_add(layers[i].layer, &hrl->weights, layers[i].name,
                                layers[i].rows, layers[i].cols, seed, err);

    if (status == MO_OK)
        status = mo_rl_lstm_add(&hrl->encode_forward, w, "forth", ENCODER_WIDTH,
                                ENCODER_WIDTH, seed, err);
    if (status == MO_OK)
        status = mo_rl_lstm_add(&hrl->encode_backward, w, "back", ENCODER_WIDTH,
                                ENCODER_WIDTH, seed, err);
    if (status == MO_OK)
        status = mo_rl_lstm_add(&hrl->decoder, w, "decode", 2 * ENCODER_WIDTH,
                                DECODER_WIDTH, seed, err);
    if (status != MO_OK)
        return status;
    hrl->attention =
        mo_rl_params_add(w, "ask", DECODER_WIDTH, 2 * ENCODER_WIDTH, 1, seed);
    hrl->device_embed = mo_rl_params_add(w, "last", hrl->n_devices + 1,
                                         4 * DECODER_WIDTH, 1, seed);
    return hrl->attention < 0 || hrl->device_embed < 0 ? mo_fail_memory(err)
                                                       : MO_OK;
}

mo_rl_var mo_rl_hrl_group_log_probs(const mo_rl_hrl *hrl, mo_rl_tape *tape)
{
    mo_rl_var features =
        mo_rl_tape_constant(tape, hrl->n, hrl->n_features, hrl->features);
    mo_rl_var prior_logits =
        mo_rl_tape_constant(tape, hrl->n, hrl->n_groups, hrl->prior_logits);
    mo_rl_var group_hidden =
        mo_rl_dense_relu(&hrl->group_hidden, tape, features);
    mo_rl_var logits =
        mo_rl_dense_linear(&hrl->group_output, tape, group_hidden);

    if (mo_rl_tape_failed(tape))
        return 0;
    logits = mo_rl_tape_slice_cols(tape, logits, 0, hrl->n_groups);
    return mo_rl_tape_log_softmax(tape,
                                  mo_rl_tape_add(tape, logits, prior_logits));
}

mo_rl_hrl_placer mo_rl_hrl_placer_init(const mo_rl_hrl *hrl, mo_rl_tape *tape,
                                       const mo_rl_hrl_groups *groups, int rows)
{
    mo_rl_var features = mo_rl_tape_constant(
        tape, groups->n, hrl->n_group_features, groups->features);
    mo_rl_var is = mo_rl_dense_relu(&hrl->group_embed, tape, features);
    const mo_rl_var ways[] = {
        mo_rl_lstm_sequence(&hrl->encode_forward, tape, is, false),
        mo_rl_lstm_sequence(&hrl->encode_backward, tape, is, true)
    };
    mo_rl_var memory = mo_rl_tape_concat_cols(tape, ways, 2);

    return (mo_rl_hrl_placer){
        .hrl = hrl,
        .tape = tape,
        .memory = memory,
        .decoder_inputs = mo_rl_lstm_gate_inputs(&hrl->decoder, tape, memory),
        .device_embed = mo_rl_tape_param(tape, hrl->device_embed),
        .attention = mo_rl_tape_param(tape, hrl->attention),
        .run = mo_rl_lstm_run_init(&hrl->decoder, tape, rows),
    };
}

mo_rl_var mo_rl_hrl_placer_step(mo_rl_hrl_placer *placer, int t,
                                const int *chosen)
{
    int rows[MO_RL_HRL_SAMPLES],
        n = mo_rl_tape_rows(placer->tape, placer->run.hidden);
    mo_rl_var of_last, of_group;

    if (mo_rl_tape_failed(placer->tape))
        return 0;
    for (int i = 0; i < n; i++)
        rows[i] = t > 0 ? chosen[(t - 1) * n + i] : placer->hrl->n_devices;
    of_last =
        mo_rl_tape_gather_rows(placer->tape, placer->device_embed, rows, n);
    of_group =
        mo_rl_tape_gather_rows(placer->tape, placer->decoder_inputs, &t, 1);
    mo_rl_lstm_step(&placer->run, placer->tape,
                    mo_rl_tape_add(placer->tape, of_last, of_group));
    return placer->run.hidden;
}

mo_rl_var mo_rl_hrl_placer_log_probs(mo_rl_hrl_placer *placer, mo_rl_var known,
                                     const int *at)
{
    mo_rl_tape *tape = placer->tape;
    int rows = mo_rl_tape_rows(tape, known);
    mo_rl_var parts[3], hidden;

    if (mo_rl_tape_failed(tape))
        return 0;
    parts[0] = known;
    parts[1] = mo_rl_attention(tape, placer->attention, known, placer->memory);
    parts[2] = mo_rl_tape_gather_rows(tape, placer->memory, at, rows);
    hidden = mo_rl_dense_relu(&placer->hrl->place_hidden, tape,
                              mo_rl_tape_concat_cols(tape, parts, 3));
    return mo_rl_tape_log_softmax(
        tape, mo_rl_dense_linear(&placer->hrl->place_output, tape, hidden));
}

/* Learning rate, and decay of the baseline. */
static const double rate = 0.01, baseline_decay = 0.9;

/* Initial weight of the entropy bonus, summed over all units, and its decay
 * per batch: small graphs converge too early, and have time to restart. */
typedef struct entropy_schedule {
    double weight, entropy_decay;
} entropy_schedule;

static const entropy_schedule small_graphs = { 8, 0.985 },
                              others = { 3.6, 0.995 };

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
    return status == MO_OK ? init_params(hrl, task->seed, err) : status;
}

void mo_rl_hrl_clear(mo_rl_hrl *hrl)
{
    free(hrl->features);
    free(hrl->prior_logits);
    free(hrl->flow_ns);
    free(hrl->begin);
    mo_rl_params_clear(&hrl->weights);
}

static int choose_index(const mo_rl_real *logs, int n, mo_random *random,
                        bool greedy)
{
    return greedy ? mo_rl_categorical_argmax(logs, n)
                  : mo_rl_categorical_sample(logs, n, random);
}

/* chosen: by group, then placement.  Where the mode is requested it is the
 * first, so that the others contribute to training, too. */
static mo_status sample_devices(const mo_rl_hrl *h, const mo_rl_sampling *s,
                                const mo_rl_hrl_groups *groups, int *chosen,
                                mo_error *err)
{
    mo_rl_hrl_placer placer =
        mo_rl_hrl_placer_init(h, s->tape, groups, MO_RL_HRL_SAMPLES);

    for (int t = 0; t < groups->n; t++) {
        mo_rl_var known = mo_rl_hrl_placer_step(&placer, t, chosen), logs;
        int at[MO_RL_HRL_SAMPLES];

        for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
            at[i] = t;
        logs = mo_rl_hrl_placer_log_probs(&placer, known, at);
        if (mo_rl_tape_failed(s->tape))
            return mo_fail_memory(err);
        for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
            chosen[t * MO_RL_HRL_SAMPLES + i] = choose_index(
                mo_rl_tape_values(s->tape, logs) + (size_t) i * h->n_devices,
                h->n_devices, s->random, s->greedy && i == 0);
    }
    return MO_OK;
}

static void place_units(const mo_rl_hrl *h, const mo_rl_hrl_groups *groups,
                        const int *chosen, int i, int *device)
{
    for (int u = 0; u < h->n; u++)
        device[u] = groups->of_unit[u] < 0
                        ? h->units->pin[u]
                        : chosen[groups->of_unit[u] * MO_RL_HRL_SAMPLES + i];
}

static mo_status sample_episode(const mo_rl_policy *policy,
                                const mo_rl_sampling *s, mo_error *err)
{
    const mo_rl_hrl *h = policy->context;
    mo_rl_hrl_groups groups = { 0 };
    mo_status status;

    mo_rl_tape_reset(s->tape);

    mo_rl_var logs = mo_rl_hrl_group_log_probs(h, s->tape);

    if (mo_rl_tape_failed(s->tape)) {
        status = mo_fail_memory(err);
    } else {
        for (int u = 0; u < h->n; u++)
            s->choices[u] = choose_index(mo_rl_tape_values(s->tape, logs) +
                                             (size_t) u * (size_t) h->n_groups,
                                         h->n_groups, s->random, s->greedy);
        status = MO_OK;
    }
    if (status == MO_OK)
        status = mo_rl_hrl_groups_init(h, s->choices, &groups, err);
    mo_rl_tape_reset(s->tape);
    if (status == MO_OK && groups.n > 0)
        status = sample_devices(h, s, &groups, s->choices + h->n, err);
    if (status == MO_OK) {
        /* Evaluates all placements; the best of them is the episode's. */
        const int *chosen = s->choices + h->n;
        int best = 0;

        for (int i = 0; i < MO_RL_HRL_SAMPLES && status == MO_OK; i++) {
            mo_rl_evaluation is;

            place_units(h, &groups, chosen, i, s->device);
            status =
                mo_rl_evaluator_evaluate(s->evaluator, s->device, &is, err);
            if (status != MO_OK)
                break;
            s->scores[i] = -sqrt(is.score);
            s->result->mean += is.score / MO_RL_HRL_SAMPLES;
            if (i == 0 || mo_rl_evaluation_better(&is, &s->result->best)) {
                best = i;
                s->result->best = is;
            }
        }
        s->scores[MO_RL_HRL_SAMPLES] = 0;
        place_units(h, &groups, chosen, best, s->device);
    }
    mo_rl_hrl_groups_clear(&groups);
    return status;
}

/* The loss: log-probabilities of the choices times factors, and the weighted
 * negative entropy. */
static mo_rl_var policy_loss(mo_rl_tape *tape, mo_rl_var logs, const int *picks,
                             const double *factors, double entropy)
{
    mo_rl_var chosen = mo_rl_tape_sum_rows(
        tape, mo_rl_tape_gather_elements(tape, logs, picks, factors));
    mo_rl_var neg_entropy = mo_rl_categorical_neg_entropy(tape, logs);

    return mo_rl_tape_add(tape, chosen,
                          mo_rl_tape_scale(tape, neg_entropy, entropy));
}

static mo_status accumulate_gradient(const mo_rl_policy *policy,
                                     mo_rl_tape *tape, const int *choices,
                                     const double *advantage, double entropy,
                                     mo_error *err)
{
    const mo_rl_hrl *h = policy->context;
    mo_rl_hrl_groups groups = { 0 };
    mo_status status = mo_rl_hrl_groups_init(h, choices, &groups, err);

    if (status == MO_OK && groups.n > 0) {
        /* The advantage of a grouping is the mean of its placements'. */
        double *factors = calloc((size_t) h->n + 1, sizeof *factors);
        double mean = 0;

        if (!factors) {
            status = mo_fail_memory(err);
        } else {
            for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
                mean += advantage[i] / MO_RL_HRL_SAMPLES;
            for (int u = 0; u < h->n; u++)
                factors[u] = h->units->pin[u] == MO_FREE ? -mean : 0;
            mo_rl_tape_reset(tape);
            mo_rl_tape_backward(
                tape, policy_loss(tape, mo_rl_hrl_group_log_probs(h, tape),
                                  choices, factors, entropy));
            free(factors);
            status = mo_rl_tape_failed(tape) ? mo_fail_memory(err) : MO_OK;
        }
    }
    if (status == MO_OK && groups.n > 0) {
        /* With all choices known, the log-probabilities are computed at once.
         */
        const int *chosen = choices + h->n;
        int at[MO_RL_HRL_MAX_GROUPS * MO_RL_HRL_SAMPLES];
        double factors[MO_RL_HRL_MAX_GROUPS * MO_RL_HRL_SAMPLES];
        mo_rl_var known[MO_RL_HRL_MAX_GROUPS], logs;
        mo_rl_hrl_placer placer;

        mo_rl_tape_reset(tape);
        placer = mo_rl_hrl_placer_init(h, tape, &groups, MO_RL_HRL_SAMPLES);
        for (int t = 0; t < groups.n; t++) {
            known[t] = mo_rl_hrl_placer_step(&placer, t, chosen);
            for (int i = 0; i < MO_RL_HRL_SAMPLES; i++) {
                at[t * MO_RL_HRL_SAMPLES + i] = t;
                factors[t * MO_RL_HRL_SAMPLES + i] =
                    -advantage[i] / MO_RL_HRL_SAMPLES;
            }
        }
        logs = mo_rl_hrl_placer_log_probs(
            &placer, mo_rl_tape_concat_rows(tape, known, groups.n), at);
        mo_rl_tape_backward(tape, policy_loss(tape, logs, chosen, factors,
                                              entropy / MO_RL_HRL_SAMPLES));
        status = mo_rl_tape_failed(tape) ? mo_fail_memory(err) : MO_OK;
    }
    mo_rl_hrl_groups_clear(&groups);
    return status;
}

mo_rl_policy mo_rl_hrl_policy(mo_rl_hrl *hrl)
{
    const entropy_schedule *has =
        hrl->n_groups == hrl->n ? &small_graphs : &others;

    return (mo_rl_policy){
        .kind = "hrl",
        .weights = &hrl->weights,
        .about = hrl->about,
        .n_about = 1,
        .n_choices = hrl->n + MO_RL_HRL_MAX_GROUPS * MO_RL_HRL_SAMPLES,
        .begin = hrl->begin,
        .n_parts = MO_RL_HRL_SAMPLES,
        .rate = rate,
        .entropy = has->weight / (hrl->n + 1),
        .entropy_decay = has->entropy_decay,
        .baseline_decay = baseline_decay,
        .context = hrl,
        .sample = sample_episode,
        .learn = accumulate_gradient,
    };
}
