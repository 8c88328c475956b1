/* SPDX-License-Identifier: Apache-2.0 */
/* tags: threads */
/* Tests of moirai.h: execution, reports and discovery. */
#include <config.h>

#include "moirai.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/tensor/npy.h"
#include "tests/support/suite.h"

#define OK(call) ck_assert_msg((call) == MOIRAI_OK, "%s", why.text)

static moirai_error why;

/* Receives the first byte of what is written. */
static int keep_first(void *context, const char *data, size_t size)
{
    char *first = context;

    if (*first == 0 && size > 0)
        *first = *data;
    return 0;
}

/* The path of an example. */
static const char *example(const char *name, char *path, size_t size)
{
    const char *top = getenv("top_srcdir");

    snprintf(path, size, "%s/examples/residual/%s", top ? top : ".", name);
    return path;
}

/* Places the example on its cluster, its coarse ops split between devices. */
static moirai_placement *place_example(void)
{
    char path[4096];
    moirai_graph *fine = NULL, *coarse = NULL;
    moirai_cluster *c = NULL;
    moirai_instance *x = NULL;
    moirai_placement *p = NULL;
    int device[200];

    OK(moirai_graph_read(example("model.onnx", path, sizeof path), NULL, &fine,
                         &why));
    OK(moirai_cluster_read(example("model.cluster.xml", path, sizeof path), &c,
                           &why));
    OK(moirai_graph_coarsen(fine, c, NULL, &coarse, &why));
    ck_assert_int_lt(moirai_graph_n_ops(coarse), moirai_graph_n_ops(fine));
    ck_assert_int_eq(moirai_graph_coarsen(coarse, c, NULL, &fine, &why),
                     MOIRAI_E_USAGE);
    OK(moirai_instance_new(coarse, c, NULL, NULL, &x, &why));
    for (int i = 0; i < moirai_graph_n_ops(coarse); i++)
        device[i] = i % moirai_cluster_n_devices(c);
    OK(moirai_placement_new(x, device, NULL, &p, &why));
    moirai_graph_free(fine);
    moirai_graph_free(coarse);
    moirai_cluster_free(c);
    moirai_instance_free(x);
    return p;
}

/* As the commands do. */
START_TEST(an_instance_is_of_the_coarse_graph_unless_fusion_is_none)
{
    char path[4096];
    moirai_graph *fine = NULL, *coarse = NULL;
    moirai_cluster *c = NULL;
    moirai_options *o = NULL;

    OK(moirai_graph_read(example("model.onnx", path, sizeof path), NULL, &fine,
                         &why));
    OK(moirai_cluster_read(example("model.cluster.xml", path, sizeof path), &c,
                           &why));
    OK(moirai_graph_coarsen(fine, c, NULL, &coarse, &why));
    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "fusion", "none", &why));

    const struct {
        const moirai_graph *graph, *placed;
        const moirai_options *options;
    } cases[] = { { fine, coarse, NULL },
                  { fine, fine, o },
                  { coarse, coarse, NULL },
                  { coarse, coarse, o } };

    for (int i = 0; i < COUNT(cases); i++) {
        moirai_instance *x = NULL;

        OK(moirai_instance_new(cases[i].graph, c, NULL, cases[i].options, &x,
                               &why));
        ck_assert_int_eq(moirai_instance_view(x)->n_ops,
                         moirai_graph_n_ops(cases[i].placed));
        moirai_instance_free(x);
    }
    moirai_options_free(o);
    moirai_graph_free(coarse);
    moirai_graph_free(fine);
    moirai_cluster_free(c);
}
END_TEST

