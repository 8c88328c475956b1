/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of recurrent layers and cells: equations of ONNX, by definition, in
 * double. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

enum { MOST = 8, MOST_GATES = 4 };

/* A random layer. */
typedef struct layer {
    int cell; /* 0: plain, 1: GRU, 2: LSTM */
    int form; /* 0: ONNX, 1: sequence, 2: cell */
    int gates, ways;
    bool reverse, after, batch_first;
    int64_t steps, batch, features, hidden;
    double clip;
    int functions[3]; /* of names */
    /* Inputs; NULL: absent. */
    const mo_tensor_dense *x, *w, *r, *bias, *lengths, *state, *cells, *eyes;
} layer;

static const char *const names[] = { "sigmoid",  "tanh",        "relu",
                                     "softsign", "hardsigmoid", "LeakyRelu",
                                     "elu",      "softplus" };

static double apply(int function, double x)
{
    switch (function) {
    case 0:
        return 1 / (1 + exp(-x));
    case 1:
        return tanh(x);
    case 2:
        return x < 0 ? 0 : x;
    case 3:
        return x / (1 + fabs(x));
    case 4:
        return fmin(1, fmax(0, 0.2 * x + 0.5));
    case 5:
        return x < 0 ? 0.01 * x : x;
    case 6:
        return x < 0 ? expm1(x) : x;
    default:
        return log1p(exp(x));
    }
}

static double at(const mo_tensor_dense *t, int64_t i)
{
    return t ? mo_tensor_get_double(t, i) : 0;
}

static double bound(const layer *l, double x)
{
    return l->clip > 0 ? fmax(-l->clip, fmin(l->clip, x)) : x;
}

static double input_bias(const layer *l, int d, int block, int64_t j)
{
    int64_t h = l->hidden;
    int64_t width =
        l->form == 0 ? 2 * l->gates * h : (l->gates + (l->after ? 1 : 0)) * h;

    return at(l->bias, d * width + block * h + j);
}

static double state_bias(const layer *l, int d, int block, int64_t j)
{
    int64_t h = l->hidden;

    if (l->form == 0)
        return at(l->bias, (2 * d + 1) * l->gates * h + block * h + j);
    return l->after && block == 2
               ? at(l->bias, d * (l->gates + 1) * h + 3 * h + j)
               : 0;
}

static double dot(const mo_tensor_dense *rows, int64_t row, int64_t n,
                  const double *x)
{
    double sum = 0;

    for (int64_t k = 0; k < n; k++)
        sum += at(rows, row * n + k) * x[k];
    return sum;
}

/* One step of row b: state and cell are replaced. */
static void step_row(const layer *l, int d, const double *x, double *state,
                     double *cell)
{
    int64_t h = l->hidden;
    double in[MOST_GATES][MOST], of[MOST_GATES][MOST], reset[MOST];
    /* Blocks of i, f, c, o. */
    int i = l->form ? 1 : 0, f = l->form ? 0 : 2, c = l->form ? 2 : 3;
    int o = l->form ? 3 : 1;

    for (int g = 0; g < l->gates; g++)
        for (int64_t j = 0; j < h; j++) {
            int64_t row = (d * l->gates + g) * h + j;

            in[g][j] = dot(l->w, row, l->features, x) + input_bias(l, d, g, j);
            of[g][j] = dot(l->r, row, h, state) + state_bias(l, d, g, j);
        }
    for (int64_t j = 0; l->cell == 1 && j < h; j++)
        reset[j] = apply(l->functions[0], bound(l, in[1][j] + of[1][j]));
    if (l->cell == 1 && !l->after) {
        double product[MOST];

        for (int64_t j = 0; j < h; j++)
            product[j] = reset[j] * state[j];
        for (int64_t j = 0; j < h; j++)
            of[2][j] = dot(l->r, (d * l->gates + 2) * h + j, h, product) +
                       state_bias(l, d, 2, j);
    }
    for (int64_t j = 0; j < h; j++) {
        const int64_t eye = d * 3 * h + j;
        double z, made;

        if (l->cell == 0) {
            state[j] = apply(l->functions[0], bound(l, in[0][j] + of[0][j]));
        } else if (l->cell == 1) {
            z = apply(l->functions[0], bound(l, in[0][j] + of[0][j]));
            made = in[2][j] + (l->after ? reset[j] : 1) * of[2][j];
            made = apply(l->functions[1], bound(l, made));
            state[j] = (1 - z) * made + z * state[j];
        } else {
            double it = in[i][j] + of[i][j] + at(l->eyes, eye) * cell[j];
            double ft =
                in[f][j] + of[f][j] + at(l->eyes, eye + 2 * h) * cell[j];

            cell[j] = apply(l->functions[0], bound(l, ft)) * cell[j] +
                      apply(l->functions[0], bound(l, it)) *
                          apply(l->functions[1], bound(l, in[c][j] + of[c][j]));
            z = in[o][j] + of[o][j] + at(l->eyes, eye + h) * cell[j];
            state[j] = apply(l->functions[0], bound(l, z)) *
                       apply(l->functions[2], cell[j]);
        }
    }
}

