/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - the versions of the libraries and GPUs that networks are run
 * with, as one line of text for --version.
 */
#ifndef MO_EXEC_VERSION_H
#define MO_EXEC_VERSION_H

enum { MO_EXEC_VERSION_TEXT_SIZE = 640 };

/* Writes "BLAS, MPI, CUDA driver 13.0, NVRTC 13.0, cuBLASLt 13.0.0, cuDNN
 * 9.14.0; GPU 0: NVIDIA H200", or the reason why there is no GPU, into the
 * caller's buffer and returns it.  Loads the CUDA libraries where the build
 * has CUDA; a text that is too long is cut. */
const char *mo_exec_version_text(char text[MO_EXEC_VERSION_TEXT_SIZE]);

#endif
