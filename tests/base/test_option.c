/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/option.h, and of the help and completions made from it. */
#include <config.h>

#include "base/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/capture.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static struct {
    bool quiet;
    int verbose;
    const char *output, *format;
    int64_t tokens, any;
    double ratio, share;
    mo_option_list shapes;
} got;

static const mo_option options[] = {
    { .letter = 'o',
      .name = "output",
      .value = "FILE",
      .help = "write to FILE, - for standard output",
      .kind = MO_OPTION_TEXT,
      .to = &got.output },
    { .letter = 'f',
      .name = "format",
      .value = "FORMAT",
      .help = "what to write",
      .kind = MO_OPTION_TEXT,
      .to = &got.format,
      .choices = "lp|mps" },
    { .letter = 'q',
      .name = "quiet",
      .help = "print nothing",
      .to = &got.quiet },
    { .letter = 'v',
      .name = "verbose",
      .help = "print more",
      .kind = MO_OPTION_COUNT,
      .to = &got.verbose },
    { .letter = 'n',
      .name = "tokens",
      .value = "N",
      .help = "how many",
      .kind = MO_OPTION_INT,
      .to = &got.tokens,
      .min = 1,
      .max = 64 },
    { .name = "any",
      .value = "N",
      .help = "any integer, of which this is a "
              "rather long explanation that does not fit on one line [really: "
              "it's so]",
      .kind = MO_OPTION_INT,
      .to = &got.any },
    { .name = "ratio",
      .value = "R",
      .help = "at least 0.5",
      .kind = MO_OPTION_DOUBLE,
      .to = &got.ratio,
      .min = 0.5,
      .max = INFINITY },
    { .name = "share-of-the-memory-to-keep",
      .value = "SHARE",
      .help = "a share",
      .kind = MO_OPTION_DOUBLE,
      .to = &got.share },
    { .name = "shape",
      .value = "INPUT=DIMS",
      .help = "give a shape",
      .kind = MO_OPTION_LIST,
      .to = &got.shapes,
      .former = "size" },
    { 0 },
};

static const mo_command command = {
    .name = "moirai-try",
    .synopsis = "[OPTION]... GRAPH [MORE]",
    .purpose = "Tries the options.",
    .details = "That is all.",
    .options = options,
    .min_operands = 1,
    .max_operands = 2,
};

static char **operands;
static size_t n_operands;
static char line[512], *argv[32];

/* Parses the words of the line; "''" stands for the empty one. */
static int parse(const char *words)
{
    int argc = 0;

    mo_option_list_free(&got.shapes);
    memset(&got, 0, sizeof got);
    snprintf(line, sizeof line, "moirai-try %s", words);
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    argv[argc] = NULL;
    return mo_option_parse(&command, argc, argv, &operands, &n_operands);
}

static void tear_down(void)
{
    mo_option_list_free(&got.shapes);
}

static const struct {
    const char *words, *operands;
} lines[] = {
    { "g", "g" },        { "g h", "g h" },  { "-q g -v h --verbose", "g h" },
    { "g -o out", "g" }, { "-- -q", "-q" }, { "g -- --help", "g --help" },
    { "-", "-" },        { "-o - -", "-" }, { "g -- --", "g --" },
};

START_TEST(operands_may_stand_anywhere)
{
    char text[64] = "";

    ck_assert_int_eq(parse(lines[_i].words), -1);
    for (size_t i = 0; i < n_operands; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, operands[i]);
    }
    ck_assert_str_eq(text, lines[_i].operands);
}
END_TEST

START_TEST(values_may_be_attached_or_follow)
{
    static const char *const forms[] = { "-o x g",           "-ox g",
                                         "--output x g",     "--output=x g",
                                         "-qox g",           "-qo x g",
                                         "g --output=y -o x" };

    ck_assert_int_eq(parse(forms[_i]), -1);
    ck_assert_str_eq(got.output, "x");
    ck_assert_uint_eq(n_operands, 1);
    ck_assert_str_eq(operands[0], "g");
}
END_TEST

