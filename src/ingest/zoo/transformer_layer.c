/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/zoo/transformer_layer.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "graph/dtype.h"
#include "graph/shape.h"

#define LAYER_NORM "\"axis\":\"-1\",\"epsilon\":\"1e-05\""
#define LAST_AXIS  "\"axis\":\"-1\""

/* clang-format off */
const mo_zoo_layer_op mo_zoo_layer_ops[MO_ZOO_LAYER_OPS] = {
    { "ln1", "LayerNormalization", "btd", { MO_ZOO_LAYER_INPUT },
      .weights = { "d", "d" }, .work = 8, .attrs = LAYER_NORM },

    { "q", "MatMul", "bth", { "ln1" },
      .weights = { "dh" }, .work = 2, .inner = 'd' },
    { "q_bias", "Add", "bth", { "q" }, .weights = { "h" }, .work = 1 },
    { "k", "MatMul", "bth", { "ln1" },
      .weights = { "dh" }, .work = 2, .inner = 'd' },
    { "k_bias", "Add", "bth", { "k" }, .weights = { "h" }, .work = 1 },
    { "v", "MatMul", "bth", { "ln1" },
      .weights = { "dh" }, .work = 2, .inner = 'd' },
    { "v_bias", "Add", "bth", { "v" }, .weights = { "h" }, .work = 1 },
    { "transpose", "Transpose", "bht", { "k_bias" },
      .attrs = "\"values\":\"1:0,2,1\"" },
    { "scores", "MatMul", "btt", { "q_bias", "transpose" },
      .work = 2, .inner = 'h' },
    { "scale", "Multiply", "btt", { "scores" }, .work = 1, .scales = true },
    /* The mask follows from the indices: no tensor is read for it. */
    { "mask", "Add", "btt", { "scale" },
      .work = 1, .attrs = "\"values\":\"1:causal\"" },
    { "softmax", "SoftMax", "btt", { "mask" }, .work = 5, .attrs = LAST_AXIS },
    { "context", "MatMul", "bth", { "softmax", "v_bias" },
      .work = 2, .inner = 't' },

    { "concat", "Concat", "btd", { MO_ZOO_ALL_HEADS }, .attrs = LAST_AXIS },
    { "proj", "MatMul", "btd", { "concat" },
      .weights = { "dd" }, .work = 2, .inner = 'd' },
    { "proj_bias", "Add", "btd", { "proj" }, .weights = { "d" }, .work = 1 },
    { "add1", "Add", "btd", { "proj_bias", MO_ZOO_LAYER_INPUT }, .work = 1 },
    { "ln2", "LayerNormalization", "btd", { "add1" },
      .weights = { "d", "d" }, .work = 8, .attrs = LAYER_NORM },
    { "fc1", "MatMul", "bti", { "ln2" },
      .weights = { "di" }, .work = 2, .inner = 'd' },
    { "fc1_bias", "Add", "bti", { "fc1" }, .weights = { "i" }, .work = 1 },
    { "gelu", "Gelu", "bti", { "fc1_bias" },
      .work = 8, .attrs = "\"approximation_mode\":\"ERF\"" },
    { "fc2", "MatMul", "btd", { "gelu" },
      .weights = { "id" }, .work = 2, .inner = 'i' },
    { "add2", "Add", "btd", { "fc2", "add1" }, .work = 1 },
};
/* clang-format on */

int mo_zoo_count_inputs(const mo_zoo_layer_op *part)
{
    int n = 0;
    while (n < MO_ZOO_MAX_INPUTS && part->inputs[n])
        n++;
    return n;
}

int mo_zoo_layer_input_port(const mo_zoo_layer_op *part)
{
    for (int port = 0; port < mo_zoo_count_inputs(part); port++)
        if (strcmp(part->inputs[port], MO_ZOO_LAYER_INPUT) == 0)
            return port;
    return -1;
}

static int64_t dimension_size(const mo_zoo_config *config, char letter)
{
    switch (letter) {
    case 'b':
        return config->batch;
    case 't':
        return config->tokens;
    case 'd':
        return config->hidden;
    case 'h':
        return config->hidden / config->heads;
    default:
        return 4 * (int64_t) config->hidden;
    }
}

static int64_t element_bytes(const mo_zoo_config *config)
{
    return mo_dtype_bits(config->dtype) / 8;
}

/* A terabyte is more than any device holds, and far enough from overflow that
 * no other function here has to check for it. */
