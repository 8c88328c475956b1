/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "solvers/search/rl/nn/attention_layer.h"
#include "solvers/search/rl/hrl.h"

/* Widths of layers. */
enum { LOOK = 64, READ = 32, DECODE = 32, THINK = 32 };

static mo_status add_layers(mo_rl_hrl *h, uint64_t seed, mo_error *err)
{
    const struct {
        mo_rl_dense *layer;
        const char *name;
        int rows, cols;
    } layers[] = {
        { &h->group_hidden, "look", h->n_features, LOOK },
        { &h->group_output, "group", LOOK, MO_RL_HRL_MAX_GROUPS },
        { &h->group_embed, "sum-up", h->n_group_features, READ },
        { &h->place_hidden, "think", DECODE + 4 * READ, THINK },
        { &h->place_output, "choose", THINK, h->n_devices },
    };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (status == MO_OK)
            status =
                mo_rl_dense_add(layers[i].layer, &h->weights, layers[i].name,
                                layers[i].rows, layers[i].cols, seed, err);
    return status;
}

/* The embedding has a row for each device chosen last, and one for none, and
 * enters the gates of the decoder directly. */
mo_status mo_rl_hrl_init_params(mo_rl_hrl *hrl, uint64_t seed, mo_error *err)
{
    mo_rl_params *w = &hrl->weights;
    mo_status status = add_layers(hrl, seed, err);

    if (status == MO_OK)
        status = mo_rl_lstm_add(&hrl->encode_forward, w, "forth", READ, READ,
                                seed, err);
    if (status == MO_OK)
        status = mo_rl_lstm_add(&hrl->encode_backward, w, "back", READ, READ,
                                seed, err);
    if (status == MO_OK)
        status = mo_rl_lstm_add(&hrl->decoder, w, "decode", 2 * READ, DECODE,
                                seed, err);
    if (status != MO_OK)
        return status;
    hrl->attention = mo_rl_params_add(w, "ask", DECODE, 2 * READ, 1, seed);
    hrl->device_embed =
        mo_rl_params_add(w, "last", hrl->n_devices + 1, 4 * DECODE, 1, seed);
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
    mo_rl_var parts[3], thought;

    if (mo_rl_tape_failed(tape))
        return 0;
    parts[0] = known;
    parts[1] = mo_rl_attention(tape, placer->attention, known, placer->memory);
    parts[2] = mo_rl_tape_gather_rows(tape, placer->memory, at, rows);
    thought = mo_rl_dense_relu(&placer->hrl->place_hidden, tape,
                               mo_rl_tape_concat_cols(tape, parts, 3));
    return mo_rl_tape_log_softmax(
        tape, mo_rl_dense_linear(&placer->hrl->place_output, tape, thought));
}
