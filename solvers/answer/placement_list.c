/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/answer/placement_list.h"

#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/json.h"
#include "models/identity.h"
#include "solvers/answer/column_name.h"
#include "solvers/formats/solfmt.h"

typedef struct list_reader {
    const mo_instance *x;
    mo_arena *arena;
    mo_intern *ops, *devices; /* numbers as in the instance */
    int *device;
    bool ignores; /* unknown names */
} list_reader;

static const char *skip_byte_order_mark(const char *text)
{
    return mo_solfmt_has_prefix(text, "\xef\xbb\xbf") ? text + 3 : text;
}

static bool is_blank(char c)
{
    return (unsigned char) c <= ' ';
}

/* A line of a list: an op, whose name may contain blanks, and its device,
 * whose name may not. */
typedef struct pair {
    const char *op, *op_end, *on, *on_end; /* op is empty: one word only */
} pair;

/* Returns the start of a comment, or the end of the line. */
static const char *find_comment(const char *at, const char *end)
{
    bool blank = true;

    for (; at < end && !(blank && *at == '#'); at++)
        blank = is_blank(*at);
    return at;
}

/* Returns false for an empty line. */
static bool split_line(const char *at, const char *end, pair *p)
{
    end = find_comment(at, end);
    while (at < end && is_blank(*at))
        at++;
    while (at < end && is_blank(end[-1]))
        end--;
    p->op = at;
    p->on_end = end;
    while (end > at && !is_blank(end[-1]))
        end--;
    p->on = end;
    while (end > at && is_blank(end[-1]))
        end--;
    p->op_end = end;
    return p->on < p->on_end;
}

static bool has_blank(const char *word, const char *end)
{
    while (word < end && !is_blank(*word))
        word++;
    return word < end;
}

/* "1e-9", "-3", "inf" are values of columns; devices may have such names,
 * too. */
static bool is_value(const char *word, const char *end)
{
    char copy[64];
    mo_solfmt_token as = { copy, (size_t) (end - word) };
    double value;

    if (as.length >= sizeof copy)
        return false;
    memcpy(copy, word, as.length);
    return mo_solfmt_token_number(&as, &value);
}

/* Names that only solutions contain. */
static bool is_column(const char *word, const char *end)
{
    char copy[64];
    size_t length = (size_t) (end - word);
    mo_column_name name;

    if (length >= sizeof copy)
        return false;
    memcpy(copy, word, length);
    copy[length] = '\0';
    if (mo_column_name_parse(copy, &name))
        return name.n > 0 || name.role == MO_VARIABLE_ROLE_MAKESPAN;
    return copy[0] == '=' || mo_identity_is_column(copy);
}

/* Provenance marks and headers of solution files: no placement list has
 * them. */
static bool is_solution_mark(const char *line)
{
    static const char *const marks[] = { "=obj=", "# Solution for model",
                                         "# Objective value", "# MIP start" };
    const char *kind = line + sizeof MO_IDENTITY_PREFIX - 1;

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (mo_solfmt_has_prefix(line, marks[i]))
            return true;
    return mo_identity_is_column(line) && kind[0] && kind[1] == '_';
}

/* Two words in every line, which is no tag. If the second is always a number it
 * may be the MIPLIB format: the first decides. */
static bool sniff_lines(const char *at)
{
    bool other = false;

    if (*at == '<')
        return false;
    while (*at) {
        const char *end = at + strcspn(at, "\n");
        pair p;

        if (is_solution_mark(at))
            return false;
        if (split_line(at, end, &p)) {
            if (p.op == p.op_end || has_blank(p.op, p.op_end))
                return false;
            other = other || !is_value(p.on, p.on_end) ||
                    !is_column(p.op, p.op_end);
        }
        at = end + (*end == '\n');
    }
    return other;
}

/* In solvers' JSON the first member is never a string. */
static bool sniff_json(const char *at)
{
    at += strspn(at, "{ \t\r\n");
    if (strncmp(at, "\"placement\"", 11) == 0 || *at == '}')
        return true;
    if (*at++ != '"')
        return false;
    while (*at && *at != '"')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    at += *at == '"';
    at += strspn(at, ": \t\r\n");
    return *at == '"';
}

bool mo_placement_list_sniff(const char *text)
{
    const char *at = skip_byte_order_mark(text);

    at += strspn(at, " \t\r\n");
    return *at == '{' ? sniff_json(at) : sniff_lines(at);
}

static mo_status fail_line(const mo_solfmt_reader *r, const char *what,
                           const char *name, const char *end, mo_error *err)
{
    return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                      "there is no %s '%.*s'", what,
                      (int) (end - name < 200 ? end - name : 200), name);
}

static mo_status put_device(list_reader *l, const mo_solfmt_reader *r,
                            const pair *p, mo_error *err)
{
    int i = mo_intern_find(l->ops, p->op, (size_t) (p->op_end - p->op));
    int k = mo_intern_find(l->devices, p->on, (size_t) (p->on_end - p->on));

    if (l->ignores && (i < 0 || k < 0))
        return MO_OK;
    if (i < 0)
        return fail_line(r, "op", p->op, p->op_end, err);
    if (k < 0)
        return fail_line(r, "device", p->on, p->on_end, err);
    if (l->device[i] != MO_FREE && l->device[i] != k)
        return mo_fail(err, MO_E_INPUT,
                       "(1c) op '%.200s' is on two devices, %.60s and %.60s",
                       l->x->op_names[i], l->x->device_ids[l->device[i]],
                       l->x->device_ids[k]);
    l->device[i] = k;
    return MO_OK;
}

