/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/tar.h: archives are read as they were written, also by other
 * programs, and whatever is not a plain file inside the archive is refused. */
#include <config.h>

#include "base/tar.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* A header as any program may write it; type 0 ends the archive. */
typedef struct block {
    const char *name;
    char type;
    const char *size; /* octal, or NULL: of data */
    const char *data;
} block;

/* The last block: with an end mark, or cut off before it. */
#define END                                                                    \
    {                                                                          \
        "", 0, NULL, NULL                                                      \
    }
#define CUT                                                                    \
    {                                                                          \
        NULL, 0, NULL, NULL                                                    \
    }

static void write_header(FILE *file, const block *b)
{
    unsigned char h[MO_TAR_BLOCK] = { 0 };
    unsigned sum = 0;
    char text[16];

    memcpy(h, b->name, strlen(b->name));
    memcpy(h + 100, "0000644", 8);
    snprintf(text, sizeof text, "%011o",
             (unsigned) (b->data ? strlen(b->data) : 0));
    memcpy(h + 124, b->size ? b->size : text, strlen(b->size ? b->size : text));
    memset(h + 148, ' ', 8);
    h[156] = (unsigned char) b->type;
    memcpy(h + 257, "ustar\00000", 8);
    for (int i = 0; i < MO_TAR_BLOCK; i++)
        sum += h[i];
    snprintf(text, sizeof text, "%06o", sum);
    memcpy(h + 148, text, 7);
    fwrite(h, 1, sizeof h, file);
}

static void write_blocks(const block *b)
{
    static const char zeros[2 * MO_TAR_BLOCK];
    FILE *file = fopen("x.tar", "wb");

    ck_assert_ptr_nonnull(file);
    for (; b->type; b++) {
        size_t n = b->data ? strlen(b->data) : 0;

        write_header(file, b);
        if (n > 0) {
            fwrite(b->data, 1, n, file);
            fwrite(zeros, 1, (MO_TAR_BLOCK - n % MO_TAR_BLOCK) % MO_TAR_BLOCK,
                   file);
        }
    }
    if (b->name)
        fwrite(zeros, 1, sizeof zeros, file);
    ck_assert_int_eq(fclose(file), 0);
}

static mo_status read_index(mo_tar_index *index, mo_error *err)
{
    int fd = open("x.tar", O_RDONLY);
    mo_status status;

    ck_assert_int_ge(fd, 0);
    status = mo_tar_index_read(fd, "x.tar", index, err);
    close(fd);
    return status;
}

static void expect_member(const mo_tar_index *index, const char *name,
                          const char *data)
{
    const mo_tar_member *member = mo_tar_find(index, name);
    int fd = open("x.tar", O_RDONLY);

    ck_assert_msg(member != NULL, "%s is missing", name);
    unlink("extracted");
    MUST(mo_tar_extract(fd, "x.tar", member, "extracted", &err));
    ck_assert_str_eq(scratch_read("extracted"), data);
    ck_assert_int_eq(member->size, (int64_t) strlen(data));
    close(fd);
}

static const char *long_name(char *name)
{
    memset(name, 'n', 250);
    memcpy(name + 250, ".bin", 5);
    return name;
}

START_TEST(what_was_written_is_read)
{
    char name[256];
    mo_tar_index index = { 0 };
    mo_out *out;

    scratch_write("file", "some text\n");
    MUST(mo_out_open("x.tar", &out, &err));
    mo_tar_put_bytes(out, "first.txt", "abc", 3);
    mo_tar_put_bytes(out, "nothing", "", 0);
    MUST(mo_tar_put_file(out, long_name(name), "file", &err));
    MUST(mo_tar_put_file(out, "n\xc3\xa4me (1)", "file", &err));
    mo_tar_put_end(out);
    MUST(mo_out_commit(out, &err));
    MUST(read_index(&index, &err));
    ck_assert_uint_eq(index.n, 4);
    expect_member(&index, "first.txt", "abc");
    expect_member(&index, "nothing", "");
    expect_member(&index, name, "some text\n");
    expect_member(&index, "n\xc3\xa4me (1)", "some text\n");
    mo_tar_index_clear(&index);
    ck_assert_int_eq(system("mkdir t && tar -C t -xf x.tar && test $(ls t | "
                            "wc -l) = 4 && cmp file t/n*.bin"),
                     0);
}
END_TEST

START_TEST(no_clock_or_user_is_in_the_bytes)
{
    mo_out *out;

    for (int i = 0; i < 2; i++) {
        scratch_write("file", "x");
        chmod("file", i == 0 ? 0600 : 0755);
        MUST(mo_out_open(i == 0 ? "a.tar" : "b.tar", &out, &err));
        MUST(mo_tar_put_file(out, "file", "file", &err));
        mo_tar_put_end(out);
        MUST(mo_out_commit(out, &err));
    }
    ck_assert_int_eq(system("cmp a.tar b.tar"), 0);
}
END_TEST

START_TEST(archives_of_other_programs_are_read)
{
    static const char *const ways[] = {
        "tar --format=gnu -C d -cf x.tar .",
        "tar --format=ustar -C d -cf x.tar a b",
        "tar --format=posix -C d -cf x.tar ./a ./b",
    };
    mo_tar_index index = { 0 };

    ck_assert_int_eq(system("mkdir -p d && echo one >d/a && echo two >d/b"), 0);
    for (size_t i = 0; i < COUNT(ways); i++) {
        if (system(ways[i]) != 0)
            continue;
        MUST(read_index(&index, &err));
        ck_assert_uint_eq(index.n, 2);
        expect_member(&index, "a", "one\n");
        expect_member(&index, "b", "two\n");
        mo_tar_index_clear(&index);
    }
}
END_TEST

