#include <stdlib.h>

#include "solvers/search/rl/nn/attention_layer.h"
#include "solvers/search/rl/hrl.h"

/* Widths of layers. */
enum { LOOK = 64, READ = 32, DECODE = 32, THINK = 32 };

static mo_status add_layers(mo_hrl *h, uint64_t seed, mo_error *err)
{
    const struct {
        mo_dense *layer;
        const char *name;
        int rows, cols;
    } layers[] = {
        { &h->look, "look", h->n_features, LOOK },
        { &h->group, "group", LOOK, MO_HRL_GROUPS },
        { &h->sum_up, "sum-up", h->n_group_features, READ },
        { &h->think, "think", DECODE + 4 * READ, THINK },
        { &h->choose, "choose", THINK, h->n_devices },
    };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (status == MO_OK)
            status = mo_dense_add(layers[i].layer, &h->weights, layers[i].name,
                                  layers[i].rows, layers[i].cols, seed, err);
    return status;
}

/* A row for each device that was chosen last, and one where none was, straight
 * to the gates of the decoder. */
mo_status mo_hrl_weights(mo_hrl *hrl, uint64_t seed, mo_error *err)
{
    mo_weights *w = &hrl->weights;
    mo_status status = add_layers(hrl, seed, err);

    if (status == MO_OK)
        status = mo_lstm_add(&hrl->forth, w, "forth", READ, READ, seed, err);
    if (status == MO_OK)
        status = mo_lstm_add(&hrl->back, w, "back", READ, READ, seed, err);
    if (status == MO_OK)
        status =
            mo_lstm_add(&hrl->decode, w, "decode", 2 * READ, DECODE, seed, err);
    if (status != MO_OK)
        return status;
    hrl->ask = mo_weights_add(w, "ask", DECODE, 2 * READ, 1, seed);
    hrl->last =
        mo_weights_add(w, "last", hrl->n_devices + 1, 4 * DECODE, 1, seed);
    return hrl->ask < 0 || hrl->last < 0 ? mo_fail_memory(err) : MO_OK;
}

mo_var mo_hrl_grouper(const mo_hrl *hrl, mo_tape *tape)
{
    mo_var told = mo_tape_given(tape, hrl->n, hrl->n_features, hrl->told);
    mo_var begins = mo_tape_given(tape, hrl->n, hrl->n_groups, hrl->begins);
    mo_var look = mo_dense_layer(&hrl->look, tape, told);
    mo_var logits = mo_dense_linear(&hrl->group, tape, look);

    if (mo_tape_failed(tape))
        return 0;
    logits = mo_tape_columns(tape, logits, 0, hrl->n_groups);
    return mo_tape_log_softmax(tape, mo_tape_sum(tape, logits, begins));
}

mo_hrl_placer mo_hrl_placer_begin(const mo_hrl *hrl, mo_tape *tape,
                                  const mo_hrl_groups *groups, int rows)
{
    mo_var told =
        mo_tape_given(tape, groups->n, hrl->n_group_features, groups->told);
    mo_var is = mo_dense_layer(&hrl->sum_up, tape, told);
    const mo_var ways[] = { mo_lstm_read(&hrl->forth, tape, is, false),
                            mo_lstm_read(&hrl->back, tape, is, true) };
    mo_var memory = mo_tape_beside(tape, ways, 2);

    return (mo_hrl_placer){
        .hrl = hrl,
        .tape = tape,
        .memory = memory,
        .heard = mo_lstm_heard(&hrl->decode, tape, memory),
        .last = mo_tape_weight(tape, hrl->last),
        .ask = mo_tape_weight(tape, hrl->ask),
        .run = mo_lstm_begin(&hrl->decode, tape, rows),
    };
}

mo_var mo_hrl_placer_step(mo_hrl_placer *placer, int t, const int *chosen)
{
    int rows[MO_HRL_DRAWN], n = mo_tape_rows(placer->tape, placer->run.shown);
    mo_var of_last, of_group;

    if (mo_tape_failed(placer->tape))
        return 0;
    for (int i = 0; i < n; i++)
        rows[i] = t > 0 ? chosen[(t - 1) * n + i] : placer->hrl->n_devices;
    of_last = mo_tape_rows_of(placer->tape, placer->last, rows, n);
    of_group = mo_tape_rows_of(placer->tape, placer->heard, &t, 1);
    mo_lstm_step(&placer->run, placer->tape,
                 mo_tape_sum(placer->tape, of_last, of_group));
    return placer->run.shown;
}

mo_var mo_hrl_placer_logs(mo_hrl_placer *placer, mo_var known, const int *at)
{
    mo_tape *tape = placer->tape;
    int rows = mo_tape_rows(tape, known);
    mo_var parts[3], thought;

    if (mo_tape_failed(tape))
        return 0;
    parts[0] = known;
    parts[1] = mo_attend(tape, placer->ask, known, placer->memory);
    parts[2] = mo_tape_rows_of(tape, placer->memory, at, rows);
    thought = mo_dense_layer(&placer->hrl->think, tape,
                             mo_tape_beside(tape, parts, 3));
    return mo_tape_log_softmax(
        tape, mo_dense_linear(&placer->hrl->choose, tape, thought));
}