static mo_status read_lines(list_reader *l, mo_solfmt_reader *r, mo_error *err)
{
    mo_status status = MO_OK;

    while (status == MO_OK && mo_solfmt_next_nonblank_line(r)) {
        pair p;

        if (!split_line(r->word, r->line_end, &p))
            continue;
        if (p.op == p.op_end)
            return mo_fail_at(err, MO_E_SYNTAX, r->file, r->line,
                              "a line has an op and its device");
        status = put_device(l, r, &p, err);
    }
    return status;
}

static bool is_wrapped(const char *text)
{
    static const char key[] = "\"placement\"";
    const char *at = strstr(text, key);

    if (!at)
        return false;
    at += sizeof key - 1;
    at += strspn(at, " \t\r\n");
    return *at == ':' && at[1 + strspn(at + 1, " \t\r\n")] == '{';
}

/* Reads an object with a device for each op; wrapped: such an object in the
 * member "placement", as our commands write it, beside others. */
static mo_status read_members(list_reader *l, mo_solfmt_reader *r,
                              const char *text, size_t length, bool wrapped,
                              mo_error *err)
{
    mo_status status = MO_OK;
    mo_json_cursor c;
    mo_json_member m;

    if (!mo_json_open(&c, '{', text, length))
        return mo_solfmt_fail_at(r, text, "no object where one should be", err);
    while (status == MO_OK && mo_json_take_member(&c, &m) > 0) {
        mo_solfmt_token op, on;

        if (wrapped) {
            if (mo_json_key_is(&m, "placement"))
                status =
                    read_members(l, r, m.value, m.value_length, false, err);
            continue;
        }
        status =
            mo_solfmt_json_string(r, m.key - 1, m.key_length + 2, &op, err);
        if (status == MO_OK)
            status =
                mo_solfmt_json_string(r, m.value, m.value_length, &on, err);
        if (status == MO_OK) {
            const pair p = { op.at, op.at + op.length, on.at,
                             on.at + on.length };

            status = put_device(l, r, &p, err);
        }
    }
    return status;
}

static mo_status read_json(list_reader *l, mo_solfmt_reader *r, mo_error *err)
{
    size_t length = (size_t) (r->end - r->at);
    mo_json_cursor c;

    if (!mo_json_check(&c, r->at, length))
        return mo_solfmt_fail_at(r, c.at, c.fault, err);
    return read_members(l, r, r->at, length, is_wrapped(r->at), err);
}

static mo_status intern_all(mo_arena *arena, const char *const *names, int n,
                            mo_intern **table, mo_error *err)
{
    mo_status status;
    int number;

    *table = mo_intern_new(arena);
    status = *table ? MO_OK : mo_fail_memory(err);
    for (int i = 0; i < n && status == MO_OK; i++)
        status =
            mo_intern_put(*table, names[i], strlen(names[i]), &number, err);
    return status;
}

static mo_status open_reader(list_reader *l, mo_error *err)
{
    mo_status status;

    l->arena = mo_arena_new();
    if (!l->arena)
        return mo_fail_memory(err);
    status = intern_all(l->arena, l->x->op_names, l->x->n, &l->ops, err);
    if (status == MO_OK)
        status = intern_all(l->arena, l->x->device_ids, l->x->n_devices,
                            &l->devices, err);
    for (int i = 0; i < l->x->n; i++)
        l->device[i] = MO_FREE;
    return status;
}

static mo_status read_list(const char *file, char *text, size_t size,
                           const mo_instance *x, bool ignores, int *device,
                           mo_error *err)
{
    list_reader l = { .x = x, .device = device, .ignores = ignores };
    char *begin = text + (skip_byte_order_mark(text) - text);
    mo_solfmt_reader r = {
        .file = file, .begin = begin, .at = begin, .end = text + size
    };
    bool is_json = begin[strspn(begin, " \t\r\n")] == '{';
    mo_status status = open_reader(&l, err);

    if (status == MO_OK)
        status = is_json ? read_json(&l, &r, err) : read_lines(&l, &r, err);
    for (int i = 0; i < x->n && status == MO_OK && !ignores; i++)
        if (l.device[i] == MO_FREE)
            status =
                mo_fail(err, MO_E_INPUT, "(1c) op '%.200s' is on no device",
                        x->op_names[i]);
    mo_intern_free(l.devices);
    mo_intern_free(l.ops);
    mo_arena_free(l.arena);
    return status;
}

mo_status mo_placement_list_read(const char *file, char *text, size_t size,
                                 const mo_instance *x, int *device,
                                 mo_error *err)
{
    return read_list(file, text, size, x, false, device, err);
}

mo_status mo_placement_list_match(const char *file, char *text, size_t size,
                                  const mo_instance *x, int *device,
                                  mo_error *err)
{
    return read_list(file, text, size, x, true, device, err);
}
