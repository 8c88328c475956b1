/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/reader.h: what base/out.h writes is read back, by file and from
 * memory; damage at any byte is an error or leaves the bytes as they were. */
#include <config.h>

#include "base/reader.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "base/out.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const char *const names[] = {
    "x",
#ifdef HAVE_ZLIB
    "x.gz",
#endif
#ifdef HAVE_ZSTD
    "x.zst",
#endif
};

static const size_t sizes[] = { 0, 1, 100, 65535, 65536, 65537, 1500000 };

static char byte_at(size_t i)
{
    return (char) (i * 2654435761u >> (i % 13 == 0 ? 7 : 27));
}

static void write_bytes(const char *path, size_t size)
{
    mo_out *out = NULL;

    MUST(mo_out_open(path, &out, &err));
    for (size_t i = 0; i < size; i++)
        mo_out_char(out, byte_at(i));
    MUST(mo_out_commit(out, &err));
}

/* Reads all of path as it is stored; free() it. */
static char *raw_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 22);

    *size = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

START_TEST(what_was_written_is_read)
{
    const char *name = names[_i % COUNT(names)];
    size_t size = sizes[_i / COUNT(names)], got;
    char *text = NULL;

    write_bytes(name, size);
    MUST(mo_reader_all(name, &text, &got, &err));
    ck_assert_uint_eq(got, size);
    for (size_t i = 0; i < size; i++)
        ck_assert_int_eq(text[i], byte_at(i));
    ck_assert_int_eq(text[size], 0);
    free(text);
}
END_TEST

/* Pieces of any size are filled but for the last. */
START_TEST(pieces_are_filled)
{
    enum { SIZE = 200000, PIECE = 777 };
    const char *name = names[_i];
    mo_reader *reader;
    char piece[PIECE];
    size_t at = 0, got, size;
    char *raw;

    write_bytes(name, SIZE);
    raw = raw_bytes(name, &size);
    MUST(mo_reader_memory("memory", raw, size, &reader, &err));
    do {
        MUST(mo_reader_read(reader, piece, PIECE, &got, &err));
        ck_assert_uint_eq(got, SIZE - at < PIECE ? SIZE - at : PIECE);
        for (size_t i = 0; i < got; i++)
            ck_assert_int_eq(piece[i], byte_at(at + i));
        at += got;
    } while (got > 0);
    ck_assert_uint_eq(at, SIZE);
    mo_reader_close(reader);
    free(raw);
}
END_TEST

static mo_status read_raw(const char *raw, size_t size, char *to, size_t room,
                          size_t *got, mo_error *err)
{
    mo_reader *reader = NULL;
    mo_status status = mo_reader_memory("memory", raw, size, &reader, err);

    if (status == MO_OK)
        status = mo_reader_read(reader, to, room, got, err);
    mo_reader_close(reader);
    return status;
}

START_TEST(a_file_cut_off_anywhere_is_an_error)
{
    enum { SIZE = 3000 };
    size_t size, got;
    char *raw, to[SIZE + 1];

    if (_i == 0)
        return; /* not compressed */
    write_bytes(names[_i], SIZE);
    raw = raw_bytes(names[_i], &size);
    for (size_t cut = 4; cut < size; cut++) {
        mo_error err = { 0 };
        mo_status status = read_raw(raw, cut, to, sizeof to, &got, &err);

        ck_assert_int_eq(status, MO_E_SYNTAX);
        ck_assert_str_eq(err.file, "memory");
        ck_assert_ptr_nonnull(strstr(err.text, "ends too early"));
    }
    free(raw);
}
END_TEST

/* Checksums: a changed byte is an error unless the bytes are right. */
START_TEST(damage_is_an_error)
{
    enum { SIZE = 3000 };
    size_t size, got;
    static char to[4 << 20];
    char *raw;

    if (_i == 0)
        return;
    write_bytes(names[_i], SIZE);
    raw = raw_bytes(names[_i], &size);
    for (size_t at = 4; at < size; at++) {
        mo_error err = { 0 };
        mo_status status;

        raw[at] = (char) (raw[at] ^ 0x55);
        status = read_raw(raw, size, to, sizeof to, &got, &err);
        raw[at] = (char) (raw[at] ^ 0x55);
        if (status != MO_OK) {
            ck_assert_ptr_nonnull(err.text[0] ? &err : NULL);
            continue;
        }
        ck_assert_uint_eq(got, SIZE);
        for (size_t i = 0; i < SIZE; i++)
            ck_assert_int_eq(to[i], byte_at(i));
    }
    free(raw);
}
END_TEST

