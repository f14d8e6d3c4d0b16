// Statements of the text form. Values are printed where they are defined; inputs, constants and values that
// nothing produces have statements of their own.
#include "tilewright/graph/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "tilewright/graph/text/tensor_text.h"

namespace tilewright {
namespace {

// A name that needs no quotes where an operator or attribute stands.
std::string plain_or_quoted(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
  return plain ? text : quoted(text);
}

std::string plain_or_quoted(TextScanner& scanner) {
  return scanner.peek() == '"' ? scanner.string() : scanner.word();
}

std::string float_text(float value) {
  if (value - value == 0) return fmt::format("{}f", value);
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return fmt::format("0x{:x}f", bits);
}

template <typename T, typename Format>
std::string list_text(const std::vector<T>& values, const char* name_of_empty, Format format) {
  if (values.empty()) return fmt::format("{}[]", name_of_empty);
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + format(values[i]);
  return text + "]";
}

std::string attribute_text(const Attribute& attribute, int64_t& splat_budget) {
  struct Printer {
    int64_t& splat_budget;
    std::string operator()(int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(float value) const { return float_text(value); }
    std::string operator()(const std::string& value) const { return quoted(value); }
    std::string operator()(const std::vector<int64_t>& values) const {
      return list_text(values, "ints", [](int64_t v) { return fmt::format("{}", v); });
    }
    std::string operator()(const std::vector<float>& values) const {
      return list_text(values, "floats", float_text);
    }
    std::string operator()(const std::vector<std::string>& values) const {
      return list_text(values, "strings", [](const std::string& v) { return quoted(v); });
    }
    std::string operator()(const Tensor& tensor) const {
      std::string text = print_type(tensor.type(), tensor.shape()) + " = ";
      print_elements(tensor, splat_budget, text);
      return text;
    }
  };
  return std::visit(Printer{splat_budget}, attribute);
}

class GraphPrinter {
 public:
  explicit GraphPrinter(const Graph& graph)
      : graph_(graph), defined_(graph.values.size(), false), produced_(graph.values.size(), false) {}

  std::string run() {
    text_ = "graph " + quoted(graph_.name);
    if (graph_.rounding != Rounding::kOnce) text_ += fmt::format(" rounding {}", name(graph_.rounding));
    text_ += "\n";
    for (ValueId id : graph_.inputs) statement("input", id);
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      if (graph_.values[id].constant && !defined_[id]) statement("const", ValueId(id));
    }
    for (const Node& node : graph_.nodes) {
      for (ValueId id : node.outputs) {
        if (valid(id)) produced_[size_t(id)] = true;
      }
    }
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      if (!defined_[id] && !produced_[id]) statement("value", ValueId(id));
    }
    for (const Node& node : graph_.nodes) print_node(node);
    for (ValueId id : graph_.outputs) text_ += fmt::format("output {}\n", reference(id));
    return std::move(text_);
  }

 private:
  bool valid(ValueId id) const { return id >= 0 && id < ValueId(graph_.values.size()); }

  static std::string reference(ValueId id) { return id == kNoValue ? "_" : fmt::format("%{}", id); }

  // The reference, with name and type where the value appears for the first time.
  std::string definition(ValueId id) {
    if (!valid(id) || defined_[size_t(id)]) return reference(id);
    defined_[size_t(id)] = true;
    const Value& value = graph_.value(id);
    return fmt::format("%{} {}: {}", id, quoted(value.name), print_type(value.type, value.shape));
  }

  void statement(const char* keyword, ValueId id) {
    text_ += fmt::format("{} {}", keyword, definition(id));
    if (valid(id) && graph_.value(id).constant) {
      const Tensor& tensor = *graph_.value(id).constant;
      text_ += " = ";
      // Only a graph that the verifier rejects holds another type than it declares.
      if (tensor.type() != graph_.value(id).type || tensor.shape() != graph_.value(id).shape) {
        text_ += print_type(tensor.type(), tensor.shape()) + " = ";
      }
      print_elements(tensor, splat_budget_, text_);
    }
    text_ += '\n';
  }