static int64_t state_place(const layer *l, int64_t b, int d)
{
    return (l->form == 0 && !l->batch_first ? d * l->batch + b
                                            : b * l->ways + d) *
           l->hidden;
}

static int64_t all_place(const layer *l, int64_t b, int d, int64_t t)
{
    if (l->form)
        return ((b * l->ways + d) * l->steps + t) * l->hidden;
    return (l->batch_first ? (b * l->steps + t) * l->ways + d
                           : (t * l->ways + d) * l->batch + b) *
           l->hidden;
}

static void check_near(const op_case *c, int out, int64_t i, double wanted)
{
    double ours = mo_tensor_get_double(&c->result[out], i);

    ck_assert_msg(fabs(ours - wanted) <= 2e-5 * (1 + fabs(wanted)),
                  "%s %s: output %d, %lld: %.9g, not %.9g", c->type, c->attrs,
                  out, (long long) i, ours, wanted);
}

static void check_row(const layer *l, const op_case *c, int64_t b, int d)
{
    double state[MOST], cell[MOST], x[MOST];
    int64_t h = l->hidden, length = l->steps;
    int first = l->form == 2 ? 0 : 1;

    if (l->lengths)
        length = mo_tensor_get_int(l->lengths, b);
    for (int64_t j = 0; j < h; j++) {
        state[j] = at(l->state, state_place(l, b, d) + j);
        cell[j] = at(l->cells, state_place(l, b, d) + j);
    }
    for (int64_t s = 0; s < l->steps; s++) {
        int64_t t = s >= length ? s : d == 1 || l->reverse ? length - 1 - s : s;
        int64_t row = l->form == 0 && !l->batch_first ? t * l->batch + b
                                                      : b * l->steps + t;

        for (int64_t k = 0; k < l->features; k++)
            x[k] = at(l->x, row * l->features + k);
        if (s < length)
            step_row(l, d, x, state, cell);
        for (int64_t j = 0; l->form < 2 && j < h; j++)
            check_near(c, 0, all_place(l, b, d, t) + j,
                       s < length ? state[j] : 0);
    }
    for (int64_t j = 0; j < h; j++) {
        check_near(c, first, state_place(l, b, d) + j, state[j]);
        if (l->cell == 2)
            check_near(c, first + 1, state_place(l, b, d) + j, cell[j]);
    }
}

static layer random_layer(mo_random *random, int number)
{
    layer l = { .cell = number % 3, .form = number / 3 % 3 };
    int way = mo_random_below(random, 3);

    l.gates = l.cell == 2 ? 4 : l.cell == 1 ? 3 : 1;
    l.ways = l.form < 2 && way == 2 ? 2 : 1;
    l.reverse = l.form < 2 && way == 1;
    l.after = l.cell == 1 && mo_random_below(random, 2);
    l.batch_first = l.form != 0 || mo_random_below(random, 2);
    l.steps = l.form == 2 ? 1 : 1 + mo_random_below(random, 5);
    l.batch = 1 + mo_random_below(random, number % 5 ? 4 : 70);
    l.features = 1 + mo_random_below(random, MOST);
    l.hidden = 1 + mo_random_below(random, MOST);
    l.clip = mo_random_below(random, 3) ? 0 : 0.4;
    l.functions[0] = mo_random_below(random, 2) ? 0 : 4;
    for (int k = 1; k < 3; k++)
        l.functions[k] = mo_random_below(random, 2)
                             ? 1
                             : mo_random_below(random, COUNT(names));
    if (l.cell == 0)
        l.functions[0] = mo_random_below(random, COUNT(names));
    return l;
}

