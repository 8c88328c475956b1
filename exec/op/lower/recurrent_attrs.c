/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/lower/recurrent_attrs.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "graph/op_attrs.h"

enum { MAX_FUNCTIONS = 6, MAX_NAME = 32 };

/* Activations of ONNX; alpha and beta where they take them. */
static const struct {
    const char *name;
    mo_call_rnn_function function;
    bool has_alpha, has_beta;
    float alpha, beta;
} functions[] = {
    { "sigmoid", MO_CALL_RNN_SIGMOID, false, false, 0, 0 },
    { "tanh", MO_CALL_RNN_TANH, false, false, 0, 0 },
    { "relu", MO_CALL_RNN_RELU, false, false, 0, 0 },
    { "affine", MO_CALL_RNN_AFFINE, true, true, 1, 0 },
    { "leakyrelu", MO_CALL_RNN_LEAKY_RELU, true, false, 0.01f, 0 },
    { "thresholdedrelu", MO_CALL_RNN_THRESHOLDED_RELU, true, false, 1, 0 },
    { "scaledtanh", MO_CALL_RNN_SCALED_TANH, true, true, 1, 1 },
    { "hardsigmoid", MO_CALL_RNN_HARD_SIGMOID, true, true, 0.2f, 0.5f },
    { "elu", MO_CALL_RNN_ELU, true, false, 1, 0 },
    { "softsign", MO_CALL_RNN_SOFTSIGN, false, false, 0, 0 },
    { "softplus", MO_CALL_RNN_SOFTPLUS, false, false, 0, 0 },
};

enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* The items of a list as it is written: names or numbers between commas,
 * brackets, quotes and spaces. */
typedef struct word_list {
    const char *at, *end;
} word_list;

static word_list words_of(const mo_op_site *site, const char *key,
                          const char *other)
{
    const mo_attr *attr = mo_attr_find(site->attrs, key);

    if (!attr)
        attr = mo_attr_find(site->attrs, other);
    return attr ? (word_list){ attr->text, attr->text + attr->length }
                : (word_list){ NULL, NULL };
}

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '[' || c == ']' || c == '"' ||
           c == '\'' || c == '\\';
}

/* Takes the next word; its length is 0 behind the last. */
static size_t take_word(word_list *list, const char **word)
{
    while (list->at < list->end && is_separator(*list->at))
        list->at++;
    *word = list->at;
    while (list->at < list->end && !is_separator(*list->at))
        list->at++;
    return (size_t) (list->at - *word);
}

/* Takes the next number of the list, if there is one. */
static mo_status take_number(const mo_op_site *site, word_list *list,
                             float *number, mo_error *err)
{
    const char *word;
    size_t length = take_word(list, &word);
    double value;

    if (length == 0)
        return MO_OK;
    if (mo_number_read_double(word, length, &value) != MO_NUMBER_OK ||
        !isfinite(value))
        return mo_op_site_fail(
            site, MO_E_INPUT, err, "'%.*s' is no parameter of an activation",
            (int) (length < MAX_NAME ? length : MAX_NAME), word);
    *number = (float) value;
    return MO_OK;
}

/* Reads names into made; *count: how many. */
static mo_status read_functions(const mo_op_site *site,
                                mo_call_rnn_activation *made, int *count,
                                mo_error *err)
{
    word_list names = words_of(site, "activations", "activations");
    word_list alphas = words_of(site, "activation_alpha", "activations_alpha");
    word_list betas = words_of(site, "activation_beta", "activations_beta");
    mo_status status = MO_OK;
    const char *word;
    size_t length;

    *count = 0;
    while (status == MO_OK && (length = take_word(&names, &word)) > 0) {
        int i = 0;

        while (i < N_FUNCTIONS &&
               (strlen(functions[i].name) != length ||
                strncasecmp(functions[i].name, word, length) != 0))
            i++;
        if (i == N_FUNCTIONS || *count == MAX_FUNCTIONS)
            return mo_op_site_fail(
                site, MO_E_SUPPORT, err, "activation '%.*s' cannot be run",
                (int) (length < MAX_NAME ? length : MAX_NAME), word);
        made[*count] =
            (mo_call_rnn_activation){ functions[i].function, functions[i].alpha,
                                      functions[i].beta };
        if (functions[i].has_alpha)
            status = take_number(site, &alphas, &made[*count].alpha, err);
        if (status == MO_OK && functions[i].has_beta)
            status = take_number(site, &betas, &made[*count].beta, err);
        ++*count;
    }
    return status;
}

static int count_functions(mo_call_rnn_cell cell)
{
    return cell == MO_CALL_RNN_LSTM ? 3 : cell == MO_CALL_RNN_GRU ? 2 : 1;
}

static mo_status read_activations(const mo_op_site *site, mo_call_rnn *rnn,
                                  mo_error *err)
{
    static const mo_call_rnn_function usual[3] = { MO_CALL_RNN_SIGMOID,
                                                   MO_CALL_RNN_TANH,
                                                   MO_CALL_RNN_TANH };
    mo_call_rnn_activation made[MAX_FUNCTIONS];
    int n = count_functions(rnn->cell), count = 0;
    mo_status status = read_functions(site, made, &count, err);

    if (status != MO_OK)
        return status;
    if (count != 0 && count != n && count != n * rnn->directions)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has %d activations, not %d for each direction",
                               count, n);
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < n; k++) {
            mo_call_rnn_activation *to = &rnn->activations[d][k];

            if (count == 0)
                to->function = rnn->cell == MO_CALL_RNN_PLAIN ? MO_CALL_RNN_TANH
                                                              : usual[k];
            else
                *to = made[(d * n + k) % count];
        }
    return MO_OK;
}

mo_status mo_lower_recurrent_read_attrs(const mo_op_site *site,
                                        mo_call_rnn *rnn, mo_error *err)
{
    double clip = 0;
    mo_status status = mo_op_site_attr_real(site, "clip", 0, &clip, err);

    if (status != MO_OK)
        return status;
    if (mo_op_site_attr_bool(site, "input_forget", false))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "input_forget cannot be run");
    rnn->clip = isfinite(clip) && clip > 0 ? (float) clip : 0;
    rnn->directions =
        mo_op_site_attr_equals(site, "direction", "bidirectional") ? 2 : 1;
    rnn->reverse = mo_op_site_attr_equals(site, "direction", "reverse");
    rnn->linear_before_reset =
        rnn->cell == MO_CALL_RNN_GRU &&
        mo_op_site_attr_bool(site, "linear_before_reset", false);
    return read_activations(site, rnn, err);
}
