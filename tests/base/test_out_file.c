/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/out.h: paths, owners and modes of files. */
#include <config.h>

#include "base/out.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "tests/support/capture.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

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

START_TEST(a_dash_or_nothing_is_standard_output)
{
    static const char *const names[] = { "-", NULL };

    capture_begin(STDOUT_FILENO);
    write_file(names[_i], "results\n");
    ck_assert_str_eq(capture_end(), "results\n");
}
END_TEST

/* Pieces below and above the size of the buffer, with and without a writer
 * thread. */
START_TEST(a_digest_is_of_the_bytes_since_it_was_begun)
{
    static const struct {
        size_t piece;
        int n;
    } sizes[] = {
        { 0, 1 }, { 1, 1 }, { 7, 1000 }, { 1000, 9000 }, { 300000, 3 }
    };
    const size_t piece = sizes[_i].piece, size = piece * (size_t) sizes[_i].n;
    char *bytes = malloc(size + 1);
    mo_out *out = NULL;

    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char) (i * 2654435761u >> 13);
    MUST(mo_out_open("digested", &out, &err));
    mo_out_text(out, "before");
    mo_out_digest_begin(out);
    for (int i = 0; i < sizes[_i].n; i++)
        mo_out_bytes(out, bytes + (size_t) i * piece, piece);
    ck_assert_uint_eq(mo_out_digest(out), mo_digest_of(bytes, size));
    ck_assert_uint_eq(mo_out_digest(out), mo_digest_of(bytes, size));
    mo_out_text(out, "x");
    bytes[size] = 'x';
    ck_assert_uint_eq(mo_out_digest(out), mo_digest_of(bytes, size + 1));
    MUST(mo_out_commit(out, &err));
    free(bytes);
}
END_TEST

SUITE(out_file)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    TEST(a_file_appears_only_when_committed);
    EACH(an_abandoned_file_leaves_no_trace, 3);
    TEST(large_files_are_written_as_given);
    TEST(a_new_file_obeys_the_umask);
    EACH(a_replaced_file_keeps_its_mode, 4);
    TEST(a_link_is_followed_and_stays);
    TEST(a_link_to_nothing_makes_its_file);
    TEST(a_name_of_any_length_has_a_temporary);
    TEST(what_cannot_be_written_is_refused_at_once);
    TEST(a_device_is_written_directly);
    EACH(a_dash_or_nothing_is_standard_output, 2);
    EACH(a_digest_is_of_the_bytes_since_it_was_begun, 5);
}
