/* SPDX-License-Identifier: Apache-2.0 */
/* Limit and typical error of a prediction. */
#include "cost/time_origin.h"

#include <math.h>

const char *const mo_time_source_names[MO_TIME_SOURCES] = {
    [MO_TIME_GIVEN] = "given",
    [MO_TIME_MEASURED] = "measured",
    [MO_TIME_INTERPOLATED] = "interpolated",
    [MO_TIME_SCALED] = "scaled",
    [MO_TIME_PREDICTED] = "predicted",
    [MO_TIME_ELSEWHERE] = "elsewhere",
};

const char *const mo_time_limit_names[MO_TIME_LIMITS] = {
    [MO_TIME_LIMIT_NONE] = "",
    [MO_TIME_LIMIT_COMPUTE] = "compute",
    [MO_TIME_LIMIT_MEMORY] = "memory",
    [MO_TIME_LIMIT_LAUNCH] = "launch",
};

/* Median errors of moirai-cost(7) on devices that were not fitted to: of the
 * roofline and of wave scaling in f32 (Pascal to Turing), by class. 0: not
 * measured. */
static const struct {
    double roofline, wave;
} f32_errors[MO_CLASSES] = {
    [MO_CLASS_MATMUL] = { 0.316, 0.195 },
    [MO_CLASS_ELEMENTWISE] = { 0.088, 0.121 },
    [MO_CLASS_ACTIVATION] = { 0.081, 0.147 },
    [MO_CLASS_NORMALIZATION] = { 0.2, 0.139 },
    [MO_CLASS_SOFTMAX] = { 0.088, 0.191 },
    [MO_CLASS_GATHER] = { 0.379, 0.215 },
    [MO_CLASS_MOVE] = { 1.906, 1.679 },
};

/* The same of the models of kernels (Ampere to Blackwell): that of the device
 * on which it is largest. */
static const double product_errors[MO_MATHS] = {
    [MO_MATH_F16] = 0.078,  [MO_MATH_BF16] = 0.078, [MO_MATH_FP8] = 0.177,
    [MO_MATH_INT8] = 0.096, [MO_MATH_FP4] = 0.219,
};

static const double attention_error = 0.211;

static bool is_between(mo_generation generation, mo_generation first,
                       mo_generation last)
{
    return generation >= first && generation <= last;
}

static double typical_error(const mo_predictor *predictor,
                            const mo_workload *work, const mo_device *device)
{
    mo_generation generation = mo_generation_of(device);
    bool by_kernel = !isnan(mo_predict_kernel_us(work, device));
    double error = 0;

    if (by_kernel && !predictor->is_wave &&
        is_between(generation, MO_GEN_AMPERE, MO_GEN_BLACKWELL)) {
        if (work->class == MO_CLASS_ATTENTION)
            error = attention_error;
        else
            error =
                work->class == MO_CLASS_MATMUL ? product_errors[work->math] : 0;
    }
    if (!by_kernel && is_between(generation, MO_GEN_PASCAL, MO_GEN_TURING))
        error = predictor->is_wave ? f32_errors[work->class].wave
                                   : f32_errors[work->class].roofline;
    return error > 0 ? error : NAN;
}

/* The limit is found by sensitivity, so that every model has one: a time that
 * is all arithmetic doubles with half the compute. */
static mo_time_limit limit_of(const mo_predictor *predictor,
                              const mo_predictor_input *input,
                              const mo_device *device, double us)
{
    mo_device compute = *device, memory = *device;
    double by_compute, by_memory;

    for (int i = 0; i < MO_MATHS; i++)
        compute.gflops[i] /= 2;
    compute.watts /= 2;
    compute.clock_mhz /= 2;
    memory.bandwidth_gbs /= 2;
    by_compute = mo_predictor_input_us(predictor, input, &compute) - us;
    by_memory = mo_predictor_input_us(predictor, input, &memory) - us;
    if (!(us > 0))
        return MO_TIME_LIMIT_NONE;
    if (!(fmax(by_compute, by_memory) > us / 2))
        return MO_TIME_LIMIT_LAUNCH;
    return by_compute > by_memory ? MO_TIME_LIMIT_COMPUTE
                                  : MO_TIME_LIMIT_MEMORY;
}

mo_time_origin mo_time_origin_predicted(const mo_predictor *predictor,
                                        const mo_predictor_input *input,
                                        const mo_device *device, double us)
{
    return (mo_time_origin){ predictor->is_wave ? MO_TIME_SCALED
                                                : MO_TIME_PREDICTED,
                             limit_of(predictor, input, device, us),
                             mo_numeric_is_product(input->work.class)
                                 ? input->work.math
                                 : MO_MATH_F32,
                             typical_error(predictor, &input->work, device) };
}
