/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVRTC of the stand-in: the compiler STANDIN_CC, CC or cc, with declarations
 * before the source and wrappers behind it. Results are cached in the folder
 * STANDIN_KERNELS, if set, by the digest of the source.
 */
#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <nvrtc.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/standin/cuda/standin_cuda.h"
#include "tests/standin/cuda/module_image.h"

extern char **environ;

struct _nvrtcProgram {
    char *source, *log;
    standin_image *image;
};

static const int archs[] = { 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121 };

/* The place matches standin_place. The guards of <math.h> and <string.h> leave
 * these out: their functions are built in, and reading the headers takes a
 * fifth of the time of a kernel. */
static const char before[] =
    "#define MO_ON_CPU 1\n"
    "#define _MATH_H 1\n"
    "#define _STRING_H 1\n"
    "typedef struct mo_cpu_dim { unsigned x, y, z; } mo_cpu_dim;\n"
    "extern struct mo_cpu_place {\n"
    "    mo_cpu_dim thread, block, threads, blocks;\n"
    "} mo_cpu_now;\n"
    "#define threadIdx (mo_cpu_now.thread)\n"
    "#define blockIdx (mo_cpu_now.block)\n"
    "#define blockDim (mo_cpu_now.threads)\n"
    "#define gridDim (mo_cpu_now.blocks)\n"
    "#line 1\n";

/* Bounds of the section of shared variables, if there is one. */
static const char behind[] =
    "\n"
    "extern __attribute__((weak, visibility(\"hidden\"))) char\n"
    "    __start_mo_shared[], __stop_mo_shared[];\n"
    "char *const " STANDIN_STATICS "[2] = {\n"
    "    __start_mo_shared, __stop_mo_shared };\n";

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = STANDIN_VERSION / 1000;
    *minor = STANDIN_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
    return result == NVRTC_SUCCESS             ? "NVRTC_SUCCESS"
           : result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION"
                                               : "NVRTC_ERROR";
}

