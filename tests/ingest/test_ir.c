/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/ir/ir.h. */
#include "ingest/ir/ir.h"

#include <string.h>

#include "base/out.h"
#include "tests/ingest/ir_text.h"
#include "tests/support/suite.h"

static mo_ir *ir_of(const char *text)
{
    mo_ir *ir;

    MUST(mo_ir_read_memory("m.xml", text, strlen(text), &ir, &err));
    return ir;
}

START_TEST(layers_keep_what_the_file_says)
{
    mo_ir *ir =
        ir_of(NET(PARAMETER(0, "x") LAYER_OF(
                      "opset8", 7, "pool", "MaxPool",
                      DATA("kernel=\"2, 2\" auto_pad='a\"b'") INPUTS(F32_2_3(0))
                          OUTPUTS(PORT(1, "FP16", DIM(1) DIM(64) DIM(0))
                                      PORT(2, "I64", ""))) RESULT(9, "r"),
                  EDGE(0, 0, 7, 0) EDGE(7, 1, 9, 0)));
    const mo_ir_layer *pool = &ir->layers[1];

    ck_assert_str_eq(ir->name, "tiny");
    ck_assert_int_eq(ir->version, 11);
    ck_assert_int_eq(ir->n_layers, 3);
    ck_assert_int_eq(pool->id, 7);
    ck_assert_str_eq(pool->name, "pool");
    ck_assert_str_eq(pool->type, "MaxPool");
    ck_assert_str_eq(pool->version, "opset8");
    ck_assert_str_eq(pool->attrs,
                     "{\"kernel\":\"2, 2\",\"auto_pad\":\"a\\\"b\"}");
    ck_assert_int_eq(pool->line, 3);
    ck_assert_int_eq(pool->n_inputs, 1);
    ck_assert_int_eq(pool->inputs[0].source_layer, 0);
    ck_assert_int_eq(pool->inputs[0].source_port, 0);
    ck_assert_int_eq(pool->n_outputs, 2);
    ck_assert_str_eq(pool->outputs[0].dtype, "f16");
    ck_assert_int_eq(pool->outputs[0].shape.rank, 3);
    ck_assert_int_eq(pool->outputs[0].shape.dims[1], 64);
    ck_assert_int_eq(pool->outputs[0].shape.dims[2], 0);
    ck_assert_str_eq(pool->outputs[1].dtype, "i64");
    ck_assert_int_eq(pool->outputs[1].shape.rank, 0);
    ck_assert_int_eq(pool->offset, -1);
    ck_assert_ptr_null(ir->layers[2].attrs);
    mo_ir_free(ir);
}
END_TEST

START_TEST(constants_say_where_they_stand)
{
    mo_ir *ir =
        ir_of(NET(CONST(0, "w", 4096) RESULT(1, "r"), EDGE(0, 0, 1, 0)));

    ck_assert_int_eq(ir->layers[0].offset, 4096);
    ck_assert_int_eq(ir->layers[0].size, 24);
    mo_ir_free(ir);
}
END_TEST

START_TEST(packed_constants_are_rounded_up)
{
    /* 3 elements of 4 bits: 12 bits are 2 bytes. */
    mo_ir *ir = ir_of(NET(
        LAYER(0, "w", "Const",
              DATA("element_type=\"u4\" shape=\"3\" offset=\"0\" size=\"2\"")
                  OUTPUTS(PORT(0, "U4", DIM(3))))
            LAYER(1, "s", "Const",
                  DATA("element_type=\"string\" shape=\"2\" offset=\"2\" "
                       "size=\"77\"") OUTPUTS(PORT(0, "STRING", DIM(2)))),
        ""));

    ck_assert_int_eq(ir->layers[0].size, 2);
    ck_assert_int_eq(ir->layers[1].size, 77);
    mo_ir_free(ir);
}
END_TEST

START_TEST(inputs_of_version_10_take_their_sources_precision)
{
    mo_ir *ir = ir_of(NET_OF(
        "10",
        PARAMETER(0, "x")
            LAYER(1, "a", "ReLU",
                  INPUTS("<port id=\"0\"><dim>2</dim><dim>3</dim></port>")
                      OUTPUTS(F32_2_3(1))),
        EDGE(0, 0, 1, 0)));

    ck_assert_int_eq(ir->version, 10);
    ck_assert_str_eq(ir->layers[1].inputs[0].dtype, "f32");
    mo_ir_free(ir);
}
END_TEST

