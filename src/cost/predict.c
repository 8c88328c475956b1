/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/predict.h"

#include <math.h>

/*
 * Wave model of a GPU. Kernels are launched as blocks of threads, of which a
 * multiprocessor holds a few at a time. The exact sizes are internal to the
 * libraries; these are the usual ones. Where a product is too small for the
 * large tiles that libraries prefer, they use tiles of 32 x 32, one per
 * multiprocessor.
 */
enum {
    ELEMENTS_PER_BLOCK = 1024,
    BLOCKS_PER_SM = 8,
    PRODUCT_BLOCKS_PER_SM = 1
};

static bool has_kernel(mo_class class)
{
    return class != MO_CLASS_NONE && class != MO_CLASS_FREE &&
           class != MO_CLASS_SHAPE;
}

/* Returns the number of blocks of the work; 0 when unknown. A product is split
 * by its output, all else by its input, if that is larger: as if half of its
 * bytes were read and half written, in elements of four bytes. */
static double blocks_of(const mo_workload *work)
{
    double elements = work->output_elements;

    if (elements > 0 && !mo_numeric_is_product(work->class))
        elements = fmax(elements, work->bytes / 8);
    return ceil(elements / ELEMENTS_PER_BLOCK);
}

/* Returns the number of blocks in one wave. */
static double wave_of(mo_class class, const mo_device *device)
{
    return (double) device->sms * (mo_numeric_is_product(class)
                                       ? PRODUCT_BLOCKS_PER_SM
                                       : BLOCKS_PER_SM);
}

/* The last wave of a kernel takes as long as a full one. Libraries divide work
 * among all cores of a CPU. */
static double wave_utilization(const mo_workload *work, const mo_device *device)
{
    double blocks = blocks_of(work), wave = wave_of(work->class, device);

    if (blocks == 0 || wave <= 0 || device->is_cpu)
        return 1;
    return blocks / wave / ceil(blocks / wave);
}

/* Returns amount / speed in microseconds, speed in units of 10^9 per second;
 * NAN when it is unknown. */
static double amount_us(double amount, double speed)
{
    if (amount == 0)
        return 0;
    return speed > 0 ? amount / (speed * 1e3) : NAN;
}

/* Returns the bytes that the kernel loads and stores: every byte once, and
 * those of a product again for every tile that needs them. The reuse is that
 * of operands in f32. */
static double traffic_of(const mo_workload *work, mo_generation generation)
{
    double reuse = mo_efficiency_max_reuse(work->class, generation) *
                   mo_numeric_bytes(MO_MATH_F32) / mo_numeric_bytes(work->math);

    return reuse > 0 ? fmax(work->bytes, work->flops / reuse) : work->bytes;
}

double mo_predict_roofline_us(const mo_efficiencies *table,
                              const mo_workload *work, const mo_device *device)
{
    mo_generation generation = mo_generation_of(device);
    const mo_efficiency *fitted =
        mo_efficiency_of_type(table, work->class, work->math, generation);
    const mo_efficiency *factors =
        fitted ? fitted : mo_efficiency_of(table, work->class, generation);
    double launch_us = factors->launch * device->launch_us;
    double compute_us, memory_us, kernel_us;

    if (!has_kernel(work->class))
        return launch_us;
    if (work->flops < 0 || work->bytes < 0)
        return NAN;
    kernel_us = mo_predict_fitted_kernel_us(fitted, work, device);
    if (!isnan(kernel_us))
        return kernel_us;
    /* Products have units of their own for narrow types. */
    compute_us = amount_us(
        work->flops,
        factors->compute * wave_utilization(work, device) *
            mo_device_peak_gflops(
                device->gflops,
                mo_numeric_is_product(work->class) ? work->math : MO_MATH_F32));
    memory_us = amount_us(traffic_of(work, generation),
                          factors->memory * device->bandwidth_gbs);
    if (isnan(compute_us) || isnan(memory_us))
        return NAN;
    return launch_us + fmax(compute_us, memory_us);
}

/* Returns whether wave scaling applies between the two devices. */
static bool can_scale(const mo_workload *work, const mo_device *origin,
                      const mo_device *device)
{
    return !mo_numeric_is_product(work->class) && !origin->is_cpu &&
           !device->is_cpu && origin->sms > 0 && device->sms > 0 &&
           origin->clock_mhz > 0 && device->clock_mhz > 0 &&
           origin->bandwidth_gbs > 0 && device->bandwidth_gbs > 0 &&
           device->gflops[MO_MATH_F32] > 0;
}

/* g: the memory-bound share of the work, from its arithmetic intensity and the
 * ridge point of the device. */
static double memory_share(const mo_workload *work, const mo_device *device)
{
    double ridge = device->gflops[MO_MATH_F32] / device->bandwidth_gbs,
           intensity;

    if (work->flops == 0)
        return 1;
    if (work->bytes == 0)
        return 0;
    intensity = work->flops / work->bytes;
    return intensity <= ridge ? 1 - intensity / (2 * ridge)
                              : ridge / (2 * intensity);
}

static double waves_us(const mo_workload *work, const mo_device *origin,
                       double us, const mo_device *device)
{
    double blocks = blocks_of(work), g = memory_share(work, device);
    double bandwidth = origin->bandwidth_gbs / device->bandwidth_gbs;
    double clock = origin->clock_mhz / device->clock_mhz;
    double wave_origin = wave_of(work->class, origin);
    double wave_device = wave_of(work->class, device);
    double wave = wave_origin / wave_device;

    if (blocks == 0)
        return us * pow(bandwidth, g) * pow(clock * wave, 1 - g);
    return us * ceil(blocks / wave_device) / ceil(blocks / wave_origin) *
           pow(bandwidth / wave, g) * pow(clock, 1 - g);
}

double mo_predict_wave_us(const mo_efficiencies *table, const mo_workload *work,
                          const mo_device *origin, double us,
                          const mo_device *device)
{
    if (isnan(us) || !has_kernel(work->class))
        return us;
    if (work->flops < 0 || work->bytes < 0)
        return NAN;
    if (!can_scale(work, origin, device)) {
        double here = mo_predict_roofline_us(table, work, origin);
        double there = mo_predict_roofline_us(table, work, device);

        if (here == there)
            return us;
        return here > 0 ? us * there / here : NAN;
    }
    return waves_us(work, origin, us, device);
}