/* Sizes from 8 GiB on are in extended headers, or binary (GNU). */
START_TEST(large_members_are_found)
{
    static const int64_t size = INT64_C(9) << 30;
    static const block blocks[] = {
        { "pax", 'x', NULL, "19 size=9663676416\n" },
        { "big", '0', "00000000000", NULL },
        CUT,
    };
    mo_tar_index index = { 0 };
    int fd;

    write_blocks(blocks);
    fd = open("x.tar", O_WRONLY);
    ck_assert_int_eq(ftruncate(fd, 3 * MO_TAR_BLOCK + size + 1024), 0);
    close(fd);
    MUST(read_index(&index, &err));
    ck_assert_uint_eq(index.n, 1);
    ck_assert_int_eq(index.members[0].size, size);
    ck_assert_int_eq(index.members[0].offset, 3 * MO_TAR_BLOCK);
    mo_tar_index_clear(&index);
    unlink("x.tar");
}
END_TEST

static const struct {
    const char *what; /* in the error */
    block blocks[4];
} hostile[] = {
    { "not a plain name", { { "../x", '0', 0, "a" }, END } },
    { "not a plain name", { { "/etc/x", '0', 0, "a" }, END } },
    { "not a plain name", { { "a/b", '0', 0, "a" }, END } },
    { "not a plain name", { { "..", '0', 0, "a" }, END } },
    { "not a plain name", { { "./", '0', 0, "a" }, END } },
    { "not a plain name", { { "a\nb", '0', 0, "a" }, END } },
    { "not a plain name",
      { { "p", 'x', 0, "14 path=../ab\n" }, { "a", '0', 0, "a" }, END } },
    { "not a plain name",
      { { "L", 'L', 0, "/tmp/x" }, { "a", '0', 0, "a" }, END } },
    { "is a link or a device", { { "x", '2', 0, NULL }, END } },
    { "is a link or a device", { { "x", '1', 0, NULL }, END } },
    { "is a link or a device", { { "x", '3', 0, NULL }, END } },
    { "is a link or a device", { { "x", '6', 0, NULL }, END } },
    { "is a link or a device", { { "x", 'S', 0, NULL }, END } },
    { "is there twice", { { "x", '0', 0, "a" }, { "./x", '0', 0, "b" }, END } },
    { "cut off", { { "x", '0', "77777777777", "a" }, END } },
    { "cut off", { { "x", '0', "00000002000", "a" }, CUT } },
    { "cut off", { { "x", '0', 0, "a" }, CUT } },
    { "no number", { { "x", '0', "0000x", "a" }, END } },
    { "malformed", { { "p", 'x', 0, "99 path=a\n" }, END } },
    { "malformed", { { "p", 'x', 0, "path=a\n" }, END } },
    { "malformed", { { "p", 'x', 0, "0 path=a\n" }, END } },
    { "malformed", { { "p", 'x', 0, "11 size=-1\n" }, END } },
    { "malformed", { { "p", 'x', 0, "30 size=99999999999999999999\n" }, END } },
    { "cut off",
      { { "p", 'x', 0, "27 size=999999999999999999\n" },
        { "a", '0', 0, "a" },
        END } },
};

START_TEST(what_is_no_plain_file_is_refused)
{
    mo_tar_index index = { 0 };
    mo_error err = { 0 };
    mo_status status;

    write_blocks(hostile[_i].blocks);
    status = read_index(&index, &err);
    mo_tar_index_clear(&index);
    ck_assert_int_ne(status, MO_OK);
    ck_assert_msg(strstr(err.text, hostile[_i].what) != NULL, "%d: %s", _i,
                  err.text);
}
END_TEST

START_TEST(a_wrong_checksum_is_refused)
{
    static const block blocks[] = { { "x", '0', 0, "a" }, END };
    mo_tar_index index = { 0 };
    mo_error err = { 0 };
    FILE *file;

    write_blocks(blocks);
    file = fopen("x.tar", "r+b");
    fputc('y', file);
    fclose(file);
    ck_assert_int_eq(read_index(&index, &err), MO_E_SYNTAX);
    mo_tar_index_clear(&index);
}
END_TEST

START_TEST(extraction_replaces_nothing)
{
    static const block blocks[] = { { "x", '0', 0, "new" }, END };
    mo_tar_index index = { 0 };
    mo_error why = { 0 };
    int fd;

    write_blocks(blocks);
    MUST(read_index(&index, &err));
    scratch_write("kept", "old");
    ck_assert_int_eq(symlink("kept", "link"), 0);
    fd = open("x.tar", O_RDONLY);
    ck_assert_int_eq(
        mo_tar_extract(fd, "x.tar", &index.members[0], "link", &why), MO_E_IO);
    close(fd);
    ck_assert_str_eq(scratch_read("kept"), "old");
    mo_tar_index_clear(&index);
}
END_TEST

SUITE(tar)
{
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    TEST(what_was_written_is_read);
    TEST(no_clock_or_user_is_in_the_bytes);
    TEST(archives_of_other_programs_are_read);
    TEST(large_members_are_found);
    EACH(what_is_no_plain_file_is_refused, COUNT(hostile));
    TEST(a_wrong_checksum_is_refused);
    TEST(extraction_replaces_nothing);
}