START_TEST(an_output_without_precision_has_the_one_of_its_data)
{
    mo_ir *ir =
        ir_of(NET_OF("10",
                     LAYER(0, "x", "Parameter",
                           DATA("shape=\"2\" element_type=\"f16\"")
                               OUTPUTS("<port id=\"0\"><dim>2</dim></port>")),
                     ""));

    ck_assert_str_eq(ir->layers[0].outputs[0].dtype, "f16");
    mo_ir_free(ir);
}
END_TEST

START_TEST(dynamic_dimensions_are_kept)
{
    mo_ir *ir = ir_of(NET(
        LAYER(0, "x", "Parameter", DATA("shape=\"?,1..8,3\"")
              OUTPUTS(PORT(0, "FP32", DIM(-1) DIM(1..8) DIM(?) DIM(3))))
        LAYER(1, "y", "Parameter", DATA("shape=\"...\"")
              OUTPUTS(PORT(0, "dynamic", ""))), ""));

    ck_assert_int_eq(ir->layers[0].outputs[0].shape.rank, 4);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ir->layers[0].outputs[0].shape.dims[i], -1);
    ck_assert_int_eq(ir->layers[0].outputs[0].shape.dims[3], 3);
    ck_assert_int_eq(ir->layers[1].outputs[0].shape.rank, -1);
    ck_assert_ptr_null(ir->layers[1].outputs[0].dtype);
    mo_ir_free(ir);
}
END_TEST

START_TEST(what_nobody_looks_at_is_skipped)
{
    mo_ir *ir = ir_of(
        "<net version=\"11\"><rt_info><layers><layer/></layers></rt_info>"
        "<statistics><layer/></statistics>"
        "<edges>" EDGE(0, 0, 1, 0)
            EDGE(1, 1, 2, 0) "</edges><layers>\n" PARAMETER(0, "x") LAYER(
                1, "t", "TensorIterator",
                INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(
                    1)) "<port_map><input external_port_id=\"0\"/></port_map>"
                        "<body><layers>" PARAMETER(
                            0, "x") "<layer/></layers>"
                                    "<edges><edge/></edges></body>")
                RESULT(2, "r") "</layers><meta_data><cli_parameters/></"
                               "meta_data></net>");

    ck_assert_int_eq(ir->n_layers, 3);
    ck_assert_ptr_null(ir->name);
    ck_assert_int_eq(ir->layers[1].n_inputs, 1);
    ck_assert_int_eq(ir->layers[1].n_outputs, 1);
    mo_ir_free(ir);
}
END_TEST

START_TEST(ports_may_stand_in_any_order)
{
    mo_ir *ir =
        ir_of(NET(PARAMETER(0, "x") PARAMETER(1, "y")
                      LAYER(2, "d", "Divide",
                            INPUTS(F32_2_3(9) F32_2_3(4)) OUTPUTS(F32_2_3(1))),
                  EDGE(0, 0, 2, 4) EDGE(1, 0, 2, 9)));

    ck_assert_int_eq(ir->layers[2].inputs[0].source_layer, 1);
    ck_assert_int_eq(ir->layers[2].inputs[1].source_layer, 0);
    mo_ir_free(ir);
}
END_TEST

