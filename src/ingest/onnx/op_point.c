/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX's elementwise operators. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

/* Erf of integers is truncated. */
void mo_onnx_op_unary(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const char *dtype = mo_onnx_dtype(b, x);

    if (strcmp(op->argument, "Erf") == 0 && !mo_onnx_is_real(b, x))
        x = mo_onnx_convert(b, x, "f32");
    x = mo_onnx_unary(b, op->argument, x, NULL);
    mo_onnx_out(op, mo_onnx_convert(b, x, dtype));
}

/* Before opset 7 the second operand was aligned at an axis of the first. */
static bool refuse_old(mo_onnx_op *op)
{
    if (op->version >= 7 || !mo_onnx_attr_int(op, "broadcast", 0))
        return false;
    mo_onnx_refuse(op->b, "broadcasts as before opset 7; convert the model to "
                          "a newer opset");
    return true;
}

void mo_onnx_op_binary(mo_onnx_op *op)
{
    if (!refuse_old(op))
        mo_onnx_out(op, mo_onnx_binary(op->b, op->argument, mo_onnx_in(op, 0),
                                       mo_onnx_in(op, 1), NULL));
}

void mo_onnx_op_compare(mo_onnx_op *op)
{
    if (!refuse_old(op))
        mo_onnx_out(op, mo_onnx_binary(op->b, op->argument, mo_onnx_in(op, 0),
                                       mo_onnx_in(op, 1), "boolean"));
}

enum { MAX_TERMS = 16384 }; /* each is a layer */

void mo_onnx_op_variadic(mo_onnx_op *op)
{
    bool is_mean = strcmp(op->argument, "mean") == 0;
    const char *type = is_mean ? "Add" : op->argument;
    mo_onnx_ref y = mo_onnx_in(op, 0), x;
    const char *dtype = mo_onnx_dtype(op->b, y);

    if (op->n_inputs > MAX_TERMS) {
        mo_onnx_refuse(op->b,
                       "has %d inputs, more than %d; combine them in groups",
                       op->n_inputs, MAX_TERMS);
        return;
    }
    if (is_mean)
        y = mo_onnx_widen(op->b, y);
    for (int i = 1; i < op->n_inputs; i++) {
        x = mo_onnx_in(op, i);
        if (is_mean)
            x = mo_onnx_widen(op->b, x);
        y = mo_onnx_binary(op->b, type, y, x, NULL);
    }
    if (is_mean)
        y = mo_onnx_with_number(op->b, "Divide", y, op->n_inputs);
    mo_onnx_out(op, mo_onnx_convert(op->b, y, dtype));
}

/* Integers are truncated towards zero. */
void mo_onnx_op_div(mo_onnx_op *op)
{
    if (refuse_old(op))
        return;
    if (!mo_onnx_is_real(op->b, mo_onnx_in(op, 0)))
        mo_onnx_set_bool(op->b, "m_pythondiv", false);
    mo_onnx_out(op, mo_onnx_binary(op->b, "Divide", mo_onnx_in(op, 0),
                                   mo_onnx_in(op, 1), NULL));
}

void mo_onnx_op_mod(mo_onnx_op *op)
{
    const char *type = mo_onnx_attr_int(op, "fmod", 0) ? "Mod" : "FloorMod";

    mo_onnx_out(op, mo_onnx_binary(op->b, type, mo_onnx_in(op, 0),
                                   mo_onnx_in(op, 1), NULL));
}

/* Whether y is of f64, and not known to have numbers of f32 only. */
static bool needs_double(mo_onnx_builder *b, mo_onnx_ref y)
{
    const mo_infer_value *value = mo_onnx_known(b, y);

    if (strcmp(mo_onnx_dtype(b, y), "f64") != 0)
        return false;
    for (int64_t i = 0; value && i < value->count; i++)
        if ((double) (float) value->items[i].r != value->items[i].r)
            return true;
    return !value;
}

