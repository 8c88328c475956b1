/* Claims of base/out.h: what is written, and where it appears. */
#include <config.h>

#include "base/out.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/capture.h"
#include "tests/scratch.h"
#include "tests/suite.h"

/* What write puts out, as a text to be freed. */
static char *collected(void (*write)(mo_out *, const char *), const char *text)
{
    mo_out *out = NULL;
    char *bytes;
    size_t size;

    MUST(mo_out_memory(&out, &err));
    write(out, text);
    bytes = mo_out_take(out, &size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(size, strlen(bytes));
    MUST(mo_out_commit(out, &err));
    return bytes;
}

static const struct {
    const char *text, *xml, *json;
} escapes[] = {
    { "", "", "\"\"" },
    { "plain", "plain", "\"plain\"" },
    { "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c'", "\"a<b>&\\\"c'\"" },
    { "\t\n\r", "&#9;&#10;&#13;", "\"\\t\\n\\r\"" },
    { "a\\b/", "a\\b/", "\"a\\\\b/\"" },
    { "\1\b\f\x1f", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
      "\"\\u0001\\b\\f\\u001f\"" },
    { "\x7f", "\x7f", "\"\x7f\"" },
    { "caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80",
      "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"" },
    { "\xff.", "\xef\xbf\xbd.", "\"\xef\xbf\xbd.\"" },
    { "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
    { "\xef\xbf\xbf", "\xef\xbf\xbd", "\"\xef\xbf\xbd\"" },   /* U+FFFF */
    { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
      "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
};

START_TEST(texts_are_escaped_for_xml)
{
    char *got = collected(mo_out_xml, escapes[_i].text);

    ck_assert_str_eq(got, escapes[_i].xml);
    free(got);
}
END_TEST

START_TEST(texts_are_escaped_for_json)
{
    char *got = collected(mo_out_json, escapes[_i].text);

    ck_assert_str_eq(got, escapes[_i].json);
    free(got);
}
END_TEST

/* The fast way looks at eight bytes at once: each special byte is found at
 * each place in texts of each length, and no other byte is taken for one. */
START_TEST(every_byte_is_seen_wherever_it_stands)
{
    char byte = (char) (_i + 1), alone[2] = { byte, '\0' };
    char *xml_alone = collected(mo_out_xml, alone);
    char *json_alone = collected(mo_out_json, alone);

    for (size_t n = 1; n <= 17; n++)
        for (size_t at = 0; at < n; at++) {
            char text[18] = "", xml[64], json[64], *got;

            memset(text, 'x', n);
            text[at] = byte;
            snprintf(xml, sizeof xml, "%.*s%s%s", (int) at, text, xml_alone,
                     text + at + 1);
            snprintf(json, sizeof json, "\"%.*s%.*s%s\"", (int) at, text,
                     (int) strlen(json_alone) - 2, json_alone + 1,
                     text + at + 1);
            got = collected(mo_out_xml, text);
            ck_assert_str_eq(got, xml);
            free(got);
            got = collected(mo_out_json, text);
            ck_assert_str_eq(got, json);
            free(got);
        }
    free(xml_alone);
    free(json_alone);
}
END_TEST

/* Longer than the buffer, which has to grow in the middle of it. */
START_TEST(long_texts_are_escaped_throughout)
{
    enum { SIZE = 9999 };
    char *text = calloc(1, SIZE + 1), *got, *at;

    for (int i = 0; i < SIZE; i++)
        text[i] = i % 7 == 0 ? '&' : (char) ('a' + i % 26);
    at = got = collected(mo_out_xml, text);
    for (int i = 0; i < SIZE; i++) {
        size_t n = text[i] == '&' ? 5 : 1;

        if (memcmp(at, n == 5 ? "&amp;" : &text[i], n) != 0)
            ck_abort_msg("byte %d", i);
        at += n;
    }
    ck_assert_int_eq(*at, '\0');
    free(got);
    free(text);
}
END_TEST

static void write_pieces(mo_out *out, const char *text)
{
    mo_out_text(out, text);
    mo_out_char(out, ' ');
    mo_out_int(out, -12);
    mo_out_char(out, ' ');
    mo_out_double(out, 0.5);
    mo_out_bytes(out, " xyz", 2);
    mo_out_bytes(out, "", 0);
    mo_out_printf(out, " %s=%d", "n", 3);
}

START_TEST(pieces_come_out_in_order)
{
    char *got = collected(write_pieces, "text");

    ck_assert_str_eq(got, "text -12 0.5 x n=3");
    free(got);
}
END_TEST

START_TEST(printf_may_be_long)
{
    char *wide = malloc(5001), *got;
    mo_out *out = NULL;
    size_t size;

    memset(wide, 'w', 5000);
    wide[5000] = '\0';
    MUST(mo_out_memory(&out, &err));
    mo_out_printf(out, "<%s>", wide);
    got = mo_out_take(out, &size);
    ck_assert_uint_eq(size, 5002);
    ck_assert(got[0] == '<' && got[5001] == '>');
    ck_assert(memcmp(got + 1, wide, 5000) == 0);
    mo_out_abandon(out);
    free(got);
    free(wide);
}
END_TEST

START_TEST(what_is_lent_makes_room_for_the_next)
{
    mo_out *out;
    size_t size = 0;

    MUST(mo_out_memory(&out, &err));
    ck_assert_str_eq(mo_out_lend(out, &size), "");
    for (int n = 1; n < 5000; n = 3 * n + 1) {
        const char *text;

        for (int i = 0; i < n; i++)
            mo_out_char(out, 'x');
        text = mo_out_lend(out, &size);
        ck_assert_ptr_nonnull(text);
        ck_assert_uint_eq(size, (size_t) n);
        ck_assert_uint_eq(strspn(text, "x"), (size_t) n);
        ck_assert_int_eq(text[n], '\0');
    }
    mo_out_abandon(out);
}
END_TEST

START_TEST(what_was_taken_is_gone)
{
    mo_out *out = NULL;
    size_t size;
    char *first, *second, *third;

    MUST(mo_out_memory(&out, &err));
    mo_out_text(out, "one");
    first = mo_out_take(out, &size);
    mo_out_text(out, "");
    mo_out_text(out, "two");
    second = mo_out_take(out, &size);
    third = mo_out_take(out, &size);
    ck_assert_str_eq(first, "one");
    ck_assert_str_eq(second, "two");
    ck_assert_str_eq(third, "");
    ck_assert_uint_eq(size, 0);
    MUST(mo_out_commit(out, &err));
    free(first);
    free(second);
    free(third);
}
END_TEST

static void write_file(const char *path, const char *text)
{
    mo_out *out = NULL;

    MUST(mo_out_open(path, &out, &err));
    mo_out_text(out, text);
    MUST(mo_out_commit(out, &err));
}

static mode_t mode_of(const char *path)
{
    struct stat info;

    ck_assert_int_eq(stat(path, &info), 0);
    return info.st_mode & 0777;
}

START_TEST(a_file_appears_only_when_committed)
{
    mo_out *out = NULL;

    mkdir("whole", 0777);
    scratch_write("whole/file", "old");
    MUST(mo_out_open("whole/file", &out, &err));
    mo_out_text(out, "new");
    ck_assert_str_eq(scratch_read("whole/file"), "old");
    ck_assert_uint_eq(scratch_count("whole"), 2);
    MUST(mo_out_commit(out, &err));
    ck_assert_str_eq(scratch_read("whole/file"), "new");
    ck_assert_uint_eq(scratch_count("whole"), 1);
}
END_TEST

START_TEST(an_abandoned_file_leaves_no_trace)
{
    static const int pieces[] = { 0, 1, 2000000 };
    mo_out *out = NULL;

    mkdir("abandoned", 0777);
    MUST(mo_out_open("abandoned/file", &out, &err));
    for (int i = 0; i < pieces[_i]; i++)
        mo_out_text(out, "new ");
    mo_out_abandon(out);
    mo_out_abandon(NULL);
    ck_assert_uint_eq(scratch_count("abandoned"), 0);
}
END_TEST

/* Pieces of all sizes around that of the buffer, against a plain copy; enough
 * of them that a second thread takes part. */
START_TEST(large_files_are_written_as_given)
{
    enum { SIZE = 24 << 20 };
    char *wanted = malloc(SIZE), *got = malloc(SIZE + 1);
    mo_out *out = NULL;
    FILE *file;

    for (int i = 0; i < SIZE; i++)
        wanted[i] = (char) (i * 7 + i / 251);
    MUST(mo_out_open("large", &out, &err));
    for (size_t at = 0, n = 1; at < SIZE; at += n, n = n * 5 / 2 % 700000 + 1) {
        if (n > SIZE - at)
            n = SIZE - at;
        mo_out_bytes(out, wanted + at, n);
    }
    MUST(mo_out_commit(out, &err));

    file = fopen("large", "rb");
    ck_assert_uint_eq(fread(got, 1, SIZE + 1, file), SIZE);
    ck_assert(memcmp(got, wanted, SIZE) == 0);
    fclose(file);
    free(got);
    free(wanted);
}
END_TEST

START_TEST(a_new_file_obeys_the_umask)
{
    mode_t old = umask(027);

    write_file("masked", "x");
    umask(old);
    ck_assert_int_eq(mode_of("masked"), 0640);
}
END_TEST

START_TEST(a_replaced_file_keeps_its_mode)
{
    static const mode_t modes[] = { 0600, 0644, 0666, 0755 };
    mode_t old = umask(022);

    scratch_write("moded", "old");
    chmod("moded", modes[_i]);
    write_file("moded", "new");
    umask(old);
    ck_assert_int_eq(mode_of("moded"), modes[_i]);
    ck_assert_str_eq(scratch_read("moded"), "new");
}
END_TEST

static bool is_link(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

START_TEST(a_link_is_followed_and_stays)
{
    mkdir("far", 0777);
    scratch_write("far/real", "old");
    ck_assert_int_eq(symlink("real", "far/inner"), 0);
    ck_assert_int_eq(symlink("far/inner", "outer"), 0);
    write_file("outer", "new");
    ck_assert(is_link("outer") && is_link("far/inner"));
    ck_assert(!is_link("far/real"));
    ck_assert_str_eq(scratch_read("far/real"), "new");
}
END_TEST

START_TEST(a_link_to_nothing_makes_its_file)
{
    ck_assert_int_eq(symlink("to-come", "dangling"), 0);
    write_file("dangling", "new");
    ck_assert(is_link("dangling") && !is_link("to-come"));
    ck_assert_str_eq(scratch_read("to-come"), "new");
}
END_TEST

START_TEST(a_name_of_any_length_has_a_temporary)
{
    char name[256];

    memset(name, 'n', 255);
    name[255] = '\0';
    write_file(name, "long");
    ck_assert_str_eq(scratch_read(name), "long");
}
END_TEST

static void check_refused(const char *path, const char *wanted)
{
    mo_out *out = NULL;
    mo_error err = { 0 };
    char text[512];

    ck_assert_int_eq(mo_out_open(path, &out, &err), MO_E_IO);
    ck_assert_ptr_null(out);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text), wanted);
}

START_TEST(what_cannot_be_written_is_refused_at_once)
{
    mkdir("folder", 0777);
    ck_assert_int_eq(symlink("loop", "loop"), 0);
    check_refused("folder", "folder: is a folder; name a file to write");
    check_refused("folder/", "folder/: is a folder; name a file to write");
    check_refused("absent/", "absent/: cannot create: Is a directory");
    check_refused("", "cannot create: No such file or directory");
    check_refused("absent/file",
                  "absent/file: cannot create a temporary file beside it: "
                  "No such file or directory");
    check_refused("loop",
                  "loop: cannot open: Too many levels of symbolic links");
}
END_TEST

START_TEST(a_device_is_written_directly)
{
    mo_out *out = NULL;
    struct stat info;

    MUST(mo_out_open("/dev/null", &out, &err));
    mo_out_text(out, "gone");
    MUST(mo_out_commit(out, &err));
    ck_assert_int_eq(stat("/dev/null", &info), 0);
    ck_assert(S_ISCHR(info.st_mode));
}
END_TEST

START_TEST(a_full_disk_is_told_at_the_end)
{
    mo_error full = { 0 };
    mo_out *out = NULL;

    MUST(mo_out_open("/dev/full", &out, &err));
    MUST(mo_out_failure(out, &err));
    for (int i = 0; i < 1000000; i++)
        mo_out_text(out, "more ");
    ck_assert_int_eq(mo_out_failure(out, &full), MO_E_IO);
    ck_assert_str_eq(full.text, "cannot write: No space left on device");
    ck_assert_int_eq(mo_out_commit(out, &full), MO_E_IO);
    ck_assert_str_eq(full.file, "/dev/full");
    ck_assert_str_eq(full.text, "cannot write: No space left on device");
}
END_TEST

/* Runs job in a process of its own, up to its end or its death. */
static int status_of(int (*job)(void))
{
    int status = 0;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(job());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

/* As nobody, for root may write everything. */
static int replace_locked_file(void)
{
    mo_out *out = NULL;
    mo_error err = { 0 };

    if (geteuid() == 0 && seteuid(65534) != 0)
        return 1;
    if (mo_out_open("locked", &out, &err) != MO_E_IO)
        return 2;
    return strcmp(err.text, "cannot write: Permission denied") == 0 ? 0 : 3;
}

START_TEST(a_read_only_file_is_not_replaced)
{
    scratch_write("locked", "old");
    chmod("locked", 0444);
    chmod(".", 0777);
    ck_assert_int_eq(status_of(replace_locked_file), 0);
    ck_assert_str_eq(scratch_read("locked"), "old");
}
END_TEST

static rlim_t file_limit;

/* A limit on the size of files stands for a disk that fills up. */
static int write_beyond_the_limit(void)
{
    struct rlimit limit = { file_limit, file_limit };
    mo_error err = { 0 };
    mo_out *out = NULL;

    mo_cleanup_ignore_write_signals();
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        mo_out_open("failed/file", &out, &err) != MO_OK)
        return 1;
    for (int i = 0; i < 2000000; i++)
        mo_out_text(out, "more ");
    return mo_out_commit(out, &err) == MO_E_IO ? 0 : 2;
}

START_TEST(a_failed_write_leaves_the_old_file)
{
    static const rlim_t limits[] = { 1000, 6 << 20, 9999999 };

    file_limit = limits[_i];
    mkdir("failed", 0777);
    scratch_write("failed/file", "old");
    ck_assert_int_eq(status_of(write_beyond_the_limit), 0);
    ck_assert_str_eq(scratch_read("failed/file"), "old");
    ck_assert_uint_eq(scratch_count("failed"), 1);
}
END_TEST

START_TEST(a_dash_or_nothing_is_standard_output)
{
    static const char *const names[] = { "-", NULL };

    capture_begin(STDOUT_FILENO);
    write_file(names[_i], "results\n");
    ck_assert_str_eq(capture_end(), "results\n");
}
END_TEST

static int write_to_closed_stdout(void)
{
    mo_out *out = NULL;
    mo_error err = { 0 };

    close(STDOUT_FILENO);
    return mo_out_open("-", &out, &err) == MO_E_IO &&
                   strcmp(err.file, "standard output") == 0
               ? 0
               : 1;
}

START_TEST(a_closed_standard_output_is_an_error)
{
    ck_assert_int_eq(status_of(write_to_closed_stdout), 0);
}
END_TEST

static int write_to_deserted_pipe(void)
{
    int ends[2];
    mo_out *out = NULL;
    mo_error err = { 0 };

    mo_cleanup_ignore_write_signals();
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0 ||
        close(ends[0]) != 0 || mo_out_open("-", &out, &err) != MO_OK)
        return 1;
    mo_out_text(out, "nobody listens");
    return mo_out_commit(out, &err) == MO_E_IO ? 0 : 2;
}

START_TEST(a_pipe_that_nobody_reads_is_an_error)
{
    ck_assert_int_eq(status_of(write_to_deserted_pipe), 0);
}
END_TEST

static int last_signal;

static int die_while_writing(void)
{
    mo_out *out = NULL;

    signal(last_signal, SIG_DFL);
    if (mo_out_open("killed/file", &out, NULL) != MO_OK ||
        scratch_count("killed") != 1)
        return 1;
    mo_out_text(out, "never seen");
    raise(last_signal);
    return 2;
}

START_TEST(a_signal_removes_the_temporary)
{
    static const int signals[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                   SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2,
                                   SIGXFSZ, SIGPIPE };
    int status;

    last_signal = signals[_i];
    mkdir("killed", 0777);
    status = status_of(die_while_writing);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), last_signal);
    ck_assert_uint_eq(scratch_count("killed"), 0);
}
END_TEST

