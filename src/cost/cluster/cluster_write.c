/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/cluster/cluster_write.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cost/xml/attribute_writer.h"

enum { NOTE_SIZE = 512 };

/* A comment may not contain "--", nor end in '-'. */
static void put_note(mo_out *out, const char *note)
{
    char text[NOTE_SIZE], last = ' ';

    mo_utf8_escape_controls(text, sizeof text, note);
    mo_out_text(out, "<!-- ");
    for (const char *c = text; *c; last = *c++) {
        if (*c == '-' && last == '-')
            mo_out_char(out, ' ');
        mo_out_char(out, *c);
    }
    mo_out_text(out, " -->");
}

static void put_note_line(mo_out *out, const char *note)
{
    if (!note)
        return;
    mo_out_text(out, "  ");
    put_note(out, note);
    mo_out_char(out, '\n');
}

/* Unknown values are omitted. A launch time of 0 is written where the model's
 * table has another value. */
static void put_strength(mo_out *out, const mo_device *device)
{
    static const mo_device_model unknown = { 0 };
    const mo_device_model *model = device->known ? device->known : &unknown;

    if (device->memory_bytes != INT64_MAX)
        mo_attribute_write_int(out, "memory_bytes", device->memory_bytes);
    if (device->has_reserve)
        mo_attribute_write_int(out, "reserve_bytes", 0);
    if (device->gflops[MO_MATH_F32] > 0)
        mo_attribute_write_number(out, "gflops", device->gflops[MO_MATH_F32]);
    for (int i = MO_MATH_F32 + 1; i < MO_MATHS; i++) {
        char name[32];

        snprintf(name, sizeof name, "%s_gflops", mo_math_name((mo_math) i));
        if (device->gflops[i] != model->gflops[i])
            mo_attribute_write_number(out, name, device->gflops[i]);
    }
    if (device->bandwidth_gbs > 0)
        mo_attribute_write_number(out, "memory_bandwidth_gbs",
                                  device->bandwidth_gbs);
    if (device->sms > 0)
        mo_attribute_write_int(out, "sms", device->sms);
    if (device->clock_mhz > 0)
        mo_attribute_write_number(out, "clock_mhz", device->clock_mhz);
    if (device->launch_us > 0 || device->known)
        mo_attribute_write_number(out, "launch_us", device->launch_us);
    if (device->overhead_us > 0)
        mo_attribute_write_number(out, "overhead_us", device->overhead_us);
    if (device->copy_gbs > 0)
        mo_attribute_write_number(out, "copy_gbs", device->copy_gbs);
    if (device->cache_mib != model->cache_mib)
        mo_attribute_write_number(out, "cache_mib", device->cache_mib);
    if (device->watts != model->watts)
        mo_attribute_write_number(out, "watts", device->watts);
    if (device->process_nm != model->process_nm)
        mo_attribute_write_number(out, "process_nm", device->process_nm);
    if (!device->is_cpu && device->generation != model->generation)
        mo_attribute_write_text(out, "generation",
                                mo_generation_name(device->generation));
}

static const char *note_of(const char *const *notes, int i)
{
    return notes ? notes[i] : NULL;
}

static bool is_same_note(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns whether both directions of the link are equal. */
static bool is_both_ways(const mo_cluster *cluster,
                         const mo_cluster_notes *notes, int l)
{
    const mo_link *link = &cluster->links[l];
    int back = mo_cluster_find_link(cluster, link->to, link->from);

    return back >= 0 && cluster->links[back].gbps == link->gbps &&
           cluster->links[back].latency_ns == link->latency_ns &&
           is_same_note(note_of(notes->links, l), note_of(notes->links, back));
}

static void put_ends(mo_out *out, const mo_cluster *cluster,
                     const mo_link *link, bool both_ways)
{
    const char *from = cluster->devices[link->from].id;
    const char *to = cluster->devices[link->to].id;

    if (!both_ways) {
        mo_attribute_write_text(out, "from", from);
        mo_attribute_write_text(out, "to", to);
        return;
    }
    mo_out_text(out, " between=\"");
    mo_out_xml(out, from);
    mo_out_char(out, ' ');
    mo_out_xml(out, to);
    mo_out_char(out, '"');
}

static void put_link(mo_out *out, const mo_cluster *cluster,
                     const mo_cluster_notes *notes, int l)
{
    const mo_link *link = &cluster->links[l];
    const char *note = note_of(notes->links, l);
    bool both_ways = is_both_ways(cluster, notes, l);

    if (both_ways && link->from > link->to)
        return;
    mo_out_text(out, "  <link");
    put_ends(out, cluster, link, both_ways);
    mo_attribute_write_number(out, "gbps", link->gbps);
    mo_attribute_write_number(out, "latency_us",
                              (double) link->latency_ns / 1000);
    mo_out_text(out, "/>");
    if (note) {
        mo_out_char(out, ' ');
        put_note(out, note);
    }
    mo_out_char(out, '\n');
}

void mo_cluster_write(const mo_cluster *cluster, const mo_cluster_notes *notes,
                      mo_out *out)
{
    static const mo_cluster_notes none = { 0 };

    notes = notes ? notes : &none;
    mo_out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cluster");
    if (cluster->name)
        mo_attribute_write_text(out, "name", cluster->name);
    if (cluster->host_request_us > 0)
        mo_attribute_write_number(out, "host_request_us",
                                  cluster->host_request_us);
    if (cluster->host_transfer_us > 0)
        mo_attribute_write_number(out, "host_transfer_us",
                                  cluster->host_transfer_us);
    mo_out_text(out, ">\n");
    put_note_line(out, notes->head);
    for (int k = 0; k < cluster->n_devices; k++) {
        const mo_device *device;

        put_note_line(out, note_of(notes->devices, k));
        device = &cluster->devices[k];
        mo_out_text(out, "  <device");
        mo_attribute_write_text(out, "id", device->id);
        if (device->is_cpu)
            mo_attribute_write_text(out, "kind", "cpu");
        if (device->model)
            mo_attribute_write_text(out, "model", device->model);
        mo_out_text(out, "\n         ");
        put_strength(out, device);
        mo_out_text(out, "\n         ");
        if (device->rank >= 0)
            mo_attribute_write_int(out, "rank", device->rank);
        if (device->gpu >= 0)
            mo_attribute_write_int(out, "gpu", device->gpu);
        if (device->host)
            mo_attribute_write_text(out, "host", device->host);
        if (device->threads > 0)
            mo_attribute_write_int(out, "threads", device->threads);
        if (device->cpus) {
            mo_out_text(out, " cpus=\"");
            for (int i = 0; i < device->n_cpus; i++) {
                if (i > 0)
                    mo_out_char(out, ',');
                mo_out_int(out, device->cpus[i]);
            }
            mo_out_char(out, '"');
        }
        mo_out_text(out, "/>\n");
    }
    for (int l = 0; l < cluster->n_links; l++)
        put_link(out, cluster, notes, l);
    mo_out_text(out, "</cluster>\n");
}