START_TEST(a_former_name_is_accepted)
{
    ck_assert_int_eq(parse("g --size a=1 --shape b=2 --size=c=3"), -1);
    ck_assert_uint_eq(got.shapes.count, 3);
    ck_assert_str_eq(got.shapes.items[2], "c=3");
}
END_TEST

START_TEST(every_kind_goes_where_it_should)
{
    ck_assert_int_eq(parse("g -qvv --verbose -n 64 --any=-9 --ratio 0.5 "
                           "-f mps --shape a=1 --shape b=2 "
                           "--share-of-the-memory-to-keep=1e-3"),
                     -1);
    ck_assert(got.quiet);
    ck_assert_int_eq(got.verbose, 3);
    ck_assert_int_eq(got.tokens, 64);
    ck_assert_int_eq(got.any, -9);
    ck_assert(got.ratio == 0.5);
    ck_assert(got.share == 1e-3);
    ck_assert_str_eq(got.format, "mps");
    ck_assert_uint_eq(got.shapes.count, 2);
    ck_assert_str_eq(got.shapes.items[0], "a=1");
    ck_assert_str_eq(got.shapes.items[1], "b=2");
}
END_TEST

START_TEST(what_looks_like_an_option_may_be_a_value)
{
    ck_assert_int_eq(parse("-o -q --any -5 g"), -1);
    ck_assert_str_eq(got.output, "-q");
    ck_assert_int_eq(got.any, -5);
    ck_assert(!got.quiet);
}
END_TEST

static const struct {
    const char *words, *error;
} mistakes[] = {
    { "g --foo", "unknown option '--foo'" },
    { "g --foo=1", "unknown option '--foo'" },
    { "g --qiet", "unknown option '--qiet' (did you mean '--quiet'?)" },
    { "g --quite=1", "unknown option '--quite' (did you mean '--quiet'?)" },
    { "g --hlp", "unknown option '--hlp' (did you mean '--help'?)" },
    { "g --qu", "unknown option '--qu'" },
    { "g --x", "unknown option '--x'" },
    { "g --out", "unknown option '--out' (did you mean '--output'?)" },
    { "g --fromat=lp", "unknown option '--fromat' (did you mean '--format'?)" },
    { "g --rate=1", "unknown option '--rate'" }, /* not --ratio, by far */
    { "g --=x", "unknown option '--'" },
    { "g -x", "unknown option '-x'" },
    { "g -qx", "unknown option '-x'" },
    { "g --x\033[2J\n", "unknown option '--x\\x1b[2J\\n'" },
    { "g --quiet=1", "option '--quiet' takes no value" },
    { "g -o", "option '--output' needs a value, FILE" },
    { "g --tokens", "option '--tokens' needs a value, N" },
    { "g -n 0", "option '--tokens' takes an integer from 1 to 64, not '0'" },
    { "g -n 65", "option '--tokens' takes an integer from 1 to 64, not '65'" },
    { "g -n 1.5",
      "option '--tokens' takes an integer from 1 to 64, not '1.5'" },
    { "g -n ''", "option '--tokens' takes an integer from 1 to 64, not ''" },
    { "g --any 9223372036854775808",
      "option '--any' takes an integer, not '9223372036854775808'" },
    { "g --ratio 0.4", "option '--ratio' takes a number of at least 0.5, "
                       "not '0.4'" },
    { "g --ratio nan", "option '--ratio' takes a number of at least 0.5, "
                       "not 'nan'" },
    { "g --share-of-the-memory-to-keep much",
      "option '--share-of-the-memory-to-keep' takes a number, not 'much'" },
    { "g -f l", "option '--format' takes one of lp|mps, not 'l'" },
    { "g -f lp|mps", "option '--format' takes one of lp|mps, not 'lp|mps'" },
    { "g --completion csh",
      "option '--completion' takes one of bash|zsh|fish, not 'csh'" },
    { "''", "an operand is empty: moirai-try [OPTION]... GRAPH [MORE]" },
    { "--output= g", "option '--output' needs the name of a file, not ''" },
    { "-o '' g", "option '--output' needs the name of a file, not ''" },
    { "", "an operand is missing: moirai-try [OPTION]... GRAPH [MORE]" },
    { "a b c", "operand 'c' is one too many" },
};