  void print_node(const Node& node) {
    text_ += fmt::format("node {} ", quoted(node.name));
    if (!node.domain.empty()) text_ += plain_or_quoted(node.domain) + "::";
    text_ += plain_or_quoted(node.op) + "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) text_ += (i == 0 ? "" : ", ") + reference(node.inputs[i]);
    text_ += ") -> (";
    for (size_t i = 0; i < node.outputs.size(); ++i)
      text_ += (i == 0 ? "" : ", ") + definition(node.outputs[i]);
    text_ += ")";
    const char* separator = " {";
    for (const auto& [name, value] : node.attributes) {
      text_ += separator + plain_or_quoted(name) + ": " + attribute_text(value, splat_budget_);
      separator = ", ";
    }
    text_ += node.attributes.empty() ? "\n" : "}\n";
  }

  const Graph& graph_;
  std::vector<bool> defined_;
  std::vector<bool> produced_;  // by a node
  int64_t splat_budget_ = kSplatBudget;
  std::string text_;
};

class GraphParser {
 public:
  explicit GraphParser(std::string_view text) : scanner_(text), limit_(text.size() / 8 + 1) {}

  Graph run() {
    if (scanner_.at_end() || !scanner_.take("graph")) scanner_.fail("expected 'graph \"name\"'");
    graph_.name = scanner_.string();
    if (scanner_.take("rounding")) {
      const std::string word = scanner_.word();
      const auto rounding = parse_rounding(word);
      if (!rounding) scanner_.fail(fmt::format("expected once, float or twice instead of '{}'", word));
      graph_.rounding = *rounding;
    }
    scanner_.end_line();
    while (!scanner_.at_end()) statement();
    if (defined_count_ != graph_.values.size()) {
      size_t missing = 0;
      while (missing < defined_.size() && defined_[missing]) ++missing;
      scanner_.fail(fmt::format("value %{} is used but not defined", missing));
    }
    return std::move(graph_);
  }

 private:
  void statement() {
    const std::string keyword = scanner_.word();
    if (keyword == "input") {
      graph_.inputs.push_back(definition());
      elements(graph_.inputs.back());
    } else if (keyword == "const" || keyword == "value") {
      const ValueId id = definition();
      if (!elements(id) && keyword == "const") scanner_.fail("expected '=' and the elements of the constant");
    } else if (keyword == "node") {
      node();
    } else if (keyword == "output") {
      graph_.outputs.push_back(reference());
    } else {
      scanner_.fail(fmt::format("expected input, const, value, node or output instead of '{}'", keyword));
    }
    scanner_.end_line();
  }

  ValueId reference() {
    if (scanner_.take("_")) return kNoValue;
    scanner_.expect("%");
    const int64_t id = scanner_.integer();
    // A value takes characters to define: ids cannot be larger than the text is long.
    if (id < 0 || size_t(id) >= limit_ || id > INT32_MAX)
      scanner_.fail(fmt::format("%{} is not a value", id));
    if (size_t(id) >= graph_.values.size()) {
      graph_.values.resize(size_t(id) + 1);
      defined_.resize(size_t(id) + 1, false);
    }
    return ValueId(id);
  }

  // %3, or %3 "name": f32[2] where it is defined.
  ValueId definition() {
    const ValueId id = reference();
    if (id == kNoValue || scanner_.peek() != '"') return id;
    if (defined_[size_t(id)]) scanner_.fail(fmt::format("%{} is defined twice", id));
    defined_[size_t(id)] = true;
    ++defined_count_;
    Value& value = graph_.value(id);
    value.name = scanner_.string();
    scanner_.expect(":");
    parse_type(scanner_, value.type, value.shape);
    return id;
  }

  bool elements(ValueId id) {
    if (!scanner_.take("=")) return false;
    if (id == kNoValue) scanner_.fail("_ has no elements");
    ElementType type = graph_.value(id).type;
    Shape shape = graph_.value(id).shape;
    if (own_type_follows()) {
      parse_type(scanner_, type, shape);
      scanner_.expect("=");
    }
    Tensor tensor = parse_elements(scanner_, splat_budget_, type, shape);
    graph_.value(id).constant = std::move(tensor);
    return true;
  }