START_TEST(an_executor_computes_what_the_framework_does)
{
    enum { N = 5 };
    moirai_placement *p = place_example();
    moirai_options *o = NULL;
    moirai_executor *e = NULL;
    moirai_tensor in, out, none;
    mo_tensor_dense input = { 0 }, expected = { 0 };
    mo_error unread = { 0 };
    float results[N][10];
    int64_t tickets[N];
    const void *inputs[1];
    void *outputs[N][1];
    char path[4096];
    char first = 0;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "in-flight", "2", &why));
    OK(moirai_options_set(o, "threads", "1", &why));
    OK(moirai_executor_open(p, o, &e, &why));
    moirai_options_free(o);
    moirai_placement_free(p);
    ck_assert_int_eq(moirai_executor_n_inputs(e), 1);
    ck_assert_int_eq(moirai_executor_n_outputs(e), 1);
    ck_assert_int_eq(moirai_executor_input(e, 0, &in), 0);
    ck_assert_int_eq(moirai_executor_output(e, 0, &out), 0);
    ck_assert_int_eq(moirai_executor_input(e, 1, &none), -1);
    ck_assert_str_eq(in.dtype, "f32");
    ck_assert_uint_eq(out.bytes, sizeof results[0]);
    MUST(
        mo_npy_read(example("input0.npy", path, sizeof path), &input, &unread));
    MUST(mo_npy_read(example("output0.npy", path, sizeof path), &expected,
                     &unread));
    inputs[0] = input.data;
    for (int i = 0; i < N; i++) {
        outputs[i][0] = results[i];
        OK(moirai_executor_submit(e, inputs, outputs[i], &tickets[i], &why));
    }
    for (int i = N - 1; i >= 0; i--)
        OK(moirai_executor_wait(e, tickets[i], &why));
    ck_assert_int_eq(moirai_executor_wait(e, tickets[0], &why), MOIRAI_E_USAGE);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 10; k++)
            ck_assert(fabs(results[i][k] - mo_tensor_get_double(&expected, k)) <
                      1e-4);
    outputs[0][0] = NULL;
    OK(moirai_executor_run(e, inputs, outputs[0], &why));
    inputs[0] = NULL;
    ck_assert_int_eq(moirai_executor_run(e, inputs, outputs[0], &why),
                     MOIRAI_E_USAGE);
    OK(moirai_executor_write_plan(e, NULL, keep_first, &first, &why));
    ck_assert_int_eq(first, '{');
    moirai_executor_free(e);
    mo_tensor_clear(&input);
    mo_tensor_clear(&expected);
}
END_TEST

/* The executor of a shape, of which dims[0] is n. */
static moirai_executor *executor_at(moirai_executor *e, int64_t n)
{
    moirai_executor *shaped = NULL;
    moirai_tensor in;
    int64_t dims[8];

    ck_assert_int_eq(moirai_executor_input(e, 0, &in), 0);
    memcpy(dims, in.dims, (size_t) in.rank * sizeof *dims);
    dims[0] = n;
    in.dims = dims;
    moirai_executor_at(e, &in, &shaped, &why);
    return shaped;
}

START_TEST(shapes_have_executors_that_outlive_each_other)
{
    char path[4096];
    moirai_graph *fine = NULL;
    moirai_cluster *c = NULL;
    moirai_instance *x = NULL;
    moirai_placement *p = NULL;
    moirai_options *o = NULL;
    moirai_executor *first = NULL, *second;
    moirai_tensor in, out;
    mo_tensor_dense input = { 0 };
    mo_error unread = { 0 };
    float one[10], two[20], *images;
    const void *inputs[1];
    void *outputs[1] = { one };

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "shape", "image=1,3,16,16;2,3,16,16", &why));
    OK(moirai_options_set(o, "method", "heft", &why));
    OK(moirai_options_set(o, "threads", "1", &why));
    OK(moirai_options_set(o, "shapes-max", "1", &why));
    OK(moirai_graph_read(example("model.onnx", path, sizeof path), o, &fine,
                         &why));
    OK(moirai_cluster_read(example("model.cluster.xml", path, sizeof path), &c,
                           &why));
    OK(moirai_instance_new(fine, c, NULL, NULL, &x, &why));
    OK(moirai_place(x, o, &p, &why));
    OK(moirai_executor_open(p, o, &first, &why));
    ck_assert_int_eq(moirai_executor_n_plans(first), 2);
    second = executor_at(first, 2);
    ck_assert_msg(second != NULL, "%s", why.text);
    ck_assert_int_eq(moirai_executor_input(second, 0, &in), 0);
    ck_assert_int_eq(moirai_executor_output(second, 0, &out), 0);
    ck_assert_int_eq(moirai_executor_output(second, 1, &out), -1);
    ck_assert_int_eq(in.dims[0], 2);
    ck_assert_uint_eq(out.bytes, sizeof two);
    /* Its batch is fixed in the file. */
    ck_assert_ptr_null(executor_at(second, 3));
    ck_assert_ptr_nonnull(strstr(why.text, "dimensions are fixed"));
    ck_assert_int_eq(moirai_executor_n_plans(second), 2);
    MUST(
        mo_npy_read(example("input0.npy", path, sizeof path), &input, &unread));
    inputs[0] = input.data;
    OK(moirai_executor_run(first, inputs, outputs, &why));
    moirai_executor_free(first);
    images = malloc(in.bytes);
    ck_assert_ptr_nonnull(images);
    memcpy(images, input.data, in.bytes / 2);
    memcpy((char *) images + in.bytes / 2, input.data, in.bytes / 2);
    inputs[0] = images;
    outputs[0] = two;
    OK(moirai_executor_run(second, inputs, outputs, &why));
    for (int i = 0; i < 20; i++)
        ck_assert_float_eq_tol(two[i], one[i % 10], 1e-5F);
    free(images);
    mo_tensor_clear(&input);
    moirai_executor_free(second);
    moirai_placement_free(p);
    moirai_instance_free(x);
    moirai_cluster_free(c);
    moirai_graph_free(fine);
    moirai_options_free(o);
}
END_TEST

