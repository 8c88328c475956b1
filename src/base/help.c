/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/help.h"

#include <stdio.h>
#include <string.h>

/* The left column is as wide as its longest entry, up to MAX_LEFT; the help of
 * a longer entry starts on the next line. */
enum { COLUMNS = 80, MAX_LEFT = 30, LEFT_SIZE = 128 };

/* "  -o, --output=FILE" */
static size_t write_left(char left[LEFT_SIZE], const mo_option *option)
{
    char letter[] = "   ";
    const char *value = option->value;

    if (option->letter) {
        letter[0] = '-';
        letter[1] = option->letter;
        letter[2] = ',';
    }
    snprintf(left, LEFT_SIZE, "  %s --%s%s%s", letter, option->name,
             value ? "=" : "", value ? value : "");
    return strlen(left);
}

static size_t left_width(const mo_command *command)
{
    const mo_option *option;
    char left[LEFT_SIZE];
    size_t width = 0;

    for (size_t i = 0; (option = mo_option_at(command, i)); i++) {
        size_t n = write_left(left, option);

        if (n > width && n <= MAX_LEFT)
            width = n;
    }
    return width + 2;
}

/* Writes text from the given column on, its lines broken between words. */
static void write_wrapped(mo_out *out, const char *text, size_t indent)
{
    size_t column = indent;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (column > indent && column + 1 + n > COLUMNS - 1) {
            mo_out_printf(out, "\n%*s", (int) indent, "");
            column = indent;
        }
        if (column > indent) {
            mo_out_char(out, ' ');
            column++;
        }
        mo_out_bytes(out, text, n);
        column += n;
        text += n;
        text += strspn(text, " ");
    }
    mo_out_char(out, '\n');
}

/* Appends "one, two" to the text, as many as fit. */
static void append_names(char *text, size_t size, mo_option_suggest *suggest)
{
    size_t n = strlen(text);
    const char *name;

    for (size_t i = 0; n < size && (name = suggest(i)); i++)
        n += (size_t) snprintf(text + n, size - n, "%s%s", i > 0 ? ", " : ": ",
                               name);
}

static void write_option(mo_out *out, const mo_option *option, size_t width)
{
    char left[LEFT_SIZE], help[1024];
    size_t n = write_left(left, option);

    mo_out_text(out, left);
    if (n + 2 > width) {
        mo_out_char(out, '\n');
        n = 0;
    }
    mo_out_printf(out, "%*s", (int) (width - n), "");
    if (option->choices)
        snprintf(help, sizeof help, "%s (%s)", option->help, option->choices);
    else
        snprintf(help, sizeof help, "%s", option->help);
    if (option->suggest)
        append_names(help, sizeof help, option->suggest);
    write_wrapped(out, help, width);
}

void mo_help_write(const mo_command *command, mo_out *out)
{
    size_t width = left_width(command);
    const mo_option *option;

    char usage[256];

    snprintf(usage, sizeof usage, "Usage: %s %s", command->name,
             command->synopsis);
    write_wrapped(out, usage, 0);
    write_wrapped(out, command->purpose, 0);
    mo_out_text(out, "\nOptions:\n");
    for (size_t i = 0; (option = mo_option_at(command, i)); i++)
        write_option(out, option, width);
    if (command->details) {
        mo_out_char(out, '\n');
        write_wrapped(out, command->details, 0);
    }
}

void mo_help_version(const mo_command *command, mo_out *out)
{
    mo_out_printf(out, "%s (Moirai) %s\n", command->name, PACKAGE_VERSION);
    mo_out_text(out, "Built in: " MO_BUILT_IN "\n");
    if (command->version)
        command->version(out);
    mo_out_text(out, "Licensed under the Apache License, Version 2.0; "
                     "there is no warranty.\n");
}