  bool own_type_follows() {
    TextScanner ahead = scanner_;
    const char next = ahead.peek();
    if (next < 'a' || next > 'z') return false;
    return parse_element_type(ahead.word()).has_value() && ahead.peek() == '[';
  }

  void node() {
    Node node;
    node.name = scanner_.string();
    node.op = plain_or_quoted(scanner_);
    if (scanner_.take("::")) node.domain = std::exchange(node.op, plain_or_quoted(scanner_));
    scanner_.expect("(");
    while (!scanner_.take(")")) {
      if (!node.inputs.empty()) scanner_.expect(",");
      node.inputs.push_back(reference());
    }
    scanner_.expect("->");
    scanner_.expect("(");
    while (!scanner_.take(")")) {
      if (!node.outputs.empty()) scanner_.expect(",");
      node.outputs.push_back(definition());
    }
    if (scanner_.take("{")) {
      do {
        const std::string name = plain_or_quoted(scanner_);
        scanner_.expect(":");
        if (!node.attributes.emplace(name, attribute()).second) {
          scanner_.fail(fmt::format("attribute '{}' is listed twice", name));
        }
      } while (scanner_.take(","));
      scanner_.expect("}");
    }
    graph_.nodes.push_back(std::move(node));
  }

  Attribute attribute() {
    const char next = scanner_.peek();
    if (next == '"') return scanner_.string();
    if (next == '[') return list();
    if (scanner_.take("ints[]")) return std::vector<int64_t>{};
    if (scanner_.take("floats[]")) return std::vector<float>{};
    if (scanner_.take("strings[]")) return std::vector<std::string>{};
    if (next >= 'a' && next <= 'z') {
      ElementType type{};
      Shape shape;
      parse_type(scanner_, type, shape);
      scanner_.expect("=");
      return parse_elements(scanner_, splat_budget_, type, shape);
    }
    const std::string text = scanner_.number();
    if (is_float_text(text)) return float_of(text);
    return integer_of(text);
  }

  Attribute list() {
    scanner_.expect("[");
    std::vector<std::string> strings;
    std::vector<int64_t> integers;
    std::vector<float> floats;
    do {
      if (scanner_.peek() == '"') {
        strings.push_back(scanner_.string());
      } else if (const std::string text = scanner_.number(); is_float_text(text)) {
        floats.push_back(float_of(text));
      } else {
        integers.push_back(integer_of(text));
      }
    } while (scanner_.take(","));
    scanner_.expect("]");
    if (int(!strings.empty()) + int(!integers.empty()) + int(!floats.empty()) != 1) {
      scanner_.fail("a list of different kinds");
    }
    if (!strings.empty()) return strings;
    if (!floats.empty()) return floats;
    return integers;
  }

  static bool is_float_text(const std::string& text) { return text.back() == 'f'; }

  float float_of(std::string text) {
    text.pop_back();
    const char* const end = text.data() + text.size();
    if (text.starts_with("0x")) {
      uint32_t bits = 0;
      const auto result = std::from_chars(text.data() + 2, end, bits, 16);
      if (result.ec != std::errc{} || result.ptr != end)
        scanner_.fail(fmt::format("'{}f' is not a float", text));
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    float value = 0;
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end)
      scanner_.fail(fmt::format("'{}f' is not a float", text));
    return value;
  }

  int64_t integer_of(const std::string& text) {
    int64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
      scanner_.fail(fmt::format("'{}' is not an integer", text));
    }
    return value;
  }

  TextScanner scanner_;
  size_t limit_;
  int64_t splat_budget_ = kSplatBudget;
  Graph graph_;
  std::vector<bool> defined_;
  size_t defined_count_ = 0;
};

}  // namespace

std::string print(const Graph& graph) { return GraphPrinter(graph).run(); }

Graph parse_graph(std::string_view text) { return GraphParser(text).run(); }

bool is_graph_text(std::string_view beginning) {
  TextScanner scanner(beginning);
  return !scanner.at_end() && scanner.take("graph") && scanner.peek() == '"';
}

}  // namespace tilewright