START_TEST(mistakes_are_reported_in_one_line)
{
    char wanted[256];
    int code;

    snprintf(wanted, sizeof wanted, "moirai-try: %s; try 'moirai-try --help'\n",
             mistakes[_i].error);
    capture_begin(STDERR_FILENO);
    code = parse(mistakes[_i].words);
    ck_assert_str_eq(capture_end(), wanted);
    ck_assert_int_eq(code, MO_EXIT_USAGE);
}
END_TEST

START_TEST(failures_are_reported_with_their_place)
{
    static const struct {
        mo_status status;
        int code;
    } codes[] = { { MO_E_INPUT, MO_EXIT_FAILED },
                  { MO_E_USAGE, MO_EXIT_USAGE },
                  { MO_E_INFEASIBLE, MO_EXIT_NO_SOLUTION } };
    mo_error err;
    int code;

    mo_fail_at(&err, codes[_i].status, "a.xml", 7, "a cycle");
    capture_begin(STDERR_FILENO);
    code = mo_command_fail(&command, &err);
    ck_assert_str_eq(capture_end(), "moirai-try: a.xml:7: a cycle\n");
    ck_assert_int_eq(code, codes[_i].code);
}
END_TEST

static const char help[] =
    "Usage: moirai-try [OPTION]... GRAPH [MORE]\n"
    "Tries the options.\n"
    "\n"
    "Options:\n"
    "  -o, --output=FILE       write to FILE, - for standard output\n"
    "  -f, --format=FORMAT     what to write (lp|mps)\n"
    "  -q, --quiet             print nothing\n"
    "  -v, --verbose           print more\n"
    "  -n, --tokens=N          how many\n"
    "      --any=N             any integer, of which this is a rather long\n"
    "                          explanation that does not fit on one line "
    "[really:\n"
    "                          it's so]\n"
    "      --ratio=R           at least 0.5\n"
    "      --share-of-the-memory-to-keep=SHARE\n"
    "                          a share\n"
    "      --shape=INPUT=DIMS  give a shape\n"
    "      --help              print this help and exit\n"
    "      --version           print the version and what was built in\n"
    "      --completion=SHELL  print a completion script for this shell\n"
    "                          (bash|zsh|fish)\n"
    "\n"
    "That is all.\n";

START_TEST(help_is_the_table)
{
    int code;

    capture_begin(STDOUT_FILENO);
    code = parse("-q --help --nonsense");
    ck_assert_str_eq(capture_end(), help);
    ck_assert_int_eq(code, MO_EXIT_DONE);
}
END_TEST

START_TEST(version_names_what_was_built_in_and_the_licence)
{
    const char *text;
    int code;

    capture_begin(STDOUT_FILENO);
    code = parse("--version");
    text = capture_end();
    ck_assert(strncmp(text, "moirai-try (Moirai) ", 20) == 0);
    ck_assert(text[20] >= '0' && text[20] <= '9');
    ck_assert_ptr_nonnull(strstr(text, "\nBuilt in: libxml2 "));
    ck_assert_ptr_nonnull(strstr(text, "\nLicensed under the Apache License"));
    ck_assert_int_eq(code, MO_EXIT_DONE);
}
END_TEST

START_TEST(help_that_cannot_be_written_fails)
{
    static const char *const requests[] = { "--help", "--version",
                                            "--completion zsh" };
    int status = 0;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr) ||
            !freopen("/dev/full", "w", stdout))
            _exit(99);
        _exit(parse(requests[_i]));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), MO_EXIT_FAILED);
}
END_TEST

