#include "cost/profile.h"
#include "ingest/operator.h"

static void put_text(mo_out *out, const char *name, const char *value)
{
    mo_out_char(out, ' ');
    mo_out_text(out, name);
    mo_out_text(out, "=\"");
    mo_out_xml(out, value);
    mo_out_char(out, '"');
}

static void put_number(mo_out *out, const char *name, double value)
{
    mo_out_char(out, ' ');
    mo_out_text(out, name);
    mo_out_text(out, "=\"");
    mo_out_double(out, value);
    mo_out_char(out, '"');
}

static void put_if_known(mo_out *out, const char *name, double value)
{
    if (value >= 0)
        put_number(out, name, value);
}

static void put_op(mo_out *out, const mo_profile_op *op)
{
    mo_out_text(out, "  <op");
    put_text(out, "device", op->device);
    put_text(out, "signature", op->signature);
    put_number(out, "median_us", op->median_us);
    put_number(out, "spread_us", op->spread_us);
    put_number(out, "count", op->count);
    put_if_known(out, "flops", op->flops);
    put_if_known(out, "bytes", op->bytes);
    put_if_known(out, "outputs", op->output_elements);
    if (op->class != MO_UNKNOWN)
        put_text(out, "class", mo_class_name((mo_class) op->class));
    mo_out_text(out, "/>\n");
}

static void put_link(mo_out *out, const mo_profile_link *link)
{
    mo_out_text(out, "  <link");
    put_text(out, "from", link->from);
    put_text(out, "to", link->to);
    put_number(out, "latency_us", link->latency_us);
    put_number(out, "gbps", link->gbps);
    if (link->from_bytes > 0) {
        mo_out_text(out, " from_bytes=\"");
        mo_out_int(out, link->from_bytes);
        mo_out_char(out, '"');
    }
    mo_out_text(out, "/>\n");
}

void mo_profile_write(const mo_profile *profile, mo_out *out)
{
    mo_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<profile");
    if (profile->host)
        put_text(out, "host", profile->host);
    if (profile->emulated)
        put_text(out, "emulated", profile->emulated);
    mo_out_text(out, ">\n");
    for (int i = 0; i < profile->n_ops; i++)
        put_op(out, &profile->ops[i]);
    for (int i = 0; i < profile->n_links; i++)
        put_link(out, &profile->links[i]);
    mo_out_text(out, "</profile>\n");
}