mo_status mo_zoo_check_sizes(const mo_zoo_config *config, mo_error *err)
{
    static const char *const largest[] = { "bti", "btt", "di" };
    const int64_t limit = (int64_t) 1 << 40;

    for (int i = 0; i < 3; i++) {
        int64_t size = element_bytes(config);
        for (const char *s = largest[i]; *s; s++)
            if (!mo_int64_mul(size, dimension_size(config, *s), &size) ||
                size > limit)
                return mo_fail(err, MO_E_USAGE,
                               "a tensor would be larger "
                               "than 1 TiB; ask for less batch, tokens or "
                               "hidden size");
    }
    return MO_OK;
}

static int64_t count_elements(const mo_zoo_config *config, const char *shape)
{
    int64_t n = 1;
    for (const char *s = shape; *s; s++)
        n *= dimension_size(config, *s);
    return n;
}

static int64_t size_bytes(const mo_zoo_config *config, const char *shape)
{
    return count_elements(config, shape) * element_bytes(config);
}

double mo_zoo_flops(const mo_zoo_config *config, const mo_zoo_layer_op *part)
{
    double inner =
        part->inner ? (double) dimension_size(config, part->inner) : 1;

    return part->work * (double) count_elements(config, part->output) * inner;
}

int64_t mo_zoo_weight_bytes(const mo_zoo_config *config,
                            const mo_zoo_layer_op *part)
{
    int64_t sum = 0;

    for (int i = 0; i < MO_ZOO_MAX_WEIGHTS && part->weights[i]; i++)
        sum += size_bytes(config, part->weights[i]);
    return sum;
}

int64_t mo_zoo_output_bytes(const mo_zoo_config *config,
                            const mo_zoo_layer_op *part)
{
    return size_bytes(config, part->output);
}

/* The shape of an input.  All heads together are as large as a layer's. */
static const char *input_shape(const char *name)
{
    for (int i = 0; i < MO_ZOO_LAYER_OPS; i++)
        if (strcmp(mo_zoo_layer_ops[i].name, name) == 0)
            return mo_zoo_layer_ops[i].output;
    return "btd";
}

double mo_zoo_bytes(const mo_zoo_config *config, const mo_zoo_layer_op *part)
{
    int64_t sum =
        mo_zoo_weight_bytes(config, part) + mo_zoo_output_bytes(config, part);

    for (int port = 0; port < mo_zoo_count_inputs(part); port++)
        sum += size_bytes(config, input_shape(part->inputs[port]));
    return (double) sum;
}

static void put_shape(const mo_zoo_config *config, const char *letters,
                      mo_out *out)
{
    char text[MO_SHAPE_TEXT_SIZE];
    mo_shape shape = { 0 };

    for (const char *s = letters; *s; s++)
        shape.dims[shape.rank++] = dimension_size(config, *s);
    mo_out_bytes(out, text, mo_shape_write(&shape, text));
}

void mo_zoo_write_shape(const mo_zoo_config *config,
                        const mo_zoo_layer_op *part, mo_out *out)
{
    put_shape(config, part->output, out);
}

static void put_weights(const mo_zoo_config *config,
                        const mo_zoo_layer_op *part, mo_out *out)
{
    int port = mo_zoo_count_inputs(part);

    mo_out_text(out, "\"weights\":\"");
    for (int i = 0; i < MO_ZOO_MAX_WEIGHTS && part->weights[i]; i++) {
        mo_out_printf(out, "%s%d:", i ? ";" : "", port + i);
        put_shape(config, part->weights[i], out);
    }
    mo_out_char(out, '"');
}

static void put_scale(const mo_zoo_config *config, mo_out *out)
{
    mo_out_text(out, "\"values\":\"1:");
    mo_out_double(out, 1 / sqrt((double) dimension_size(config, 'h')));
    mo_out_char(out, '"');
}

static void put_network_input(const mo_zoo_config *config, int port,
                              mo_out *out)
{
    mo_out_printf(out, "\"network_input\":\"%d:", port);
    put_shape(config, "btd", out);
    mo_out_char(out, '"');
}

/* Writes what precedes the next member: the brace, or a comma. */
static void begin_member(mo_out *out, char *before)
{
    mo_out_char(out, *before);
    *before = ',';
}

void mo_zoo_write_attrs(const mo_zoo_config *config,
                        const mo_zoo_layer_op *part, int network_port,
                        mo_out *out)
{
    char before = '{';

    if (part->attrs) {
        begin_member(out, &before);
        mo_out_text(out, part->attrs);
    }
    if (part->weights[0]) {
        begin_member(out, &before);
        put_weights(config, part, out);
    }
    if (part->scales) {
        begin_member(out, &before);
        put_scale(config, out);
    }
    if (network_port >= 0) {
        begin_member(out, &before);
        put_network_input(config, network_port, out);
    }
    if (before == ',')
        mo_out_char(out, '}');
}
