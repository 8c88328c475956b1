/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of shape inference: for any model with any shape of its inputs every
 * shape becomes static, or there is an error with the cause.
 *
 * The first line of the data is the shape, "x=2,3"; the rest is the model. Its
 * constants are in a file of small int64 numbers, so that any axis or pattern
 * is found at some multiple of 8.
 */
#include <config.h>

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/infer/infer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_NUMBERS = 64 };

static char bin_path[32];

/* 0, 1, 2, ..., 31, then -1, -2, ..., -32, in a file without a name. */
static void write_bin(void)
{
    unsigned char bytes[N_NUMBERS * 8];
    FILE *file = tmpfile();

    for (int i = 0; i < N_NUMBERS; i++) {
        uint64_t number = (uint64_t) (i < 32 ? i : 31 - i);

        for (int b = 0; b < 8; b++)
            bytes[8 * i + b] = (unsigned char) (number >> 8 * b);
    }
    if (!file || fwrite(bytes, sizeof bytes, 1, file) != 1 || fflush(file))
        abort();
    snprintf(bin_path, sizeof bin_path, "/dev/fd/%d", fileno(file));
}

static void check_ports(const mo_ir_port *ports, int n)
{
    for (int i = 0; i < n; i++)
        assert(mo_shape_is_static(&ports[i].shape) &&
               mo_shape_fits(&ports[i].shape));
}

static void infer(mo_ir *ir, const char **shapes, size_t n_shapes)
{
    mo_error err = { 0 };
    const mo_read_options options = { .shapes = { .items = shapes,
                                                  .count = n_shapes } };
    mo_status status = mo_infer_shapes(ir, bin_path, &options, &err);

    assert(status == MO_OK || err.text[0] != '\0');
    for (int i = 0; status == MO_OK && n_shapes > 0 && i < ir->n_layers; i++) {
        check_ports(ir->layers[i].inputs, ir->layers[i].n_inputs);
        check_ports(ir->layers[i].outputs, ir->layers[i].n_outputs);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *) data;
    const char *end = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t length = end ? (size_t) (end - text) : 0;
    char shape[256] = "";
    const char *shapes[] = { shape };
    mo_ir *ir;

    if (bin_path[0] == '\0')
        write_bin();
    if (!end || length >= sizeof shape)
        return 0;
    memcpy(shape, text, length);
    if (mo_ir_read_memory("fuzz.xml", end + 1, size - length - 1, &ir, NULL) !=
        MO_OK)
        return 0;
    infer(ir, shapes, length > 0);
    mo_ir_free(ir);
    return 0;
}
