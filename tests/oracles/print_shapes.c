/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the output shapes of an OpenVINO model after inference, for a
 * comparison with OpenVINO's own:
 *
 *     print_shapes model.xml [NAME=DIMS]...
 *
 * One line a port: layer, port and shape, separated by tabs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/infer/infer.h"
#include "ingest/input.h"
#include "ingest/ir/ir.h"

static char *bin_path(const char *xml)
{
    size_t length = strlen(xml);
    char *bin = malloc(length + 5);

    if (!bin || length < 4)
        abort();
    memcpy(bin, xml, length - 4);
    memcpy(bin + length - 4, ".bin", 5);
    return bin;
}

static void print_shapes(const mo_ir *ir)
{
    for (int i = 0; i < ir->n_layers; i++)
        for (int k = 0; k < ir->layers[i].n_outputs; k++) {
            char text[MO_SHAPE_TEXT_SIZE];
            const mo_shape *shape = &ir->layers[i].outputs[k].shape;

            printf("%s\t%d\t%.*s\n", ir->layers[i].name, k,
                   (int) mo_shape_write(shape, text), text);
        }
}

static int fail(const mo_error *err)
{
    char text[2048];

    fprintf(stderr, "%s\n", mo_error_format(err, text, sizeof text));
    return EXIT_FAILURE;
}

static mo_status read_model(const char *path, mo_ir **ir, mo_error *err)
{
    mo_input *input;
    mo_status status = mo_input_open(path, &input, err);

    if (status != MO_OK)
        return status;
    status = mo_ir_read(input, ir, err);
    mo_input_close(input);
    return status;
}

int main(int argc, char **argv)
{
    mo_ir *ir;
    mo_read_options options = { .shapes = { 0 } };
    mo_error err = { 0 };
    char *bin;
    mo_status status;

    if (argc < 2) {
        fprintf(stderr, "usage: print_shapes MODEL.xml [NAME=DIMS]...\n");
        return 2;
    }
    if (read_model(argv[1], &ir, &err) != MO_OK)
        return fail(&err);
    bin = bin_path(argv[1]);
    options.shapes.items = (const char **) (uintptr_t) (argv + 2);
    options.shapes.count = (size_t) argc - 2;
    status = mo_infer_shapes(ir, bin, &options, &err);
    if (status == MO_OK)
        print_shapes(ir);
    free(bin);
    mo_ir_free(ir);
    return status == MO_OK ? EXIT_SUCCESS : fail(&err);
}
