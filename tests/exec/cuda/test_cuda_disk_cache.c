/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/jit/disk_cache.h. */
#include <config.h>

#include "exec/backend/cuda/jit/disk_cache.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/suite.h"

enum { KEY = 0x1234 };
static const char kind[] = "cubin";
static const char content[] = "what a compiler made\0of it";

static char folder[] = "cuda_cache.XXXXXX";
static char path[sizeof folder + 32];
static mo_cuda_disk_cache *cache;

static void open_cache(void)
{
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%016x.%s", folder, KEY, kind);
    MUST(mo_cuda_disk_cache_new(folder, &cache, &err));
}

static void close_cache(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
    mo_cuda_disk_cache_free(cache);
}

static void write_content(void)
{
    ck_assert(
        mo_cuda_disk_cache_write(cache, KEY, kind, content, sizeof content));
}

/* Reads the file back; returns false when it is absent. */
static bool is_there(void)
{
    char *data = NULL;
    size_t size = 0;

    if (!mo_cuda_disk_cache_read(cache, KEY, kind, &data, &size))
        return false;
    ck_assert_uint_eq(size, sizeof content);
    ck_assert_mem_eq(data, content, size);
    ck_assert_int_eq(data[size], 0);
    free(data);
    return true;
}

START_TEST(what_was_written_is_read)
{
    open_cache();
    ck_assert(!is_there());
    write_content();
    ck_assert(is_there());
    write_content();
    ck_assert(is_there());
    close_cache();
}
END_TEST

START_TEST(an_empty_content_is_a_content)
{
    char *data = NULL;
    size_t size = 1;

    open_cache();
    ck_assert(mo_cuda_disk_cache_write(cache, KEY, kind, "", 0));
    ck_assert(mo_cuda_disk_cache_read(cache, KEY, kind, &data, &size));
    ck_assert_uint_eq(size, 0);
    free(data);
    close_cache();
}
END_TEST

START_TEST(a_file_that_is_cut_off_is_not_there)
{
    struct stat state;

    open_cache();
    write_content();
    ck_assert_int_eq(stat(path, &state), 0);
    for (off_t length = state.st_size - 1; length >= 0; length--) {
        ck_assert_int_eq(truncate(path, length), 0);
        ck_assert_msg(!is_there(), "%ld bytes", (long) length);
    }
    close_cache();
}
END_TEST

START_TEST(a_byte_that_differs_is_seen)
{
    struct stat state;

    open_cache();
    write_content();
    ck_assert_int_eq(stat(path, &state), 0);
    for (off_t at = 0; at < state.st_size; at++) {
        FILE *file = fopen(path, "r+b");
        int byte;

        ck_assert_ptr_nonnull(file);
        fseek(file, at, SEEK_SET);
        byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 1, file);
        fclose(file);
        ck_assert_msg(!is_there(), "byte %ld", (long) at);
        write_content();
    }
    close_cache();
}
END_TEST

START_TEST(the_file_of_another_key_is_not_taken)
{
    char other[sizeof path];

    open_cache();
    ck_assert(mo_cuda_disk_cache_write(cache, KEY + 1, kind, content,
                                       sizeof content));
    snprintf(other, sizeof other, "%s/%016x.%s", folder, KEY + 1, kind);
    ck_assert_int_eq(rename(other, path), 0);
    ck_assert(!is_there());
    close_cache();
}
END_TEST

START_TEST(a_folder_or_a_pipe_of_that_name_is_not_there)
{
    open_cache();
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert(!is_there());
    ck_assert(
        !mo_cuda_disk_cache_write(cache, KEY, kind, content, sizeof content));
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!is_there());
    close_cache();
}
END_TEST

/* root may write everywhere: a file stands where a folder should be. */
START_TEST(where_nothing_can_be_written_nothing_is_kept)
{
    mo_cuda_disk_cache *other;
    FILE *file;

    open_cache();
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    MUST(mo_cuda_disk_cache_new(path, &other, &err));
    ck_assert(
        !mo_cuda_disk_cache_write(other, KEY, kind, content, sizeof content));
    ck_assert(!mo_cuda_disk_cache_read(other, KEY, kind, &(char *){ NULL },
                                       &(size_t){ 0 }));
    mo_cuda_disk_cache_free(other);
    if (geteuid() != 0) {
        unlink(path);
        ck_assert_int_eq(chmod(folder, 0500), 0);
        ck_assert(!mo_cuda_disk_cache_write(cache, KEY, kind, content,
                                            sizeof content));
        ck_assert_int_eq(chmod(folder, 0700), 0);
    }
    close_cache();
}
END_TEST

/* Two processes write all the time; every read returns one of the two files,
 * whole. */