/* What the shell offers when the words are typed up to the last one. */
static const struct {
    const char *words, *offered;
} typed[] = {
    { "--o", "--output" },
    { "--s", "--share-of-the-memory-to-keep --shape" },
    { "--c", "--completion" },
    { "--format ''", "lp mps" },
    { "-f m", "mps" },
    { "--format = m", "mps" },
    { "--format =", "lp mps" },
    { "-q gr", "graph\\ one.xml" },
    { "-o gr", "graph\\ one.xml" },
    { "--output = gr", "graph\\ one.xml" },
    { "--tokens gr", "" },
    { "--nonsense", "" },
};

START_TEST(bash_completes_the_options_of_the_table)
{
    char script[4096];
    FILE *bash;

    scratch_write("graph one.xml", "");
    capture_begin(STDOUT_FILENO);
    ck_assert_int_eq(parse("--completion bash"), MO_EXIT_DONE);
    scratch_write("complete.bash", capture_end());
    snprintf(script, sizeof script,
             ". ./complete.bash && complete -p moirai-try >/dev/null && "
             "COMP_WORDS=(moirai-try %s); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); "
             "_moirai_try; printf '%%s\\n' \"$(printf '%%q ' "
             "\"${COMPREPLY[@]}\")\" >offered\n",
             typed[_i].words);
    bash = popen("bash", "w");
    ck_assert_ptr_nonnull(bash);
    fputs(script, bash);
    ck_assert_int_eq(pclose(bash), 0);

    snprintf(script, sizeof script, "%s \n",
             *typed[_i].offered ? typed[_i].offered : "''");
    ck_assert_str_eq(scratch_read("offered"), script);
}
END_TEST

static const struct {
    const char *shell, *written;
} scripts[] = {
    { "zsh", "#compdef moirai-try\n_arguments -s -S \\\n" },
    { "zsh", "\n    '(--output)-o+[write to FILE, - for standard output]"
             ":FILE:_files' \\\n" },
    { "zsh", "\n    '(-f)--format=[what to write]:FORMAT:(lp mps)' \\\n" },
    { "zsh", "\n    '*--verbose[print more]' \\\n" },
    { "zsh", "[any integer, of which this is a rather long explanation that "
             "does not fit on one line \\[really\\: it'\\''s so\\]]:N: '" },
    { "fish", "\ncomplete -c moirai-try -s o -l output -r -F -d 'write to "
              "FILE, - for standard output'\n" },
    { "fish", "\ncomplete -c moirai-try -s f -l format -x -a 'lp mps' -d "
              "'what to write'\n" },
    { "fish", "\ncomplete -c moirai-try -s q -l quiet -d 'print nothing'\n" },
    { "fish", "[really: it\\'s so]'\n" },
};

START_TEST(zsh_and_fish_have_scripts_of_their_own)
{
    char words[32];
    const char *text;

    snprintf(words, sizeof words, "--completion %s", scripts[_i].shell);
    capture_begin(STDOUT_FILENO);
    ck_assert_int_eq(parse(words), MO_EXIT_DONE);
    text = capture_end();
    ck_assert_msg(strstr(text, scripts[_i].written) != NULL, "%s not in\n%s",
                  scripts[_i].written, text);
}
END_TEST

SUITE(option)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    tcase_add_checked_fixture(tests, NULL, tear_down);
    EACH(operands_may_stand_anywhere, COUNT(lines));
    EACH(values_may_be_attached_or_follow, 7);
    TEST(a_former_name_is_accepted);
    TEST(every_kind_goes_where_it_should);
    TEST(what_looks_like_an_option_may_be_a_value);
    EACH(mistakes_are_reported_in_one_line, COUNT(mistakes));
    EACH(failures_are_reported_with_their_place, 3);
    TEST(help_is_the_table);
    TEST(version_names_what_was_built_in_and_the_licence);
    EACH(help_that_cannot_be_written_fails, 3);
    EACH(bash_completes_the_options_of_the_table, COUNT(typed));
    EACH(zsh_and_fish_have_scripts_of_their_own, COUNT(scripts));
}
