/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_cuda_image.h - what the stand-in's NVRTC and its driver agree on: a
 * shared object behind a head, and the names in it.
 */
#ifndef MO_TESTS_STANDIN_CUDA_MODULE_IMAGE_H
#define MO_TESTS_STANDIN_CUDA_MODULE_IMAGE_H

#include <stdint.h>

#define STANDIN_MAGIC "standin"        /* 8 bytes with its end */
#define STANDIN_CALL  "standin_call_"  /* void (void **args) */
#define STANDIN_SIZES "standin_sizes_" /* const unsigned long [] */

#define STANDIN_STATICS "standin_statics" /* char *const [2]: from, to */

typedef struct standin_image {
    char magic[8];
    uint64_t bytes; /* that follow */
} standin_image;

#endif
