/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/op/lower/interpolate.c and its kernels: the specification's
 * formulas, over all dimensions at once and in doubles. */
#include <math.h>
#include <stdio.h>

#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

static const char *const modes[] = { "nearest", "linear", "linear_onnx",
                                     "cubic" };
static const char *const coordinates[] = { "half_pixel", "pytorch_half_pixel",
                                           "asymmetric", "tf_half_pixel_for_nn",
                                           "align_corners" };
static const char *const roundings[] = { "round_prefer_floor",
                                         "round_prefer_ceil", "floor", "ceil",
                                         "simple" };

typedef struct resizing {
    int mode, coordinate, rounding;
    bool antialias, shrinks;
    int rank;
    int64_t in[MO_MAX_RANK], out[MO_MAX_RANK];
    float scale[MO_MAX_RANK];
    bool moves[MO_MAX_RANK];
} resizing;

/* In floats, as the specification's own code: what is nearest depends on it. */
static float place_of(const resizing *r, int d, float x)
{
    float scale = r->scale[d], in = (float) r->in[d], out = (float) r->out[d];

    if (!r->moves[d] || scale == 1 || in == out)
        return x;
    switch (r->coordinate) {
    case 0:
        return (x + 0.5f) / scale - 0.5f;
    case 1:
        return out > 1 ? (x + 0.5f) / scale - 0.5f : 0;
    case 2:
        return x / scale;
    case 3:
        return (x + 0.5f) / scale;
    default:
        return out == 1 ? 0 : x * (in - 1) / (out - 1);
    }
}

static int64_t nearest(const resizing *r, int d, float x)
{
    switch (r->rounding) {
    case 0:
        return (int64_t) (x - floorf(x) == 0.5f ? floorf(x) : roundf(x));
    case 1:
        return (int64_t) roundf(x);
    case 2:
        return (int64_t) floorf(x);
    case 3:
        return (int64_t) ceilf(x);
    default:
        return (int64_t) (r->scale[d] < 1 ? ceilf(x) : x);
    }
}

static int64_t clamp(int64_t i, int64_t size)
{
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

/* Cubic convolution (Keys, 1981). */
static double cubic(double x, double a)
{
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/* The weight of element i of the input in element x of the result, along d. */
static double weight(const resizing *r, int d, int64_t x, int64_t i)
{
    float place = place_of(r, d, (float) x);
    double sum = 0;

    if (!r->moves[d])
        return x == i;
    switch (r->mode) {
    case 0:
        return clamp(nearest(r, d, place), r->in[d]) == i;
    case 1: {
        double narrow = r->antialias && r->shrinks ? r->scale[d] : 1;
        double reach = r->scale[d] > 1 ? 2 : ceil(2 / narrow);

        if (fabs((double) i - roundf(place)) > reach)
            return 0;
        return fmax(0, 1 - fabs(narrow * (place - (double) i)));
    }
    case 2: {
        double clipped = fmin(fmax(place, 0), (double) r->in[d] - 1);

        return fmax(0, 1 - fabs(clipped - (double) i));
    }
    default:
        for (int k = -1; k <= 2; k++) {
            int64_t tap = (int64_t) floorf(place) + k;

            if (clamp(tap, r->in[d]) == i)
                sum += cubic(place - (double) tap, -0.6);
        }
        return sum;
    }
}

static double expected(const resizing *r, const mo_tensor_dense *data,
                       const int64_t *at)
{
    const mo_shape *shape = &data->desc.shape;
    double sum = 0, weights = 0;

    for (int64_t i = 0; i < mo_shape_elements(shape); i++) {
        int64_t from[MO_MAX_RANK];
        double w = 1;

        coordinates_of(shape, i, from);
        for (int d = 0; d < r->rank && w != 0; d++)
            w *= weight(r, d, at[d], from[d]);
        sum += w * mo_tensor_get_double(data, i);
        weights += w;
    }
    if (r->mode == 1)
        return weights == 0 ? 0 : sum / weights;
    return sum;
}

static resizing random_resizing(mo_random *random, int seed)
{
    resizing r = { .mode = seed % 4,
                   .coordinate = mo_random_below(random, 5),
                   .rounding = mo_random_below(random, 5),
                   .antialias = mo_random_below(random, 2),
                   .rank = 1 + mo_random_below(random, 4) };

    for (int d = 0; d < r.rank; d++) {
        r.moves[d] = mo_random_below(random, 3) > 0;
        r.in[d] = r.out[d] = 1 + mo_random_below(random, 6);
        if (r.moves[d])
            r.out[d] = 1 + mo_random_below(random, 9);
        r.scale[d] = (float) r.out[d] / (float) r.in[d];
        r.shrinks = r.shrinks || (r.moves[d] && r.scale[d] < 1);
    }
    return r;
}

static void check(op_case *c, const resizing *r, const char *attrs, int seed)
{
    op_case_run(c);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&c->out[0]); i++) {
        int64_t at[MO_MAX_RANK];
        double wanted, found = mo_tensor_get_double(&c->result[0], i);

        coordinates_of(&c->out[0].shape, i, at);
        wanted = expected(r, &c->value[0], at);
        ck_assert_msg(fabs(found - wanted) <= 1e-5, "seed %d, %s: %g, not %g",
                      seed, attrs, found, wanted);
    }
    op_case_clear(c);
}

