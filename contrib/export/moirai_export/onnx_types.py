# SPDX-License-Identifier: Apache-2.0
"""Types of elements, as ONNX, numpy and graphs name them."""
import numpy
import onnx
import onnx.helper

from .graph import Unsupported, Value

DTYPES = {"FLOAT": "f32", "DOUBLE": "f64", "FLOAT16": "f16", "BFLOAT16": "bf16",
          "INT64": "i64", "INT32": "i32", "INT16": "i16", "INT8": "i8",
          "UINT64": "u64", "UINT32": "u32", "UINT16": "u16", "UINT8": "u8",
          "BOOL": "boolean"}
NUMPY = {"f32": "float32", "f64": "float64", "f16": "float16", "i64": "int64",
         "bf16": "bfloat16", "i32": "int32", "i16": "int16", "i8": "int8",
         "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8",
         "boolean": "bool"}
NAMES = {name: dtype for dtype, name in NUMPY.items()}


def dtype_of(number):
    """Of an element type of ONNX."""
    name = onnx.TensorProto.DataType.Name(number)
    if name not in DTYPES:
        raise Unsupported(f"has elements of type {name}")
    return DTYPES[name]


def type_of(known):
    """A Value or an array, as ONNX types it."""
    dtype = known.dtype if isinstance(known, Value) else known.dtype.name
    number = onnx.helper.np_dtype_to_tensor_dtype(
        numpy.dtype(NUMPY.get(dtype, dtype)))
    return onnx.helper.make_tensor_type_proto(number, known.shape)
