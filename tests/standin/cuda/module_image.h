/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_image.h - the format between the stand-in's NVRTC and driver: a
 * shared object behind a header, and its symbol names.
 */
#ifndef MO_TESTS_STANDIN_CUDA_MODULE_IMAGE_H
#define MO_TESTS_STANDIN_CUDA_MODULE_IMAGE_H

#include <stdint.h>

#define STANDIN_MAGIC "standin"        /* 8 bytes with the final 0 */
#define STANDIN_CALL  "standin_call_"  /* void (void **args) */
#define STANDIN_SIZES "standin_sizes_" /* const unsigned long [] */

#define STANDIN_STATICS "standin_statics" /* char *const [2]: begin, end */

typedef struct standin_image {
    char magic[8];
    uint64_t bytes; /* that follow */
} standin_image;

#endif