/* Opset 11: sizes, axes. */
START_TEST(every_mode_follows_its_formula)
{
    mo_random random = { (uint64_t) _i };
    resizing r = random_resizing(&random, _i);
    mo_shape in = { .rank = r.rank }, out = { .rank = r.rank };
    int64_t sizes[MO_MAX_RANK], axes[MO_MAX_RANK];
    int n_axes = 0;
    char attrs[512] = "";
    op_case c = op_case_of("Interpolate", attrs);

    snprintf(attrs, sizeof attrs,
             "{\"opset\":\"opset11\",\"mode\":\"%s\","
             "\"shape_calculation_mode\":\"sizes\","
             "\"coordinate_transformation_mode\":\"%s\","
             "\"nearest_mode\":\"%s\",\"antialias\":\"%s\","
             "\"cube_coeff\":\"-0.6\"}",
             modes[r.mode], coordinates[r.coordinate], roundings[r.rounding],
             r.antialias ? "true" : "false");
    memcpy(in.dims, r.in, sizeof in.dims);
    memcpy(out.dims, r.out, sizeof out.dims);
    for (int d = 0; d < r.rank; d++)
        if (r.moves[d]) {
            sizes[n_axes] = r.out[d];
            axes[n_axes++] = d - (mo_random_below(&random, 2) ? r.rank : 0);
        }
    op_case_data(&c, MO_ELEM_F32, &in, random.state);
    op_case_list(&c, sizes, n_axes);
    op_case_list(&c, axes, n_axes);
    op_case_makes(&c, MO_ELEM_F32, &out);
    check(&c, &r, attrs, _i);
}
END_TEST

