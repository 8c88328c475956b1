/* SPDX-License-Identifier: Apache-2.0 */
#include "models/identity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

/* The longest option words fit with room to spare. */
static void add_name(mo_identity *identity, const char *format, ...)
    MO_PRINTF(2, 3);

static void add_name(mo_identity *identity, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(identity->name[identity->n++], MO_VARIABLE_NAME, format, args);
    va_end(args);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.';
}

bool mo_identity_encode(const char *text, char *name, size_t size)
{
    size_t at = strlen(name), n;

    for (; *text; text++, at += n) {
        char piece[4] = { *text, '\0' };

        if (*text == '_')
            snprintf(piece, sizeof piece, "__");
        else if (!is_plain(*text))
            snprintf(piece, sizeof piece, "_%02x", (unsigned char) *text);
        n = strlen(piece);
        /* One byte stays free for the mark of a cut. */
        if (at + n + 2 > size) {
            if (at + 1 < size)
                snprintf(name + at, size - at, "_");
            return false;
        }
        memcpy(name + at, piece, n + 1);
    }
    return true;
}

static int hex_digit(char c)
{
    static const char hex[] = "0123456789abcdef";
    const char *at = c ? strchr(hex, c) : NULL;

    return at ? (int) (at - hex) : -1;
}

bool mo_identity_decode(const char *code, char *text, bool *cut)
{
    *cut = false;
    for (; *code; code++) {
        if (is_plain(*code)) {
            *text++ = *code;
        } else if (*code != '_') {
            return false;
        } else if (code[1] == '\0') {
            *cut = true;
        } else if (code[1] == '_') {
            *text++ = *++code;
        } else {
            int high = hex_digit(code[1]);
            int low = high >= 0 ? hex_digit(code[2]) : -1;

            if (low < 0 || high + low == 0)
                return false;
            *text++ = (char) (high << 4 | low);
            code += 2;
        }
    }
    *text = '\0';
    return true;
}

static void add_digest(mo_identity *identity, char letter, uint64_t digest)
{
    add_name(identity, MO_IDENTITY_PREFIX "%c_%016" PRIx64, letter, digest);
}

/* The digest of a file with the last part of its path: the model's bytes do
 * not depend on folders. */
static void add_file(mo_identity *identity, char letter, uint64_t digest,
                     const char *path)
{
    char *name = identity->name[identity->n];
    const char *slash;

    add_digest(identity, letter, digest);
    if (!path || strcmp(path, "-") == 0)
        return;
    slash = strrchr(path, '/');
    strcat(name, "_");
    (void) mo_identity_encode(slash ? slash + 1 : path, name, MO_VARIABLE_NAME);
}

static void add_formats(mo_identity *identity, const mo_numeric *formats)
{
    char text[MO_NUMERIC_TEXT], *name = identity->name[identity->n];

    mo_numeric_write(formats, text);
    if (!text[0])
        return;
    add_name(identity, "moirai_t_");
    (void) mo_identity_encode(text, name, MO_VARIABLE_NAME);
}

static void add_options(mo_identity *identity,
                        const mo_identity_options *options)
{
    const mo_regime *regime = &options->regime;
    char *name = identity->name[identity->n];

    add_name(identity, MO_IDENTITY_PREFIX "o_%s.%s.%s.%s.%s",
             options->formulation, mo_congestion_names[regime->congestion],
             mo_tensors_names[regime->tensors], mo_memory_names[regime->memory],
             options->fusion);
    /* "per-edge" cannot be part of a name in every reader: '-' is minus. */
    for (; *name; name++)
        if (*name == '-')
            *name = '_';
}

/* Adds a list of shapes, "NAME=1,32;8,128;...", in columns of which those
 * behind the first begin "NAME=;1;", "NAME=;2;" and so on, and returns their
 * number; 0: they are too many. */
static int add_shapes(mo_identity *identity, const char *item, int most)
{
    const char *mark = strrchr(item, '='), *at = mark ? mark + 1 : item;
    int name = (int) (at - item), before = identity->n, n = 0;

    while (*at && n < most) {
        char column[MO_VARIABLE_NAME], text[MO_VARIABLE_NAME];
        const char *end = at, *next = at;

        /* As many shapes as fit. */
        while (*next) {
            char trial[MO_VARIABLE_NAME] = MO_IDENTITY_PREFIX "s_";
            int size;

            next += strcspn(next, ";");
            size = n == 0 ? snprintf(text, sizeof text, "%.*s",
                                     (int) (next - item), item)
                          : snprintf(text, sizeof text, "%.*s;%d;%.*s", name,
                                     item, n, (int) (next - at), at);
            if (size >= (int) sizeof text ||
                !mo_identity_encode(text, trial, sizeof trial))
                break;
            memcpy(column, trial, sizeof column);
            end = next;
            next += *next == ';';
        }
        if (end == at)
            break;
        add_name(identity, "%s", column);
        n++;
        at = end + (*end == ';');
    }
    if (!*at)
        return n;
    identity->n = before;
    return 0;
}

