/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/window_geometry.h"

static void widen(int64_t *dims, int spatial, int64_t missing)
{
    int lacking = MO_CALL_MAX_SPATIAL - spatial;

    for (int d = MO_CALL_MAX_SPATIAL - 1; d >= 0; d--)
        dims[d] = d < lacking ? missing : dims[d - lacking];
}

mo_call_window mo_call_window_to_3d(const mo_call_window *sweep)
{
    mo_call_window s = *sweep;

    widen(s.in, s.spatial, 1);
    widen(s.out, s.spatial, 1);
    widen(s.kernel, s.spatial, 1);
    widen(s.stride, s.spatial, 1);
    widen(s.dilation, s.spatial, 1);
    widen(s.pad_begin, s.spatial, 0);
    widen(s.pad_end, s.spatial, 0);
    s.spatial = MO_CALL_MAX_SPATIAL;
    return s;
}