/* line: the line that the error must name; 0 is the file alone. */
static const struct {
    const char *text;
    mo_status status;
    int line;
    const char *says;
} faults[] = {
    { "<graph version=\"11\"/>", MO_E_INPUT, 1,
      "the root element is <graph>, not <net>" },
    { "<net/>", MO_E_INPUT, 1, "<net> has no 'version'" },
    { "<net version=\"7\"/>", MO_E_SUPPORT, 1,
      "IR version 7: only versions 10 and 11 are read; convert the model" },
    { "<net version=\"eleven\"/>", MO_E_INPUT, 1, "version 'eleven' of <net>" },
    { "<net version=\"11\"/>", MO_E_INPUT, 0, "the model has no layers" },
    { "<net version=\"11\"><layers>", MO_E_SYNTAX, 1, "" },
    { NET("<layer name=\"a\" type=\"b\"/>", ""), MO_E_INPUT, 2,
      "<layer> has no 'id'" },
    { NET("<layer id=\"0\" type=\"b\"/>", ""), MO_E_INPUT, 2,
      "<layer> has no 'name'" },
    { NET("<layer id=\"0\" name=\"a\"/>", ""), MO_E_INPUT, 2,
      "<layer> has no 'type'" },
    { NET(LAYER(0, "a", "", ""), ""), MO_E_INPUT, 2,
      "layer 0 has an empty type" },
    { NET(LAYER(-1, "a", "b", ""), ""), MO_E_INPUT, 2,
      "id '-1' of <layer> is not a whole number" },
    { NET(LAYER(9223372036854775808, "a", "b", ""), ""), MO_E_INPUT, 2,
      "id '9223372036854775808' of <layer> is not a whole number" },
    { NET(LAYER(1.5, "a", "b", ""), ""), MO_E_INPUT, 2,
      "id '1.5' of <layer> is not a whole number" },
    { NET(PARAMETER(3, "x") PARAMETER(4, "y") RELU(3, "z"), ""), MO_E_INPUT, 4,
      "layer id 3 is taken by the layer of line 2" },
    { NET(LAYER(0, "a", "b", DATA("x=\"1\"") DATA("y=\"2\"")), ""), MO_E_INPUT,
      2, "a second <data> in layer 'a'" },

    { NET(LAYER(0, "a", "b", OUTPUTS("<port/>")), ""), MO_E_INPUT, 2,
      "<port> has no 'id'" },
    { NET(LAYER(0, "a", "b", OUTPUTS(PORT(4294967296, "FP32", ""))), ""),
      MO_E_INPUT, 2,
      "id '4294967296' of <port> is not a whole number from 0 "
      "to 2147483647" },
    { NET(LAYER(0, "a", "b", OUTPUTS(F32_2_3(5) F32_2_3(5))), ""), MO_E_INPUT,
      2, "layer 'a' has two output ports with the id 5" },
    { NET(LAYER(0, "a", "b", INPUTS(F32_2_3(1) F32_2_3(0) F32_2_3(1))), ""),
      MO_E_INPUT, 2, "layer 'a' has two input ports with the id 1" },
    { NET(LAYER(0, "a", "b", OUTPUTS(PORT(0, "FP33", ""))), ""), MO_E_INPUT, 2,
      "'FP33' is not an element type" },
    { NET(LAYER(0, "a", "b", OUTPUTS(PORT(0, "FP32", DIM(two)))), ""),
      MO_E_INPUT, 2, "'two' is not a dimension" },
    { NET(LAYER(0, "a", "b", OUTPUTS(PORT(0, "FP32", DIM()))), ""), MO_E_INPUT,
      2, "'' is not a dimension" },
    { NET(LAYER(0, "a", "b", OUTPUTS(PORT(0, "FP32", DIM(1e400)))), ""),
      MO_E_INPUT, 2, "'1e400' is not a dimension" },
    { NET(LAYER(0, "a", "b", OUTPUTS(PORT(0, "FP32", DIM(NaN)))), ""),
      MO_E_INPUT, 2, "'NaN' is not a dimension" },
    { NET(LAYER(0, "a", "b",
                OUTPUTS(PORT(0, "FP32", DIM(9223372036854775808)))),
          ""),
      MO_E_LIMIT, 2, "a tensor of more than 2^48 elements" },
    { NET(LAYER(0, "a", "b",
                OUTPUTS(PORT(0, "FP32", DIM(4294967296) DIM(65537)))),
          ""),
      MO_E_LIMIT, 2, "a tensor of more than 2^48 elements" },
    { NET(LAYER(0, "a", "b",
                OUTPUTS(PORT(0, "FP32",
                             DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1)
                                 DIM(1) DIM(1) DIM(1) DIM(1) DIM(1) DIM(1)
                                     DIM(1) DIM(1) DIM(1) DIM(1)))),
          ""),
      MO_E_LIMIT, 2, "a tensor of more than 16 dimensions" },

    { NET(LAYER(0, "w", "Const", OUTPUTS(F32_2_3(0))), ""), MO_E_INPUT, 2,
      "Const 'w' has no <data>" },
    { NET(LAYER(0, "w", "Const", DATA("size=\"24\"") OUTPUTS(F32_2_3(0))), ""),
      MO_E_INPUT, 2, "<data> has no 'offset'" },
    { NET(LAYER(0, "w", "Const", DATA("offset=\"0\"") OUTPUTS(F32_2_3(0))), ""),
      MO_E_INPUT, 2, "<data> has no 'size'" },
    { NET(CONST(0, "w", -8), ""), MO_E_INPUT, 2, "offset '-8' of <data>" },
    { NET(LAYER(0, "w", "Const",
                DATA("offset=\"0\" size=\"23\"") OUTPUTS(F32_2_3(0))),
          ""),
      MO_E_INPUT, 2,
      "Const 'w' has 23 bytes, but its shape [2,3] of f32 needs 24" },
    { NET(CONST(0, "w", 9223372036854775807), ""), MO_E_INPUT, 2,
      "Const 'w' ends behind any file" },
    { NET(LAYER(0, "w", "Const",
                DATA("offset=\"0\" size=\"24\" shape=\"3,2\"")
                    OUTPUTS(F32_2_3(0))),
          ""),
      MO_E_INPUT, 2, "the shape of Const 'w' is another in its <data>" },
    { NET(LAYER(0, "w", "Const",
                DATA("offset=\"0\" size=\"24\" element_type=\"i32\"")
                    OUTPUTS(F32_2_3(0))),
          ""),
      MO_E_INPUT, 2, "the element type of Const 'w' is another" },
    { NET(LAYER(0, "w", "Const",
                DATA("offset=\"0\" size=\"24\"")
                    OUTPUTS(PORT(0, "FP32", DIM(-1)))),
          ""),
      MO_E_INPUT, 2, "the shape of Const 'w' is dynamic" },
    { NET(LAYER(0, "w", "Const", DATA("offset=\"0\" size=\"24\"")), ""),
      MO_E_INPUT, 2, "Const 'w' has 0 inputs and 0 outputs" },
    { NET(PARAMETER(0, "x") LAYER(1, "y", "Parameter",
                                  INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1))),
          EDGE(0, 0, 1, 0)),
      MO_E_INPUT, 3, "Parameter 'y' has 1 inputs and 1 outputs" },
    { NET(LAYER(0, "r", "Result", ""), ""), MO_E_INPUT, 2,
      "Result 'r' has 0 inputs" },
    { NET(LAYER(0, "s", "ShapeOf", OUTPUTS(F32_2_3(1))), ""), MO_E_INPUT, 2,
      "ShapeOf 's' has 0 inputs" },

    { NET(PARAMETER(0, "x") RELU(1, "a"), EDGE(5, 0, 1, 0)), MO_E_INPUT, 5,
      "the edge's from-layer 5 does not exist" },
    { NET(PARAMETER(0, "x") RELU(1, "a"), EDGE(0, 0, 6, 0)), MO_E_INPUT, 5,
      "the edge's to-layer 6 does not exist" },
    { NET(PARAMETER(0, "x") RELU(1, "a"), EDGE(0, 3, 1, 0)), MO_E_INPUT, 5,
      "layer 'x' (line 2) has no output port 3" },
    { NET(PARAMETER(0, "x") RELU(1, "a"), EDGE(0, 0, 1, 1)), MO_E_INPUT, 5,
      "layer 'a' (line 3) has no input port 1" },
    { NET(PARAMETER(0, "x") RELU(1, "a"), EDGE(0, 0, 1, 0) EDGE(0, 0, 1, 0)),
      MO_E_INPUT, 6,
      "input port 0 of layer 'a' (line 3) already has a source" },
    { NET(PARAMETER(0, "x") RELU(1, "a"), ""), MO_E_INPUT, 3,
      "no edge leads to input port 0 of layer 'a'" },
    { NET(PARAMETER(0, "x") RELU(1, "a"), "<edge from-layer=\"0\"/>"),
      MO_E_INPUT, 5, "<edge> has no 'from-port'" },
    { NET(PARAMETER(0, "x") RELU(1, "a"), EDGE(0, zero, 1, 0)), MO_E_INPUT, 5,
      "from-port 'zero' of <edge>" },
    { NET(PARAMETER(0, "x") RELU(1, "a"), EDGE(0, 0, -1, 0)), MO_E_INPUT, 5,
      "to-layer '-1' of <edge>" },
};

