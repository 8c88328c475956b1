/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/tensor/mmap_file.h: files that are cut, rewritten or replaced
 * while they are mapped, read by several threads. */
#include <config.h>

#include "exec/tensor/mmap_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "exec/tensor/npy.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { PAGES = 64, THREADS = 4 };

static size_t page_bytes(void)
{
    return (size_t) sysconf(_SC_PAGESIZE);
}

/* A file of PAGES pages of ones. */
static void make_file(const char *path)
{
    size_t n = PAGES * page_bytes();
    char *bytes = malloc(n);
    FILE *file = fopen(path, "wb");

    memset(bytes, 1, n);
    ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
    ck_assert_int_eq(fclose(file), 0);
    free(bytes);
}

static size_t sum_bytes(const mo_mmap_file *mapped)
{
    const volatile unsigned char *bytes = mapped->data;
    size_t sum = 0;

    for (size_t i = 0; i < mapped->size; i += 64)
        sum += bytes[i];
    return sum;
}

static void *read_all(void *context)
{
    sum_bytes(context);
    return NULL;
}

static void check_fails(const mo_mmap_file *mapped, const char *path)
{
    mo_error err = { 0 };

    ck_assert_int_eq(mo_mmap_file_check(mapped, &err), MO_E_IO);
    ck_assert_str_eq(err.file, path);
    ck_assert_int_eq(mo_mmap_file_check_all(&err), MO_E_IO);
    ck_assert_str_eq(err.file, path);
}

START_TEST(an_unchanged_file_passes)
{
    mo_mmap_file a, b, empty;

    make_file("a");
    scratch_write("empty", "");
    MUST(mo_mmap_file_open("a", &a, &err));
    MUST(mo_mmap_file_open_part("a", 5, 100, &b, &err));
    MUST(mo_mmap_file_open("empty", &empty, &err));
    ck_assert_uint_eq(sum_bytes(&a), a.size / 64);
    ck_assert_uint_eq(b.size, 100);
    MUST(mo_mmap_file_check_all(&err));
    MUST(mo_mmap_file_check(&empty, &err));
    mo_mmap_file_close(&a);
    mo_mmap_file_close(&b);
    mo_mmap_file_close(&empty);
    MUST(mo_mmap_file_check_all(&err));
}
END_TEST

/* Returns whether a page is in the memory of this process; -1: not known. */
static int is_resident(const char *at)
{
    int fd = open("/proc/self/pagemap", O_RDONLY);
    uint64_t entry = 0;
    off_t offset = (off_t) ((uintptr_t) at / page_bytes() * sizeof entry);
    bool known =
        fd >= 0 && pread(fd, &entry, sizeof entry, offset) == sizeof entry;

    if (fd >= 0)
        close(fd);
    return known ? (int) (entry >> 63) : -1;
}

START_TEST(released_pages_leave_memory_and_come_back)
{
    size_t page = page_bytes();
    char *other = malloc(2 * page);
    const char *data;
    mo_mmap_file a;

    make_file("a");
    MUST(mo_mmap_file_open("a", &a, &err));
    ck_assert_uint_eq(sum_bytes(&a), a.size / 64);
    data = a.data;
    mo_mmap_file_release(data + 1, 3 * page);
    ck_assert_int_ne(is_resident(data), 0);
    ck_assert_int_ne(is_resident(data + page), 1);
    ck_assert_int_ne(is_resident(data + 2 * page), 1);
    ck_assert_int_ne(is_resident(data + 3 * page), 0);
    ck_assert_uint_eq(sum_bytes(&a), a.size / 64);
    MUST(mo_mmap_file_check(&a, &err));
    mo_mmap_file_close(&a);

    memset(other, 1, 2 * page);
    mo_mmap_file_release(other, 2 * page);
    for (size_t i = 0; i < 2 * page; i++)
        ck_assert_int_eq(other[i], 1);
    free(other);
}
END_TEST

/* At any byte, of which most are within a page: no signal is raised for the
 * rest of that page. */
START_TEST(a_cut_file_is_an_error)
{
    mo_random random = { (uint64_t) _i + 1 };
    size_t size =
        (size_t) (mo_random_unit(&random) * (double) (PAGES * page_bytes()));
    pthread_t threads[THREADS];
    mo_mmap_file other, mapped;

    make_file("cut");
    make_file("other");
    MUST(mo_mmap_file_open("other", &other, &err));
    MUST(mo_mmap_file_open("cut", &mapped, &err));
    ck_assert_int_eq(truncate("cut", (off_t) size), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, read_all, &mapped);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(sum_bytes(&mapped), (size + 63) / 64);
    check_fails(&mapped, "cut");
    MUST(mo_mmap_file_check(&other, &err));
    ck_assert(mo_mmap_file_has_failed() || size > (PAGES - 1) * page_bytes());
    mo_mmap_file_close(&mapped);
    MUST(mo_mmap_file_check_all(&err));
    mo_mmap_file_close(&other);
}
END_TEST

START_TEST(a_rewritten_file_is_an_error)
{
    mo_mmap_file mapped;
    int fd;

    make_file("a");
    MUST(mo_mmap_file_open("a", &mapped, &err));
    usleep(20000); /* beyond the granularity of file times */
    fd = open("a", O_WRONLY);
    ck_assert_int_eq(pwrite(fd, "x", 1, 100), 1);
    close(fd);
    check_fails(&mapped, "a");
    mo_mmap_file_close(&mapped);
}
END_TEST

START_TEST(a_replaced_file_stays_as_it_was)
{
    mo_mmap_file mapped;

    make_file("a");
    MUST(mo_mmap_file_open("a", &mapped, &err));
    scratch_write("b", "short");
    ck_assert_int_eq(rename("b", "a"), 0);
    ck_assert_uint_eq(sum_bytes(&mapped), mapped.size / 64);
    MUST(mo_mmap_file_check_all(&err));
    mo_mmap_file_close(&mapped);
}
END_TEST

/* More than descriptors are kept of; regions are used again. */
START_TEST(many_files_are_checked)
{
    enum { MANY = 300 };
    static mo_mmap_file mapped[MANY];
    char name[16];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "f%d", i);
            scratch_write(name, "some text");
            MUST(mo_mmap_file_open(name, &mapped[i], &err));
        }
        MUST(mo_mmap_file_check_all(&err));
        for (int i = 0; i < MANY; i += MANY - 1) {
            snprintf(name, sizeof name, "f%d", i);
            ck_assert_int_eq(truncate(name, 4), 0);
            check_fails(&mapped[i], name);
            mo_mmap_file_close(&mapped[i]);
        }
        for (int i = 0; i < MANY; i++)
            mo_mmap_file_close(&mapped[i]);
    }
}
END_TEST

/* A bus error that is not of a mapped file ends the process as before. */
START_TEST(other_bus_errors_are_not_hidden)
{
    mo_mmap_file mapped;
    pid_t child;
    int status;

    make_file("a");
    MUST(mo_mmap_file_open("a", &mapped, &err));
    child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(10);
        raise(SIGBUS);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS
                                  : WEXITSTATUS(status) != 0);
    mo_mmap_file_close(&mapped);
}
END_TEST

SUITE(mmap_file)
{
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    TEST(an_unchanged_file_passes);
    TEST(released_pages_leave_memory_and_come_back);
    SOME(a_cut_file_is_an_error, 200, 20);
    TEST(a_rewritten_file_is_an_error);
    TEST(a_replaced_file_stays_as_it_was);
    TEST(many_files_are_checked);
    TEST(other_bus_errors_are_not_hidden);
}
