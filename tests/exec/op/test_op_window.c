/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/op/lower/window.c, conv.c, pool.c: padding, rounding and sizes
 * in OpenVINO's semantics. The numbers are OpenVINO's own, on images of a few
 * elements. */
#include <math.h>
#include <stdio.h>

#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

static void put_values(op_case *c, const mo_shape *shape, const double *values)
{
    mo_tensor_dense *data = op_case_data(c, MO_ELEM_F32, shape, 1);

    for (int64_t i = 0; i < mo_shape_elements(shape); i++)
        ((float *) data->data)[i] = (float) values[i];
}

static void check_values(const op_case *c, int port, const double *expected)
{
    for (int64_t i = 0; i < mo_tensor_desc_elements(&c->out[port]); i++)
        ck_assert_double_eq_tol(mo_tensor_get_double(&c->result[port], i),
                                expected[i], 1e-5);
}

/* Transposed convolutions: 1 2 3 4 through the kernel 1 10 100, stride 2,
 * padded by 1 where padding is explicit. */

static const struct {
    const char *auto_pad;
    int wanted, extra;
    int64_t n;
    double out[11];
} transposed[] = {
    { "explicit", 0, 0, 7, { 10, 102, 20, 203, 30, 304, 40 } },
    { "explicit", 0, 1, 8, { 10, 102, 20, 203, 30, 304, 40, 400 } },
    { "explicit", 9, 0, 9, { 10, 102, 20, 203, 30, 304, 40, 400, 0 } },
    { "same_upper", 0, 0, 9, { 1, 10, 102, 20, 203, 30, 304, 40, 400 } },
    { "same_upper", 0, 1, 10, { 1, 10, 102, 20, 203, 30, 304, 40, 400, 0 } },
    { "same_upper", 8, 0, 8, { 10, 102, 20, 203, 30, 304, 40, 400 } },
    { "same_upper", 9, 1, 9, { 10, 102, 20, 203, 30, 304, 40, 400, 0 } },
    { "same_lower", 8, 0, 8, { 1, 10, 102, 20, 203, 30, 304, 40 } },
    { "same_lower", 8, 1, 8, { 10, 102, 20, 203, 30, 304, 40, 400 } },
    { "same_lower", 9, 1, 9, { 1, 10, 102, 20, 203, 30, 304, 40, 400 } },
    { "valid", 0, 0, 9, { 1, 10, 102, 20, 203, 30, 304, 40, 400 } },
    { "valid", 8, 0, 8, { 1, 10, 102, 20, 203, 30, 304, 40 } },
    { "valid", 11, 1, 11, { 1, 10, 102, 20, 203, 30, 304, 40, 400, 0, 0 } },
};

START_TEST(transposed_convolutions_pad_as_openvino_does)
{
    static const double data[] = { 1, 2, 3, 4 }, kernel[] = { 1, 10, 100 };
    mo_shape in = { 3, { 1, 1, 4 } }, weights = { 3, { 1, 1, 3 } };
    mo_shape out = { 3, { 1, 1, transposed[_i].n } };
    int64_t wanted = transposed[_i].wanted;
    char attrs[256];
    op_case c;

    snprintf(attrs, sizeof attrs,
             "{\"strides\":\"2\",\"pads_begin\":\"1\",\"pads_end\":\"1\","
             "\"dilations\":\"1\",\"auto_pad\":\"%s\","
             "\"output_padding\":\"%d\"}",
             transposed[_i].auto_pad, transposed[_i].extra);
    c = op_case_of("ConvolutionBackpropData", attrs);
    put_values(&c, &in, data);
    put_values(&c, &weights, kernel);
    if (wanted > 0)
        op_case_list(&c, &wanted, 1);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    check_values(&c, 0, transposed[_i].out);
    op_case_clear(&c);
}
END_TEST

/* Convolutions: the same data and kernel. */

static const struct {
    const char *attrs;
    int64_t n;
    double out[6];
} convolved[] = {
    { "{\"strides\":\"1\"}", 2, { 321, 432 } },
    { "{\"strides\":\"1\",\"pads_begin\":\"1\",\"pads_end\":\"0\"}",
      3,
      { 210, 321, 432 } },
    { "{\"strides\":\"1\",\"auto_pad\":\"same_upper\"}",
      4,
      { 210, 321, 432, 43 } },
    { "{\"strides\":\"2\",\"auto_pad\":\"same_upper\"}", 2, { 321, 43 } },
    { "{\"strides\":\"2\",\"auto_pad\":\"same_lower\"}", 2, { 210, 432 } },
    { "{\"strides\":\"1\",\"auto_pad\":\"valid\",\"pads_begin\":\"3\"}",
      2,
      { 321, 432 } },
    { "{\"strides\":\"1\",\"dilations\":\"2\",\"pads_begin\":\"1\","
      "\"pads_end\":\"1\"}",
      2,
      { 420, 31 } },
};

