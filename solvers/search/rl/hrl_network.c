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
        { &h->look, "look", h->n_features, LOOK },
        { &h->group, "group", LOOK, MO_RL_HRL_MAX_GROUPS },
        { &h->sum_up, "sum-up", h->n_group_features, READ },
        { &h->think, "think", DECODE + 4 * READ, THINK },
        { &h->choose, "choose", THINK, h->n_devices },
    };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (status == MO_OK)
            status =
                mo_rl_dense_add(layers[i].layer, &h->weights, layers[i].name,
                                layers[i].rows, layers[i].cols, seed, err);
    return status;
}

/* A row for each device that was chosen last, and one where none was, straight
 * to the gates of the decoder. */
mo_status mo_rl_hrl_init_params(mo_rl_hrl *hrl, uint64_t seed, mo_error *err)
{
    mo_rl_params *w = &hrl->weights;
    mo_status status = add_layers(hrl, seed, err);

    if (status == MO_OK)
        status = mo_rl_lstm_add(&hrl->forth, w, "forth", READ, READ, seed, err);
    if (status == MO_OK)
        status = mo_rl_lstm_add(&hrl->back, w, "back", READ, READ, seed, err);
    if (status == MO_OK)
        status = mo_rl_lstm_add(&hrl->decode, w, "decode", 2 * READ, DECODE,
                                seed, err);
    if (status != MO_OK)
        return status;
    hrl->ask = mo_rl_params_add(w, "ask", DECODE, 2 * READ, 1, seed);
    hrl->last =
        mo_rl_params_add(w, "last", hrl->n_devices + 1, 4 * DECODE, 1, seed);
    return hrl->ask < 0 || hrl->last < 0 ? mo_fail_memory(err) : MO_OK;
}

mo_rl_var mo_rl_hrl_group_log_probs(const mo_rl_hrl *hrl, mo_rl_tape *tape)
{
    mo_rl_var told =
        mo_rl_tape_constant(tape, hrl->n, hrl->n_features, hrl->told);
    mo_rl_var begins =
        mo_rl_tape_constant(tape, hrl->n, hrl->n_groups, hrl->begins);
    mo_rl_var look = mo_rl_dense_relu(&hrl->look, tape, told);
    mo_rl_var logits = mo_rl_dense_linear(&hrl->group, tape, look);

    if (mo_rl_tape_failed(tape))
        return 0;
    logits = mo_rl_tape_slice_cols(tape, logits, 0, hrl->n_groups);
    return mo_rl_tape_log_softmax(tape, mo_rl_tape_add(tape, logits, begins));
}

mo_rl_hrl_placer mo_rl_hrl_placer_init(const mo_rl_hrl *hrl, mo_rl_tape *tape,
                                       const mo_rl_hrl_groups *groups, int rows)
{
    mo_rl_var told = mo_rl_tape_constant(tape, groups->n, hrl->n_group_features,
                                         groups->told);
    mo_rl_var is = mo_rl_dense_relu(&hrl->sum_up, tape, told);
    const mo_rl_var ways[] = {
        mo_rl_lstm_sequence(&hrl->forth, tape, is, false),
        mo_rl_lstm_sequence(&hrl->back, tape, is, true)
    };
    mo_rl_var memory = mo_rl_tape_concat_cols(tape, ways, 2);

    return (mo_rl_hrl_placer){
        .hrl = hrl,
        .tape = tape,
        .memory = memory,
        .heard = mo_rl_lstm_gate_inputs(&hrl->decode, tape, memory),
        .last = mo_rl_tape_param(tape, hrl->last),
        .ask = mo_rl_tape_param(tape, hrl->ask),
        .run = mo_rl_lstm_run_init(&hrl->decode, tape, rows),
    };
}

mo_rl_var mo_rl_hrl_placer_step(mo_rl_hrl_placer *placer, int t,
                                const int *chosen)
{
    int rows[MO_RL_HRL_SAMPLES],
        n = mo_rl_tape_rows(placer->tape, placer->run.shown);
    mo_rl_var of_last, of_group;

    if (mo_rl_tape_failed(placer->tape))
        return 0;
    for (int i = 0; i < n; i++)
        rows[i] = t > 0 ? chosen[(t - 1) * n + i] : placer->hrl->n_devices;
    of_last = mo_rl_tape_gather_rows(placer->tape, placer->last, rows, n);
    of_group = mo_rl_tape_gather_rows(placer->tape, placer->heard, &t, 1);
    mo_rl_lstm_step(&placer->run, placer->tape,
                    mo_rl_tape_add(placer->tape, of_last, of_group));
    return placer->run.shown;
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
    parts[1] = mo_rl_attention(tape, placer->ask, known, placer->memory);
    parts[2] = mo_rl_tape_gather_rows(tape, placer->memory, at, rows);
    thought = mo_rl_dense_relu(&placer->hrl->think, tape,
                               mo_rl_tape_concat_cols(tape, parts, 3));
    return mo_rl_tape_log_softmax(
        tape, mo_rl_dense_linear(&placer->hrl->choose, tape, thought));
}
