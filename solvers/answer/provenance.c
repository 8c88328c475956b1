/* SPDX-License-Identifier: Apache-2.0 */
/* Provenance of a solution: decodes the identity columns of the model. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "models/formulation.h"
#include "solvers/answer/answer.h"

enum { DIGITS = 16 };

static mo_status fail_column(const mo_solution_value *column, const char *why,
                             mo_error *err)
{
    return mo_fail(err, MO_E_INPUT, "column %.100s %s", column->name, why);
}

static mo_status fail_option_words(const mo_solution_value *column,
                                   mo_error *err)
{
    return fail_column(column,
                       "describes how its model was made, but not so that "
                       "this version understands it",
                       err);
}

/* A name may follow the digits. */
static bool parse_hex(const char *text, uint64_t *digest)
{
    static const char hex[] = "0123456789abcdef";
    const char *end = text + DIGITS;

    if (strspn(text, hex) != DIGITS || (*end && *end != '_'))
        return false;
    *digest = 0;
    for (; text < end; text++)
        *digest = *digest << 4 | (uint64_t) (strchr(hex, *text) - hex);
    return true;
}

static mo_status read_digest(const mo_solution_value *column, const char *text,
                             bool *has, uint64_t *digest, mo_error *err)
{
    if (*has)
        return fail_column(column,
                           "is the second of its kind; a solution is of "
                           "one model",
                           err);
    *has = true;
    return parse_hex(text, digest) ? MO_OK : fail_option_words(column, err);
}

/* Decodes text of at most MO_VARIABLE_NAME bytes; a cut one ends in dots. */
static bool decode_text(const char *code, char *text, bool *cut)
{
    if (strlen(code) + sizeof "..." > MO_VARIABLE_NAME ||
        !mo_identity_decode(code, text, cut))
        return false;
    if (*cut)
        strcat(text, "...");
    return true;
}

static mo_status read_file(const mo_solution_value *column, const char *text,
                           bool *has, uint64_t *digest, char *name,
                           mo_error *err)
{
    mo_status status = read_digest(column, text, has, digest, err);
    bool cut;

    if (status == MO_OK && text[DIGITS] == '_' &&
        !decode_text(text + DIGITS + 1, name, &cut))
        status = fail_option_words(column, err);
    return status;
}

static mo_status read_item(const mo_solution_value *column, const char *text,
                           mo_provenance_list *list, mo_error *err)
{
    bool cut = false;

    if (list->n == MO_IDENTITY_SHAPES ||
        !decode_text(text, list->items[list->n], &cut))
        return fail_option_words(column, err);
    list->is_cut |= cut;
    list->n += !cut;
    return MO_OK;
}

/* Returns the shapes of part number `part` of the list of item, "NAME=;2;...",
 * or NULL: text is another one. */
static const char *find_part(const char *item, const char *text, int part)
{
    const char *mark = strrchr(item, '=');
    size_t name = mark ? (size_t) (mark + 1 - item) : 0;
    char start[16];

    snprintf(start, sizeof start, ";%d;", part);
    if (strncmp(text, item, name) != 0 ||
        strncmp(text + name, start, strlen(start)) != 0)
        return NULL;
    return text + name + strlen(start);
}

/* Whether the text is a part behind the first of a list. */
static bool is_part(const char *text)
{
    const char *mark = strrchr(text, '=');

    return (mark ? mark[1] : text[0]) == ';';
}

/* Joins lists of shapes that took several columns (models/identity.h). */
static void join_lists(mo_provenance_list *list)
{
    int n = 0;

    for (int i = 0; i < list->n; i++) {
        char *text = list->items[i];

        for (int k = 0, part = 1; k < list->n && !is_part(text); k++) {
            const char *more = find_part(text, list->items[k], part);
            size_t used, length;

            if (!more)
                continue;
            used = strlen(text);
            length = strlen(more) + 1;
            if (used + 1 + length > sizeof list->items[i])
                break; /* never: together they are shorter than all items */
            text[used] = ';';
            memcpy(text + used + 1, more, length);
            part++;
            k = -1;
        }
    }
    for (int i = 0; i < list->n; i++) {
        if (is_part(list->items[i]))
            continue;
        if (n < i)
            memcpy(list->items[n], list->items[i], sizeof list->items[n]);
        n++;
    }
    list->n = n;
}

static mo_option_list borrow_list(const mo_provenance_list *list,
                                  const char **texts)
{
    for (int i = 0; i < list->n; i++)
        texts[i] = list->items[i];
    return (mo_option_list){ .items = texts, .count = (size_t) list->n };
}

mo_read_options mo_answer_read_options(const mo_provenance *origin,
                                       mo_provenance_texts *texts)
{
    return (mo_read_options){ .shapes =
                                  borrow_list(&origin->shapes, texts->shapes),
                              .values =
                                  borrow_list(&origin->values, texts->values) };
}

/* Copies the word up to '.' or the end, '_' as '-', and advances past it. */
static bool next_word(const char **at, char *word, size_t size)
{
    size_t length = strcspn(*at, ".");

    if (length == 0 || length >= size)
        return false;
    for (size_t i = 0; i < length; i++)
        word[i] = (*at)[i] == '_' ? '-' : (*at)[i];
    word[length] = '\0';
    *at += length + ((*at)[length] == '.');
    return true;
}