/* As cat a.gz b.gz is. */
START_TEST(frames_one_after_the_other_are_one_file)
{
    enum { SIZE = 1000 };
    size_t size, got;
    char *raw, to[2 * SIZE + 1];
    int copies = _i == 0 ? 1 : 2;

    write_bytes(names[_i], SIZE);
    raw = raw_bytes(names[_i], &size);
    raw = realloc(raw, 2 * size);
    memcpy(raw + size, raw, size);
    MUST(read_raw(raw, (size_t) copies * size, to, sizeof to, &got, &err));
    ck_assert_uint_eq(got, (size_t) copies * SIZE);
    ck_assert_int_eq(to[got - 1], byte_at(SIZE - 1));
    free(raw);
}
END_TEST

static const struct {
    const char *bytes;
    size_t size;
    const char *text;
} refused[] = {
    { "\3757zXZ\0", 6, "is compressed with xz; unpack it first (unxz)" },
    { "BZh9", 4, "is compressed with bzip2; unpack it first (bunzip2)" },
    { "\x04\x22\x4d\x18", 4, "is compressed with lz4; unpack it first" },
#ifndef HAVE_ZLIB
    { "\x1f\x8b\x08", 3, "this build has no zlib; unpack it first (gunzip)" },
#endif
#ifndef HAVE_ZSTD
    { "\x28\xb5\x2f\xfd", 4, "this build has no libzstd" },
#endif
};

START_TEST(other_compressions_are_named)
{
    mo_error err = { 0 };
    char to[8];
    size_t got;

    ck_assert_int_eq(read_raw(refused[_i].bytes, refused[_i].size, to,
                              sizeof to, &got, &err),
                     MO_E_SUPPORT);
    ck_assert_ptr_nonnull(strstr(err.text, refused[_i].text));
    ck_assert(mo_reader_sniff(refused[_i].bytes, refused[_i].size));
}
END_TEST

/* Zeros: 70 MB in a few kB. */
START_TEST(what_expands_without_end_is_stopped)
{
    enum { PIECE = 1 << 20, PIECES = 20 };
    static char piece[PIECE];
    const char *name = names[_i];
    mo_reader *reader;
    mo_out *out = NULL;
    mo_error why = { 0 };
    mo_status status = MO_OK;
    size_t got, sum = 0;

    if (_i == 0)
        return;
    MUST(mo_out_open(name, &out, &err));
    for (int i = 0; i < PIECES; i++)
        mo_out_bytes(out, piece, PIECE);
    MUST(mo_out_commit(out, &err));
    setenv("MOIRAI_INPUT_MIB", "3", 1);
    MUST(mo_reader_open(name, &reader, &err));
    do {
        status = mo_reader_read(reader, piece, PIECE, &got, &why);
        sum += got;
    } while (status == MO_OK && got > 0);
    mo_reader_close(reader);
    ck_assert_int_eq(status, MO_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(why.text, "more than 3 MiB"));
    ck_assert_uint_le(sum, 5 << 20);

    /* Named larger than that, it is read to its end, whatever its ratio. */
    setenv("MOIRAI_INPUT_MIB", "20", 1);
    MUST(mo_reader_open(name, &reader, &err));
    sum = 0;
    do {
        MUST(mo_reader_read(reader, piece, PIECE, &got, &err));
        sum += got;
    } while (got > 0);
    mo_reader_close(reader);
    ck_assert_uint_eq(sum, (size_t) PIECE * PIECES);
    unsetenv("MOIRAI_INPUT_MIB");
}
END_TEST

