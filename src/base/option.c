/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/option.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/progress.h"
#include "base/out.h"

/* Output of --help and --version, from a command's option table. */

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

/* Returns how much of a word of n bytes to write in a line of so many columns:
 * all of it, or, if it is a longer list of choices, those that fit. */
static size_t fitting_part(const char *word, size_t n, size_t columns)
{
    size_t part = columns;

    if (n <= columns)
        return n;
    while (part > 0 && word[part - 1] != '|')
        part--;
    return part > 0 ? part : n;
}

/* Writes text from the given column on, its lines broken between words, and
 * within lists of choices that are longer than a line. */
static void write_wrapped(mo_out *out, const char *text, size_t indent)
{
    size_t column = indent;

    while (*text) {
        size_t whole = strcspn(text, " ");
        size_t n = fitting_part(text, whole, COLUMNS - 1 - indent);

        if (column > indent && column + 1 + n > COLUMNS - 1) {
            mo_out_printf(out, "\n%*s", (int) indent, "");
            column = indent;
        }
        if (column > indent) {
            mo_out_char(out, ' ');
            column++;
        }
        mo_out_bytes(out, text, n);
        column = n < whole ? COLUMNS : column + n;
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

/* Writes usage, purpose, the options in two columns of 80 characters together,
 * and the details. */
static void write_help(const mo_command *command, mo_out *out)
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

/* Options of every command. They have no destination: the parser executes
 * them. */
static const mo_option standard[] = {
    { .name = "help", .help = "print this help and exit" },
    { .name = "version", .help = "print the version and what was built in" },
    { .name = "completion",
      .value = "SHELL",
      .help = "print a completion script for this shell",
      .kind = MO_OPTION_TEXT,
      .choices = MO_COMPLETION_SHELLS },
};

enum { N_STANDARD = sizeof standard / sizeof *standard };

/* State of the command line parser. */
typedef struct option_parser {
    const mo_command *command;
    int argc, next;
    char **argv;
    size_t n_operands; /* they are argv[1] and following */
    const mo_option
        *standard_option; /* the standard option to execute, or NULL */
    const char *asked_value;
} option_parser;

const mo_option *mo_option_at(const mo_command *command, size_t i)
{
    size_t n = 0;

    while (n < i && command->options[n].name)
        n++;
    if (command->options[n].name)
        return &command->options[n];
    return i - n < N_STANDARD ? &standard[i - n] : NULL;
}

static mo_status take_option(option_parser *p, const mo_option *option,
                             const char *value, mo_error *err)
{
    mo_status status = mo_option_store(option, value, err);

    if (status == MO_OK && !option->to) {
        p->standard_option = option;
        p->asked_value = value;
    }
    return status;
}

/* Returns the value of an option that needs one: attached to it, or the next
 * word. */
static mo_status need_value(option_parser *p, const mo_option *option,
                            const char **value, mo_error *err)
{
    if (*value)
        return MO_OK;
    if (p->next == p->argc)
        return mo_fail(err, MO_E_USAGE, "option '--%s' needs a value, %s",
                       option->name, option->value);
    *value = p->argv[p->next++];
    return MO_OK;
}

/* Edit distance: the number of letters to add, drop, change or swap with the
 * next to turn a into b (optimal string alignment); MAX_NAME or more when they
 * are longer than any option. */
static size_t edit_distance(const char *a, size_t n, const char *b)
{
    enum { MAX_NAME = 40 };
    size_t rows[3][MAX_NAME], m = strlen(b);

    if (m >= MAX_NAME || n >= MAX_NAME)
        return MAX_NAME;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t least = above[j - 1] + (a[i - 1] != b[j - 1]);

            if (above[j] + 1 < least)
                least = above[j] + 1;
            if (row[j - 1] + 1 < least)
                least = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && two_above[j - 2] + 1 < least)
                least = two_above[j - 2] + 1;
            row[j] = least;
        }
    }
    return rows[n % 3][m];
}

/* Returns name i of those that may be meant, NULL behind the last. */
typedef const char *name_at(const void *context, size_t i);

/* Returns the name that a mistyped one is closest to: at most an eighth of its
 * letters and one more are wrong, or it is cut off; or NULL. */
