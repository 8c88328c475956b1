/* SPDX-License-Identifier: Apache-2.0 */
#include "models/write/column_map.h"

#include <string.h>

#include "models/patterns/pattern_set.h"
#include "models/transfer_number.h"

typedef struct map_sink {
    mo_sink sink; /* first, so that a mo_sink is one of these */
    mo_out *out;
    const mo_model *model;
} map_sink;

/* What the numbers in a name count, one letter each: op, transfer, device,
 * segment of the proven bounds and of the patterns, variant. */
typedef struct role_meaning {
    mo_variable_role role;
    const char *meaning, *numbers;
} role_meaning;

static const role_meaning meanings[] = {
    { MO_VARIABLE_ROLE_PLACE, "place", "od" },
    { MO_VARIABLE_ROLE_START, "start", "o" },
    { MO_VARIABLE_ROLE_COMPLETE, "end", "o" },
    { MO_VARIABLE_ROLE_SEND, "send", "t" },
    { MO_VARIABLE_ROLE_ARRIVE, "arrive", "t" },
    { MO_VARIABLE_ROLE_CHANNEL, "channel", "tdd" },
    { MO_VARIABLE_ROLE_CROSS, "cross", "t" },
    { MO_VARIABLE_ROLE_ORDER, "order", "oo" },
    { MO_VARIABLE_ROLE_SEND_ORDER, "send-order", "tt" },
    { MO_VARIABLE_ROLE_SAME_DEVICE, "meet", "oo" },
    { MO_VARIABLE_ROLE_SEGMENT, "segment", "sdd" },
    { MO_VARIABLE_ROLE_PATTERN, "pattern", "pddv" },
    { MO_VARIABLE_ROLE_FAVORITE, "favour", "t" },
    { MO_VARIABLE_ROLE_SPACE, "workspace", "d" },
    { MO_VARIABLE_ROLE_MAKESPAN, "makespan", "" },
    { MO_VARIABLE_ROLE_INCUMBENT, "known", "" },
    { MO_VARIABLE_ROLE_FREE_PLACE, "free-place", "od" },
    { MO_VARIABLE_ROLE_INCUMBENT_START, "known-start", "o" },
    { MO_VARIABLE_ROLE_INCUMBENT_SEND, "known-send", "t" },
    { MO_VARIABLE_ROLE_IDENTITY, "identity", "" },
};

enum { MEANINGS = sizeof meanings / sizeof *meanings };

/* The fields behind the meaning, empty where not applicable. */
typedef struct fields {
    const char *op[2], *reader[2], *target[2], *device[2];
} fields;

static void set_transfer(const mo_model *model, int number, fields *f, int at)
{
    const mo_instance *x = model->frame->x;
    mo_transfer_ends ends =
        mo_transfer_from_number(x, &model->frame->regime, number);

    f->op[at] = x->op_names[ends.from];
    if (ends.device != MO_FREE)
        f->target[at] = x->device_ids[ends.device];
    else if (ends.to != MO_FREE)
        f->reader[at] = x->op_names[ends.to];
}

/* Sets the entry and exit op of a segment of patterns. */
static void set_ends(const mo_model *model, int segment, fields *f)
{
    const mo_pattern_set *set = model->frame->patterns;
    bool whole = segment == set->n;
    int u = whole ? MO_FREE : mo_pattern_set_entry(set, segment),
        v = whole ? MO_FREE : mo_pattern_set_exit(set, segment);

    f->op[0] = u == MO_FREE ? NULL : set->x->op_names[u];
    f->op[1] = v == MO_FREE ? NULL : set->x->op_names[v];
}

/* As in RFC 4180: quoted where necessary, quotes doubled. */
static void write_field(mo_out *out, const char *text)
{
    mo_out_char(out, ',');
    if (!text)
        return;
    if (!strpbrk(text, ",\"\r\n")) {
        mo_out_text(out, text);
        return;
    }
    mo_out_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            mo_out_char(out, '"');
        mo_out_char(out, *text);
    }
    mo_out_char(out, '"');
}

static void write_column_line(mo_sink *sink, int id, const mo_variable *column)
{
    map_sink *s = (map_sink *) sink;
    const role_meaning *role = meanings;
    char name[MO_VARIABLE_NAME];
    const mo_model *model = s->model;
    const mo_instance *x = model->frame->x;
    int n_ops = 0, n_devices = 0;
    fields f = { .op = { NULL } };

    while (role < meanings + MEANINGS - 1 && role->role != column->role)
        role++;
    for (int i = 0; role->numbers[i]; i++) {
        int number = column->number[i];

        switch (role->numbers[i]) {
        case 'o':
            f.op[n_ops++] = x->op_names[number];
            break;
        case 't':
            set_transfer(model, number, &f, n_ops++);
            break;
        case 's':
            f.op[0] = x->op_names[model->frame->proven->pairs[number].u];
            f.op[1] = x->op_names[model->frame->proven->pairs[number].v];
            break;
        case 'p':
            set_ends(model, number, &f);
            break;
        case 'v': /* of a pattern: no op, no device */
            for (int end = 0; end < 2; end++)
                if (!f.op[end])
                    f.device[end] = NULL;
            break;
        default:
            f.device[n_devices++] = x->device_ids[number];
        }
    }
    (void) id;
    mo_out_bytes(s->out, name, mo_variable_name(column, name));
    write_field(s->out,
                column->kind == MO_VARIABLE_BINARY ? "binary" : "continuous");
    write_field(s->out, role->meaning);
    for (int i = 0; i < 2; i++) {
        write_field(s->out, f.op[i]);
        write_field(s->out, f.reader[i]);
        write_field(s->out, f.target[i]);
    }
    write_field(s->out, f.device[0]);
    write_field(s->out, f.device[1]);
    mo_out_char(s->out, '\n');
}

static void write_header(mo_sink *sink, int pass)
{
    (void) pass;
    mo_out_text(((map_sink *) sink)->out,
                "column,kind,meaning,op,reader,target,op2,reader2,target2,"
                "device,device2\n");
}

mo_status mo_column_map_new(mo_out *out, const mo_model *model, mo_sink **sink,
                            mo_error *err)
{
    static const mo_sink_kind kind = { .passes = 1,
                                       .begin = write_header,
                                       .column = write_column_line };
    map_sink *s = mo_sink_new(&kind, sizeof *s, err);

    if (!s)
        return MO_E_MEMORY;
    s->out = out;
    s->model = model;
    *sink = &s->sink;
    return MO_OK;
}