static void write_attrs(const layer *l, char *text, size_t size)
{
    int n =
        snprintf(text, size,
                 "{\"hidden_size\":%lld,\"direction\":\"%s\",\"clip\":%g,"
                 "\"linear_before_reset\":%s,\"layout\":%d,\"activations\":\"",
                 (long long) l->hidden,
                 l->ways == 2 ? "bidirectional"
                 : l->reverse ? "reverse"
                              : "forward",
                 l->clip, l->after ? "true" : "false", l->batch_first);

    for (int k = 0; k < (l->cell == 0 ? 1 : l->cell + 1); k++)
        n += snprintf(text + n, size - (size_t) n, "%s%s", k ? "," : "",
                      names[l->functions[k]]);
    snprintf(text + n, size - (size_t) n, "\"}");
}

static const mo_tensor_dense *add_real(op_case *c, mo_shape shape,
                                       uint64_t seed)
{
    return op_case_data(c, MO_ELEM_F32, &shape, seed * 16 + (uint64_t) c->n_in);
}

/* An optional input: absent, it has no elements. */
static const mo_tensor_dense *maybe_real(op_case *c, mo_random *random,
                                         mo_shape shape, uint64_t seed)
{
    mo_shape none = { 1, { 0 } };

    if (mo_random_below(random, 2))
        return add_real(c, shape, seed);
    op_case_data(c, MO_ELEM_F32, &none, 1);
    return NULL;
}

static const mo_tensor_dense *add_lengths(op_case *c, mo_random *random,
                                          const layer *l)
{
    mo_shape shape = { 1, { l->batch } };
    mo_tensor_dense *made = op_case_data(c, MO_ELEM_I32, &shape, 1);

    for (int64_t b = 0; b < l->batch; b++)
        mo_tensor_set_int(made, b, mo_random_below(random, (int) l->steps + 1));
    return made;
}

static mo_shape of_ways(const layer *l, int64_t rows, int64_t columns)
{
    if (l->form == 2)
        return (mo_shape){ 2, { rows, columns } };
    return (mo_shape){ 3, { l->ways, rows, columns } };
}

static mo_shape state_shape(const layer *l)
{
    if (l->form == 2)
        return (mo_shape){ 2, { l->batch, l->hidden } };
    if (l->batch_first)
        return (mo_shape){ 3, { l->batch, l->ways, l->hidden } };
    return (mo_shape){ 3, { l->ways, l->batch, l->hidden } };
}

static void add_inputs(op_case *c, layer *l, mo_random *random, uint64_t seed)
{
    int64_t rows = l->gates * l->hidden;
    mo_shape bias = { 2, { l->ways, 2 * rows } };
    mo_shape eyes = { 2, { l->ways, 3 * l->hidden } };

    if (l->form == 0) {
        mo_shape none = { 1, { 0 } };

        l->w = add_real(c, of_ways(l, rows, l->features), seed);
        l->r = add_real(c, of_ways(l, rows, l->hidden), seed);
        l->bias = maybe_real(c, random, bias, seed);
        if (mo_random_below(random, 2))
            l->lengths = add_lengths(c, random, l);
        else
            op_case_data(c, MO_ELEM_I32, &none, 1);
        l->state = maybe_real(c, random, state_shape(l), seed);
        if (l->cell == 2) {
            l->cells = maybe_real(c, random, state_shape(l), seed);
            l->eyes = maybe_real(c, random, eyes, seed);
        }
        return;
    }
    l->state = add_real(c, state_shape(l), seed);
    if (l->cell == 2)
        l->cells = add_real(c, state_shape(l), seed);
    if (l->form == 1)
        l->lengths = add_lengths(c, random, l);
    l->w = add_real(c, of_ways(l, rows, l->features), seed);
    l->r = add_real(c, of_ways(l, rows, l->hidden), seed);
    bias.dims[1] = rows + (l->after ? l->hidden : 0);
    if (l->form == 2)
        bias = (mo_shape){ 1, { bias.dims[1] } };
    l->bias = add_real(c, bias, seed);
}

