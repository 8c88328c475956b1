/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of base/compress.h, through base/out.h: the programs of the same name
 * unpack exactly the bytes written. */
#include <config.h>

#include "base/compress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const struct {
    const char *name, *unpack, *built;
} ways[] = {
    { "x.gz", "gzip -dc x.gz",
#ifdef HAVE_ZLIB
      "yes"
#else
      NULL
#endif
    },
    { "x.zst", "zstd -dcq x.zst",
#ifdef HAVE_ZSTD
      "yes"
#else
      NULL
#endif
    },
};

/* From nothing over one buffer and a little to sizes that use a second
 * thread. */
static const size_t sizes[] = { 0, 1, 100, 262144, 300000, 9000001 };

/* Neither all alike nor all different. */
static char byte_at(size_t i)
{
    return (char) (i * 2654435761u >> (i % 13 == 0 ? 7 : 27));
}

static void write_bytes(const char *path, size_t size, size_t piece)
{
    mo_out *out = NULL;
    char *bytes = malloc(size + 1);

    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_at(i);
    MUST(mo_out_open(path, &out, &err));
    for (size_t at = 0; at < size; at += piece)
        mo_out_bytes(out, bytes + at, size - at < piece ? size - at : piece);
    MUST(mo_out_commit(out, &err));
    free(bytes);
}

static void expect_unpacked(const char *command, size_t size)
{
    FILE *pipe = popen(command, "r");
    size_t n = 0;
    int c;

    ck_assert_ptr_nonnull(pipe);
    while ((c = getc(pipe)) != EOF) {
        if (n >= size || (char) c != byte_at(n))
            ck_abort_msg("%s: byte %zu of %zu", command, n, size);
        n++;
    }
    ck_assert_int_eq(pclose(pipe), 0);
    ck_assert_uint_eq(n, size);
}

START_TEST(what_was_written_is_unpacked)
{
    int way = _i / COUNT(sizes);
    size_t size = sizes[_i % COUNT(sizes)];
    static const size_t pieces[] = { 1000, 1000000 };

    if (!ways[way].built)
        return;
    for (int p = 0; p < COUNT(pieces); p++) {
        write_bytes(ways[way].name, size, pieces[p]);
        expect_unpacked(ways[way].unpack, size);
    }
}
END_TEST

START_TEST(the_same_bytes_are_the_same_file)
{
    char command[64];

    if (!ways[_i].built)
        return;
    write_bytes(ways[_i].name, 300000, 1000);
    snprintf(command, sizeof command, "cp %s first", ways[_i].name);
    ck_assert_int_eq(system(command), 0);
    sleep(1); /* a header with a time would show it */
    write_bytes(ways[_i].name, 300000, 1000);
    snprintf(command, sizeof command, "cmp %s first", ways[_i].name);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(a_full_disk_is_reported)
{
    mo_error full = { 0 };
    mo_out *out = NULL;

    if (!ways[_i].built)
        return;
    unlink(ways[_i].name);
    ck_assert_int_eq(symlink("/dev/full", ways[_i].name), 0);
    MUST(mo_out_open(ways[_i].name, &out, &err));
    for (size_t i = 0; i < 3000000; i++)
        mo_out_char(out, byte_at(i));
    ck_assert_int_eq(mo_out_commit(out, &full), MO_E_IO);
    ck_assert_str_eq(full.text, "cannot write: No space left on device");
    unlink(ways[_i].name);
}
END_TEST

START_TEST(what_is_given_up_leaves_nothing)
{
    mo_out *out = NULL;
    size_t before = scratch_count(".");

    if (!ways[_i].built)
        return;
    MUST(mo_out_open(ways[_i].name, &out, &err));
    for (size_t i = 0; i < 3000000; i++)
        mo_out_char(out, byte_at(i));
    mo_out_abandon(out);
    ck_assert_uint_eq(scratch_count("."), before);
}
END_TEST

START_TEST(what_was_not_built_in_is_refused)
{
    mo_error err = { 0 };
    mo_out *out = NULL;

    if (ways[_i].built)
        return;
    ck_assert_int_eq(mo_out_open(ways[_i].name, &out, &err), MO_E_SUPPORT);
    ck_assert_str_eq(err.file, ways[_i].name);
    ck_assert_uint_eq(scratch_count("."), 0);
}
END_TEST

START_TEST(other_names_are_left_alone)
{
    static const char *const names[] = { "plain", ".gz", "x.gzip",
                                         "x.GZ",  "gz",  "./.zst" };

    write_bytes(names[_i], 100, 100);
    ck_assert_uint_eq(mo_compress_stem(names[_i]), strlen(names[_i]));
    ck_assert_int_eq(scratch_read(names[_i])[0], byte_at(0));
    unlink(names[_i]);
}
END_TEST

START_TEST(the_stem_is_what_stands_in_front)
{
    ck_assert_uint_eq(mo_compress_stem("a/b.mps.gz"), strlen("a/b.mps"));
    ck_assert_uint_eq(mo_compress_stem("b.lp.zst"), strlen("b.lp"));
    ck_assert_uint_eq(mo_compress_stem("b.lp"), strlen("b.lp"));
    ck_assert_uint_eq(mo_compress_stem(""), 0);
}
END_TEST

SUITE(compress)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(what_was_not_built_in_is_refused, COUNT(ways));
    EACH(what_was_written_is_unpacked, COUNT(ways) * COUNT(sizes));
    EACH(the_same_bytes_are_the_same_file, COUNT(ways));
    EACH(a_full_disk_is_reported, COUNT(ways));
    EACH(what_is_given_up_leaves_nothing, COUNT(ways));
    EACH(other_names_are_left_alone, 6);
    TEST(the_stem_is_what_stands_in_front);
}