/* Opset 4, by scales, of data with zeros around it. */
START_TEST(pads_and_scales_are_given)
{
    mo_shape in = { .rank = 2, .dims = { 3, 4 } };
    mo_shape out = { .rank = 2, .dims = { 10, 8 } };
    mo_shape two = { .rank = 1, .dims = { 2 } };
    mo_tensor_desc padded = { MO_ELEM_F32, { .rank = 2, .dims = { 5, 4 } } };
    resizing r = { .mode = 2,
                   .coordinate = 0,
                   .rank = 2,
                   .in = { 5, 4 },
                   .out = { 10, 8 },
                   .scale = { 2.1f, 2 },
                   .moves = { true, true } };
    op_case c =
        op_case_of("Interpolate",
                   "{\"opset\":\"opset4\",\"mode\":\"linear_onnx\","
                   "\"shape_calculation_mode\":\"scales\",\"pads_begin\":\"1\","
                   "\"pads_end\":\"1,0\"}");
    mo_tensor_dense data = { 0 };

    op_case_data(&c, MO_ELEM_F32, &in, 4);
    op_case_list(&c, out.dims, 2);
    mo_tensor_set_double(op_case_data(&c, MO_ELEM_F32, &two, 0), 0, 2.1);
    mo_tensor_set_double(&c.value[2], 1, 2);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    MUST(mo_tensor_new(&padded, &data, &err));
    for (int64_t i = 0; i < 12; i++)
        mo_tensor_set_double(&data, 4 + i,
                             mo_tensor_get_double(&c.value[0], i));
    for (int64_t i = 0; i < 80; i++) {
        int64_t at[MO_MAX_RANK];

        coordinates_of(&out, i, at);
        ck_assert_double_eq_tol(mo_tensor_get_double(&c.result[0], i),
                                expected(&r, &data, at), 1e-5);
    }
    mo_tensor_clear(&data);
    op_case_clear(&c);
}
END_TEST

/* Opset 1, and types of other widths; 0 1 2 3 becomes 0 0 1 1 2 2 3 3. */
START_TEST(neighbours_are_found_in_any_type)
{
    static const mo_elem elems[] = { MO_ELEM_U8, MO_ELEM_F16, MO_ELEM_I64,
                                     MO_ELEM_F32, MO_ELEM_F64 };
    mo_shape in = { .rank = 3, .dims = { 2, 4, 3 } };
    mo_shape out = { .rank = 3, .dims = { 2, 8, 3 } };
    const int64_t size = 8;
    op_case c = op_case_of("Interpolate",
                           "{\"opset\":\"opset1\",\"mode\":\"nearest\","
                           "\"axes\":\"1\",\"align_corners\":\"false\"}");

    op_case_data(&c, elems[_i], &in, 1);
    op_case_list(&c, &size, 1);
    op_case_makes(&c, elems[_i], &out);
    op_case_run(&c);
    for (int64_t i = 0; i < 48; i++)
        ck_assert(same_element(&c.result[0], i, &c.value[0],
                               i / 24 * 12 + i / 3 % 8 / 2 * 3 + i % 3));
    op_case_clear(&c);
}
END_TEST

START_TEST(halves_are_blended_in_floats)
{
    mo_shape in = { .rank = 1, .dims = { 2 } };
    mo_shape out = { .rank = 1, .dims = { 4 } };
    static const double wanted[] = { 1, 1.5, 2.5, 3 };
    op_case c = op_case_of("Interpolate", "{\"opset\":\"opset11\","
                                          "\"mode\":\"linear\"}");

    op_case_data(&c, MO_ELEM_F16, &in, 1);
    mo_tensor_set_double(&c.value[0], 0, 1);
    mo_tensor_set_double(&c.value[0], 1, 3);
    op_case_list(&c, out.dims, 1);
    op_case_makes(&c, MO_ELEM_F16, &out);
    op_case_run(&c);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(mo_tensor_get_double(&c.result[0], i), wanted[i]);
    op_case_clear(&c);
}
END_TEST

static const struct {
    const char *attrs;
    int64_t in, out;
    double data[5], scale, wanted[5];
} onnx_cases[] = {
    /* the scale counts where it keeps the size */
    { "\"mode\":\"linear_onnx\"",
      3,
      3,
      { 0, 1, 2 },
      1.3,
      { 0, 0.65384615, 1.42307692 } },
    { "\"mode\":\"nearest\",\"coordinate_transformation_mode\":"
      "\"asymmetric\",\"nearest_mode\":\"floor\"",
      3,
      3,
      { 0, 1, 2 },
      1.3,
      { 0, 0, 1 } },
    { "\"mode\":\"cubic\",\"coordinate_transformation_mode\":"
      "\"align_corners\"",
      3,
      3,
      { 0, 1, 2 },
      1.3,
      { 0, 0.59924560, 1.47470178 } },
    /* what copies does not depend on its neighbours */
    { "\"mode\":\"linear_onnx\",\"coordinate_transformation_mode\":"
      "\"half_pixel_symmetric\"",
      4,
      4,
      { 1, 2, INFINITY, 4 },
      1,
      { 1, 2, INFINITY, 4 } },
    { "\"mode\":\"cubic\",\"antialias\":\"true\"",
      4,
      4,
      { 1, 2, INFINITY, 4 },
      1,
      { 1, 2, INFINITY, 4 } },
    { "\"mode\":\"linear_onnx\",\"coordinate_transformation_mode\":"
      "\"tf_crop_and_resize\"",
      5,
      5,
      { 1, 2, INFINITY, 4, 5 },
      1,
      { 1, 2, INFINITY, 4, 5 } },
};