/* The result has the type of the base, also where the exponent is real and the
 * base is not, or the exponent is wider. */
void mo_onnx_op_power(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0), y = mo_onnx_in(op, 1), power;
    const char *type = mo_onnx_dtype(op->b, x);

    if (refuse_old(op))
        return;
    if ((!mo_onnx_is_real(op->b, x) && mo_onnx_is_real(op->b, y)) ||
        needs_double(op->b, y))
        x = mo_onnx_convert(op->b, x, mo_onnx_dtype(op->b, y));
    else
        y = mo_onnx_convert(op->b, y, type);
    power = mo_onnx_binary(op->b, "Power", x, y, NULL);
    mo_onnx_out(op, mo_onnx_convert(op->b, power, type));
}

/* The slope broadcasts as in numpy, not along channels; integers stay
 * integers. */
void mo_onnx_op_prelu(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0), slope = mo_onnx_in(op, 1), below;
    const mo_shape *shape = mo_onnx_shape(op->b, slope);
    int rank = mo_onnx_shape(op->b, x)->rank;
    mo_shape wide = { .rank = rank };

    if (shape->rank == 1 && shape->dims[0] != 1 && rank > 1) {
        for (int d = 0; d < rank; d++)
            wide.dims[d] = 1;
        wide.dims[rank - 1] = shape->dims[0];
        slope = mo_onnx_reshape(op->b, slope, &wide);
    }
    if (mo_onnx_is_real(op->b, x)) {
        mo_onnx_out(op, mo_onnx_binary(op->b, "PReLU", x, slope, NULL));
        return;
    }
    below = mo_onnx_binary(op->b, "Less", x,
                           mo_onnx_number(op->b, 0, mo_onnx_dtype(op->b, x)),
                           "boolean");
    slope = mo_onnx_binary(op->b, "Multiply", x, slope, NULL);
    mo_onnx_out(op, mo_onnx_select(op->b, below, slope, x));
}

void mo_onnx_op_where(mo_onnx_op *op)
{
    mo_onnx_out(op, mo_onnx_select(op->b, mo_onnx_in(op, 0), mo_onnx_in(op, 1),
                                   mo_onnx_in(op, 2)));
}

void mo_onnx_op_cast(mo_onnx_op *op)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    int64_t to = mo_onnx_attr_int(op, "to", 0);
    const char *dtype = op->argument[0]
                            ? mo_onnx_dtype(op->b, mo_onnx_in(op, 1))
                            : mo_onnx_dtype_of(to < 1000 ? (int) to : 0);

    if (!dtype)
        mo_onnx_refuse(op->b, "converts to type %lld of ONNX", (long long) to);
    else if (strcmp(dtype, "boolean") == 0 && mo_onnx_is_real(op->b, x))
        mo_onnx_out(op, mo_onnx_binary(
                            op->b, "NotEqual", x,
                            mo_onnx_number(op->b, 0, mo_onnx_dtype(op->b, x)),
                            "boolean"));
    else
        mo_onnx_out(op, mo_onnx_convert(op->b, x, dtype));
}

/* Between two numbers, either of which may be NAN: none. */
static mo_onnx_ref clamp_to(mo_onnx_builder *b, mo_onnx_ref x, double low,
                            double high)
{
    if (low <= high) {
        mo_onnx_set_real(b, "min", low);
        mo_onnx_set_real(b, "max", high);
        return mo_onnx_unary(b, "Clamp", x, NULL);
    }
    if (!isnan(low))
        x = mo_onnx_with_number(b, "Maximum", x, low);
    return isnan(high) ? x : mo_onnx_with_number(b, "Minimum", x, high);
}

/* Bounds were attributes, whose default is the largest f32, then inputs, which
 * may be computed. */