static void add_outputs(op_case *c, const layer *l)
{
    mo_shape all = { 4, { l->steps, l->ways, l->batch, l->hidden } };
    mo_shape states = state_shape(l);

    if (l->form == 1)
        all = (mo_shape){ 4, { l->batch, l->ways, l->steps, l->hidden } };
    else if (l->batch_first)
        all = (mo_shape){ 4, { l->batch, l->steps, l->ways, l->hidden } };
    if (l->form < 2)
        op_case_makes(c, MO_ELEM_F32, &all);
    op_case_makes(c, MO_ELEM_F32, &states);
    if (l->cell == 2)
        op_case_makes(c, MO_ELEM_F32, &states);
}

START_TEST(layers_are_their_equations)
{
    static const char *const types[3][3] = {
        { "RNN", "GRU", "LSTM" },
        { "RNNSequence", "GRUSequence", "LSTMSequence" },
        { "RNNCell", "GRUCell", "LSTMCell" },
    };
    mo_random random = { (uint64_t) _i };
    layer l = random_layer(&random, _i);
    char attrs[256] = "";
    mo_shape data = { 3, { l.steps, l.batch, l.features } };
    op_case c = op_case_of(types[l.form][l.cell], attrs);

    write_attrs(&l, attrs, sizeof attrs);
    if (l.form == 2)
        data = (mo_shape){ 2, { l.batch, l.features } };
    else if (l.batch_first)
        data = (mo_shape){ 3, { l.batch, l.steps, l.features } };
    l.x = add_real(&c, data, (uint64_t) _i);
    add_inputs(&c, &l, &random, (uint64_t) _i);
    add_outputs(&c, &l);
    op_case_run(&c);
    for (int64_t b = 0; b < l.batch; b++)
        for (int d = 0; d < l.ways; d++)
            check_row(&l, &c, b, d);
    op_case_clear(&c);
}
END_TEST

/* Each attribute that cannot be run, and what the error has of it. */
START_TEST(what_cannot_be_run_is_named)
{
    static const struct {
        const char *attrs, *text;
    } faults[] = {
        { "{\"hidden_size\":2,\"activations\":\"sin\"}", "'sin'" },
        { "{\"hidden_size\":2,\"activations\":\"tanh,tanh\"}",
          "2 activations" },
        { "{\"hidden_size\":2,\"activations\":\"elu\","
          "\"activations_alpha\":\"x\"}",
          "'x'" },
        { "{\"hidden_size\":2,\"input_forget\":1}", "input_forget" },
    };
    mo_shape data = { 2, { 1, 3 } }, state = { 2, { 1, 2 } };
    mo_shape w = { 2, { 2, 3 } }, r = { 2, { 2, 2 } }, bias = { 1, { 2 } };
    op_case c = op_case_of("RNNCell", faults[_i].attrs);
    mo_error err = { 0 };

    add_real(&c, data, 1);
    add_real(&c, state, 1);
    add_real(&c, w, 1);
    add_real(&c, r, 1);
    add_real(&c, bias, 1);
    op_case_makes(&c, MO_ELEM_F32, &state);
    ck_assert(op_case_try(&c, &err) != MO_OK);
    ck_assert_msg(strstr(err.text, faults[_i].text), "%s", err.text);
    op_case_clear(&c);
}
END_TEST

SUITE(op_recurrent)
{
    EACH(layers_are_their_equations, 90);
    EACH(what_cannot_be_run_is_named, 4);
}
