/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotary positions, and which tokens attend to which.  A head is turned pair by
 * pair, y the partner of x:
 *
 *     x' = x cos(position * frequency) -+ y sin(position * frequency)
 *
 * Elements that are not rotated have the frequency 0.
 */
#include "ingest/llm/decoder_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TURN 6.283185307179586 /* 2 pi */

static int64_t pair_of(const mo_llm_decoder *d, int64_t i)
{
    return i >= d->rotated ? 0 : d->pairs_halves ? i % (d->rotated / 2) : i / 2;
}

static void add_pairs(mo_llm_run *m)
{
    const mo_llm_decoder *d = m->decoder;
    int64_t apart = d->pairs_halves ? d->rotated / 2 : 1;
    double signs[MO_LLM_MAX_HEAD] = { 0 }, partners[MO_LLM_MAX_HEAD] = { 0 };

    for (int64_t i = 0; i < m->head; i++) {
        bool first = i % (2 * apart) < apart;

        signs[i] = first ? -1 : 1;
        partners[i] = (double) (i >= d->rotated ? i
                                : first         ? i + apart
                                                : i - apart);
    }
    m->signs = mo_llm_run_add_numbers(m, "signs", "f32", (int) m->head, signs);
    m->partners =
        mo_llm_run_add_numbers(m, "partners", "i64", (int) m->head, partners);
}

/* Angles grow with the position: in f64 they are exact in any precision of the
 * run. */
static int add_f64(mo_llm_run *m, const char *part, const char *type,
                   mo_shape shape, int a, int b)
{
    return mo_llm_run_add(m, &(mo_llm_run_op){ .part = part,
                                               .type = type,
                                               .dtype = "f64",
                                               .shape = shape,
                                               .in = { a, b },
                                               .n_in = b < 0 ? 1 : 2 });
}

void mo_llm_run_add_positions(mo_llm_run *m)
{
    const mo_shape positions = MO_LLM_SHAPE(m->tokens);
    int position =
        mo_llm_run_add(m, &(mo_llm_run_op){ .part = "position",
                                            .type = "Parameter",
                                            .dtype = "i64",
                                            .shape = MO_LLM_SHAPE(1) });

    m->at = position;
    if (m->tokens > 1)
        m->at = mo_llm_run_add(
            m, &(mo_llm_run_op){ .part = "positions",
                                 .type = "Add",
                                 .dtype = "i64",
                                 .shape = positions,
                                 .in = { position, mo_llm_run_add_range(
                                                       m, "steps", m->tokens) },
                                 .n_in = 2 });
    m->rows = add_f64(m, "places", "Convert", positions, m->at, -1);
    m->rows = mo_llm_run_add_reshape(m, NULL, "rows", m->rows, "f64",
                                     MO_LLM_SHAPE(m->tokens, 1, 1));
    add_pairs(m);
}

/* The factor of the frequency of a pair.  Between those that turn so often
 * within the context that they are kept, and those that are scaled, it is
 * interpolated, by the number of the pair. */
static double scale_of(const mo_llm_decoder *d, double base, double scale,
                       int64_t pair)
{
    double n = (double) d->rotated, each = n / (2 * log(base));
    double first = each * log((double) d->rope_context / (d->yarn_fast * TURN));
    double last = each * log((double) d->rope_context / (d->yarn_slow * TURN));
    double kept;

    if (!d->yarn)
        return scale;
    first = fmax(0, floor(first));
    last = fmin(n - 1, ceil(last));
    kept =
        1 -
        fmin(1, fmax(0, ((double) pair - first) / fmax(0.001, last - first)));
    return scale * (1 - kept) + kept;
}

static mo_llm_weight *find_factors(const mo_llm_run *m)
{
    const mo_llm_decoder *d = m->decoder;
    mo_llm_weight *factors = mo_llm_run_find_named(d, "rope_freqs.weight");

    if (!d->has_rope_factors || factors)
        return d->has_rope_factors ? factors : NULL;
    return mo_llm_run_find_named(d, m->options->context > d->rope_context
                                        ? "rope_factors_long.weight"
                                        : "rope_factors_short.weight");
}

/* Frequencies of the elements; the file may have divisors of those of pairs. */
static int add_frequencies(mo_llm_run *m, const char *part, double base,
                           double scale)
{
    const mo_llm_decoder *d = m->decoder;
    const mo_shape each = MO_LLM_SHAPE(m->head);
    double numbers[MO_LLM_MAX_HEAD] = { 0 }, pairs[MO_LLM_MAX_HEAD] = { 0 };
    mo_llm_weight *factors = find_factors(m);
    int made, divisors;

    for (int64_t i = 0; i < m->head; i++) {
        double place = 2 * (double) pair_of(d, i) / (double) d->rotated;

        pairs[i] = (double) pair_of(d, i);
        numbers[i] = i < d->rotated ? scale_of(d, base, scale, pair_of(d, i)) *
                                          pow(base, -place)
                                    : 0;
    }
    made = mo_llm_run_add_numbers(m, part, "f64", (int) m->head, numbers);
    if (!factors)
        return made;
    divisors = mo_llm_run_add_gather(
        m,
        &(mo_llm_run_op){
            .part = "divisors", .shape = each, .is_constant = true },
        mo_llm_run_add_vector(m, factors),
        mo_llm_run_add_numbers(m, "pairs", "i64", (int) m->head, pairs), 0);
    divisors = mo_llm_run_add(m, &(mo_llm_run_op){ .part = "divisors_f64",
                                                   .type = "Convert",
                                                   .dtype = "f64",
                                                   .shape = each,
                                                   .in = { divisors },
                                                   .n_in = 1,
                                                   .is_constant = true });
    return mo_llm_run_add(m, &(mo_llm_run_op){ .part = "divided_frequencies",
                                               .type = "Divide",
                                               .dtype = "f64",
                                               .shape = each,
                                               .in = { made, divisors },
                                               .n_in = 2,
                                               .is_constant = true });
}

