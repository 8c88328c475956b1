/* SPDX-License-Identifier: Apache-2.0 */
/* Writer of profiles. */
#include "cost/xml/attribute_writer.h"
#include "cost/profile.h"
#include "ingest/operator.h"

static void put_if_known(mo_out *out, const char *name, double value)
{
    if (value >= 0)
        mo_attribute_write_number(out, name, value);
}

static void put_op(mo_out *out, const mo_profile_op *op)
{
    mo_out_text(out, "  <op");
    mo_attribute_write_text(out, "device", op->device);
    mo_attribute_write_text(out, "signature", op->signature);
    mo_attribute_write_number(out, "median_us", op->median_us);
    mo_attribute_write_number(out, "spread_us", op->spread_us);
    mo_attribute_write_number(out, "count", op->count);
    put_if_known(out, "flops", op->flops);
    put_if_known(out, "bytes", op->bytes);
    put_if_known(out, "outputs", op->output_elements);
    if (op->class != MO_UNKNOWN)
        mo_attribute_write_text(out, "class",
                                mo_class_name((mo_class) op->class));
    mo_out_text(out, "/>\n");
}

void mo_profile_write(const mo_profile *profile, mo_out *out)
{
    mo_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<profile");
    if (profile->host)
        mo_attribute_write_text(out, "host", profile->host);
    if (profile->emulated)
        mo_attribute_write_text(out, "emulated", profile->emulated);
    if (profile->in_flight > 0)
        mo_out_printf(out, " in_flight=\"%d\"", profile->in_flight);
    if (profile->overhead_us > 0)
        mo_attribute_write_number(out, "overhead_us", profile->overhead_us);
    if (profile->copy_gbs > 0)
        mo_attribute_write_number(out, "copy_gbs", profile->copy_gbs);
    if (profile->host_request_us > 0)
        mo_attribute_write_number(out, "host_request_us",
                                  profile->host_request_us);
    if (profile->host_transfer_us > 0)
        mo_attribute_write_number(out, "host_transfer_us",
                                  profile->host_transfer_us);
    if (profile->parts_slowdown > 0)
        mo_attribute_write_number(out, "parts_slowdown",
                                  profile->parts_slowdown);
    if (profile->parts_overhead_us > 0)
        mo_attribute_write_number(out, "parts_overhead_us",
                                  profile->parts_overhead_us);
    mo_out_text(out, ">\n");
    for (int i = 0; i < profile->n_ops; i++)
        put_op(out, &profile->ops[i]);
    for (int i = 0; i < profile->n_links; i++) {
        const mo_profile_link *link = &profile->links[i];

        mo_out_text(out, "  <link");
        mo_attribute_write_text(out, "from", link->from);
        mo_attribute_write_text(out, "to", link->to);
        mo_attribute_write_number(out, "latency_us", link->latency_us);
        mo_attribute_write_number(out, "gbps", link->gbps);
        if (link->from_bytes > 0) {
            mo_out_text(out, " from_bytes=\"");
            mo_out_int(out, link->from_bytes);
            mo_out_char(out, '"');
        }
        if (link->path)
            mo_attribute_write_text(out, "path", link->path);
        mo_out_text(out, "/>\n");
    }
    for (int i = 0; i < profile->n_rates; i++) {
        const mo_profile_rate *rate = &profile->rates[i];

        mo_out_text(out, "  <rate");
        mo_attribute_write_text(out, "device", rate->device);
        mo_attribute_write_number(out, "gflops", rate->gflops);
        mo_attribute_write_number(out, "bandwidth_gbs", rate->bandwidth_gbs);
        mo_attribute_write_number(out, "overhead_us", rate->overhead_us);
        mo_out_text(out, "/>\n");
    }
    mo_out_text(out, "</profile>\n");
}