static int ignore_the_signal(void)
{
    mo_out *out = NULL;

    signal(SIGHUP, SIG_IGN);
    if (mo_out_open("ignored", &out, NULL) != MO_OK)
        return 1;
    raise(SIGHUP);
    return mo_out_commit(out, NULL) == MO_OK ? 0 : 2;
}

START_TEST(an_ignored_signal_stays_ignored)
{
    ck_assert_int_eq(status_of(ignore_the_signal), 0);
    ck_assert_str_eq(scratch_read("ignored"), "");
}
END_TEST

static int die_at_once(void)
{
    raise(SIGTERM);
    return 1;
}

START_TEST(a_child_that_dies_leaves_the_files_of_its_parent)
{
    mo_out *out = NULL;

    signal(SIGTERM, SIG_DFL);
    MUST(mo_out_open("parents", &out, &err));
    mo_out_text(out, "kept");
    ck_assert(WIFSIGNALED(status_of(die_at_once)));
    MUST(mo_out_commit(out, &err));
    ck_assert_str_eq(scratch_read("parents"), "kept");
}
END_TEST

SUITE(out)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(a_signal_removes_the_temporary, 10);
    TEST(an_ignored_signal_stays_ignored);
    TEST(a_child_that_dies_leaves_the_files_of_its_parent);
    EACH(texts_are_escaped_for_xml, COUNT(escapes));
    EACH(texts_are_escaped_for_json, COUNT(escapes));
    EACH(every_byte_is_seen_wherever_it_stands, 255);
    TEST(long_texts_are_escaped_throughout);
    TEST(pieces_come_out_in_order);
    TEST(printf_may_be_long);
    TEST(what_is_lent_makes_room_for_the_next);
    TEST(what_was_taken_is_gone);
    TEST(a_file_appears_only_when_committed);
    EACH(an_abandoned_file_leaves_no_trace, 3);
    TEST(large_files_are_written_as_given);
    TEST(a_new_file_obeys_the_umask);
    EACH(a_replaced_file_keeps_its_mode, 4);
    TEST(a_link_is_followed_and_stays);
    TEST(a_link_to_nothing_makes_its_file);
    TEST(a_name_of_any_length_has_a_temporary);
    TEST(what_cannot_be_written_is_refused_at_once);
    TEST(a_read_only_file_is_not_replaced);
    TEST(a_device_is_written_directly);
    TEST(a_full_disk_is_told_at_the_end);
    EACH(a_failed_write_leaves_the_old_file, 3);
    EACH(a_dash_or_nothing_is_standard_output, 2);
    TEST(a_closed_standard_output_is_an_error);
    TEST(a_pipe_that_nobody_reads_is_an_error);
}