void mo_onnx_op_clip(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0);
    mo_onnx_ref low = mo_onnx_in(op, 1), high = mo_onnx_in(op, 2);
    bool known = (!mo_onnx_is(low) || mo_onnx_known(b, low)) &&
                 (!mo_onnx_is(high) || mo_onnx_known(b, high));

    if (op->version < 11) {
        x = clamp_to(b, x, mo_onnx_attr_real(op, "min", -FLT_MAX),
                     mo_onnx_attr_real(op, "max", FLT_MAX));
    } else if (known && mo_onnx_is_real(b, x)) {
        x = clamp_to(b, x, mo_onnx_in_number(op, 1, "min", NAN),
                     mo_onnx_in_number(op, 2, "max", NAN));
    } else {
        if (mo_onnx_is(low))
            x = mo_onnx_binary(b, "Maximum", x, low, NULL);
        if (mo_onnx_is(high))
            x = mo_onnx_binary(b, "Minimum", x, high, NULL);
    }
    mo_onnx_out(op, x);
}

void mo_onnx_op_leaky_relu(mo_onnx_op *op)
{
    mo_onnx_out(op, mo_onnx_with_number(op->b, "PReLU", mo_onnx_in(op, 0),
                                        mo_onnx_attr_real(op, "alpha", 0.01f)));
}

void mo_onnx_op_elu(mo_onnx_op *op)
{
    mo_onnx_set_real(op->b, "alpha", mo_onnx_attr_real(op, "alpha", 1));
    mo_onnx_out(op, mo_onnx_unary(op->b, "Elu", mo_onnx_in(op, 0), NULL));
}

/* x from 0 on, else alpha (exp(x / alpha) - 1). */
void mo_onnx_op_celu(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    double alpha = mo_onnx_attr_real(op, "alpha", 1);
    mo_onnx_ref x = mo_onnx_in(op, 0), y, above;

    above = mo_onnx_binary(b, "GreaterEqual", x,
                           mo_onnx_number(b, 0, mo_onnx_dtype(b, x)),
                           "boolean");
    y = mo_onnx_with_number(b, "Divide", x, alpha);
    if (alpha > 0) {
        mo_onnx_set_real(b, "alpha", 1);
        y = mo_onnx_unary(b, "Elu", y, NULL);
    } else {
        y = mo_onnx_with_number(b, "Subtract",
                                mo_onnx_unary(b, "Exp", y, NULL), 1);
    }
    y = mo_onnx_with_number(b, "Multiply", y, alpha);
    mo_onnx_out(op, mo_onnx_select(b, above, x, y));
}

static void two_numbers(mo_onnx_op *op, const char *type, double p, double q)
{
    mo_onnx_ref x = mo_onnx_in(op, 0);
    const char *dtype =
        strcmp(mo_onnx_dtype(op->b, x), "f64") == 0 ? "f64" : "f32";

    mo_onnx_out(op, mo_onnx_add(op->b, type,
                                MO_ONNX_REFS(x, mo_onnx_number(op->b, p, dtype),
                                             mo_onnx_number(op->b, q, dtype)),
                                3, NULL));
}

void mo_onnx_op_selu(mo_onnx_op *op)
{
    two_numbers(op, "Selu",
                mo_onnx_attr_real(op, "alpha", 1.67326319217681884765625),
                mo_onnx_attr_real(op, "gamma", 1.05070102214813232421875));
}

void mo_onnx_op_hard_sigmoid(mo_onnx_op *op)
{
    two_numbers(op, "HardSigmoid", mo_onnx_attr_real(op, "alpha", 0.2f),
                mo_onnx_attr_real(op, "beta", 0.5));
}

void mo_onnx_op_gelu(mo_onnx_op *op)
{
    const char *mode = mo_onnx_attr_text(op, "approximate", "none");

    mo_onnx_set_text(op->b, "approximation_mode",
                     strcmp(mode, "tanh") == 0 ? "TANH" : "ERF");
    mo_onnx_out(op, mo_onnx_unary(op->b, "Gelu", mo_onnx_in(op, 0), NULL));
}

