/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir_text.h - small OpenVINO models as C literals.
 *
 *     NET(PARAMETER(0, "x") RELU(1, "a") RESULT(2, "r"),
 *         EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0))
 *
 * The first layer is on line 2, and every layer and edge on a line of its own.
 * By default tensors are f32 of shape 2,3.
 */
#ifndef MO_TESTS_INGEST_IR_TEXT_H
#define MO_TESTS_INGEST_IR_TEXT_H

#define NET_OF(version, layers, edges)                                         \
    "<net name=\"tiny\" version=\"" version "\"><layers>\n" layers             \
    "</layers><edges>\n" edges "</edges></net>\n"
#define NET(layers, edges) NET_OF("11", layers, edges)

#define LAYER_OF(opset, id, name, type, rest)                                  \
    "<layer id=\"" #id "\" name=\"" name "\" type=\"" type                     \
    "\" version=\"" opset "\">" rest "</layer>\n"
#define LAYER(id, name, type, rest) LAYER_OF("opset1", id, name, type, rest)
#define DATA(attributes)            "<data " attributes "/>"
#define INPUTS(ports)               "<input>" ports "</input>"
#define OUTPUTS(ports)              "<output>" ports "</output>"
#define PORT(id, precision, dims)                                              \
    "<port id=\"" #id "\" precision=\"" precision "\">" dims "</port>"
#define DIM(n) "<dim>" #n "</dim>"
#define EDGE(from, from_port, to, to_port)                                     \
    "<edge from-layer=\"" #from "\" from-port=\"" #from_port                   \
    "\" to-layer=\"" #to "\" to-port=\"" #to_port "\"/>\n"

#define F32_2_3(id) PORT(id, "FP32", DIM(2) DIM(3))

#define PARAMETER(id, name)                                                    \
    LAYER(id, name, "Parameter",                                               \
          DATA("shape=\"2,3\" element_type=\"f32\"") OUTPUTS(F32_2_3(0)))
#define CONST(id, name, offset)                                                \
    LAYER(id, name, "Const",                                                   \
          DATA("element_type=\"f32\" shape=\"2, 3\" offset=\"" #offset         \
               "\" size=\"24\"") OUTPUTS(F32_2_3(0)))
#define UNARY(id, name, type)                                                  \
    LAYER(id, name, type, INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1)))
#define RELU(id, name) UNARY(id, name, "ReLU")
#define BINARY(id, name, type)                                                 \
    LAYER(id, name, type, INPUTS(F32_2_3(0) F32_2_3(1)) OUTPUTS(F32_2_3(2)))
#define ADD(id, name) BINARY(id, name, "Add")
#define SHAPE_OF(id, name)                                                     \
    LAYER_OF("opset3", id, name, "ShapeOf",                                    \
             DATA("output_type=\"i64\"") INPUTS(F32_2_3(0))                    \
                 OUTPUTS(PORT(1, "I64", DIM(2))))
#define RESULT(id, name) LAYER(id, name, "Result", INPUTS(F32_2_3(0)))

#endif