START_TEST(faults_are_told_with_their_line)
{
    mo_error err = { 0 };
    mo_ir *ir = NULL;
    mo_status status = mo_ir_read_memory("m.xml", faults[_i].text,
                                         strlen(faults[_i].text), &ir, &err);

    ck_assert_msg(status == faults[_i].status, "case %d: status %d, '%s'", _i,
                  (int) status, err.text);
    ck_assert_ptr_null(ir);
    ck_assert_str_eq(err.file, "m.xml");
    ck_assert_msg(err.line == faults[_i].line, "line %d, not %d: %s", err.line,
                  faults[_i].line, err.text);
    ck_assert_msg(strstr(err.text, faults[_i].says), "'%s' does not say '%s'",
                  err.text, faults[_i].says);
}
END_TEST

/* A layer of n inputs, numbered from n down to 1, each fed by x. */
static char *many_inputs(int n)
{
    mo_out *out;
    char *text;
    size_t size;

    MUST(mo_out_memory(&out, &err));
    mo_out_text(
        out, "<net version=\"11\"><layers>" PARAMETER(
                 0, "x") "<layer id=\"1\" name=\"c\" type=\"Concat\"><input>");
    for (int i = n; i > 0; i--)
        mo_out_printf(out, "<port id=\"%d\"/>", i);
    mo_out_text(out, "</input></layer></layers><edges>");
    for (int i = n; i > 0; i--)
        mo_out_printf(out,
                      "<edge from-layer=\"0\" from-port=\"0\" "
                      "to-layer=\"1\" to-port=\"%d\"/>",
                      i);
    mo_out_text(out, "</edges></net>");
    text = mo_out_take(out, &size);
    ck_assert_ptr_nonnull(text);
    mo_out_abandon(out);
    return text;
}