static const char *find_nearest(name_at *at, const void *context,
                                const char *name, size_t length)
{
    const char *each, *nearest = NULL;
    size_t least = 2 + length / 8;

    for (size_t i = 0; (each = at(context, i)); i++) {
        size_t d = edit_distance(name, length, each);

        if (d < least && d < length) {
            least = d;
            nearest = each;
        }
    }
    for (size_t i = 0; !nearest && length > 2; i++) {
        each = at(context, i);
        if (!each)
            break;
        if (strncmp(name, each, length) == 0)
            nearest = each;
    }
    return nearest;
}

static const char *option_name_at(const void *command, size_t i)
{
    const mo_option *option = mo_option_at(command, i);

    return option ? option->name : NULL;
}

static const char *operand_at(const void *command, size_t i)
{
    return ((const mo_command *) command)->suggest(i);
}

const char *mo_option_nearest_operand(const mo_command *command,
                                      const char *word)
{
    return find_nearest(operand_at, command, word, strlen(word));
}

static mo_status unknown_name(const option_parser *p, const char *name,
                              size_t length, mo_error *err)
{
    const char *nearest =
        find_nearest(option_name_at, p->command, name, length);
    const mo_option *option;

    if (nearest)
        return mo_fail(err, MO_E_USAGE,
                       "unknown option '--%.*s' (did you mean '--%s'?)",
                       (int) length, name, nearest);
    for (size_t i = 0; (option = mo_option_at(p->command, i)); i++)
        if (length == 4 && memcmp(name, "list", 4) == 0 && option->suggest)
            return mo_fail(err, MO_E_USAGE,
                           "unknown option '--list'; the values of --%s are "
                           "in --help",
                           option->name);
    return mo_fail(err, MO_E_USAGE, "unknown option '--%.*s'", (int) length,
                   name);
}

static const mo_option *find_name(const option_parser *p, const char *name,
                                  size_t length)
{
    const mo_option *option;

    for (size_t i = 0; (option = mo_option_at(p->command, i)); i++)
        if (mo_option_has_name(option, name, length))
            return option;
    return NULL;
}

static const mo_option *find_letter(const option_parser *p, char letter)
{
    const mo_option *option;

    for (size_t i = 0; (option = mo_option_at(p->command, i)); i++)
        if (option->letter == letter)
            return option;
    return NULL;
}

/* Parses --name, --name VALUE or --name=VALUE; word is the text behind the
 * dashes. */
static mo_status take_long(option_parser *p, const char *word, mo_error *err)
{
    size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : NULL;
    const mo_option *option = find_name(p, word, length);
    mo_status status;

    if (!option)
        return unknown_name(p, word, length, err);
    if (!mo_option_takes_value(option)) {
        if (value)
            return mo_fail(err, MO_E_USAGE, "option '--%s' takes no value",
                           option->name);
        return take_option(p, option, NULL, err);
    }
    status = need_value(p, option, &value, err);
    if (status != MO_OK)
        return status;
    return take_option(p, option, value, err);
}

/* Parses -q, -qv, -o VALUE, -oVALUE or -qoVALUE; letters is the text behind
 * the dash. */
static mo_status take_letters(option_parser *p, const char *letters,
                              mo_error *err)
{
    mo_status status = MO_OK;

    while (*letters && status == MO_OK) {
        const mo_option *option = find_letter(p, *letters);
        const char *value;

        if (!option)
            return mo_fail(err, MO_E_USAGE, "unknown option '-%.1s'", letters);
        letters++;
        if (!mo_option_takes_value(option)) {
            status = take_option(p, option, NULL, err);
            continue;
        }
        value = *letters ? letters : NULL;
        status = need_value(p, option, &value, err);
        if (status != MO_OK)
            return status;
        return take_option(p, option, value, err);
    }
    return status;
}

/* Moves the word just read to the operands in front; the words there were read
 * before. */
