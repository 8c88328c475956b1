/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/predict/kernel_traffic.h"

#include <math.h>

double mo_kernel_norm4(double a, double b, double c)
{
    a *= a;
    b *= b;
    c *= c;
    return sqrt(sqrt(a * a + b * b + c * c));
}

double mo_kernel_traffic_us(double bytes, const mo_kernel_device *device,
                            double memory, double resident, double latency_us,
                            double latency_bytes)
{
    double cached = resident * device->cache_mib * 0x1p20 / bytes;
    double missing = bytes / (1 + cached * cached * cached);

    return missing / (memory * device->bandwidth_gbs * 1e3) +
           latency_us * bytes / (bytes + latency_bytes);
}
