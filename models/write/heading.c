/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "models/write/heading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "models/sink/scale.h"
#include "models/transfer_number.h"

/* Limit for a name, so that no line reaches 255 characters, where some readers
 * stop. */
enum { MAX_NAME = 80, MAX_PROOF_PARAMS = 8 };

typedef struct comments {
    const char *mark;
    mo_out *out;
} comments;

static void begin_line(const comments *c)
{
    mo_out_text(c->out, c->mark);
    mo_out_char(c->out, ' ');
}

static void end_line(const comments *c)
{
    mo_out_char(c->out, '\n');
}

/* Readers take comments byte by byte, some in an encoding of their own: what
 * is not printable ASCII is written as \xc3\xa9. */
static size_t escape_byte(unsigned char byte, char piece[4])
{
    static const char hex[] = "0123456789abcdef";

    if (byte == '\\') {
        memcpy(piece, "\\\\", 2);
        return 2;
    }
    if (byte >= ' ' && byte < 0x7f) {
        piece[0] = (char) byte;
        return 1;
    }
    memcpy(piece, "\\x", 2);
    piece[2] = hex[byte >> 4];
    piece[3] = hex[byte & 15];
    return 4;
}

static void write_name(const comments *c, const char *name)
{
    size_t left = MAX_NAME;

    for (; *name; name++) {
        char piece[4];
        size_t n = escape_byte((unsigned char) *name, piece);

        if (n > left) {
            mo_out_text(c->out, "...");
            return;
        }
        mo_out_bytes(c->out, piece, n);
        left -= n;
    }
}

/* "op 12 conv1", one line. */
static void write_number(const comments *c, const char *what, int number,
                         const char *name)
{
    begin_line(c);
    mo_out_text(c->out, what);
    mo_out_char(c->out, ' ');
    mo_out_int(c->out, number);
    mo_out_char(c->out, ' ');
    write_name(c, name);
    end_line(c);
}

/* Only the last part of a path: the bytes do not depend on its folder.
 * Standard input has no name. */
static void write_file(const comments *c, const char *what, const char *path)
{
    const char *slash;

    if (!path || strcmp(path, "-") == 0)
        return;
    slash = strrchr(path, '/');
    begin_line(c);
    mo_out_text(c->out, what);
    write_name(c, slash ? slash + 1 : path);
    end_line(c);
}

static void write_us(const comments *c, int64_t ns)
{
    mo_out_double(c->out, (double) ns / 1000);
    mo_out_text(c->out, " us");
}

/* What a search has proven before the model was written. */
static void write_proven(const comments *c, const mo_model *model)
{
    const mo_frame *f = model->frame;

    if (model->formulation->optimum) {
        begin_line(c);
        mo_out_printf(c->out, "optimum: %s", model->formulation->optimum);
        end_line(c);
    }
    if (!f->proven)
        return;
    begin_line(c);
    mo_out_text(c->out, "proven: no schedule is shorter than ");
    write_us(c, f->proven->lower_ns);
    end_line(c);
    if (f->slack > 0 || !mo_model_has_start(model))
        return;
    begin_line(c);
    mo_out_text(c->out, model->formulation->optimum
                            ? "known: among the patterns is a schedule of "
                            : "known: column k is a schedule of ");
    write_us(c, f->start->makespan_ns);
    if (f->start->makespan_ns <= f->proven->lower_ns)
        mo_out_text(c->out, ", optimal");
    end_line(c);
    begin_line(c);
    mo_out_text(c->out, "rows of your own need a model of --slack: this one "
                        "lacks longer schedules");
    end_line(c);
}

/* "transfer 5 conv1 -> relu1", or "... -> device B" for all readers there. */
static void write_transfer(const comments *c, const mo_frame *frame, int number)
{
    const mo_instance *x = frame->x;
    mo_transfer_ends ends = mo_transfer_from_number(x, &frame->regime, number);

    begin_line(c);
    mo_out_printf(c->out, "transfer %d ", number);
    write_name(c, x->op_names[ends.from]);
    if (ends.device != MO_FREE) {
        mo_out_text(c->out, " -> device ");
        write_name(c, x->device_ids[ends.device]);
    } else {
        mo_out_text(c->out, " -> ");
        write_name(c, ends.to == MO_FREE ? "a reader" : x->op_names[ends.to]);
    }
    end_line(c);
}

/* The certificate of the bound, unless it has a line on which some readers
 * fail: one of many devices. */
static void write_proof(const comments *c, const mo_proof *proof)
{
    for (size_t i = 0; i < proof->n; i++)
        if (proof->entries[i].n_params > MAX_PROOF_PARAMS)
            return;
    mo_proof_write(proof, *c->mark, c->out);
}

void mo_heading_write(const mo_heading *heading, const char *mark, mo_out *out)
{
    const comments c = { mark, out };
    const mo_frame *frame = heading->model->frame;
    const mo_instance *x = frame->x;

    begin_line(&c);
    mo_out_text(out, "moirai " PACKAGE_VERSION);
    end_line(&c);
    write_file(&c, "graph: ", heading->graph);
    write_file(&c, "cluster: ", heading->cluster);
    begin_line(&c);
    mo_out_printf(c.out, "formulation: %s%s", heading->model->formulation->name,
                  frame->closure ? " --closure" : "");
    end_line(&c);
    begin_line(&c);
    mo_out_printf(c.out, "congestion: %s, tensors: %s, memory: %s",
                  mo_congestion_names[frame->regime.congestion],
                  mo_tensors_names[frame->regime.tensors],
                  mo_memory_names[frame->regime.memory]);
    end_line(&c);
    char unit[32];

    mo_scale_unit_text(frame->unit_ns, unit);
    begin_line(&c);
    mo_out_printf(c.out, "time unit: %s", unit);
    end_line(&c);
    begin_line(&c);
    mo_out_text(c.out, "horizon: ");
    mo_out_double(c.out, mo_scale_time(frame->unit_ns, frame->horizon_ns));
    end_line(&c);
    if (frame->slack > 0) {
        begin_line(&c);
        mo_out_text(c.out, "slack: ");
        mo_out_double(c.out, frame->slack);
        end_line(&c);
    }
    write_proven(&c, heading->model);
    for (int i = 0; i < heading->model->identity->n; i++) {
        begin_line(&c);
        mo_out_printf(c.out, "identity: %s", heading->model->identity->name[i]);
        end_line(&c);
    }
    for (char *const *file = heading->files; file && *file; file++) {
        begin_line(&c);
        mo_out_printf(c.out, "file: %s", *file);
        end_line(&c);
    }
    for (int i = 0; i < x->n; i++)
        write_number(&c, "op", i, x->op_names[i]);
    for (int k = 0; k < x->n_devices; k++)
        write_number(&c, "device", k, x->device_ids[k]);
    for (int i = 0; i < mo_model_transfers(heading->model); i++)
        write_transfer(&c, frame, mo_model_transfer(heading->model, i));
    if (frame->proven && frame->proven->proof)
        write_proof(&c, frame->proven->proof);
}

size_t mo_heading_end(bool mps, uint64_t digest, char text[MO_HEADING_END_SIZE])
{
    return (size_t) snprintf(text, MO_HEADING_END_SIZE,
                             "%c digest: %016" PRIx64 "\n%s\n",
                             mps ? '*' : '\\', digest, mps ? "ENDATA" : "End");
}
