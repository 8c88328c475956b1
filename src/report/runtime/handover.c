/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/handover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/utf8.h"
#include "report/format_units.h"

enum { PROMPT, TOKEN, NAME_SIZE = 40, HOLDS_SIZE = 160 };

void mo_handover_row_set(mo_handover_row *row, const mo_chain_figures *figures)
{
    row->first_ns = figures->phase_ns[PROMPT];
    row->token_ns = figures->phase_ns[TOKEN];
    row->request_ns = figures->request_ns;
}

static double tokens_per_s(int64_t token_ns)
{
    return 1e9 / (double) mo_max_i64(token_ns, 1);
}

static double gap_of(const mo_handover *r)
{
    double ns = r->split->figures.request_ns;

    return ns > 0 ? (ns - r->split->bound_ns) / ns : 0;
}

/* What limits a phase: the device of the longest time, or transfers. */
typedef struct bottleneck {
    int device; /* MO_CHAIN_NONE: transfers */
    double share;
} bottleneck;

static bottleneck find_bottleneck(const mo_handover *r, int phase)
{
    const mo_chain_figures *f = &r->split->figures;
    int64_t most = f->transfer_ns[phase];
    bottleneck found = { .device = MO_CHAIN_NONE };

    for (int k = 0; k < r->it.chain->n_devices; k++)
        if (f->device_ns[phase][k] > most) {
            most = f->device_ns[phase][k];
            found.device = k;
        }
    found.share = (double) most / (double) mo_max_i64(f->phase_ns[phase], 1);
    return found;
}

static const char *device_name(const mo_handover *r, int device, char *name)
{
    return device == MO_CHAIN_NONE
               ? "transfers"
               : mo_utf8_escape_controls(
                     name, NAME_SIZE, r->it.chain->cluster->devices[device].id);
}

/* Returns the layers of a run of them that begins at unit u on its device. */
static int run_end(const mo_handover *r, int u)
{
    const int *device = r->it.placement->device;
    int end = u + 1;

    while (end <= r->it.chain->n_layers && device[end] == device[u])
        end++;
    return end;
}

/* "embedding, layers 0-11, head, experts of 4 layers" */
static void describe_device(const mo_handover *r, int device, char *text)
{
    const mo_chain *c = r->it.chain;
    const mo_chain_placement *p = r->it.placement;
    int length = 0, experts = 0;

    text[0] = '\0';
    if (p->device[0] == device)
        length = snprintf(text, HOLDS_SIZE, ", embedding");
    for (int u = 1; u <= c->n_layers; u = run_end(r, u)) {
        int last = run_end(r, u) - 1;

        if (p->device[u] != device || length > HOLDS_SIZE / 2)
            continue;
        if (last == u)
            length += snprintf(text + length, (size_t) (HOLDS_SIZE - length),
                               ", layer %d", u - 1);
        else
            length += snprintf(text + length, (size_t) (HOLDS_SIZE - length),
                               ", layers %d-%d", u - 1, last - 1);
    }
    for (int u = 1; u <= c->n_layers; u++)
        experts += p->experts_on_host[u];
    if (p->device[c->n_units - 1] == device)
        length +=
            snprintf(text + length, (size_t) (HOLDS_SIZE - length), ", head");
    if (device == c->host && experts > 0)
        snprintf(text + length, (size_t) (HOLDS_SIZE - length),
                 ", experts of %d layers", experts);
    memmove(text, text[0] ? text + 2 : "nothing",
            text[0] ? strlen(text) - 1 : sizeof "nothing");
}

static void put_devices(const mo_handover *r, mo_out *out)
{
    const mo_chain *c = r->it.chain;
    const mo_chain_figures *f = &r->split->figures;
    double token_ns = (double) mo_max_i64(f->phase_ns[TOKEN], 1);

    mo_out_printf(out, "\n%-12s %-34s %-26s %s\n", "device", "holds", "memory",
                  "of a token");
    for (int k = 0; k < c->n_devices; k++) {
        char name[NAME_SIZE], holds[HOLDS_SIZE], memory[80];
        char used[MO_FORMAT_SIZE], all[MO_FORMAT_SIZE];
        double capacity = (double) c->capacity_bytes[k];

        describe_device(r, k, holds);
        mo_format_bytes((double) f->memory_bytes[k], used);
        if (c->capacity_bytes[k] == INT64_MAX)
            snprintf(memory, sizeof memory, "%s, no limit", used);
        else
            snprintf(memory, sizeof memory, "%s of %s, %.1f %%", used,
                     mo_format_bytes(capacity, all),
                     100 * (double) f->memory_bytes[k] /
                         (capacity > 0 ? capacity : 1));
        mo_out_printf(out, "%-12s %-34s %-26s %.1f %%\n",
                      device_name(r, k, name), holds, memory,
                      100 * (double) f->device_ns[TOKEN][k] / token_ns);
    }
    mo_out_printf(out, "%-12s %-34s %-26s %.1f %%\n", "transfers", "", "",
                  100 * (double) f->transfer_ns[TOKEN] / token_ns);
}

