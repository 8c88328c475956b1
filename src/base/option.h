/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option.h - command line parser: one table per command feeds the parser,
 * --help, and the shell completions.
 *
 * Long options in the GNU manner (--name VALUE, --name=VALUE, unambiguous
 * prefixes are NOT accepted so that scripts stay valid), short ones bundled
 * (-qv), operands anywhere, "--" ends the options. Every command has --help,
 * --version and --completion SHELL without listing them.
 */
#ifndef MO_BASE_OPTION_H
#define MO_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"

/* Exit codes of every command; moirai(7) documents them. */
enum {
    MO_EXIT_DONE = 0,
    MO_EXIT_FAILED = 1,
    MO_EXIT_USAGE = 2,
    MO_EXIT_NO_SOLUTION = 3,
    MO_EXIT_VIOLATION = 4
};

typedef enum mo_option_kind {
    MO_OPTION_FLAG,   /* bool: present or not            */
    MO_OPTION_COUNT,  /* int: how often, as in -vv       */
    MO_OPTION_TEXT,   /* const char *: the last one given */
    MO_OPTION_INT,    /* int64_t, between min and max    */
    MO_OPTION_DOUBLE, /* double, between min and max     */
    MO_OPTION_LIST    /* mo_option_list: all of them     */
} mo_option_kind;

typedef struct mo_option_list {
    const char **items;
    size_t count, room;
    char **made; /* texts with a prefix, which the list owns */
    size_t n_made, made_room;
} mo_option_list;

/* Returns value i of those that help and completions list, NULL behind the
 * last: names in a registry. Other values may be allowed, too. */
typedef const char *mo_option_suggest(size_t i);

typedef struct mo_option {
    char letter;       /* 'o', or 0 when there is only the long name */
    const char *name;  /* "output" */
    const char *value; /* "FILE"; NULL for flags */
    const char *help;  /* one line */
    mo_option_kind kind;
    void *to;            /* destination of the value, by kind */
    double min, max;     /* for numbers; both 0 means any */
    const char *choices; /* "lp|mps" when only these are allowed, or NULL */
    mo_option_suggest *suggest; /* or NULL */
    const char *former; /* an earlier name, accepted and not listed, or NULL */
    const char *prefix; /* in front of each item of a list, or NULL; a flag with
                           it adds it to a list */
} mo_option;

typedef struct mo_command {
    const char *name;         /* "moirai-info" */
    const char *synopsis;     /* "[OPTION]... GRAPH" */
    const char *purpose;      /* one line */
    const char *details;      /* further text of --help, or NULL */
    const mo_option *options; /* ends with an all-zero entry */
    size_t min_operands, max_operands;
    /* Subcommands or names for the first operand; or NULL. */
    mo_option_suggest *suggest;
    bool no_files;   /* no operand is a file */
    bool dispatches; /* a suggested word w as the first operand runs the
                        command NAME-w with the arguments behind it */
    /* Writes further lines of --version, found at run time; or NULL. */
    void (*version)(mo_out *out);
} mo_command;

/*
 * Parses argv. *operands points at n_operands texts (argv reordered in place,
 * borrowed). Returns -1 to continue; otherwise the exit code, after --help,
 * --version or --completion printed to stdout or a usage error printed one
 * line with a hint at --help to stderr. A single operand "help" or "version"
 * that is no file is the option of that name.
 */
int mo_option_parse(const mo_command *command, int argc, char **argv,
                    char ***operands, size_t *n_operands);

/* Returns option i of a command, those of every command behind its own; NULL
 * beyond the last. Help and completions are made from these. */
const mo_option *mo_option_at(const mo_command *command, size_t i);

/* Returns the suggested first operand that a mistyped word is closest to, or
 * NULL. */
const char *mo_option_nearest_operand(const mo_command *command,
                                      const char *word);

/* Whether these letters are the option's name, or its former one. */
bool mo_option_has_name(const mo_option *option, const char *name,
                        size_t length);

/* Checks value, which is borrowed, and stores it at option->to, if that is not
 * NULL, as if it were given on a command line; NULL for flags. */
mo_status mo_option_store(const mo_option *option, const char *value,
                          mo_error *err);

/* Return whether an option takes a value, and whether that is a file name, by
 * its placeholder: "FILE", "MODEL-FILE". */
bool mo_option_takes_value(const mo_option *option);
bool mo_option_takes_file(const mo_option *option);
/* Whether it is a folder, "DIR", or a list with commas, "M,...". */
bool mo_option_takes_folder(const mo_option *option);
bool mo_option_takes_list(const mo_option *option);

/* The shells of --completion, in the form of an option's choices. */
#define MO_COMPLETION_SHELLS "bash|zsh|fish"

/* Writes the completion script of a command for a shell, one of these. */
void mo_completion_write(const mo_command *command, const char *shell,
                         mo_out *out);

/* Prints err on stderr as "moirai-info: file:line: text" and returns the exit
 * code for it: 2 for MO_E_USAGE, 3 for MO_E_INFEASIBLE, else 1. */
int mo_command_fail(const mo_command *command, const mo_error *err);

/* The body of a command, called with its options parsed. */
typedef mo_status mo_command_run(void *settings, char **operands,
                                 size_t n_operands, mo_error *err);

/*
 * The body of every main: parses argv, calls run with settings, prints the
 * error, and returns the exit code. A closed standard output or a file size
 * limit is a failed write like any other.
 */
int mo_command_main(const mo_command *command, int argc, char **argv,
                    mo_command_run *run, void *settings);

void mo_option_list_free(mo_option_list *list);

#endif
