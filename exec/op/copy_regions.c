/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/copy_regions.h"

#include <assert.h>

void mo_lower_copy_regions_push(mo_lower_copy_regions *zones,
                                mo_lower_copy_region zone)
{
    if (zone.count <= 0)
        return;
    assert(zones->n < MO_LOWER_COPY_MAX_REGIONS);
    zones->zone[zones->n++] = zone;
}

/* Returns the box of combination number index. */
static mo_call_copy_box box_of_regions(const mo_op_site *site,
                                       const mo_lower_copy_regions *zones,
                                       int64_t index)
{
    int64_t in_stride[MO_MAX_RANK], out_stride[MO_MAX_RANK];
    mo_call_copy_box box = { .rank = site->in[0].shape.rank };

    mo_lower_copy_strides(&site->in[0].shape, in_stride);
    mo_lower_copy_strides(&site->out[0].shape, out_stride);
    for (int d = box.rank; d-- > 0;) {
        const mo_lower_copy_region *zone = &zones[d].zone[index % zones[d].n];

        index /= zones[d].n;
        box.extent[d] = zone->count;
        box.in_stride[d] = zone->step * in_stride[d];
        box.in_offset += zone->in_first * in_stride[d];
        box.out_stride[d] = out_stride[d];
        box.out_offset += zone->out_first * out_stride[d];
    }
    return box;
}

mo_status mo_lower_copy_regions_add_call(const mo_op_site *site,
                                         const mo_lower_copy_regions *zones,
                                         mo_lower_result *lowered,
                                         mo_error *err)
{
    int64_t n_boxes = 1; /* at most 3^16 */
    mo_call *call;
    mo_status status;

    for (int d = 0; d < site->in[0].shape.rank; d++)
        n_boxes *= zones[d].n;
    status = mo_lower_copy_add_call(site, 1, n_boxes, lowered, &call, err);
    for (int64_t i = 0; status == MO_OK && i < n_boxes; i++)
        call->u.copy.boxes[i] = box_of_regions(site, zones, i);
    return status;
}