void mo_onnx_op_swish(mo_onnx_op *op)
{
    mo_onnx_out(op, mo_onnx_with_number(op->b, "Swish", mo_onnx_in(op, 0),
                                        mo_onnx_attr_real(op, "alpha", 1)));
}

/* x + bias below -lambda, x - bias above lambda, else 0; of integers truncated
 * at the end. */
void mo_onnx_op_shrink(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    const char *type = mo_onnx_dtype(b, mo_onnx_in(op, 0));
    const char *dtype = mo_onnx_is_real(b, mo_onnx_in(op, 0)) ? type : "f64";
    mo_onnx_ref x = mo_onnx_convert(b, mo_onnx_in(op, 0), dtype), below, above;
    double lambda = mo_onnx_attr_real(op, "lambd", 0.5);
    double bias = mo_onnx_attr_real(op, "bias", 0);
    mo_onnx_ref zero = mo_onnx_number(b, 0, dtype);

    below = mo_onnx_binary(b, "Less", x, mo_onnx_number(b, -lambda, dtype),
                           "boolean");
    above = mo_onnx_binary(b, "Greater", x, mo_onnx_number(b, lambda, dtype),
                           "boolean");
    above = mo_onnx_select(b, above,
                           mo_onnx_with_number(b, "Subtract", x, bias), zero);
    x = mo_onnx_select(b, below, mo_onnx_with_number(b, "Add", x, bias), above);
    mo_onnx_out(op, mo_onnx_convert(b, x, type));
}

void mo_onnx_op_thresholded_relu(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), above;
    const char *dtype = mo_onnx_dtype(b, x);

    above = mo_onnx_binary(
        b, "Greater", x,
        mo_onnx_number(b, mo_onnx_attr_real(op, "alpha", 1), dtype), "boolean");
    mo_onnx_out(op, mo_onnx_select(b, above, x, mo_onnx_number(b, 0, dtype)));
}

void mo_onnx_op_round(mo_onnx_op *op)
{
    mo_onnx_set_text(op->b, "mode", "half_to_even");
    mo_onnx_out(op, mo_onnx_unary(op->b, "Round", mo_onnx_in(op, 0), NULL));
}

void mo_onnx_op_is_nan(mo_onnx_op *op)
{
    mo_onnx_out(op,
                mo_onnx_unary(op->b, "IsNaN", mo_onnx_in(op, 0), "boolean"));
}

void mo_onnx_op_is_inf(mo_onnx_op *op)
{
    mo_onnx_set_bool(op->b, "detect_negative",
                     mo_onnx_attr_int(op, "detect_negative", 1) != 0);
    mo_onnx_set_bool(op->b, "detect_positive",
                     mo_onnx_attr_int(op, "detect_positive", 1) != 0);
    mo_onnx_out(op,
                mo_onnx_unary(op->b, "IsInf", mo_onnx_in(op, 0), "boolean"));
}

/* Identity in inference; the mask keeps all. Before opset 10 it has the type of
 * the data and no defined value: zeros, as in ONNX Runtime. */
void mo_onnx_op_dropout(mo_onnx_op *op)
{
    bool old = op->version < 10;
    double kept = old ? 0 : 1;

    if (op->version >= 12 &&
        mo_onnx_in_number(op, 2, "training_mode", 0) != 0 &&
        mo_onnx_in_number(op, 1, "ratio", 0.5) != 0)
        mo_onnx_refuse(op->b, "drops values at random, as in training");
    mo_onnx_out(op, mo_onnx_in(op, 0));
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = mo_onnx_broadcast(
            op->b,
            mo_onnx_number(op->b, kept,
                           old ? mo_onnx_dtype(op->b, mo_onnx_in(op, 0))
                               : "boolean"),
            mo_onnx_shape(op->b, mo_onnx_in(op, 0)));
}

void mo_onnx_op_identity(mo_onnx_op *op)
{
    mo_onnx_out(op, mo_onnx_in(op, 0));
}