static int find_name(const char *word, const char *const *names, int n)
{
    int i = 0;

    while (i < n && strcmp(names[i], word) != 0)
        i++;
    return i < n ? i : -1;
}

static bool parse_options(const char *at, mo_provenance *origin)
{
    char word[3][16];
    int congestion, tensors, memory;
    const mo_formulation *const *f = mo_formulations;

    if (!next_word(&at, origin->formulation, sizeof origin->formulation) ||
        !next_word(&at, word[0], sizeof word[0]) ||
        !next_word(&at, word[1], sizeof word[1]) ||
        !next_word(&at, word[2], sizeof word[2]) ||
        !next_word(&at, origin->fusion, sizeof origin->fusion))
        return false;
    origin->has_digest = *at != '\0';
    if (*at && (!parse_hex(at, &origin->digest) || at[DIGITS]))
        return false;
    congestion =
        find_name(word[0], mo_congestion_names, MO_CONGESTION_NONE + 1);
    tensors = find_name(word[1], mo_tensors_names, MO_TENSORS_ONCE + 1);
    memory = find_name(word[2], mo_memory_names, MO_MEMORY_NONE + 1);
    if (congestion < 0 || tensors < 0 || memory < 0)
        return false;
    origin->regime = (mo_regime){ (mo_congestion) congestion,
                                  (mo_tensors) tensors, (mo_memory) memory };
    while (*f && strcmp((*f)->name, origin->formulation) != 0)
        f++;
    return *f != NULL;
}

static mo_status read_column(const mo_solution_value *column, mo_provenance *o,
                             mo_error *err)
{
    const char *at = column->name + sizeof MO_IDENTITY_PREFIX - 1;
    const char *text = at[0] && at[1] == '_' ? at + 2 : "";
    mo_numeric formats;
    bool cut;

    if (!(column->value >= 1 - MO_ANSWER_TOLERANCE &&
          column->value <= 1 + MO_ANSWER_TOLERANCE))
        return fail_column(column,
                           "is not 1, as its model requires; is this a "
                           "solution?",
                           err);
    switch (at[0]) {
    case 'g':
        return read_file(column, text, &o->has_graph, &o->graph, o->graph_name,
                         err);
    case 'c':
        return read_file(column, text, &o->has_cluster, &o->cluster,
                         o->cluster_name, err);
    case 'p':
        return read_file(column, text, &o->has_profile, &o->profile,
                         o->profile_name, err);
    case 'f':
        return read_file(column, text, &o->has_rules, &o->rules, o->rules_name,
                         err);
    case 'i':
        return read_digest(column, text, &o->has_instance, &o->instance, err);
    case 'o':
        if (o->has_options)
            return fail_column(column, "is the second of its kind", err);
        o->has_options = true;
        return parse_options(text, o) ? MO_OK : fail_option_words(column, err);
    case 'k':
        if (o->cost[0])
            return fail_column(column, "is the second of its kind", err);
        return decode_text(text, o->cost, &cut) && o->cost[0]
                   ? MO_OK
                   : fail_option_words(column, err);
    case 't':
        if (o->formats[0])
            return fail_column(column, "is the second of its kind", err);
        return decode_text(text, o->formats, &cut) && o->formats[0] &&
                       mo_numeric_read(o->formats, &formats, NULL) == MO_OK
                   ? MO_OK
                   : fail_option_words(column, err);
    case 's':
        return read_item(column, text, &o->shapes, err);
    case 'v':
        return read_item(column, text, &o->values, err);
    case 'u':
        if (o->unit_ns > 0)
            return fail_column(column, "is the second of its kind", err);
        if (mo_number_read_int(text, strlen(text), &o->unit_ns) !=
                MO_NUMBER_OK ||
            o->unit_ns < 1 || o->unit_ns > MO_MAX_TIME_NS)
            return fail_option_words(column, err);
        return MO_OK;
    case 'n':
        if (o->in_flight)
            return fail_column(column, "is the second of its kind", err);
        if (mo_number_read_int(text, strlen(text), &o->in_flight) !=
                MO_NUMBER_OK ||
            o->in_flight < 1 || o->in_flight > INT32_MAX)
            return fail_option_words(column, err);
        return MO_OK;
    default:
        return fail_option_words(column, err);
    }
}

mo_status mo_answer_provenance(const mo_solution *solution,
                               mo_provenance *origin, mo_error *err)
{
    const char *names[MO_IDENTITY_NAMES];
    mo_identity *columns = &origin->columns;
    mo_status status = MO_OK;
    int n = 0;

    *origin = (mo_provenance){ .files = solution->note.files };
    for (int i = 0; i < solution->n && status == MO_OK; i++) {
        const mo_solution_value *column = &solution->values[i];

        if (!column->name || !mo_identity_is_column(column->name))
            continue;
        status = read_column(column, origin, err);
        if (n < MO_IDENTITY_NAMES) {
            names[n] = column->name;
            snprintf(columns->name[columns->n++], MO_VARIABLE_NAME, "%s",
                     column->name);
        }
        n++;
    }
    join_lists(&origin->shapes);
    if (status == MO_OK && origin->has_digest)
        origin->edited = n > MO_IDENTITY_NAMES ||
                         mo_identity_digest(names, n) != origin->digest;
    return status;
}