START_TEST(convolutions_pad_as_openvino_does)
{
    static const double data[] = { 1, 2, 3, 4 }, kernel[] = { 1, 10, 100 };
    mo_shape in = { 3, { 1, 1, 4 } }, weights = { 3, { 1, 1, 3 } };
    mo_shape out = { 3, { 1, 1, convolved[_i].n } };
    op_case c = op_case_of("Convolution", convolved[_i].attrs);

    put_values(&c, &in, data);
    put_values(&c, &weights, kernel);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    check_values(&c, 0, convolved[_i].out);
    op_case_clear(&c);
}
END_TEST

START_TEST(groups_have_kernels_of_their_own)
{
    static const double data[] = { 1, 2, 3, 4 }, kernels[] = { 10, 100 };
    static const double expected[] = { 10, 20, 300, 400 };
    mo_shape in = { 3, { 1, 2, 2 } }, weights = { 4, { 2, 1, 1, 1 } };
    op_case c =
        op_case_of(_i ? "GroupConvolutionBackpropData" : "GroupConvolution",
                   "{\"strides\":\"1\"}");

    put_values(&c, &in, data);
    put_values(&c, &weights, kernels);
    op_case_makes(&c, MO_ELEM_F32, &in);
    op_case_run(&c);
    check_values(&c, 0, expected);
    op_case_clear(&c);
}
END_TEST

/* Pools over ones: averages show how many elements were counted. */

static const struct {
    const char *attrs;
    int64_t in, n;
    double out[3];
} averages[] = {
    { "{\"kernel\":\"3\",\"strides\":\"4\",\"exclude-pad\":\"false\","
      "\"rounding_type\":\"ceil\"}",
      6,
      2,
      { 1, 1 } }, /* nothing is padded: real elements only */
    { "{\"kernel\":\"3\",\"strides\":\"4\",\"pads_begin\":\"1\","
      "\"pads_end\":\"1\",\"exclude-pad\":\"false\","
      "\"rounding_type\":\"ceil\"}",
      6,
      3,
      { 2. / 3, 1, 0 } },
    { "{\"kernel\":\"3\",\"strides\":\"4\",\"pads_begin\":\"1\","
      "\"pads_end\":\"1\",\"exclude-pad\":\"true\","
      "\"rounding_type\":\"ceil\"}",
      6,
      3,
      { 1, 1, 0 } },
    { "{\"kernel\":\"3\",\"strides\":\"4\",\"pads_begin\":\"1\","
      "\"pads_end\":\"1\",\"exclude-pad\":\"false\","
      "\"rounding_type\":\"ceil_torch\"}",
      6,
      2,
      { 2. / 3, 1 } },
    { "{\"kernel\":\"3\",\"strides\":\"5\",\"pads_begin\":\"0\","
      "\"pads_end\":\"1\",\"exclude-pad\":\"false\","
      "\"rounding_type\":\"ceil\"}",
      6,
      2,
      { 1, 1. / 3 } }, /* elements beyond the end count, too */
    { "{\"kernel\":\"3\",\"strides\":\"5\",\"auto_pad\":\"same_lower\","
      "\"exclude-pad\":\"false\"}",
      6,
      2,
      { 2. / 3, 2. / 3 } },
    { "{\"kernel\":\"4\",\"strides\":\"3\",\"pads_begin\":\"2\","
      "\"pads_end\":\"2\",\"exclude-pad\":\"false\","
      "\"rounding_type\":\"ceil_torch\"}",
      5,
      3,
      { 0.5, 1, 1. / 3 } }, /* as PyTorch: not what is behind the padding */
};

START_TEST(averages_count_as_their_rounding_says)
{
    static const double ones[] = { 1, 1, 1, 1, 1, 1 };
    mo_shape in = { 3, { 1, 1, averages[_i].in } };
    mo_shape out = { 3, { 1, 1, averages[_i].n } };
    op_case c = op_case_of("AvgPool", averages[_i].attrs);

    put_values(&c, &in, ones);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    check_values(&c, 0, averages[_i].out);
    op_case_clear(&c);
}
END_TEST

/* Elements are their own numbers: 32 of them in two channels of 4 by 4. */
START_TEST(indices_of_maxima_count_from_an_axis)
{
    static const struct {
        const char *axis;
        double indices[8];
    } cases[] = { { "0", { 10, 11, 14, 15, 26, 27, 30, 31 } },
                  { "1", { 10, 11, 14, 15, 26, 27, 30, 31 } },
                  { "2", { 10, 11, 14, 15, 10, 11, 14, 15 } },
                  { "-2", { 10, 11, 14, 15, 10, 11, 14, 15 } },
                  { "3", { 2, 3, 2, 3, 2, 3, 2, 3 } } };
    static const double largest[] = { 10, 11, 14, 15, 26, 27, 30, 31 };
    mo_shape in = { 4, { 1, 2, 4, 4 } }, out = { 4, { 1, 2, 2, 2 } };
    double numbers[32];
    char attrs[128];
    op_case c;

    for (int i = 0; i < 32; i++)
        numbers[i] = i;
    snprintf(attrs, sizeof attrs, "{\"kernel\":\"3,3\",\"axis\":\"%s\"}",
             cases[_i].axis);
    c = op_case_of("MaxPool", attrs);
    put_values(&c, &in, numbers);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_makes(&c, MO_ELEM_I64, &out);
    op_case_run(&c);
    check_values(&c, 0, largest);
    check_values(&c, 1, cases[_i].indices);
    op_case_clear(&c);
}
END_TEST

