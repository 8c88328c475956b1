/* SPDX-License-Identifier: Apache-2.0 */
/* Time of a tiled matrix product. */
#include <math.h>

#include "base/minmax.h"
#include "cost/predict/kernel_traffic.h"

/*
 * A library splits the m x n outputs into tiles, one for a multiprocessor at a
 * time, and where these are few the sum over k into parts:
 *
 *          n                   time of a tile   (k / parts) step + tile_us
 *     +---+---+---+            step             a column of a, a row of b:
 *   m | 0 | 1 | 2 |  wave 1                     2 tm tn flops, (tm + tn)
 *     +---+---+---+                             elements from the cache
 *     | 3 | 4 |   |  wave 2    compute          waves * time of a tile
 *     +---+---+---+            traffic          operands once, or once for
 *                                               every wave's rectangle
 *
 * Which tile a library takes is its secret, and tuned to be the fastest; so
 * the time is the least over the usual tiles and numbers of parts.
 */
static const struct {
    double m, n;
} tile_sizes[] = { { 256, 128 }, { 128, 256 }, { 128, 128 }, { 128, 64 },
                   { 64, 128 },  { 64, 64 },   { 64, 256 },  { 32, 128 },
                   { 16, 128 },  { 32, 64 },   { 16, 64 } };

static const double part_counts[] = { 1, 2, 4, 8, 16 };

enum {
    N_TILES = sizeof tile_sizes / sizeof *tile_sizes,
    N_PARTS = sizeof part_counts / sizeof *part_counts,
    K_STEP = 64, /* elements of k that a tile loads at a time */
    PARTIAL_BYTES = 4
};

static double flops_of(const mo_product *p)
{
    return 2 * p->batch * p->m * p->n * p->k;
}

static double bytes_of(const mo_product *p)
{
    if (p->bytes > 0)
        return p->bytes;
    return p->batch * (p->a_bytes * p->m * p->k + p->b_bytes * p->n * p->k +
                       p->c_bytes * p->m * p->n);
}

/* Returns the time of one tile per step along k on one multiprocessor. */
static double step_us(const mo_product *p, double tm, double tn,
                      const mo_kernel_device *d, const mo_product_constants *c)
{
    double multiply = 2 * tm * tn * d->sms / (c->compute * d->gflops * 1e3);
    double load =
        (tm * p->a_bytes + tn * p->b_bytes) / (c->cache_bytes * d->clock_mhz);

    return mo_kernel_norm4(multiply, load, 0);
}

/* Returns the time without the launch and without the power limit, in tiles of
 * tm x tn: the least over the numbers of parts. */
static double tiled_us(const mo_product *p, double tm, double tn,
                       const mo_kernel_device *d, const mo_product_constants *c)
{
    double step = step_us(p, tm, tn, d, c), best = INFINITY;
    double n_tiles = p->batch * ceil(p->m / tm) * ceil(p->n / tn);
    double reloads =
        flops_of(p) * (p->a_bytes + p->b_bytes) / 2 / sqrt(d->sms * tm * tn);
    double bytes = mo_max_double(bytes_of(p), reloads);

    for (int i = 0; i < N_PARTS; i++) {
        double n = part_counts[i], waves = ceil(n_tiles * n / d->sms);
        double k = K_STEP * ceil(p->k / n / K_STEP);
        double partial = n > 1 ? n * PARTIAL_BYTES * p->batch * p->m * p->n : 0;
        double us = mo_kernel_norm4(
            waves * (k * step + c->tile_us),
            mo_kernel_traffic_us(bytes + partial, d, c->memory, c->resident,
                                 c->latency_us, c->latency_bytes),
            0);

        best = mo_min_double(best, us + (n > 1 ? c->split_us : 0));
    }
    return best;
}

/* Energy of an operation by the process: 4.7 times as much at 12 nm as at 4,
 * which is what V100 and T4 need beside the generations that were fitted. */
#define PROCESS_EXPONENT 1.4

/* A kernel that would use more power than the device may runs at a lower
 * clock, and voltage: the rate falls with the root of the power. Short kernels
 * end before the device responds. */
static double throttled_us(double us, double flops, const mo_kernel_device *d,
                           const mo_product_constants *c)
{
    double energy_pj = c->energy_pj, watts, limited;

    if (d->watts <= 0)
        return us;
    if (d->process_nm > 0 && c->process_nm > 0)
        energy_pj *= pow(d->process_nm / c->process_nm, PROCESS_EXPONENT);
    watts = energy_pj * d->gflops * 1e-3;
    limited = flops / (d->gflops * 1e3 * sqrt(d->watts / watts));

    if (limited <= us)
        return us;
    return us + (limited - us) * us / (us + c->throttle_us);
}

double mo_product_us(const mo_product *product, const mo_kernel_device *device,
                     const mo_product_constants *constants)
{
    double best = INFINITY;

    if (bytes_of(product) <= 0)
        return constants->launch_us;
    for (int i = 0; i < N_TILES; i++)
        best =
            mo_min_double(best, tiled_us(product, tile_sizes[i].m,
                                         tile_sizes[i].n, device, constants));
    return constants->launch_us +
           throttled_us(best, flops_of(product), device, constants);
}