static void write_often(char letter, size_t size)
{
    char *text = malloc(size);
    bool all = text != NULL;

    for (int i = 0; i < 200 && all; i++) {
        memset(text, letter, size);
        all = mo_cuda_disk_cache_write(cache, KEY, kind, text, size);
    }
    free(text);
    _exit(all ? 0 : 1);
}

static pid_t start_writer(char letter, size_t size)
{
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0)
        write_often(letter, size);
    return child;
}

static void check_whole(void)
{
    char *data = NULL;
    size_t size = 0;

    if (!mo_cuda_disk_cache_read(cache, KEY, kind, &data, &size))
        return;
    ck_assert(size == 100000 ? data[0] == 'a'
                             : size == 70000 && data[0] == 'b');
    for (size_t i = 1; i < size; i++)
        ck_assert_int_eq(data[i], data[0]);
    free(data);
}

START_TEST(processes_that_race_leave_whole_files)
{
    pid_t writers[2];
    char *data = NULL;
    size_t size;

    open_cache();
    writers[0] = start_writer('a', 100000);
    writers[1] = start_writer('b', 70000);
    for (int i = 0; i < 2; i++) {
        int state = 0;

        while (waitpid(writers[i], &state, WNOHANG) == 0)
            check_whole();
        ck_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    }
    ck_assert(mo_cuda_disk_cache_read(cache, KEY, kind, &data, &size));
    free(data);
    close_cache();
}
END_TEST

static void check_folder(const char *expected)
{
    mo_cuda_disk_cache *found;

    MUST(mo_cuda_disk_cache_new(NULL, &found, &err));
    ck_assert_str_eq(mo_cuda_disk_cache_folder(found), expected);
    mo_cuda_disk_cache_free(found);
}

START_TEST(the_folder_is_the_users_own)
{
    unsetenv("MOIRAI_CACHE");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/home/clotho", 1);
    check_folder("/home/clotho/.cache/moirai");
    setenv("XDG_CACHE_HOME", "/var/cache/clotho", 1);
    check_folder("/var/cache/clotho/moirai");
    setenv("XDG_CACHE_HOME", "relative", 1);
    check_folder("/home/clotho/.cache/moirai");
    setenv("MOIRAI_CACHE", "elsewhere", 1);
    check_folder("elsewhere");
    setenv("MOIRAI_CACHE", "", 1);
    check_folder("");
    setenv("MOIRAI_CACHE", "none", 1);
    check_folder("");
    unsetenv("MOIRAI_CACHE");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    check_folder("");
}
END_TEST

START_TEST(without_a_folder_nothing_is_kept)
{
    mo_cuda_disk_cache *none;
    char *data = NULL;
    size_t size = 0;

    MUST(mo_cuda_disk_cache_new("", &none, &err));
    ck_assert(
        !mo_cuda_disk_cache_write(none, KEY, kind, content, sizeof content));
    ck_assert(!mo_cuda_disk_cache_read(none, KEY, kind, &data, &size));
    mo_cuda_disk_cache_free(none);
}
END_TEST

START_TEST(folders_above_are_made)
{
    char deep[sizeof folder + 32], *data = NULL;
    mo_cuda_disk_cache *other;
    size_t size = 0;

    open_cache();
    snprintf(deep, sizeof deep, "%s/a/b", folder);
    MUST(mo_cuda_disk_cache_new(deep, &other, &err));
    ck_assert(
        mo_cuda_disk_cache_write(other, KEY, kind, content, sizeof content));
    ck_assert(mo_cuda_disk_cache_read(other, KEY, kind, &data, &size));
    free(data);
    mo_cuda_disk_cache_free(other);
    snprintf(deep, sizeof deep, "%s/a/b/%016x.%s", folder, KEY, kind);
    unlink(deep);
    snprintf(deep, sizeof deep, "%s/a/b", folder);
    rmdir(deep);
    snprintf(deep, sizeof deep, "%s/a", folder);
    rmdir(deep);
    close_cache();
}
END_TEST

SUITE(cuda_disk_cache)
{
    TEST(what_was_written_is_read);
    TEST(an_empty_content_is_a_content);
    TEST(a_file_that_is_cut_off_is_not_there);
    TEST(a_byte_that_differs_is_seen);
    TEST(the_file_of_another_key_is_not_taken);
    TEST(a_folder_or_a_pipe_of_that_name_is_not_there);
    TEST(where_nothing_can_be_written_nothing_is_kept);
    TEST(processes_that_race_leave_whole_files);
    TEST(the_folder_is_the_users_own);
    TEST(without_a_folder_nothing_is_kept);
    TEST(folders_above_are_made);
}