/* One column "moirai_s__" stands for all shapes that are too long or too many:
 * names must differ. Returns whether there are none of these. */
static bool add_list(mo_identity *identity, char letter,
                     const mo_option_list *list)
{
    bool whole = true;
    int kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        char name[MO_VARIABLE_NAME] = MO_IDENTITY_PREFIX "?_";

        name[sizeof MO_IDENTITY_PREFIX - 1] = letter;
        if (kept < MO_IDENTITY_SHAPES - 1 &&
            mo_identity_encode(list->items[i], name, sizeof name)) {
            add_name(identity, "%s", name);
            kept++;
        } else {
            int n = letter == 's' ? add_shapes(identity, list->items[i],
                                               MO_IDENTITY_SHAPES - 1 - kept)
                                  : 0;

            kept += n;
            whole = whole && n > 0;
        }
    }
    if (!whole)
        add_name(identity, MO_IDENTITY_PREFIX "%c__", letter);
    return whole;
}

bool mo_identity_holds_shapes(const mo_option_list *shapes)
{
    mo_identity identity = { .n = 0 };

    return add_list(&identity, 's', shapes);
}

/* The words of the options, before their digest. */
enum { OPTION_WORDS = 5 };

/* Returns the length of what the digest covers of a name: neither the digest
 * itself, nor the name of a file. */
static size_t covered_length(const char *name)
{
    static const char prefix[] = MO_IDENTITY_PREFIX "?_", files[] = "gcpf";
    size_t length = strlen(name), most = sizeof prefix - 1 + 16;
    const char *at = name;

    if (length < sizeof prefix - 1)
        return length;
    if (strchr(files, name[sizeof prefix - 3]))
        return length < most ? length : most;
    if (name[sizeof prefix - 3] != 'o')
        return length;
    for (int words = 0; *at; at++)
        if (*at == '.' && ++words == OPTION_WORDS)
            break;
    return (size_t) (at - name);
}

static int compare_digests(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

bool mo_identity_is_column(const char *name)
{
    return strncmp(name, MO_IDENTITY_PREFIX, sizeof MO_IDENTITY_PREFIX - 1) ==
           0;
}

uint64_t mo_identity_digest(const char *const *names, int n)
{
    uint64_t each[MO_IDENTITY_NAMES] = { 0 };
    unsigned char bytes[sizeof each];

    for (int i = 0; i < n; i++)
        each[i] = mo_digest_of(names[i], covered_length(names[i]));
    qsort(each, (size_t) n, sizeof *each, compare_digests);
    for (int i = 0; i < 8 * n; i++)
        bytes[i] = (unsigned char) (each[i / 8] >> 8 * (i % 8));
    return mo_digest_of(bytes, (size_t) n * 8);
}

void mo_identity_make(const mo_instance *x, const mo_identity_options *options,
                      mo_identity *identity)
{
    char *sealed;

    *identity = (mo_identity){ 0 };
    add_file(identity, 'g', options->graph_digest, options->graph_file);
    add_file(identity, 'c', x->cluster_digest, options->cluster_file);
    if (x->profile_digest)
        add_file(identity, 'p', x->profile_digest, options->profile_file);
    if (options->has_rules)
        add_file(identity, 'f', options->rules_digest, options->rules_file);
    sealed = identity->name[identity->n];
    add_options(identity, options);
    if (options->cost) {
        /* Of roofline:FILE the last part of the path. */
        const char *cost = options->cost;
        const char *slash = strrchr(cost, '/'), *colon = strchr(cost, ':');
        char *name = identity->name[identity->n];

        add_name(identity, MO_IDENTITY_PREFIX "k_");
        if (slash && colon && colon < slash &&
            strncmp(cost, "roofline", (size_t) (colon - cost)) == 0) {
            (void) mo_identity_encode("roofline:", name, MO_VARIABLE_NAME);
            cost = slash + 1;
        }
        (void) mo_identity_encode(cost, name, MO_VARIABLE_NAME);
    }
    add_formats(identity, &x->formats);
    add_list(identity, 's', &options->read.shapes);
    add_list(identity, 'v', &options->read.values);
    if (options->unit_ns)
        add_name(identity, MO_IDENTITY_PREFIX "u_%" PRId64, options->unit_ns);
    if (options->in_flight)
        add_name(identity, MO_IDENTITY_PREFIX "n_%" PRId64, options->in_flight);
    add_digest(identity, 'i', x->digest);
    const char *names[MO_IDENTITY_NAMES];
    size_t length = strlen(sealed);

    for (int i = 0; i < identity->n; i++)
        names[i] = identity->name[i];
    snprintf(sealed + length, MO_VARIABLE_NAME - length, ".%016" PRIx64,
             mo_identity_digest(names, identity->n));
}
