#include "tilewright/graph/operators/operators.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tilewright/base/file.h"
#include "tilewright/graph/operators/node_rules.h"

namespace tilewright {
namespace {

TEST(Operators, TableIsSortedCompleteAndWithoutDoubles) {
  const std::span<const Operator> table = all_operators();
  for (size_t i = 1; i < table.size(); ++i) {
    EXPECT_LT(std::pair(std::string(table[i - 1].domain), std::string(table[i - 1].name)),
              std::pair(std::string(table[i].domain), std::string(table[i].name)));
  }
  for (const Operator& op : table) {
    EXPECT_EQ(find_operator(op.domain, op.name), &op);
    EXPECT_NE(op.infer, nullptr) << op.name;
    EXPECT_LE(op.min_inputs, op.max_inputs) << op.name;
    std::set<std::string> names;
    for (const AttributeRule& rule : op.attributes) EXPECT_TRUE(names.insert(rule.name).second) << op.name;
  }
  EXPECT_GE(table.size(), 105u);
  EXPECT_EQ(find_operator("", "QConv"), nullptr);
  EXPECT_EQ(find_operator("tilewright", "Conv"), nullptr);
}

TEST(Operators, TheDocumentationListsAllOfThem) {
  const std::string page = read_text_file(std::string(TILEWRIGHT_SOURCE_DIR) + "/docs/design/model/graph.md");
  std::istringstream list(page.substr(page.find("## Operators")));
  std::set<std::string> documented;
  for (std::string word; list >> word;) documented.insert(word);
  for (const Operator& op : all_operators()) EXPECT_EQ(documented.count(op.name), 1u) << op.name;
  size_t words = 0;
  for (const std::string& word : documented)
    words += find_operator("", word) || find_operator("tilewright", word);
  EXPECT_EQ(words, all_operators().size());
  EXPECT_EQ(documented.size(), words + 6) << "more than '## Operators Standard domain: Domain `tilewright`:'";
}

TEST(Operators, OnnxTypeCodesAreInverse) {
  for (int64_t code = -1; code < 40; ++code) {
    const auto type = element_type_of_onnx(code);
    EXPECT_TRUE(!type || onnx_code_of(*type) == code);
  }
  EXPECT_EQ(element_type_of_onnx(1), ElementType::kF32);
  EXPECT_EQ(element_type_of_onnx(8), std::nullopt);
  EXPECT_EQ(onnx_code_of(ElementType::kBipolar), std::nullopt);
}

std::string operator_problems(const Node& node) {
  Diagnostics diagnostics;
  check_node(node, diagnostics);
  std::string text;
  for (const Diagnostic& problem : diagnostics.errors()) {
    text += std::string(error_kind_name(problem.kind)) + ": " + to_string(problem) + "\n";
  }
  return text;
}

TEST(Operators, UnknownOperatorsAreNamedWithAHint) {
  EXPECT_EQ(operator_problems({"a", "", "Convo", {}, {}, {}}),
            "unsupported: node 'a' (Convo): operator is not supported; did you mean Conv?\n");
  EXPECT_EQ(operator_problems({"a", "", "NonMaxSuppression", {}, {}, {}}),
            "unsupported: node 'a' (NonMaxSuppression): operator is not supported; the size of its output "
            "depends on the data: end the network before it (--output-node) and select on the host\n");
  EXPECT_EQ(operator_problems({"a", "com.microsoft", "QAttention", {}, {}, {}}),
            "unsupported: node 'a' (QAttention): operator of domain 'com.microsoft' is not supported; export "
            "the float model without ONNX Runtime's graph optimisations, and quantise it with 'tilewright "
            "quantize'\n");
  EXPECT_EQ(operator_problems({"a", "com.microsoft", "FusedMatMul", {}, {}, {}}),
            "unsupported: node 'a' (FusedMatMul): operator of domain 'com.microsoft' is not supported; only "
            "the standard domain is supported: export without custom operators\n");
  EXPECT_EQ(operator_problems({"a", "", "QConv", {}, {}, {}}),
            "unsupported: node 'a' (QConv): operator is not supported; did you mean Conv?\n");
}

TEST(Operators, EveryProblemOfANodeIsReported) {
  EXPECT_EQ(
      operator_problems({"a", "", "LRN", {0, 1}, {}, {{"size", 2.0f}, {"axis", int64_t{1}}}}),
      "invalid input: node 'a' (LRN): 2 inputs; 1 needed\n"
      "invalid input: node 'a' (LRN): 0 outputs; 1 needed\n"
      "unsupported: node 'a' (LRN): attribute 'axis' is not supported; covered: alpha, beta, bias, size\n"
      "invalid input: node 'a' (LRN): attribute 'size' is a float; an integer is needed\n");
  EXPECT_EQ(operator_problems({"a", "", "Concat", {}, {0}, {}}),
            "invalid input: node 'a' (Concat): 0 inputs; at least 1 needed\n"
            "invalid input: node 'a' (Concat): attribute 'axis' is missing\n");
}

}  // namespace
}  // namespace tilewright
