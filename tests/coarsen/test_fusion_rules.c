/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of coarsen/fusion_rules.h and coarsen/fusion_pattern.h. */
#include "coarsen/fusion_rules.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static mo_fusion_rules *rules_of(const char *text)
{
    mo_fusion_rules *rules = NULL;

    MUST(mo_fusion_rules_parse("rules", text, strlen(text), &rules, &err));
    return rules;
}

/* "conv bn relu|conv bn": the rules in the order they are tried. */
static const char *tell_rules(const mo_fusion_rules *rules)
{
    static char text[4096];
    int used = 0;

    text[0] = '\0';
    for (int r = 0; r < rules->n; r++)
        for (int k = 0; k < rules->rules[r].n; k++)
            used += snprintf(text + used, sizeof text - (size_t) used, "%s%s",
                             k > 0   ? " "
                             : r > 0 ? "|"
                                     : "",
                             rules->rules[r].words[k].text);
    return text;
}

static uint64_t digest_of(const char *text)
{
    mo_fusion_rules *rules = rules_of(text);
    uint64_t digest = 0;

    MUST(mo_fusion_rules_digest(rules, &digest, &err));
    mo_fusion_rules_free(rules);
    return digest;
}

static const struct {
    const char *text, *rules;
} readings[] = {
    { "", "" },
    { "\n\n  \n# nothing\n", "" },
    { "conv bn", "conv bn" },
    { "conv bn\n", "conv bn" },
    { "  conv\tbn  relu \r\n", "conv bn relu" },
    { "conv bn# a comment\n#conv relu\n", "conv bn" },
    { "# caf\xc3\xa9\nconv bn", "conv bn" },
    /* Longest first, then in the order of bytes; none twice. */
    { "conv bn\nadd relu\nconv bn relu\n", "conv bn relu|add relu|conv bn" },
    { "conv bn\nadd relu\nConv BN\nconv bn\n", "add relu|conv bn" },
    { "a b c d e f g h i j k l m n o p", "a b c d e f g h i j k l m n o p" },
};

START_TEST(a_line_is_a_rule)
{
    mo_fusion_rules *rules = rules_of(readings[_i].text);

    ck_assert_str_eq(tell_rules(rules), readings[_i].rules);
    mo_fusion_rules_free(rules);
}
END_TEST

static const struct {
    const char *text, *error;
    int line;
} refusals[] = {
    { "conv bn\nconv\n", "a rule of one type fuses nothing", 2 },
    { "\n\nconv * relu", "'*' is not supported", 3 },
    { "conv* relu", "'*' is not supported", 1 },
    { "conv caf\xc3\xa9", "something else than operator types", 1 },
    { "conv \x01", "something else than operator types", 1 },
    { "conv \v bn", "something else than operator types", 1 },
    { "a b c d e f g h i j k l m n o p q", "more than 16 types", 1 },
};

START_TEST(other_lines_are_refused)
{
    const char *text = refusals[_i].text;
    mo_fusion_rules *rules = NULL;
    mo_error err = { 0 };

    ck_assert_int_eq(
        mo_fusion_rules_parse("my.rules", text, strlen(text), &rules, &err),
        MO_E_INPUT);
    ck_assert_ptr_null(rules);
    ck_assert_str_eq(err.file, "my.rules");
    ck_assert_int_eq(err.line, refusals[_i].line);
    ck_assert_msg(strstr(err.text, refusals[_i].error) != NULL, "%s", err.text);
}
END_TEST

START_TEST(a_zero_byte_is_no_rule)
{
    static const char text[] = "conv bn\nconv\0relu";
    mo_fusion_rules *rules = NULL;
    mo_error err = { 0 };

    ck_assert_int_eq(
        mo_fusion_rules_parse("rules", text, sizeof text - 1, &rules, &err),
        MO_E_INPUT);
    ck_assert_int_eq(err.line, 2);
}
END_TEST

