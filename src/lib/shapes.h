/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes.h - a placement of the library at other shapes of its inputs.
 */
#ifndef MO_LIB_SHAPES_H
#define MO_LIB_SHAPES_H

#include "lib/handles.h"
#include "solvers/process/path_util.h"

/* Appends "NAME=1,128", with rank and dims of input, to shapes. */
mo_status mo_lib_shape_append(const char *name, const moirai_tensor *input,
                              mo_path_list *shapes, mo_error *err);

/* Reads the graph of a placement again, with inputs of these shapes, and places
 * it by the names of its ops; coarsened, and judged, as the placement. Fails
 * with MO_E_IO if the graph was not read from a file. */
mo_status mo_lib_placement_at(const moirai_placement *placement,
                              const mo_path_list *shapes, moirai_placement **at,
                              mo_error *err);

#endif
