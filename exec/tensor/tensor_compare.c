/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/tensor_compare.h"

#include <math.h>

/* Denominator where all elements are zero. */
#define TINY 1e-30

/* Large integers may differ by less than a double resolves. */
static double distance_of_ints(int64_t x, int64_t y)
{
    double distance = fabs((double) x - (double) y);

    return x == y ? 0 : distance < 1 ? 1 : distance;
}

static double distance_of_reals(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : INFINITY;
    return x == y ? 0 : fabs(x - y);
}

mo_tensor_difference mo_tensor_compare(const mo_tensor_dense *a,
                                       const mo_tensor_dense *b)
{
    mo_tensor_difference d = { .same_shape = mo_shape_equal(&a->desc.shape,
                                                            &b->desc.shape) };
    bool integers =
        !mo_elem_is_float(a->desc.elem) && !mo_elem_is_float(b->desc.elem);
    int64_t n = d.same_shape ? mo_tensor_desc_elements(&b->desc) : 0;
    double largest = TINY;

    for (int64_t i = 0; i < n; i++) {
        double y = mo_tensor_get_double(b, i);
        double distance =
            integers ? distance_of_ints(mo_tensor_get_int(a, i),
                                        mo_tensor_get_int(b, i))
                     : distance_of_reals(mo_tensor_get_double(a, i), y);

        if (isfinite(y) && fabs(y) > largest)
            largest = fabs(y);
        if (distance > d.absolute) {
            d.absolute = distance;
            d.at = i;
        }
    }
    d.relative = d.absolute / largest;
    if (!d.same_shape)
        d.absolute = d.relative = INFINITY;
    return d;
}
