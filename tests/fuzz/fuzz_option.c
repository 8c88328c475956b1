/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer of base/option.h: any arguments, one a line, are parsed, or are a
 * usage error; every value is in its range.
 */
#include <config.h>

#include <assert.h>
#include <stdio.h>

#include "base/option.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_ARGUMENTS = 24 };

typedef struct settings {
    bool flag;
    int count;
    const char *text, *choice;
    int64_t number;
    double real;
    mo_option_list list;
} settings;

/* Messages are of no interest; what libFuzzer prints goes elsewhere. */
static void silence(void)
{
    static FILE *nowhere;

    if (nowhere)
        return;
    nowhere = fopen("/dev/null", "w");
    assert(nowhere && freopen("/dev/null", "w", stdout));
    stderr = nowhere;
}

static void check_settings(const settings *s, char **operands,
                           size_t n_operands)
{
    if (s->number < -5 || s->number > 5 || !(s->real >= 0 && s->real <= 1) ||
        (s->choice && strcmp(s->choice, "lp") != 0 &&
         strcmp(s->choice, "mps") != 0) ||
        n_operands > 2 || (n_operands > 0 && !operands[n_operands - 1]))
        abort();
    for (size_t i = 0; i < s->list.count; i++)
        if (!s->list.items[i])
            abort();
}

static void parse(int argc, char **argv)
{
    settings s = { 0 };
    const mo_option options[] = {
        { 'f', "flag", NULL, "a flag", MO_OPTION_FLAG, .to = &s.flag },
        { 'v', "verbose", NULL, "a count", MO_OPTION_COUNT, .to = &s.count },
        { 'o', "output", "FILE", "a text", MO_OPTION_TEXT, .to = &s.text },
        { 0, "format", "F", "a choice", MO_OPTION_TEXT, .to = &s.choice,
          .choices = "lp|mps" },
        { 'n', "number", "N", "a number", MO_OPTION_INT, .to = &s.number,
          .min = -5, .max = 5 },
        { 0, "real", "R", "a number", MO_OPTION_DOUBLE, .to = &s.real,
          .max = 1 },
        { 'l', "list", "L", "a list", MO_OPTION_LIST, .to = &s.list,
          .former = "words" },
        { 0 }
    };
    const mo_command command = { .name = "moirai-fuzz",
                                 .synopsis = "[OPTION]... GRAPH",
                                 .purpose = "parses any arguments",
                                 .options = options,
                                 .max_operands = 2 };
    char **operands = NULL;
    size_t n_operands = 0;
    int code = mo_option_parse(&command, argc, argv, &operands, &n_operands);

    if (code != -1 && code != MO_EXIT_DONE && code != MO_EXIT_USAGE)
        abort();
    if (code == -1)
        check_settings(&s, operands, n_operands);
    mo_option_list_free(&s.list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = fuzz_input_of(data, size);
    char *argv[MAX_ARGUMENTS + 2] = { 0 }, *owned[MAX_ARGUMENTS + 2];
    char name[] = "moirai-fuzz";
    int argc = 1;

    silence();
    argv[0] = name;
    while (argc <= MAX_ARGUMENTS && fuzz_left(&in) > 0)
        argv[argc++] = fuzz_text(&in, '\n', NULL);
    memcpy(owned, argv, sizeof owned);
    parse(argc, argv);
    for (int i = 1; i < argc; i++)
        free(owned[i]);
    return 0;
}