static void put_row(const mo_handover_row *row, double request_ns, mo_out *out)
{
    char first[MO_FORMAT_SIZE], request[MO_FORMAT_SIZE];

    if (row->why)
        mo_out_printf(out, "%-40s %s\n", row->label, row->why);
    else
        mo_out_printf(out, "%-40s %-12s %-10.4g %-12s", row->label,
                      mo_format_us((double) row->first_ns / 1000, first),
                      tokens_per_s(row->token_ns),
                      mo_format_us(row->request_ns / 1000, request));
    if (!row->why && request_ns > 0)
        mo_out_printf(out, " %.2f\n", request_ns / row->request_ns);
    else if (!row->why)
        mo_out_text(out, " -\n");
}

/* The speed is relative to these settings, if there are any. */
static void put_rows(const mo_handover *r, mo_out *out)
{
    mo_handover_row own = { .label = "these settings", .why = r->why };
    double ns = 0;

    if (!r->why) {
        mo_handover_row_set(&own, &r->split->figures);
        ns = own.request_ns;
    }
    mo_out_printf(out, "%s%-40s %-12s %-10s %-12s %s\n", r->why ? "" : "\n",
                  "compared", "first token", "tokens/s", "answer", "speed");
    put_row(&own, ns, out);
    for (int i = 0; i < r->n_rows; i++)
        put_row(&r->rows[i], ns, out);
}

static void put_bottleneck(const mo_handover *r, mo_out *out)
{
    char name[NAME_SIZE];
    bottleneck token = find_bottleneck(r, TOKEN);
    bottleneck prompt = find_bottleneck(r, PROMPT);

    mo_out_printf(out, "%-12s %s: %.0f %% of the time of a token; ",
                  "bottleneck", device_name(r, token.device, name),
                  100 * token.share);
    mo_out_printf(out, "of the prompt %s, %.0f %%\n",
                  device_name(r, prompt.device, name), 100 * prompt.share);
}

void mo_handover_text(const mo_handover *r, mo_out *out)
{
    const mo_chain_figures *f = r->why ? NULL : &r->split->figures;
    char time[MO_FORMAT_SIZE], percent[MO_FORMAT_SIZE];

    if (r->why) {
        put_rows(r, out);
        return;
    }
    mo_out_printf(out, "# settings of %s\n", r->runtime->name);
    mo_runtime_write(r->runtime, &r->it, out);
    mo_out_printf(
        out, "\n%-12s %s for a prompt of %" PRId64 " tokens\n", "first token",
        mo_format_us((double) f->phase_ns[PROMPT] / 1000, time), r->prompt);
    mo_out_printf(out, "%-12s %.4g a second", "tokens",
                  tokens_per_s(f->phase_ns[TOKEN]));
    mo_out_printf(out, ", %s each\n",
                  mo_format_us((double) f->phase_ns[TOKEN] / 1000, time));
    mo_out_printf(out, "%-12s %s with %" PRId64 " tokens\n", "answer",
                  mo_format_us(f->request_ns / 1000, time), r->generate);
    if (gap_of(r) > 0)
        mo_out_printf(out, "%-12s %s %%\n", "gap",
                      mo_format_percent(gap_of(r), percent));
    else
        mo_out_printf(out,
                      "%-12s 0 %%: no split that %s can run is predicted "
                      "to be faster\n",
                      "gap", r->runtime->name);
    put_bottleneck(r, out);
    mo_out_printf(out, "%-12s %s\n", "times",
                  r->is_calibrated
                      ? "by the rates of the profile"
                      : "roofline, not calibrated; see moirai-profile(1), "
                        "llama");
    put_devices(r, out);
    put_rows(r, out);
}

