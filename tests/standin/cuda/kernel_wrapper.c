/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parser of kernel signatures, sufficient for generating wrappers. Where
 *
 *     MO_KERNEL_OF(scale, 256)(const T *x, struct mo_extra extra)
 *
 * is, preprocessed, void scale(const float *x, struct mo_extra extra), it
 * generates
 *
 *     void standin_call_scale(void **a) {
 *         scale(*(const float * *) a[0], *(struct mo_extra *) a[1]); }
 *     const unsigned long standin_sizes_scale[] = {
 *         sizeof(const float *), sizeof(struct mo_extra), 0 };
 */
#include <config.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standin/cuda/standin_cuda.h"
#include "tests/standin/cuda/module_image.h"

enum { MOST_PARAMETERS = 64 };

typedef struct span {
    const char *from, *to;
} span;

typedef struct head {
    span name;
    span types[MOST_PARAMETERS];
    int n;
} head;

static bool is_word(char c)
{
    return isalnum((unsigned char) c) || c == '_';
}

static span trimmed(span s)
{
    while (s.from < s.to && isspace((unsigned char) *s.from))
        s.from++;
    while (s.from < s.to && isspace((unsigned char) s.to[-1]))
        s.to--;
    return s;
}

/* Returns the position of the bracket that closes the one at `open`. */
static const char *closing(const char *open)
{
    int depth = 0;

    for (const char *c = open; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (depth == 0)
            return c;
    }
    return NULL;
}

/* A parameter without its name. */
static span type_of(span parameter)
{
    span type = trimmed(parameter);

    while (type.from < type.to && is_word(type.to[-1]))
        type.to--;
    return trimmed(type);
}

static bool is_void(span s)
{
    return s.to - s.from == 4 && memcmp(s.from, "void", 4) == 0;
}

static bool read_types(span list, head *h)
{
    span rest = trimmed(list);

    h->n = 0;
    if (rest.from == rest.to || is_void(rest))
        return true;
    while (rest.from < rest.to && h->n < MOST_PARAMETERS) {
        const char *comma =
            memchr(rest.from, ',', (size_t) (rest.to - rest.from));
        span parameter = { rest.from, comma ? comma : rest.to };

        h->types[h->n] = type_of(parameter);
        if (h->types[h->n].from == h->types[h->n].to)
            return false;
        h->n++;
        rest.from = comma ? comma + 1 : rest.to;
    }
    return rest.from == rest.to;
}

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t\n");
}

/* Whether the whole word at `at` is name. */
static bool is_named(const char *at, span name)
{
    size_t n = (size_t) (name.to - name.from);

    return strncmp(at, name.from, n) == 0 && !is_word(at[n]);
}

/* Finds void name(...) in the preprocessed source. */
static bool find_head(const char *preprocessed, head *h)
{
    for (const char *at = preprocessed; (at = strstr(at, "void"));) {
        const char *name = skip_spaces(at + strlen("void")), *open, *close;

        at += strlen("void");
        if (!is_named(name, h->name))
            continue;
        open = skip_spaces(name + (h->name.to - h->name.from));
        if (*open != '(' || !(close = closing(open)))
            return false;
        return read_types((span){ open + 1, close }, h);
    }
    return false;
}

static void write_span(FILE *out, span s)
{
    fwrite(s.from, 1, (size_t) (s.to - s.from), out);
}

static void write_call(FILE *out, const head *h)
{
    fputs("void " STANDIN_CALL, out);
    write_span(out, h->name);
    fputs("(void **a) {\n    ", out);
    write_span(out, h->name);
    fputs("(", out);
    for (int i = 0; i < h->n; i++) {
        fputs(i ? ", *(" : "*(", out);
        write_span(out, h->types[i]);
        fprintf(out, " *) a[%d]", i);
    }
    fputs(");\n}\n", out);
}

static void write_sizes(FILE *out, const head *h)
{
    fputs("const unsigned long " STANDIN_SIZES, out);
    write_span(out, h->name);
    fputs("[] = { ", out);
    for (int i = 0; i < h->n; i++) {
        fputs("sizeof(", out);
        write_span(out, h->types[i]);
        fputs("), ", out);
    }
    fputs("0 };\n", out);
}

/* Whether the line of at is a preprocessor directive. */
static bool is_directive(const char *source, const char *at)
{
    while (at > source && at[-1] != '\n')
        at--;
    return at[strspn(at, " \t")] == '#';
}

static bool write_all(FILE *out, const char *source, const char *preprocessed)
{
    static const char word[] = "MO_KERNEL";
    const char *at = source;

    while ((at = strstr(at, word))) {
        const char *start = at;
        head h;

        while (is_word(*at))
            at++;
        if (*at != '(' || is_directive(source, start) ||
            (start > source && is_word(start[-1])))
            continue;
        h.name = trimmed((span){ at + 1, at + 1 + strcspn(at + 1, ",)") });
        if (!find_head(preprocessed, &h))
            return false;
        write_call(out, &h);
        write_sizes(out, &h);
    }
    return true;
}

char *standin_wrappers(const char *source, const char *preprocessed)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool done;

    if (!out)
        return NULL;
    done = write_all(out, source, preprocessed);
    if (fclose(out) == 0 && done)
        return text;
    free(text);
    return NULL;
}
