/* SPDX-License-Identifier: Apache-2.0 */
/* The state of fault injection: origins, counts and decisions. */
#define _GNU_SOURCE
#include "tests/torture/failpoint.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_RANGES = 64, MAX_DEPTH = 48 };

typedef enum module_kind { MODULE_C, MODULE_OWN, MODULE_PARSER } module_kind;

/* Code of the modules that are loaded at start; code that is loaded later
 * belongs to FAILPOINT_OTHER. */
static struct {
    uintptr_t begin, end;
    module_kind kind;
} ranges[MAX_RANGES];
static int n_ranges;
static uintptr_t own_base;
static failpoint_state *state;
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

static module_kind kind_of_module(const char *path, bool *known)
{
    static const char *const parsers[] = { "/libxml2.", "/libz.", "/libzstd." };
    static const char *const c_library[] = { "/libc.",       "/libc-",
                                             "/ld-linux",    "/libpthread",
                                             "failpoint.so", "/libgcc_s." };

    *known = true;
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++)
        if (strstr(path, parsers[i]))
            return MODULE_PARSER;
    for (size_t i = 0; i < sizeof c_library / sizeof *c_library; i++)
        if (strstr(path, c_library[i]))
            return MODULE_C;
    *known = false;
    return MODULE_C;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    int *n_modules = context;
    bool known = (*n_modules)++ == 0;
    module_kind kind = MODULE_OWN;

    (void) size;
    if (known)
        own_base = info->dlpi_addr;
    else
        kind = kind_of_module(info->dlpi_name, &known);
    for (int i = 0; known && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
            n_ranges == MAX_RANGES)
            continue;
        ranges[n_ranges].begin = info->dlpi_addr + segment->p_vaddr;
        ranges[n_ranges].end = ranges[n_ranges].begin + segment->p_memsz;
        ranges[n_ranges++].kind = kind;
    }
    return 0;
}

static int range_of(const void *code)
{
    for (int i = 0; i < n_ranges; i++)
        if ((uintptr_t) code >= ranges[i].begin &&
            (uintptr_t) code < ranges[i].end)
            return i;
    return -1;
}

static failpoint_origin origin_of_range(int range)
{
    if (range < 0)
        return FAILPOINT_OTHER;
    return ranges[range].kind == MODULE_OWN ? FAILPOINT_OWN : FAILPOINT_PARSER;
}

static int get_stack(void **frames)
{
    int n;

    is_inside = true;
    n = backtrace(frames, MAX_DEPTH);
    is_inside = false;
    return n;
}

static failpoint_origin origin_of(const void *caller)
{
    void *frames[MAX_DEPTH];
    int range = range_of(caller), n;

    if (range < 0 || ranges[range].kind != MODULE_C)
        return origin_of_range(range);
    n = get_stack(frames);
    for (int i = 0; i < n; i++) {
        range = range_of(frames[i]);
        if (range < 0 || ranges[range].kind != MODULE_C)
            return origin_of_range(range);
    }
    return FAILPOINT_OTHER;
}

/* Writes the frames of the executable, less its base. */
static void record_stack(uint64_t *to)
{
    void *frames[MAX_DEPTH];
    int n = get_stack(frames), used = 0;

    for (int i = 0; i < n && used < FAILPOINT_FRAMES; i++) {
        int range = range_of(frames[i]);

        if (range >= 0 && ranges[range].kind == MODULE_OWN)
            to[used++] = (uintptr_t) frames[i] - own_base;
    }
    if (used < FAILPOINT_FRAMES)
        to[used] = 0;
}

/* FNV-1a of the stack, for calls that are made from the same place. */
static void log_call(failpoint_class class, failpoint_origin origin)
{
    uint64_t stack[FAILPOINT_FRAMES] = { 0 }, at;
    uint64_t hash = 0xcbf29ce484222325;

    if (origin == FAILPOINT_OTHER || state->log_capacity == 0)
        return;
    record_stack(stack);
    for (int i = 0; i < FAILPOINT_FRAMES && stack[i] != 0; i++)
        hash = (hash ^ stack[i]) * 0x100000001b3;
    at = atomic_fetch_add(&state->n_logged, 1);
    if (at < state->log_capacity)
        state->log[at] =
            (uint64_t) class << 56 | (uint64_t) origin << 48 | hash >> 16;
}

static failpoint_verdict verdict_of(void)
{
    switch (state->action) {
    case FAILPOINT_KILL:
        syscall(SYS_kill, getpid(), SIGKILL);
        for (;;)
            pause();
    case FAILPOINT_LESS:
    case FAILPOINT_LESS_FROM:
        return FAILPOINT_SHORTEN;
    case FAILPOINT_INTERRUPT:
        return FAILPOINT_EINTR;
    default:
        return FAILPOINT_REFUSE;
    }
}

static failpoint_verdict strike(void)
{
    if (atomic_fetch_add(&state->fired, 1) == 0) {
        record_stack(state->fired_stack);
        strncpy((char *) state->image, program_invocation_short_name,
                sizeof state->image - 1);
    }
    return verdict_of();
}

failpoint_verdict failpoint_count(failpoint_class class, const void *caller)
{
    failpoint_verdict verdict = FAILPOINT_CALL;
    failpoint_origin origin;
    int saved = errno;
    uint64_t n;

    if (!state || is_inside)
        return FAILPOINT_CALL;
    origin = origin_of(caller);
    n = atomic_fetch_add(&state->counts[class][origin], 1) + 1;
    if (class == FAILPOINT_ALLOC && origin == FAILPOINT_OWN &&
        n == state->trace)
        record_stack(state->traced_stack);
    if (state->action == FAILPOINT_COUNT)
        log_call(class, origin);
    else if (state->class == class && state->origin == origin &&
             (n == state->nth ||
              (n > state->nth && (state->action == FAILPOINT_FAIL_FROM ||
                                  state->action == FAILPOINT_LESS_FROM))))
        verdict = strike();
    errno = saved;
    return verdict;
}

bool failpoint_is_own(const void *caller)
{
    return state && !is_inside && origin_of(caller) == FAILPOINT_OWN;
}

uint64_t failpoint_alloc_number(void)
{
    return state ? atomic_load(&state->counts[FAILPOINT_ALLOC][FAILPOINT_OWN])
                 : 0;
}

static failpoint_state *map_state(const char *path)
{
    struct stat about;
    void *made = MAP_FAILED;
    int fd = (int) syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);

    if (fd < 0)
        return NULL;
    if (fstat(fd, &about) == 0 &&
        about.st_size >= (off_t) sizeof(failpoint_state))
        made = (void *) syscall(SYS_mmap, NULL, (size_t) about.st_size,
                                PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (made == MAP_FAILED ||
        ((failpoint_state *) made)->magic != FAILPOINT_MAGIC)
        return NULL;
    return made;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAILPOINT_STATE");
    void *frames[2];
    int n_modules = 0;

    if (!path || strncmp(program_invocation_short_name, "moirai", 6) != 0)
        return;
    /* The first call loads the unwinder. */
    backtrace(frames, 2);
    dl_iterate_phdr(add_module, &n_modules);
    state = map_state(path);
}

/* After the destructors of the executable. */
__attribute__((destructor)) static void end(void)
{
    uint64_t number = 0;
    size_t n;

    if (!state)
        return;
    n = failpoint_live_blocks(&number);
    if (n > 0 && atomic_fetch_add(&state->n_leaked, n) == 0)
        state->leaked_number = number;
    atomic_fetch_add(&state->n_left_open, failpoint_live_fds());
    atomic_fetch_add(&state->n_exits, 1);
}