START_TEST(ports_without_order_are_limited)
{
    char *text = many_inputs(1024);
    mo_ir *ir = ir_of(text);
    mo_error err = { 0 };

    ck_assert_int_eq(ir->layers[1].n_inputs, 1024);
    mo_ir_free(ir);
    free(text);

    text = many_inputs(1025);
    ck_assert_int_eq(mo_ir_read_memory("m.xml", text, strlen(text), &ir, &err),
                     MO_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "not in ascending order"));
    free(text);
}
END_TEST

START_TEST(sources_come_first_in_the_order)
{
    mo_ir *ir = ir_of(NET(RESULT(0, "r") RELU(1, "b") ADD(2, "s")
                              PARAMETER(3, "x") RELU(4, "a"),
                          EDGE(2, 2, 0, 0) EDGE(4, 1, 1, 0) EDGE(3, 0, 4, 0)
                              EDGE(1, 1, 2, 0) EDGE(3, 0, 2, 1)));
    int *order, position[5];

    MUST(mo_ir_topo_order(ir, &order, &err));
    for (int i = 0; i < 5; i++)
        position[order[i]] = i;
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < ir->layers[i].n_inputs; k++)
            ck_assert_int_lt(position[ir->layers[i].inputs[k].source_layer],
                             position[i]);
    free(order);
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_cycle_is_told_by_its_layers)
{
    mo_ir *ir = ir_of(NET(PARAMETER(0, "x") ADD(1, "a") RELU(2, "b")
                              RELU(3, "c") RELU(4, "d"),
                          EDGE(0, 0, 1, 0) EDGE(3, 1, 1, 1) EDGE(1, 2, 2, 0)
                              EDGE(2, 1, 3, 0) EDGE(3, 1, 4, 0)));
    mo_error err = { 0 };
    int *order;

    ck_assert_int_eq(mo_ir_topo_order(ir, &order, &err), MO_E_INPUT);
    ck_assert_str_eq(err.file, "m.xml");
    ck_assert_str_eq(err.text,
                     "the layers run in a circle: 'a' (line 3) <- 'c' (line 5) "
                     "<- 'b' (line 4); the file is damaged, export the model "
                     "again");
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_layer_that_feeds_itself_is_a_cycle)
{
    mo_ir *ir = ir_of(NET(RELU(0, "a"), EDGE(0, 1, 0, 0)));
    mo_error err = { 0 };
    int *order;

    ck_assert_int_eq(mo_ir_topo_order(ir, &order, &err), MO_E_INPUT);
    ck_assert_str_eq(err.text, "the layers run in a circle: 'a' (line 2); the "
                               "file is damaged, export the model again");
    mo_ir_free(ir);
}
END_TEST

SUITE(ir)
{
    TEST(layers_keep_what_the_file_says);
    TEST(constants_say_where_they_stand);
    TEST(packed_constants_are_rounded_up);
    TEST(inputs_of_version_10_take_their_sources_precision);
    TEST(an_output_without_precision_has_the_one_of_its_data);
    TEST(dynamic_dimensions_are_kept);
    TEST(what_nobody_looks_at_is_skipped);
    TEST(ports_may_stand_in_any_order);
    EACH(faults_are_told_with_their_line, COUNT(faults));
    TEST(ports_without_order_are_limited);
    TEST(sources_come_first_in_the_order);
    TEST(a_cycle_is_told_by_its_layers);
    TEST(a_layer_that_feeds_itself_is_a_cycle);
}