static void json_devices(const mo_handover *r, mo_json_writer *w)
{
    const mo_chain *c = r->it.chain;
    const mo_chain_figures *f = &r->split->figures;

    mo_json_begin_array(w, "devices", MO_JSON_LINES);
    for (int k = 0; k < c->n_devices; k++) {
        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "id", c->cluster->devices[k].id);
        mo_json_begin_array(w, "layers", MO_JSON_INLINE);
        for (int u = 1; u <= c->n_layers; u++)
            if (r->it.placement->device[u] == k)
                mo_json_put_int(w, NULL, u - 1);
        mo_json_end(w);
        mo_json_put_bool(w, "embedding", r->it.placement->device[0] == k);
        mo_json_put_bool(w, "head",
                         r->it.placement->device[c->n_units - 1] == k);
        mo_json_begin_array(w, "experts", MO_JSON_INLINE);
        for (int u = 1; u <= c->n_layers && k == c->host; u++)
            if (r->it.placement->experts_on_host[u])
                mo_json_put_int(w, NULL, u - 1);
        mo_json_end(w);
        mo_json_put_int(w, "memory_bytes", f->memory_bytes[k]);
        if (c->capacity_bytes[k] != INT64_MAX)
            mo_json_put_int(w, "capacity_bytes", c->capacity_bytes[k]);
        mo_json_put_us(w, "prompt_us", f->device_ns[PROMPT][k]);
        mo_json_put_us(w, "token_us", f->device_ns[TOKEN][k]);
        mo_json_end(w);
    }
    mo_json_end(w);
}

static void json_rows(const mo_handover *r, mo_json_writer *w)
{
    mo_json_begin_array(w, "compared", MO_JSON_LINES);
    for (int i = 0; i < r->n_rows; i++) {
        const mo_handover_row *row = &r->rows[i];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "name", row->label);
        if (row->why) {
            mo_json_put_text(w, "why", row->why);
        } else {
            mo_json_put_us(w, "first_token_us", row->first_ns);
            mo_json_put_double(w, "tokens_per_s", tokens_per_s(row->token_ns));
            mo_json_put_double(w, "answer_us", row->request_ns / 1000);
        }
        mo_json_end(w);
    }
    mo_json_end(w);
}

static void json_bottleneck(const mo_handover *r, const char *key, int phase,
                            mo_json_writer *w)
{
    bottleneck found = find_bottleneck(r, phase);

    mo_json_begin_object(w, key, MO_JSON_INLINE);
    mo_json_put_text(w, "device",
                     found.device == MO_CHAIN_NONE
                         ? NULL
                         : r->it.chain->cluster->devices[found.device].id);
    mo_json_put_double(w, "share", found.share);
    mo_json_end(w);
}

/* Settings that are lines of a shell are a text. */
static void json_settings(const mo_handover *r, mo_json_writer *w)
{
    mo_out *text;
    char *lines;
    size_t size;

    if (r->runtime->write_json) {
        r->runtime->write_json(&r->it, "settings", w);
        return;
    }
    if (mo_out_memory(&text, NULL) != MO_OK)
        return;
    mo_runtime_write(r->runtime, &r->it, text);
    lines = mo_out_take(text, &size);
    mo_json_put_text(w, "settings", lines);
    free(lines);
    mo_out_abandon(text);
}

void mo_handover_json(const mo_handover *r, mo_out *out)
{
    const mo_chain_figures *f = r->why ? NULL : &r->split->figures;
    mo_json_writer w = { .out = out };

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, "runtime", r->runtime->name);
    if (r->why) {
        mo_json_put_text(&w, "status", "infeasible");
        mo_json_put_text(&w, "why", r->why);
    } else
        json_settings(r, &w);
    mo_json_put_int(&w, "prompt", r->prompt);
    mo_json_put_int(&w, "generate", r->generate);
    if (r->why) {
        json_rows(r, &w);
        mo_json_end(&w);
        return;
    }
    mo_json_put_us(&w, "first_token_us", f->phase_ns[PROMPT]);
    mo_json_put_us(&w, "token_us", f->phase_ns[TOKEN]);
    mo_json_put_double(&w, "tokens_per_s", tokens_per_s(f->phase_ns[TOKEN]));
    mo_json_put_double(&w, "answer_us", f->request_ns / 1000);
    mo_json_put_double(&w, "bound_us", r->split->bound_ns / 1000);
    mo_json_put_double(&w, "gap", gap_of(r));
    mo_json_put_us(&w, "prompt_transfers_us", f->transfer_ns[PROMPT]);
    mo_json_put_us(&w, "token_transfers_us", f->transfer_ns[TOKEN]);
    json_bottleneck(r, "prompt_bottleneck", PROMPT, &w);
    json_bottleneck(r, "token_bottleneck", TOKEN, &w);
    mo_json_put_bool(&w, "calibrated", r->is_calibrated);
    json_devices(r, &w);
    json_rows(r, &w);
    mo_json_end(&w);
}