START_TEST(the_ratio_is_limited_by_default)
{
#ifdef HAVE_ZSTD
    enum { PIECE = 1 << 20, PIECES = 70 };
    static char piece[PIECE];
    mo_reader *reader;
    mo_out *out = NULL;
    mo_error why = { 0 };
    mo_status status = MO_OK;
    size_t got, sum = 0;

    MUST(mo_out_open("zeros.zst", &out, &err));
    for (int i = 0; i < PIECES; i++)
        mo_out_bytes(out, piece, PIECE);
    MUST(mo_out_commit(out, &err));
    MUST(mo_reader_open("zeros.zst", &reader, &err));
    do {
        status = mo_reader_read(reader, piece, PIECE, &got, &why);
        sum += got;
    } while (status == MO_OK && got > 0);
    mo_reader_close(reader);
    ck_assert_int_eq(status, MO_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(why.text, "1000 times its size"));
    ck_assert_uint_ge(sum, 60 << 20);
#endif
}
END_TEST

/* Read whole, a file or device without end takes no more than its limit. */
START_TEST(what_is_read_whole_is_limited)
{
    mo_error why = { 0 };
    char *text = NULL;
    size_t size = 0;

    setenv("MOIRAI_INPUT_MIB", "2", 1);
    ck_assert_int_eq(mo_reader_all("/dev/zero", &text, &size, &why),
                     MO_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(why.text, "larger than 2 MiB"));
    ck_assert_uint_le(size, (2 << 20) + 1);
    free(text);
    text = NULL;
    unsetenv("MOIRAI_INPUT_MIB");

    /* A plain file is refused by its size, before a byte is read. */
    ck_assert_int_eq(close(creat("large", 0600)), 0);
    ck_assert_int_eq(truncate("large", (off_t) 300 << 20), 0);
    ck_assert_int_eq(mo_reader_all("large", &text, &size, &why), MO_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(why.text, "larger than 256 MiB"));
    ck_assert_uint_eq(size, 0);
    free(text);
    unlink("large");
}
END_TEST

START_TEST(a_plain_file_of_just_the_limit_is_read)
{
    enum { MOST = 1 << 20 };
    char *text = NULL;
    mo_error why = { 0 };
    size_t size = 0;

    ck_assert_int_eq(close(creat("just", 0600)), 0);
    ck_assert_int_eq(truncate("just", MOST), 0);
    setenv("MOIRAI_INPUT_MIB", "1", 1);
    MUST(mo_reader_all("just", &text, &size, &err));
    ck_assert_uint_eq(size, MOST);
    free(text);
    text = NULL;
    ck_assert_int_eq(truncate("just", MOST + 1), 0);
    ck_assert_int_eq(mo_reader_all("just", &text, &size, &why), MO_E_LIMIT);
    free(text);
    unsetenv("MOIRAI_INPUT_MIB");
    unlink("just");
}
END_TEST

START_TEST(a_limit_that_is_no_number_is_refused)
{
#ifdef HAVE_ZLIB
    mo_error err = { 0 };
    char to[8];
    size_t got;

    setenv("MOIRAI_INPUT_MIB", "much", 1);
    ck_assert_int_eq(read_raw("\x1f\x8b\x08", 3, to, sizeof to, &got, &err),
                     MO_E_USAGE);
    unsetenv("MOIRAI_INPUT_MIB");
#endif
}
END_TEST

START_TEST(folders_and_absent_files_are_refused)
{
    mo_reader *reader = NULL;
    mo_error err = { 0 };

    ck_assert_int_eq(mo_reader_open(".", &reader, &err), MO_E_IO);
    ck_assert_int_eq(mo_reader_open("absent", &reader, &err), MO_E_IO);
    ck_assert_ptr_null(reader);
}
END_TEST

SUITE(reader)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(what_was_written_is_read, COUNT(names) * COUNT(sizes));
    EACH(pieces_are_filled, COUNT(names));
    EACH(a_file_cut_off_anywhere_is_an_error, COUNT(names));
    EACH(damage_is_an_error, COUNT(names));
    EACH(frames_one_after_the_other_are_one_file, COUNT(names));
    EACH(other_compressions_are_named, COUNT(refused));
    EACH(what_expands_without_end_is_stopped, COUNT(names));
    TEST(the_ratio_is_limited_by_default);
    TEST(what_is_read_whole_is_limited);
    TEST(a_plain_file_of_just_the_limit_is_read);
    TEST(a_limit_that_is_no_number_is_refused);
    TEST(folders_and_absent_files_are_refused);
}