static mo_status take_operand(option_parser *p, mo_error *err)
{
    char **front = &p->argv[1 + p->n_operands++];
    char *word = p->argv[p->next - 1];

    if (!*word)
        return mo_fail(err, MO_E_USAGE, "an operand is empty: %s %s",
                       p->command->name, p->command->synopsis);
    p->argv[p->next - 1] = *front;
    *front = word;
    return MO_OK;
}

static mo_status count_operands(const option_parser *p, mo_error *err)
{
    if (p->n_operands < p->command->min_operands)
        return mo_fail(err, MO_E_USAGE, "an operand is missing: %s %s",
                       p->command->name, p->command->synopsis);
    if (p->n_operands > p->command->max_operands)
        return mo_fail(err, MO_E_USAGE, "operand '%s' is one too many",
                       p->argv[1 + p->command->max_operands]);
    return MO_OK;
}

static int answer(const option_parser *p, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open("-", &out, err);

    if (status != MO_OK)
        return mo_command_fail(p->command, err);
    if (p->standard_option == &standard[0])
        write_help(p->command, out);
    else if (p->standard_option == &standard[1]) {
        mo_out_printf(out, "%s (Moirai) %s\n", p->command->name,
                      PACKAGE_VERSION);
        mo_out_text(out, "Built in: " MO_BUILT_IN "\n");
        if (p->command->version)
            p->command->version(out);
        mo_out_text(out, "Licensed under the Apache License, Version 2.0; "
                         "there is no warranty.\n");
    } else
        mo_completion_write(p->command, p->asked_value, out);
    status = mo_out_commit(out, err);
    return status == MO_OK ? MO_EXIT_DONE : mo_command_fail(p->command, err);
}

int mo_option_parse(const mo_command *command, int argc, char **argv,
                    char ***operands, size_t *n_operands)
{
    option_parser p = {
        .command = command, .argc = argc, .argv = argv, .next = 1
    };
    mo_error err = { 0 };
    mo_status status = MO_OK;
    bool only_operands = false;

    while (p.next < p.argc && status == MO_OK && !p.standard_option) {
        const char *word = p.argv[p.next++];

        if (only_operands || word[0] != '-' || word[1] == '\0')
            status = take_operand(&p, &err);
        else if (word[1] != '-')
            status = take_letters(&p, word + 1, &err);
        else if (word[2] == '\0')
            only_operands = true;
        else
            status = take_long(&p, word + 2, &err);
    }
    if (status == MO_OK && !p.standard_option) {
        /* "help" and "version" as the only operand, unless there is such a
         * file. */
        const char *word = p.n_operands == 1 ? p.argv[1] : "";

        for (int i = 0; i < 2; i++)
            if (strcmp(word, standard[i].name) == 0 && access(word, F_OK) != 0)
                p.standard_option = &standard[i];
    }
    if (status == MO_OK && p.standard_option)
        return answer(&p, &err);
    if (status == MO_OK)
        status = count_operands(&p, &err);
    if (status == MO_E_USAGE) {
        fprintf(stderr, "%s: %s; try '%s --help'\n", command->name, err.text,
                command->name);
        return MO_EXIT_USAGE;
    }
    if (status != MO_OK)
        return mo_command_fail(command, &err);
    *operands = argv + 1;
    *n_operands = p.n_operands;
    return -1;
}

int mo_command_fail(const mo_command *command, const mo_error *err)
{
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

    mo_progress_erase();
    fprintf(stderr, "%s: %s\n", command->name,
            mo_error_format(err, text, sizeof text));
    return err->status == MO_E_USAGE        ? MO_EXIT_USAGE
           : err->status == MO_E_INFEASIBLE ? MO_EXIT_NO_SOLUTION
                                            : MO_EXIT_FAILED;
}

int mo_command_main(const mo_command *command, int argc, char **argv,
                    mo_command_run *run, void *settings)
{
    mo_error err = { 0 };
    char **operands;
    size_t n_operands;
    int code;

    mo_cleanup_reserve_standard_fds();
    mo_cleanup_ignore_write_signals();
    code = mo_option_parse(command, argc, argv, &operands, &n_operands);
    if (code >= 0)
        return code;
    return run(settings, operands, n_operands, &err) == MO_OK
               ? MO_EXIT_DONE
               : mo_command_fail(command, &err);
}