/* Cosines or sines of the angles; elements that are not rotated keep their
 * amplitude. */
static int add_function(mo_llm_run *m, const char *part, const char *type,
                        const char *whole, int angles)
{
    const mo_llm_decoder *d = m->decoder;
    const mo_shape all = MO_LLM_SHAPE(m->tokens, 1, m->head);
    double amplitudes[MO_LLM_MAX_HEAD];
    char scaled[64];
    int x = add_f64(m, part, type, all, angles, -1);

    if (d->rope_amplitude != 1) {
        for (int64_t i = 0; i < m->head; i++)
            amplitudes[i] = i < d->rotated ? d->rope_amplitude : 1;
        snprintf(scaled, sizeof scaled, "scaled_%s", part);
        x = add_f64(m, scaled, "Multiply", all, x,
                    mo_llm_run_add_numbers(m, "amplitudes", "f64",
                                           (int) m->head, amplitudes));
    }
    return mo_llm_run_add_f32(m, NULL, whole, "Convert", all, x, -1);
}

static void add_rotation(mo_llm_run *m, int number, mo_llm_view *v)
{
    static const char *const parts[MO_LLM_N_VIEWS][7] = {
        { "frequencies", "angles", "cos", "cosines", "sin", "sines",
          "signed_sines" },
        { "window_frequencies", "window_angles", "window_cos", "window_cosines",
          "window_sin", "window_sines", "window_signed_sines" }
    };
    const mo_llm_decoder *d = m->decoder;
    const mo_shape all = MO_LLM_SHAPE(m->tokens, 1, m->head);
    const char *const *part = parts[number];
    int frequencies =
        number == MO_LLM_WHOLE
            ? add_frequencies(m, part[0], d->rope_base, d->rope_scale)
            : add_frequencies(m, part[0], d->window_rope_base,
                              d->window_rope_scale);
    int angles = add_f64(m, part[1], "Multiply", all, m->rows, frequencies);

    v->cosines = add_function(m, part[2], "Cos", part[3], angles);
    v->sines = add_function(m, part[4], "Sin", part[5], angles);
    v->sines = mo_llm_run_add_f32(m, NULL, part[6], "Multiply", all, v->sines,
                                  m->signs);
}

int mo_llm_run_rotate(mo_llm_run *m, const mo_llm_view *v, const char *role,
                      const char *const parts[4], int x, mo_shape shape)
{
    int partner = mo_llm_run_add_gather(
        m, &(mo_llm_run_op){ .role = role, .part = parts[0], .shape = shape },
        x, m->partners, 3);
    int own =
        mo_llm_run_add_f32(m, role, parts[1], "Multiply", shape, x, v->cosines);
    int other = mo_llm_run_add_f32(m, role, parts[2], "Multiply", shape,
                                   partner, v->sines);

    return mo_llm_run_add_f32(m, role, parts[3], "Add", shape, own, other);
}

/* Which keys of the cache a token attends to: from behind the window, if any,
 * up to its own. */
static int add_compare(mo_llm_run *m, const char *part, const char *type, int a,
                       int b)
{
    return mo_llm_run_add(
        m,
        &(mo_llm_run_op){ .part = part,
                          .type = type,
                          .dtype = "boolean",
                          .shape = MO_LLM_SHAPE(m->tokens, m->options->context),
                          .in = { a, b },
                          .n_in = 2 });
}

static int add_mask(mo_llm_run *m, int number, int64_t window)
{
    const mo_shape column = MO_LLM_SHAPE(m->tokens, 1);
    int keys, at, mask, before;

    keys = mo_builder_find(m->builder, "/keys", strlen("/keys"));
    if (keys < 0)
        keys = mo_llm_run_add_range(m, "keys", m->options->context);
    at = mo_llm_run_add_reshape(
        m, NULL, number == MO_LLM_WHOLE ? "column" : "window_column", m->at,
        "i64", column);
    mask = add_compare(m, number == MO_LLM_WHOLE ? "mask" : "window_end",
                       "LessEqual", keys, at);
    if (number == MO_LLM_WHOLE)
        return mask;
    before = mo_llm_run_add(
        m,
        &(mo_llm_run_op){ .part = "window_before",
                          .type = "Subtract",
                          .dtype = "i64",
                          .shape = column,
                          .in = { at, mo_llm_run_add_number(m, "window", "i64",
                                                            (double) window) },
                          .n_in = 2 });
    return add_compare(m, "window_mask", "LogicalAnd", mask,
                       add_compare(m, "window_begin", "Greater", keys, before));
}

const mo_llm_view *mo_llm_run_find_view(mo_llm_run *m)
{
    int64_t window = m->decoder->model->layers[m->layer].window;
    int number = window > 0 ? MO_LLM_WINDOW : MO_LLM_WHOLE;
    mo_llm_view *v = &m->views[number];

    if (!v->is_made) {
        add_rotation(m, number, v);
        v->mask = add_mask(m, number, window);
        v->is_made = true;
    }
    return v;
}