START_TEST(resize_of_onnx_follows_its_formula)
{
    mo_shape in = { .rank = 1, .dims = { onnx_cases[_i].in } };
    mo_shape out = { .rank = 1, .dims = { onnx_cases[_i].out } };
    mo_shape list = { .rank = 1, .dims = { 1 } };
    const double region[] = { onnx_cases[_i].scale, 0, 1 };
    int64_t axis = 0;
    char attrs[256] = "";
    op_case c = op_case_of("Interpolate", attrs);

    snprintf(attrs, sizeof attrs,
             "{\"opset\":\"opset11\",\"onnx\":\"true\",%s}",
             onnx_cases[_i].attrs);
    if (strstr(attrs, "crop"))
        list.dims[0] = 3;
    op_case_data(&c, MO_ELEM_F32, &in, 1);
    for (int i = 0; i < in.dims[0]; i++)
        mo_tensor_set_double(&c.value[0], i, onnx_cases[_i].data[i]);
    op_case_list(&c, out.dims, 1);
    op_case_list(&c, &axis, 1);
    op_case_data(&c, MO_ELEM_F64, &list, 0);
    for (int i = 0; i < list.dims[0]; i++)
        mo_tensor_set_double(&c.value[3], i, region[i]);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    for (int i = 0; i < out.dims[0]; i++) {
        double found = mo_tensor_get_double(&c.result[0], i);
        double wanted = onnx_cases[_i].wanted[i];

        ck_assert_msg(found == wanted || fabs(found - wanted) < 1e-6,
                      "%s: element %d is %g, not %g", attrs, i, found, wanted);
    }
    op_case_clear(&c);
}
END_TEST

/* Scales from a file may be anything. */
START_TEST(strange_scales_do_no_harm)
{
    static const double scales[] = { 0, -1, NAN, INFINITY, 1e-30, 1e30 };
    mo_shape in = { .rank = 1, .dims = { 4 } };
    mo_shape out = { .rank = 1, .dims = { 3 } };
    op_case c = op_case_of(
        "Interpolate", _i % 2 ? "{\"opset\":\"opset11\",\"mode\":\"cubic\","
                                "\"shape_calculation_mode\":\"scales\"}"
                              : "{\"opset\":\"opset11\",\"mode\":\"linear\","
                                "\"antialias\":\"true\","
                                "\"shape_calculation_mode\":\"scales\"}");
    mo_error err = { 0 };

    op_case_data(&c, MO_ELEM_F32, &in, 1);
    op_case_number(&c, MO_ELEM_F32, scales[_i / 2]);
    op_case_makes(&c, MO_ELEM_F32, &out);
    ck_assert_int_ne(op_case_try(&c, &err), MO_OK);
    op_case_clear(&c);
}
END_TEST

SUITE(op_interpolate)
{
    SOME(every_mode_follows_its_formula, 400, 40);
    TEST(pads_and_scales_are_given);
    EACH(neighbours_are_found_in_any_type, 5);
    TEST(halves_are_blended_in_floats);
    EACH(resize_of_onnx_follows_its_formula, COUNT(onnx_cases));
    EACH(strange_scales_do_no_harm, 12);
}
