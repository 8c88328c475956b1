/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/device.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* A table in TFLOP/s reads like the data sheets; predictions use GFLOP/s. */
#define DEVICE(name, title, generation, f32, tf32, f16, bf16, fp8, int8, fp4,  \
               gbs, gib, sms, mhz, mib, us, watts, nm)                         \
    { name,                                                                    \
      title,                                                                   \
      MO_GEN_##generation,                                                     \
      { (f32) *1e3, (tf32) *1e3, (f16) *1e3, (bf16) *1e3, (fp8) *1e3,          \
        (int8) *1e3, (fp4) *1e3 },                                             \
      gbs,                                                                     \
      gib,                                                                     \
      sms,                                                                     \
      mhz,                                                                     \
      mib,                                                                     \
      us,                                                                      \
      watts,                                                                   \
      nm },

const mo_device_model mo_device_models[] = {
#include "cost/devices.def"
    { .name = NULL }
};

static const char *const math_names[MO_MATHS] = {
    [MO_MATH_F32] = "f32",   [MO_MATH_TF32] = "tf32", [MO_MATH_F16] = "f16",
    [MO_MATH_BF16] = "bf16", [MO_MATH_FP8] = "fp8",   [MO_MATH_INT8] = "int8",
    [MO_MATH_FP4] = "fp4",
};

static const char *const generation_names[] = {
    [MO_GEN_UNKNOWN] = "unknown",
    [MO_GEN_CPU] = "cpu",
    [MO_GEN_PASCAL] = "pascal",
    [MO_GEN_VOLTA] = "volta",
    [MO_GEN_TURING] = "turing",
    [MO_GEN_AMPERE] = "ampere",
    [MO_GEN_ADA] = "ada",
    [MO_GEN_HOPPER] = "hopper",
    [MO_GEN_BLACKWELL] = "blackwell",
    [MO_GEN_BLACKWELL_RTX] = "blackwell-rtx",
    [MO_GEN_CDNA] = "cdna",
    [MO_GEN_RDNA] = "rdna",
    [MO_GEN_XE] = "xe",
    [MO_GEN_APPLE] = "apple",
};

const char *mo_generation_name(mo_generation generation)
{
    return generation_names[generation];
}

bool mo_generation_find(const char *name, mo_generation *generation)
{
    for (int i = MO_GEN_UNKNOWN + 1; i < MO_GENERATIONS; i++) {
        if (strcmp(generation_names[i], name) == 0) {
            *generation = (mo_generation) i;
            return true;
        }
    }
    return false;
}

const char *mo_math_name(mo_math math)
{
    return math_names[math];
}

bool mo_math_find(const char *name, mo_math *math)
{
    for (int i = 0; i < MO_MATHS; i++) {
        if (strcmp(math_names[i], name) == 0) {
            *math = (mo_math) i;
            return true;
        }
    }
    return false;
}

double mo_device_peak_gflops(const double gflops[MO_MATHS], mo_math math)
{
    if (gflops[math] > 0 || math == MO_MATH_F32)
        return gflops[math];
    if (math == MO_MATH_FP4)
        return mo_device_peak_gflops(gflops, MO_MATH_FP8);
    if (math == MO_MATH_FP8 || math == MO_MATH_INT8)
        return fmax(mo_device_peak_gflops(gflops, MO_MATH_F16),
                    mo_device_peak_gflops(gflops, MO_MATH_BF16));
    return gflops[MO_MATH_F32];
}

enum { MAX_NAME = 128 };

static const char *skip_separators(const char *text)
{
    return text + strspn(text, " \t-_");
}

/* Skips the names of vendors and brands, which drivers print or omit. */
static const char *skip_brands(const char *text)
{
    static const char *const brands[] = { "nvidia", "geforce", "tesla",
                                          "amd",    "radeon",  "instinct",
                                          "intel",  "apple",   "aws" };
    size_t n = sizeof brands / sizeof *brands, i = 0;

    text = skip_separators(text);
    while (i < n) {
        size_t length = strlen(brands[i]);

        if (strncasecmp(text, brands[i], length) == 0) {
            text = skip_separators(text + length);
            i = 0;
        } else
            i++;
    }
    return text;
}

/* Cuts suffix and the blanks before it off text; false without it. */
static bool cut_suffix(char *text, const char *suffix)
{
    size_t length = strlen(text), n = strlen(suffix);

    if (length < n || strcmp(text + length - n, suffix) != 0)
        return false;
    length -= n;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    text[length] = '\0';
    return true;
}

/* Writes the name in lower case, without separators, trademarks, brands and
 * what is appended to models; false when it is too long for a known one. */
static bool write_canonical(const char *name, char text[MAX_NAME])
{
    static const char *const marks[] = { "(r)", "(tm)" };
    char plain[MAX_NAME];
    size_t n = 0;

    while (*name && *name != '@') {
        size_t mark = 0;

        for (int i = 0; i < 2 && mark == 0; i++)
            if (strncasecmp(name, marks[i], strlen(marks[i])) == 0)
                mark = strlen(marks[i]);
        if (mark == 0 && n == sizeof plain - 1)
            return false;
        if (mark == 0)
            plain[n++] = (char) tolower((unsigned char) *name++);
        name += mark;
    }
    plain[n] = '\0';
    /* What follows the model in /proc/cpuinfo and in Intel's and AMD's
     * drivers. */
    cut_suffix(plain, "");
    if (!cut_suffix(plain, "cpu") && !cut_suffix(plain, "graphics") &&
        cut_suffix(plain, "-core processor")) {
        const char *last = strrchr(plain, ' ');

        plain[strlen(plain) - strspn(last ? last : "", " 0123456789")] = '\0';
    }
    n = 0;
    for (const char *c = skip_brands(plain); *c; c = skip_separators(c + 1))
        text[n++] = *c;
    text[n] = '\0';
    return true;
}

static bool has_name(const char *canonical, const char *name)
{
    name = skip_brands(name);
    while (*name && *canonical == tolower((unsigned char) *name)) {
        name = skip_separators(name + 1);
        canonical++;
    }
    return *name == '\0' && *canonical == '\0';
}

const mo_device_model *mo_device_find(const char *name)
{
    char canonical[MAX_NAME];

    if (!write_canonical(name, canonical))
        return NULL;
    for (const mo_device_model *m = mo_device_models; m->name; m++)
        if (has_name(canonical, m->name) || has_name(canonical, m->title))
            return m;
    return NULL;
}

bool mo_device_same_name(const char *a, const char *b)
{
    char canonical[MAX_NAME], other[MAX_NAME];

    return write_canonical(a, canonical) && write_canonical(b, other) &&
           strcmp(canonical, other) == 0;
}