nvrtcResult nvrtcGetNumSupportedArchs(int *n)
{
    *n = sizeof archs / sizeof *archs;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *list)
{
    memcpy(list, archs, sizeof archs);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source,
                               const char *name, int n_headers,
                               const char *const *headers,
                               const char *const *include_names)
{
    nvrtcProgram p = calloc(1, sizeof *p);

    (void) name;
    (void) headers;
    (void) include_names;
    *program = NULL;
    if (n_headers > 0) {
        free(p);
        return NVRTC_ERROR_INVALID_INPUT;
    }
    if (!p || !(p->source = strdup(source))) {
        free(p);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    *program = p;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    free((*program)->source);
    free((*program)->log);
    free((*program)->image);
    free(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}

/* Paths in a temporary folder, and in the cache. */
typedef struct files {
    char folder[PATH_MAX - 32];
    char source[PATH_MAX], preprocessed[PATH_MAX], object[PATH_MAX];
    char log[PATH_MAX];
    char kept[PATH_MAX]; /* "" without a cache */
} files;

/* The process has the C library already: not linking it saves a tenth of the
 * time. */
static const char flags[] = "-O1 -fPIC -shared -ffp-contract=off "
                            "-fno-strict-aliasing -fno-math-errno "
                            "-nostdlib -lgcc";

static uint64_t digest(uint64_t d, const char *text)
{
    for (; *text; text++)
        d = (d ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
    return d;
}

static const char *compiler(void)
{
    const char *own = getenv("STANDIN_CC"), *cc = getenv("CC");

    return own ? own : cc ? cc : "cc";
}

/* Two digests, so that collisions are practically impossible. */
static void name_kept(files *f, const char *source)
{
    const char *folder = getenv("STANDIN_KERNELS");
    const char *texts[] = { compiler(), flags, before, source, behind };
    uint64_t a = UINT64_C(0xcbf29ce484222325), b = 1;

    f->kept[0] = '\0';
    if (!folder)
        return;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        a = digest(a, texts[i]);
        b = digest(b, texts[i]);
    }
    snprintf(f->kept, sizeof f->kept, "%s/%016" PRIx64 "%016" PRIx64 ".so",
             folder, a, b);
}

static bool files_make(files *f)
{
    const char *kept = getenv("STANDIN_KERNELS"), *tmp = getenv("TMPDIR");

    if (kept)
        mkdir(kept, 0777);
    snprintf(f->folder, sizeof f->folder, "%s/standin-XXXXXX",
             kept  ? kept
             : tmp ? tmp
                   : "/tmp");
    if (!mkdtemp(f->folder))
        return false;
    snprintf(f->source, sizeof f->source, "%s/kernel.c", f->folder);
    snprintf(f->preprocessed, sizeof f->preprocessed, "%s/kernel.i", f->folder);
    snprintf(f->object, sizeof f->object, "%s/kernel.so", f->folder);
    snprintf(f->log, sizeof f->log, "%s/log", f->folder);
    return true;
}

static void files_remove(const files *f)
{
    unlink(f->source);
    unlink(f->preprocessed);
    unlink(f->object);
    unlink(f->log);
    rmdir(f->folder);
}

static bool write_source(const files *f, const char *source)
{
    FILE *out = fopen(f->source, "w");

    if (!out)
        return false;
    fprintf(out, "%s%s%s", before, source, behind);
    return fclose(out) == 0;
}

/* The compiler may be several words; the shell splits them. Messages go to the
 * log. */
static bool run_compiler(const files *f, const char *options, const char *from,
                         const char *to)
{
    char script[256 + 3 * PATH_MAX];
    char shell[] = "sh", flag[] = "-c";
    char *args[] = { shell, flag, script, NULL };
    int status;
    pid_t child;

    snprintf(script, sizeof script,
             "exec %s -std=gnu11 -w -Wno-implicit-function-declaration "
             "-o '%s' '%s' %s 2>>'%s'",
             compiler(), to, from, options, f->log);
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, args, environ) != 0)
        return false;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Returns a file behind room unused bytes, with a 0 at its end; the caller
 * frees it. */
static char *read_whole(const char *path, size_t room, size_t *size)
{
    FILE *in = fopen(path, "r");
    struct stat st;
    char *bytes = NULL;

    if (!in)
        return NULL;
    if (fstat(fileno(in), &st) == 0)
        bytes = malloc(room + (size_t) st.st_size + 1);
    if (bytes) {
        *size = fread(bytes + room, 1, (size_t) st.st_size, in);
        bytes[room + *size] = '\0';
    }
    fclose(in);
    return bytes;
}

/* Appends wrappers, which need the preprocessed signatures. */
static bool add_wrappers(const files *f, const char *source)
{
    size_t size;
    char *text = read_whole(f->preprocessed, 0, &size);
    char *wrappers = text ? standin_wrappers(source, text) : NULL;
    FILE *out = wrappers ? fopen(f->preprocessed, "a") : NULL;
    bool done = out;

    if (out) {
        fputs(wrappers, out);
        done = fclose(out) == 0;
    }
    free(wrappers);
    free(text);
    return done;
}

static bool compile_files(const files *f, const char *source)
{
    return write_source(f, source) &&
           run_compiler(f, "-E -P", f->source, f->preprocessed) &&
           add_wrappers(f, source) &&
           run_compiler(f, flags, f->preprocessed, f->object);
}

static bool read_image(nvrtcProgram p, const char *path)
{
    size_t size;

    p->image = (standin_image *) read_whole(path, sizeof *p->image, &size);
    if (p->image)
        *p->image = (standin_image){ .magic = STANDIN_MAGIC, .bytes = size };
    return p->image;
}

/* Cached files appear whole: written, then renamed. */
static nvrtcResult compile(nvrtcProgram p, const files *f)
{
    bool done = compile_files(f, p->source);
    size_t size;

    p->log = read_whole(f->log, 0, &size);
    if (!done)
        return NVRTC_ERROR_COMPILATION;
    if (!read_image(p, f->object))
        return NVRTC_ERROR_OUT_OF_MEMORY;
    if (f->kept[0])
        rename(f->object, f->kept);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int n_options,
                                const char *const *options)
{
    nvrtcResult result;
    files f;

    (void) n_options;
    (void) options;
    name_kept(&f, p->source);
    if (f.kept[0] && read_image(p, f.kept))
        return NVRTC_SUCCESS;
    if (!files_make(&f))
        return NVRTC_ERROR_INTERNAL_ERROR;
    result = compile(p, &f);
    files_remove(&f);
    return result;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *size)
{
    *size = p->image ? sizeof *p->image + p->image->bytes : 0;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *cubin)
{
    if (!p->image)
        return NVRTC_ERROR_INVALID_PROGRAM;
    memcpy(cubin, p->image, sizeof *p->image + p->image->bytes);
    return NVRTC_SUCCESS;
}

/* There is only one kind of code here. */
nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t *size)
{
    return nvrtcGetCUBINSize(p, size);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram p, char *ptx)
{
    return nvrtcGetCUBIN(p, ptx);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t *size)
{
    *size = p->log ? strlen(p->log) + 1 : 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char *log)
{
    memcpy(log, p->log ? p->log : "", p->log ? strlen(p->log) + 1 : 1);
    return NVRTC_SUCCESS;
}
