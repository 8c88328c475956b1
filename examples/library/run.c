/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - runs a solution of moirai-place with buffers of its own: raw files of
 * the inputs in their order, raw outputs to standard output.
 *
 *     cc run.c $(pkg-config --cflags --libs moirai) -o run
 *     moirai-place net.onnx -c cpu -o net.sol
 *     ./run net.sol input0.raw > output.raw
 */
#include <moirai.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const moirai_error *err)
{
    char text[2048];

    fprintf(stderr, "run: %s\n", moirai_error_text(err, text, sizeof text));
    return 1;
}

/* Returns the bytes of a tensor, from a file, or zeros where path is NULL. */
static void *buffer_of(const moirai_tensor *tensor, const char *path)
{
    void *data = calloc(1, tensor->bytes + 1);
    FILE *file = path ? fopen(path, "rb") : NULL;

    if (data && path &&
        (!file || fread(data, 1, tensor->bytes, file) != tensor->bytes)) {
        fprintf(stderr, "run: %s has not the %zu bytes of input '%s'\n", path,
                tensor->bytes, tensor->name);
        free(data);
        data = NULL;
    }
    if (file)
        fclose(file);
    return data;
}

int main(int argc, char **argv)
{
    moirai_error err = { 0 };
    moirai_placement *placement = NULL;
    moirai_executor *executor = NULL;
    moirai_tensor tensor;
    const void **inputs;
    void **outputs;
    int n_inputs, n_outputs, failed = 0;

    if (argc < 2 || moirai_placement_open(argv[1], NULL, &placement, &err) ||
        moirai_executor_open(placement, NULL, &executor, &err))
        return fail(&err);
    n_inputs = moirai_executor_n_inputs(executor);
    n_outputs = moirai_executor_n_outputs(executor);
    inputs = calloc((size_t) n_inputs + 1, sizeof *inputs);
    outputs = calloc((size_t) n_outputs + 1, sizeof *outputs);
    for (int i = 0; inputs && i < n_inputs && !failed; i++) {
        moirai_executor_input(executor, i, &tensor);
        inputs[i] = buffer_of(&tensor, i + 2 < argc ? argv[i + 2] : NULL);
        failed = !inputs[i];
    }
    for (int i = 0; outputs && i < n_outputs && !failed; i++) {
        moirai_executor_output(executor, i, &tensor);
        outputs[i] = buffer_of(&tensor, NULL);
        failed = !outputs[i];
    }
    if (!failed && inputs && outputs &&
        moirai_executor_run(executor, inputs, outputs, &err))
        failed = fail(&err);
    for (int i = 0; outputs && i < n_outputs && !failed; i++) {
        moirai_executor_output(executor, i, &tensor);
        failed = fwrite(outputs[i], 1, tensor.bytes, stdout) != tensor.bytes;
    }
    for (int i = 0; inputs && i < n_inputs; i++)
        free((void *) inputs[i]);
    for (int i = 0; outputs && i < n_outputs; i++)
        free(outputs[i]);
    free(inputs);
    free(outputs);
    moirai_executor_free(executor);
    moirai_placement_free(placement);
    return failed;
}