START_TEST(not_a_number_is_the_maximum_of_its_window)
{
    static const double data[] = { 1, NAN, 3, 2, NAN, 7 };
    static const double places[] = { 1, 2, 4 };
    mo_shape in = { 3, { 1, 1, 6 } }, out = { 3, { 1, 1, 3 } };
    op_case c = op_case_of("MaxPool", "{\"kernel\":\"2\",\"strides\":\"2\"}");

    put_values(&c, &in, data);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_makes(&c, MO_ELEM_I64, &out);
    op_case_run(&c);
    ck_assert_double_nan(mo_tensor_get_double(&c.result[0], 0));
    ck_assert_double_eq(mo_tensor_get_double(&c.result[0], 1), 3);
    ck_assert_double_nan(mo_tensor_get_double(&c.result[0], 2));
    check_values(&c, 1, places);
    op_case_clear(&c);
}
END_TEST

START_TEST(adaptive_pools_cut_into_parts_that_may_overlap)
{
    static const double data[] = { 1, 2, 3, 4, 5 };
    static const double means[] = { 1.5, 3, 4.5 }, largest[] = { 2, 4, 5 };
    static const double places[] = { 1, 3, 4 };
    mo_shape in = { 3, { 1, 1, 5 } }, out = { 3, { 1, 1, 3 } };
    int64_t wanted = 3;
    op_case c = op_case_of(_i ? "AdaptiveMaxPool" : "AdaptiveAvgPool", NULL);

    put_values(&c, &in, data);
    op_case_list(&c, &wanted, 1);
    op_case_makes(&c, MO_ELEM_F32, &out);
    if (_i)
        op_case_makes(&c, MO_ELEM_I64, &out);
    op_case_run(&c);
    check_values(&c, 0, _i ? largest : means);
    if (_i)
        check_values(&c, 1, places);
    op_case_clear(&c);
}
END_TEST

START_TEST(global_pools_leave_one_element)
{
    static const double data[] = { 1, 2, 3, 6, -1, -2, -3, -6 };
    static const double means[] = { 3, -3 }, largest[] = { 6, -1 };
    mo_shape in = { 4, { 1, 2, 2, 2 } }, out = { 4, { 1, 2, 1, 1 } };
    op_case c = op_case_of(_i ? "GlobalMaxPool" : "GlobalAveragePool", NULL);

    put_values(&c, &in, data);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    check_values(&c, 0, _i ? largest : means);
    op_case_clear(&c);
}
END_TEST

START_TEST(windows_that_do_not_fit_are_refused)
{
    static const struct {
        const char *type, *attrs;
        int64_t n;
    } cases[] = {
        { "Convolution", "{\"strides\":\"1\"}", 3 },
        { "Convolution", "{\"strides\":\"0\"}", 2 },
        { "Convolution", "{\"strides\":\"1\",\"pads_end\":\"x\"}", 2 },
        { "Convolution", "{\"strides\":\"1,1\"}", 2 },
        { "Convolution", "{\"strides\":\"1\",\"auto_pad\":\"tight\"}", 2 },
        { "ConvolutionBackpropData", "{\"strides\":\"-1\"}", 2 },
        { "ConvolutionBackpropData",
          "{\"strides\":\"1\",\"dilations\":\"99999999999999\"}", 2 },
    };
    static const double data[] = { 1, 2, 3, 4 };
    mo_shape in = { 3, { 1, 1, 4 } }, weights = { 3, { 1, 1, 3 } };
    mo_shape out = { 3, { 1, 1, cases[_i].n } };
    op_case c = op_case_of(cases[_i].type, cases[_i].attrs);
    mo_error err = { 0 };

    put_values(&c, &in, data);
    put_values(&c, &weights, data);
    op_case_makes(&c, MO_ELEM_F32, &out);
    ck_assert_int_ne(op_case_try(&c, &err), MO_OK);
    op_case_clear(&c);
}
END_TEST

SUITE(op_window)
{
    EACH(transposed_convolutions_pad_as_openvino_does, COUNT(transposed));
    EACH(convolutions_pad_as_openvino_does, COUNT(convolved));
    EACH(groups_have_kernels_of_their_own, 2);
    EACH(averages_count_as_their_rounding_says, COUNT(averages));
    EACH(indices_of_maxima_count_from_an_axis, 5);
    TEST(not_a_number_is_the_maximum_of_its_window);
    EACH(adaptive_pools_cut_into_parts_that_may_overlap, 2);
    EACH(global_pools_leave_one_element, 2);
    EACH(windows_that_do_not_fit_are_refused, 7);
}
