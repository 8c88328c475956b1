/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of profiles. */
#include "cost/profile.h"

#include <stddef.h>

#include "cost/xml/attribute_reader.h"
#include "cost/xml/row_reader.h"
#include "cost/profile/profile_builder.h"
#include "ingest/operator.h"

/* An invalid value: all attributes are 0 or more. */
enum { UNSET = -1 };

typedef struct op_attributes {
    mo_profile_op op;
    const char *class;
} op_attributes;

typedef struct root_attributes {
    const char *host, *emulated;
    int in_flight;
    double overhead_us, copy_gbs, host_request_us, host_transfer_us;
    double parts_slowdown, parts_overhead_us;
} root_attributes;

#define OP(field)   offsetof(op_attributes, field)
#define LINK(field) offsetof(mo_profile_link, field)

static const mo_attribute root_table[] = {
    { "host", MO_ATTRIBUTE_TEXT, offsetof(root_attributes, host) },
    { "emulated", MO_ATTRIBUTE_TEXT, offsetof(root_attributes, emulated) },
    { "in_flight", MO_ATTRIBUTE_COUNT, offsetof(root_attributes, in_flight) },
    { "overhead_us", MO_ATTRIBUTE_AMOUNT,
      offsetof(root_attributes, overhead_us) },
    { "copy_gbs", MO_ATTRIBUTE_POSITIVE, offsetof(root_attributes, copy_gbs) },
    { "host_request_us", MO_ATTRIBUTE_AMOUNT,
      offsetof(root_attributes, host_request_us) },
    { "host_transfer_us", MO_ATTRIBUTE_AMOUNT,
      offsetof(root_attributes, host_transfer_us) },
    { "parts_slowdown", MO_ATTRIBUTE_POSITIVE,
      offsetof(root_attributes, parts_slowdown) },
    { "parts_overhead_us", MO_ATTRIBUTE_AMOUNT,
      offsetof(root_attributes, parts_overhead_us) },
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

static const mo_attribute op_table[] = {
    { "device", MO_ATTRIBUTE_TEXT, OP(op.device) },
    { "signature", MO_ATTRIBUTE_TEXT, OP(op.signature) },
    { "median_us", MO_ATTRIBUTE_AMOUNT, OP(op.median_us) },
    { "spread_us", MO_ATTRIBUTE_AMOUNT, OP(op.spread_us) },
    { "count", MO_ATTRIBUTE_COUNT, OP(op.count) },
    { "flops", MO_ATTRIBUTE_AMOUNT, OP(op.flops) },
    { "bytes", MO_ATTRIBUTE_AMOUNT, OP(op.bytes) },
    { "outputs", MO_ATTRIBUTE_AMOUNT, OP(op.output_elements) },
    { "class", MO_ATTRIBUTE_TEXT, OP(class) },
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

static const mo_attribute link_table[] = {
    { "from", MO_ATTRIBUTE_TEXT, LINK(from) },
    { "to", MO_ATTRIBUTE_TEXT, LINK(to) },
    { "latency_us", MO_ATTRIBUTE_AMOUNT, LINK(latency_us) },
    { "gbps", MO_ATTRIBUTE_POSITIVE, LINK(gbps) },
    { "from_bytes", MO_ATTRIBUTE_BYTES, LINK(from_bytes) },
    { "path", MO_ATTRIBUTE_TEXT, LINK(path) },
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

#define RATE(field) offsetof(mo_profile_rate, field)

static const mo_attribute rate_table[] = {
    { "device", MO_ATTRIBUTE_TEXT, RATE(device) },
    { "gflops", MO_ATTRIBUTE_POSITIVE, RATE(gflops) },
    { "bandwidth_gbs", MO_ATTRIBUTE_POSITIVE, RATE(bandwidth_gbs) },
    { "overhead_us", MO_ATTRIBUTE_AMOUNT, RATE(overhead_us) },
    { NULL, MO_ATTRIBUTE_TEXT, 0 },
};

static mo_status begin(void *state, const mo_xml_element *root, mo_error *err)
{
    root_attributes a = { .in_flight = 0 };
    mo_status status = mo_attribute_read_all(
        root, root_table, &a, mo_profile_builder_arena(state), err);

    mo_profile_builder_host(state, a.host);
    mo_profile_builder_emulated(state, a.emulated);
    mo_profile_builder_in_flight(state, a.in_flight);
    mo_profile_builder_overhead(state, a.overhead_us, a.copy_gbs);
    mo_profile_builder_host_times(state, a.host_request_us, a.host_transfer_us);
    mo_profile_builder_parts(state, a.parts_slowdown, a.parts_overhead_us);
    return status;
}

static mo_status refuse_without(const mo_xml_element *row, const char *what,
                                mo_error *err)
{
    return mo_fail_at(err, MO_E_INPUT, NULL, row->line,
                      "this <%s> has no %s; give it one", row->name, what);
}

static mo_status set_class(op_attributes *a, mo_error *err)
{
    mo_class class;

    if (!a->class)
        return MO_OK;
    if (!mo_class_find(a->class, &class))
        return mo_fail_at(err, MO_E_INPUT, NULL, a->op.line,
                          "class '%.60s' of an <op> is none of the operator "
                          "classes in moirai-graph(5)",
                          a->class);
    a->op.class = class;
    return MO_OK;
}

static mo_status read_op(void *state, const mo_xml_element *row, mo_error *err)
{
    op_attributes a = {
        .op = {
            .median_us = UNSET,
            .count = 1,
            .flops = MO_UNKNOWN,
            .bytes = MO_UNKNOWN,
            .output_elements = MO_UNKNOWN,
            .class = MO_UNKNOWN,
            .line = row->line,
        },
    };
    mo_status status = mo_attribute_read_all(
        row, op_table, &a, mo_profile_builder_arena(state), err);

    if (status == MO_OK)
        status = set_class(&a, err);
    if (status != MO_OK)
        return status;
    if (!a.op.device)
        return refuse_without(row, "device", err);
    if (!a.op.signature)
        return refuse_without(row, "signature", err);
    if (a.op.median_us == UNSET)
        return refuse_without(row, "median_us", err);
    return mo_profile_builder_op(state, &a.op, err);
}

static mo_status read_link(void *state, const mo_xml_element *row,
                           mo_error *err)
{
    mo_profile_link link = { .gbps = UNSET, .line = row->line };
    mo_status status = mo_attribute_read_all(
        row, link_table, &link, mo_profile_builder_arena(state), err);

    if (status != MO_OK)
        return status;
    if (!link.from)
        return refuse_without(row, "from", err);
    if (!link.to)
        return refuse_without(row, "to", err);
    if (link.gbps == UNSET)
        return refuse_without(row, "gbps", err);
    return mo_profile_builder_link(state, &link, err);
}

static mo_status read_rate(void *state, const mo_xml_element *row,
                           mo_error *err)
{
    mo_profile_rate rate = { .gflops = UNSET,
                             .bandwidth_gbs = UNSET,
                             .line = row->line };
    mo_status status = mo_attribute_read_all(
        row, rate_table, &rate, mo_profile_builder_arena(state), err);

    if (status != MO_OK)
        return status;
    if (!rate.device)
        return refuse_without(row, "device", err);
    if (rate.gflops == UNSET)
        return refuse_without(row, "gflops", err);
    if (rate.bandwidth_gbs == UNSET)
        return refuse_without(row, "bandwidth_gbs", err);
    return mo_profile_builder_rate(state, &rate, err);
}

static const mo_xml_rows_row rows[] = {
    { "op", read_op },
    { "link", read_link },
    { "rate", read_rate },
    { NULL, NULL },
};

static const mo_xml_rows_format format = { "profile", begin, rows };

mo_status mo_profile_read_input(mo_input *input, mo_profile **profile,
                                mo_error *err)
{
    mo_profile_builder *builder;
    mo_status status = mo_profile_builder_new(&builder, err);

    if (status != MO_OK)
        return status;
    status = mo_xml_rows_read(input, &format, builder, err);
    if (status == MO_OK)
        status = mo_profile_builder_finish(builder, mo_input_name(input),
                                           profile, err);
    if (status != MO_OK)
        mo_error_set_location(err, mo_input_name(input), 0);
    mo_profile_builder_free(builder);
    return status;
}

mo_status mo_profile_read(const char *path, mo_profile **profile, mo_error *err)
{
    mo_input *input;
    mo_status status = mo_input_open(path, &input, err);

    if (status != MO_OK)
        return status;
    status = mo_profile_read_input(input, profile, err);
    mo_input_close(input);
    return status;
}

mo_status mo_profile_read_memory(const char *file, const char *data,
                                 size_t size, mo_profile **profile,
                                 mo_error *err)
{
    mo_input *input;
    mo_status status = mo_input_memory(file, data, size, &input, err);

    if (status != MO_OK)
        return status;
    status = mo_profile_read_input(input, profile, err);
    mo_input_close(input);
    return status;
}