START_TEST(there_is_an_end_to_rules)
{
    static char text[20 * (MO_FUSION_MAX_RULES + 1)];
    mo_fusion_rules *rules;
    mo_error err = { 0 };
    int used = 0;

    for (int i = 0; i < MO_FUSION_MAX_RULES; i++)
        used += sprintf(text + used, "a%d b\n", i);
    rules = rules_of(text);
    ck_assert_int_eq(rules->n, MO_FUSION_MAX_RULES);
    mo_fusion_rules_free(rules);

    rules = NULL;
    strcpy(text + used, "c d\n");
    ck_assert_int_eq(
        mo_fusion_rules_parse("rules", text, strlen(text), &rules, &err),
        MO_E_INPUT);
    ck_assert_int_eq(err.line, MO_FUSION_MAX_RULES + 1);
    ck_assert_ptr_null(rules);
}
END_TEST

START_TEST(every_set_is_there_by_name)
{
    static const char *const names[] = { "default", "eigen",  "cublaslt",
                                         "cudnn",   "onednn", "none" };

    for (int i = 0; i < COUNT(names); i++) {
        mo_fusion_rules *rules = NULL;

        MUST(mo_fusion_rules_load(names[i], &rules, &err));
        ck_assert_str_eq(mo_fusion_rule_sets[i].name, names[i]);
        ck_assert((rules->n == 0) == (strcmp(names[i], "none") == 0));
        mo_fusion_rules_free(rules);
    }
    ck_assert_ptr_null(mo_fusion_rule_sets[COUNT(names)].name);
}
END_TEST

/* With biases, which ONNX has within its convolutions. */
START_TEST(eigen_is_the_table_of_the_paper)
{
    mo_fusion_rules *rules = NULL;

    MUST(mo_fusion_rules_load("eigen", &rules, &err));
    ck_assert_str_eq(tell_rules(rules),
                     "conv bias bn add relu|conv bias bn relu|"
                     "conv bn add relu|conv bias bn|conv bn relu|conv bn");
    mo_fusion_rules_free(rules);
}
END_TEST

static char large[MO_FUSION_MAX_FILE + 2];

START_TEST(any_other_name_is_a_file)
{
    mo_fusion_rules *rules = NULL;

    scratch_write("own.rules", "p q # mine\n");
    MUST(mo_fusion_rules_load("own.rules", &rules, &err));
    ck_assert_str_eq(tell_rules(rules), "p q");
    mo_fusion_rules_free(rules);

    memset(large, '\n', MO_FUSION_MAX_FILE);
    scratch_write("large.rules", large);
    MUST(mo_fusion_rules_load("large.rules", &rules, &err));
    ck_assert_int_eq(rules->n, 0);
    mo_fusion_rules_free(rules);
}
END_TEST

START_TEST(what_is_no_rule_file_is_refused)
{
    mo_fusion_rules *rules = NULL;
    mo_error err = { 0 };

    ck_assert_int_eq(mo_fusion_rules_load("missing.rules", &rules, &err),
                     MO_E_IO);
    ck_assert_msg(strstr(err.text, "no built-in fusion set of that name"), "%s",
                  err.text);
    ck_assert_int_eq(mo_fusion_rules_load(".", &rules, &err), MO_E_IO);

    memset(large, '\n', MO_FUSION_MAX_FILE + 1);
    scratch_write("larger.rules", large);
    ck_assert_int_eq(mo_fusion_rules_load("larger.rules", &rules, &err),
                     MO_E_LIMIT);
    ck_assert_ptr_null(rules);
}
END_TEST

/* Order, comments, case and white space do not count; all else does. */
START_TEST(the_digest_is_of_the_rules)
{
    static const char *const same[] = {
        "conv bn\nadd relu\n",
        "add relu\nconv bn\n",
        "# rules\n\tCONV  bn # first\n\n\nAdd ReLU",
        "conv bn\nadd relu\nconv bn\n",
    };
    static const char *const others[] = {
        "",          "conv bn\n",          "conv bn\nadd relu\nadd bn\n",
        "convbn x",  "conv bnx",           "conv bn add relu\n",
        "conv\tb n", "conv bn\nadd reluu", "add conv\nbn relu\n",
    };
    uint64_t wanted = digest_of(same[0]);

    for (int i = 1; i < COUNT(same); i++)
        ck_assert_uint_eq(digest_of(same[i]), wanted);
    for (int i = 0; i < COUNT(others); i++) {
        ck_assert_uint_ne(digest_of(others[i]), wanted);
        for (int k = 0; k < i; k++)
            ck_assert_msg(digest_of(others[i]) != digest_of(others[k]),
                          "'%s' and '%s'", others[i], others[k]);
    }
}
END_TEST

