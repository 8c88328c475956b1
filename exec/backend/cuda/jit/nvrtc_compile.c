/* SPDX-License-Identifier: Apache-2.0 */
/* Compilation of device code by NVRTC for the architecture of a device. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/jit/jit_cache.h"

/* The target: the newest architecture that NVRTC knows and that is not newer
 * than the device. Cubins run on devices of the same major version, PTX on all
 * newer ones. */
typedef struct compile_target {
    int arch;
    bool cubin;
} compile_target;

static mo_status choose_target(const int *archs, int n, int arch,
                               compile_target *target, mo_error *err)
{
    target->arch = 0;
    for (int i = 0; i < n; i++)
        if (archs[i] <= arch && archs[i] > target->arch)
            target->arch = archs[i];
    target->cubin = target->arch / 10 == arch / 10;
    if (target->arch == 0)
        return mo_fail(err, MO_E_SUPPORT,
                       "NVRTC does not know sm_%d any more; let MOIRAI_NVRTC "
                       "name one of CUDA 12",
                       arch);
    return MO_OK;
}

static mo_status find_target(const mo_cuda_api *api, int arch,
                             compile_target *target, mo_error *err)
{
    int n = 0, *archs;
    mo_status status =
        mo_cuda_check_nvrtc(api, "nvrtcGetNumSupportedArchs",
                            api->nvrtcGetNumSupportedArchs(&n), err);

    if (status != MO_OK)
        return status;
    archs = calloc((size_t) (n > 0 ? n : 1), sizeof *archs);
    if (!archs)
        return mo_fail_memory(err);
    status = mo_cuda_check_nvrtc(api, "nvrtcGetSupportedArchs",
                                 api->nvrtcGetSupportedArchs(archs), err);
    if (status == MO_OK)
        status = choose_target(archs, n, arch, target, err);
    free(archs);
    return status;
}

static mo_status fail_compilation(const mo_cuda_api *api, nvrtcProgram program,
                                  const char *name, mo_error *err)
{
    char line[256] = "no reason was given", *log = NULL;
    size_t size = 0;
    const char *at;

    if (api->nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS &&
        size > 0 && (log = calloc(1, size + 1)) &&
        api->nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS && *log) {
        /* The first line of the log with an error, or its first line. */
        at = strstr(log, "error");
        while (at && at > log && at[-1] != '\n')
            at--;
        if (!at)
            at = log;
        snprintf(line, sizeof line, "%.*s", (int) strcspn(at, "\n"), at);
    }
    free(log);
    return mo_fail(err, MO_E_IO,
                   "NVRTC: kernel '%s' does not compile: %s; this is an error "
                   "of ours: please report it",
                   name, line);
}

static mo_status get_binary(const mo_cuda_api *api, nvrtcProgram program,
                            const compile_target *target, char **cubin,
                            size_t *size, mo_error *err)
{
    size_t bytes = 0;
    char *made;
    mo_status status = mo_cuda_check_nvrtc(
        api, "size of what was compiled",
        target->cubin ? api->nvrtcGetCUBINSize(program, &bytes)
                      : api->nvrtcGetPTXSize(program, &bytes),
        err);

    if (status != MO_OK)
        return status;
    made = malloc(bytes + 1);
    if (!made)
        return mo_fail_memory(err);
    made[bytes] = 0;
    status =
        mo_cuda_check_nvrtc(api, "what was compiled",
                            target->cubin ? api->nvrtcGetCUBIN(program, made)
                                          : api->nvrtcGetPTX(program, made),
                            err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *cubin = made;
    *size = bytes;
    return MO_OK;
}

static mo_status compile_text(const mo_cuda_api *api, const char *text,
                              const char *name, const compile_target *target,
                              char **cubin, size_t *size, mo_error *err)
{
    nvrtcProgram program = NULL;
    mo_status status = mo_cuda_check_nvrtc(
        api, "nvrtcCreateProgram",
        api->nvrtcCreateProgram(&program, text, name, 0, NULL, NULL), err);

    if (status != MO_OK)
        return status;

    char arch[48];
    const char *options[] = { arch, "--std=c++17", "--fmad=true", "-w" };
    nvrtcResult result;

    snprintf(arch, sizeof arch, "--gpu-architecture=%s_%d",
             target->cubin ? "sm" : "compute", target->arch);
    result = api->nvrtcCompileProgram(
        program, (int) (sizeof options / sizeof *options), options);
    status = result == NVRTC_ERROR_COMPILATION
                 ? fail_compilation(api, program, name, err)
                 : mo_cuda_check_nvrtc(api, "nvrtcCompileProgram", result, err);
    if (status == MO_OK)
        status = get_binary(api, program, target, cubin, size, err);
    api->nvrtcDestroyProgram(&program);
    return status;
}

mo_status mo_cuda_nvrtc_compile(const mo_cuda_api *api, const char *source,
                                const char *name, int arch, char **cubin,
                                size_t *size, mo_error *err)
{
    size_t before = strlen(mo_cuda_prelude), behind = strlen(source);
    compile_target target = { 0 };
    mo_status status = find_target(api, arch, &target, err);
    char *text;

    if (status != MO_OK)
        return status;
    text = malloc(before + behind + 1);
    if (!text)
        return mo_fail_memory(err);
    memcpy(text, mo_cuda_prelude, before);
    memcpy(text + before, source, behind + 1);
    status = compile_text(api, text, name, &target, cubin, size, err);
    free(text);
    return status;
}