START_TEST(a_report_is_written)
{
    moirai_placement *p = place_example();
    moirai_options *o = NULL;
    char first = 0;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "format", "json", &why));
    OK(moirai_report(p, o, NULL, keep_first, &first, &why));
    ck_assert_int_eq(first, '{');
    OK(moirai_options_set(o, "format", "lp", &why));
    ck_assert_int_eq(moirai_report(p, o, NULL, keep_first, &first, &why),
                     MOIRAI_E_USAGE);
    moirai_placement_free(p);
    moirai_options_free(o);
}
END_TEST

START_TEST(this_machine_is_a_cluster)
{
    moirai_cluster *c = NULL;
    moirai_options *o = NULL;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "gpus", "none", &why));
    OK(moirai_cluster_discover(o, &c, &why));
    ck_assert_int_eq(moirai_cluster_n_devices(c), 1);
    moirai_cluster_free(c);
    OK(moirai_options_set(o, "cpus", "many", &why));
    ck_assert_int_eq(moirai_cluster_discover(o, &c, &why), MOIRAI_E_USAGE);
    moirai_options_free(o);
}
END_TEST

START_TEST(a_placement_of_numbers_alone_cannot_run)
{
    const char *const ids[] = { "a" };
    const double gbps[] = { 0 };
    const int device[] = { 0 };
    moirai_builder *b = NULL;
    moirai_graph *g = NULL;
    moirai_cluster *c = NULL;
    moirai_instance *x = NULL;
    moirai_placement *p = NULL;
    moirai_executor *e = NULL;
    int op;

    OK(moirai_builder_new(&b, &why));
    OK(moirai_builder_op(b, "x", NULL, 0, &op, &why));
    OK(moirai_builder_time(b, op, "a", 1, &why));
    OK(moirai_builder_finish(b, NULL, &g, &why));
    OK(moirai_cluster_new(1, ids, NULL, gbps, NULL, &c, &why));
    OK(moirai_instance_new(g, c, NULL, NULL, &x, &why));
    OK(moirai_placement_new(x, device, NULL, &p, &why));
    ck_assert_int_ne(moirai_executor_open(p, NULL, &e, &why), MOIRAI_OK);
    ck_assert_ptr_null(e);
    moirai_builder_free(b);
    moirai_graph_free(g);
    moirai_cluster_free(c);
    moirai_instance_free(x);
    moirai_placement_free(p);
}
END_TEST

SUITE(executor)
{
    TEST(an_instance_is_of_the_coarse_graph_unless_fusion_is_none);
    TEST(an_executor_computes_what_the_framework_does);
    TEST(shapes_have_executors_that_outlive_each_other);
    TEST(a_placement_of_numbers_alone_cannot_run);
    TEST(a_report_is_written);
    TEST(this_machine_is_a_cluster);
}