/* Which types match which word; two inputs unless given otherwise. */
static const struct {
    const char *word, *type;
    int n_inputs;
    bool answers;
} answers[] = {
    { "conv", "Convolution", 2, true },
    { "conv", "GroupConvolution", 2, true },
    { "conv", "aten.conv2d.default", 2, true },
    { "conv", "ConvolutionBackpropData", 2, false },
    { "matmul", "MatMul", 2, true },
    { "matmul", "Gemm", 2, true },
    { "matmul", "Linear", 2, true },
    { "matmul", "addmm", 2, true },
    { "matmul", "LSTMCell", 2, false },
    { "bias", "Add", 1, true },
    { "bias", "Add", 2, false },
    { "bias", "Subtract", 1, false },
    { "scale", "Multiply", 1, true },
    { "scale", "truediv", 1, true },
    { "scale", "Multiply", 2, false },
    { "bn", "BatchNormInference", 1, true },
    { "bn", "BatchNorm2d", 1, true },
    { "bn", "LayerNorm", 1, false },
    { "norm", "LayerNorm", 1, true },
    { "norm", "aten.norm", 1, false }, /* a reduction, whatever it is called */
    { "act", "ReLU", 1, true },
    { "act", "gelu", 1, true },
    { "act", "Add", 1, false },
    { "eltwise", "Add", 2, true },
    { "eltwise", "ReLU", 1, true },
    { "eltwise", "MatMul", 2, false },
    { "pool", "MaxPool", 1, true },
    { "softmax", "SoftMax", 1, true },
    { "softmax", "LogSoftmax", 1, true },
    /* An operator by any of its names. */
    { "relu", "ReLU", 1, true },
    { "ReLU", "aten.relu_.default", 1, true },
    { "Add", "add", 1, true },
    { "add", "Subtract", 2, false },
    /* An unknown type is compared as text. */
    { "mystery", "Mystery", 2, true },
    { "mystery", "Mysterious", 2, false },
    { "act", "act", 2, true },
    { "relu", "mystery", 2, false },
    { "mystery", "relu", 2, false },
    { "mystery", NULL, 2, false },
    { "conv", NULL, 2, false },
};

START_TEST(words_are_roles_operators_or_types)
{
    const char *type = answers[_i].type;
    mo_fusion_pattern word = mo_fusion_pattern_of(answers[_i].word);
    mo_fusion_candidate subject = { type, type ? mo_operator_find(type) : NULL,
                                    answers[_i].n_inputs };

    ck_assert_msg(mo_fusion_pattern_matches(&word, &subject) ==
                      answers[_i].answers,
                  "%s, %s", answers[_i].word, type ? type : "no type");
}
END_TEST

/* A role that is the name of an operator would hide it. */
START_TEST(roles_hide_no_other_operator)
{
    for (const mo_fusion_role *role = mo_fusion_roles; role->word; role++) {
        const mo_operator *kind = mo_operator_find(role->word);
        mo_fusion_candidate subject = { role->word, kind, 1 };

        ck_assert_msg(!kind || role->matches(&subject), "%s", role->word);
    }
}
END_TEST

SUITE(fusion_rules)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(a_line_is_a_rule, COUNT(readings));
    EACH(other_lines_are_refused, COUNT(refusals));
    TEST(a_zero_byte_is_no_rule);
    TEST(there_is_an_end_to_rules);
    TEST(every_set_is_there_by_name);
    TEST(eigen_is_the_table_of_the_paper);
    TEST(any_other_name_is_a_file);
    TEST(what_is_no_rule_file_is_refused);
    TEST(the_digest_is_of_the_rules);
    EACH(words_are_roles_operators_or_types, COUNT(answers));
    TEST(roles_hide_no_other_operator);
}
