/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/window_geometry.h"

static void prepend_ones(int64_t *dims, int spatial, int64_t missing)
{
    int lacking = MO_CALL_MAX_SPATIAL - spatial;

    for (int d = MO_CALL_MAX_SPATIAL - 1; d >= 0; d--)
        dims[d] = d < lacking ? missing : dims[d - lacking];
}

mo_call_window mo_call_window_to_3d(const mo_call_window *sweep)
{
    mo_call_window s = *sweep;

    prepend_ones(s.in, s.spatial, 1);
    prepend_ones(s.out, s.spatial, 1);
    prepend_ones(s.kernel, s.spatial, 1);
    prepend_ones(s.stride, s.spatial, 1);
    prepend_ones(s.dilation, s.spatial, 1);
    prepend_ones(s.pad_begin, s.spatial, 0);
    prepend_ones(s.pad_end, s.spatial, 0);
    s.spatial = MO_CALL_MAX_SPATIAL;
    return s;
}
