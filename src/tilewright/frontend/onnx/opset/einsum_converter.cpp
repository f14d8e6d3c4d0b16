// Einsum as transposes and matrix products: operands are joined two at a time, and each label leaves with the
// last operand that has it, unless the output does. Definition: ONNX operator reference, Einsum-12.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tilewright/frontend/onnx/opset/opset_helpers.h"
#include "tilewright/frontend/onnx/opset/steps.h"

namespace tilewright {
namespace {

// A value whose axes carry these labels, all different. The axes of an ellipsis are labelled '0', '1', ..
// from the last.
struct Operand {
  ValueId value = kNoValue;
  std::string labels;
};

class Einsum {
 public:
  Einsum(Node& node, NodeConversion& conversion) : node_(node), conversion_(conversion), s_(conversion) {}

  void convert() {
    if (!parse()) return;
    Operand result = only_wanted(operands_[0], 1);
    for (size_t i = 1; i < operands_.size() && !conversion_.failed(); ++i) {
      result = joined(result, only_wanted(operands_[i], i + 1, result.labels), i + 1);
    }
    if (conversion_.failed()) return;
    result = arranged(result, output_);
    conversion_.define(node_.outputs[0], result.value);
    node_.outputs.clear();
  }

 private:
  bool fail(const std::string& why) {
    conversion_.invalid(fmt::format("the equation '{}' {}", node_.string_or("equation", ""), why));
    return false;
  }

  bool parse() {
    std::string equation = node_.string_or("equation", "");
    std::erase(equation, ' ');
    const size_t arrow = equation.find("->");
    std::string left = equation.substr(0, arrow);
    std::vector<std::string> terms(1);
    for (const char c : left) {
      if (c == ',')
        terms.emplace_back();
      else
        terms.back() += c;
    }
    if (terms.size() != node_.inputs.size())
      return fail(fmt::format("has {} terms for {} inputs", terms.size(), node_.inputs.size()));
    std::string ellipsis;
    for (size_t i = 0; i < terms.size(); ++i) {
      const int rank = s_.shape(node_.inputs[i]).rank();
      if (!expand_ellipsis(terms[i], rank)) return false;
      std::string own;
      for (const char c : terms[i]) {
        if (c >= '0' && c <= '9') own += c;
      }
      if (own.size() > ellipsis.size()) ellipsis = own;
      if (terms[i].size() != size_t(rank))
        return fail(
            fmt::format("names {} axes of {}", terms[i].size(), to_string(s_.shape(node_.inputs[i]))));
      operands_.push_back(diagonal({node_.inputs[i], terms[i]}));
    }
    if (arrow == std::string::npos) {
      output_ = ellipsis + labels_seen_once(left);
    } else {
      output_ = equation.substr(arrow + 2);
      if (const size_t dots = output_.find("..."); dots != std::string::npos)
        output_.replace(dots, 3, ellipsis);
    }
    return check_sizes() && check_output();
  }

  bool expand_ellipsis(std::string& term, int rank) {
    const size_t dots = term.find("...");
    std::string letters = term;
    if (dots != std::string::npos) letters.erase(dots, 3);
    if (!std::ranges::all_of(letters, [](unsigned char c) { return std::isalpha(c); }))
      return fail("has a term of other things than letters");
    if (dots == std::string::npos) return true;
    const int more = rank - int(letters.size());
    if (more < 0 || more > 9) return fail("names more axes than an input has");
    std::string axes;
    for (int i = more - 1; i >= 0; --i) axes += char('0' + i);
    term.replace(dots, 3, axes);
    return true;
  }

  static std::string labels_seen_once(const std::string& left) {
    std::string once;
    for (char c = 'A'; c <= 'z'; ++c) {
      if (std::isalpha(static_cast<unsigned char>(c)) && std::ranges::count(left, c) == 1) once += c;
    }
    return once;
  }

  // One size per label; axes of size 1 go along with any (broadcasts).
  bool check_sizes() {
    for (const Operand& operand : operands_) {
      const Shape shape = s_.shape(operand.value);
      for (size_t i = 0; i < operand.labels.size() && !conversion_.failed(); ++i) {
        int64_t& size = sizes_.try_emplace(operand.labels[i], 1).first->second;
        if (size == 1) size = shape[int(i)];
        if (shape[int(i)] != size && shape[int(i)] != 1)
          return fail(fmt::format("gives '{}' the sizes {} and {}", operand.labels[i], size, shape[int(i)]));
      }
    }
    return !conversion_.failed();
  }

  bool check_output() {
    for (const char c : output_) {
      if (!sizes_.count(c) || std::ranges::count(output_, c) != 1)
        return fail(fmt::format("has '{}' in its result, which no term has, or twice", c));
    }
    return true;
  }

  // The elements whose indices agree on axes of one label.
  Operand diagonal(Operand operand) {
    for (size_t a = 0; a < operand.labels.size(); ++a) {
      const size_t b = operand.labels.find(operand.labels[a], a + 1);
      if (b == std::string::npos) continue;
      const Shape shape = s_.shape(operand.value);
      const int64_t size = shape[int(a)];
      constexpr int64_t kLongestDiagonal = 1 << 20;
      if (shape[int(b)] != size || size > kLongestDiagonal) {
        fail(fmt::format("gives '{}' the sizes {} and {}", operand.labels[a], size, shape[int(b)]));
        return operand;
      }
      std::vector<int64_t> perm, dims, every;
      for (size_t i = 0; i < operand.labels.size(); ++i) {
        if (i != a && i != b) perm.push_back(int64_t(i));
      }
      for (const int64_t i : perm) dims.push_back(shape[int(i)]);
      dims.push_back(size * size);
      perm.insert(perm.end(), {int64_t(a), int64_t(b)});
      for (int64_t i = 0; i < size; ++i) every.push_back(i * (size + 1));
      const ValueId flat = s_.reshape(s_.transpose(operand.value, perm), Shape(dims));
      const char label = operand.labels[a];
      std::erase(operand.labels, label);
      operand.labels += label;
      operand.value = s_.op("Gather", {flat, s_.integers(every)}, {{"axis", int64_t(dims.size()) - 1}});
      return diagonal(std::move(operand));
    }
    return operand;
  }

  // Whether the output or an operand from `next` on has the label.
  bool is_wanted(char label, size_t next) const {
    if (output_.find(label) != std::string::npos) return true;
    return std::any_of(operands_.begin() + std::ptrdiff_t(std::min(next, operands_.size())), operands_.end(),
                       [&](const Operand& o) { return o.labels.find(label) != std::string::npos; });
  }

  // Summed over labels that nobody else has, and without axes of size 1 that are to be broadcast.
  Operand only_wanted(Operand operand, size_t next, const std::string& others = "") {
    std::vector<int64_t> axes;
    std::string kept;
    for (size_t i = 0; i < operand.labels.size(); ++i) {
      const char label = operand.labels[i];
      const bool broadcast = s_.shape(operand.value)[int(i)] == 1 && sizes_[label] != 1;
      if (!broadcast && (is_wanted(label, next) || others.find(label) != std::string::npos))
        kept += label;
      else
        axes.push_back(int64_t(i));
    }
    if (axes.empty()) return operand;
    return {s_.sum(operand.value, axes, false), kept};
  }

  Operand arranged(const Operand& operand, const std::string& labels) {
    std::vector<int64_t> perm;
    for (const char label : labels) {
      const size_t at = operand.labels.find(label);
      if (at == std::string::npos) return expanded(operand, labels);
      perm.push_back(int64_t(at));
    }
    return {s_.transpose(operand.value, std::move(perm)), labels};
  }

  // Labels that only broadcast axes had: of size 1 in all operands, or lost in them.
  Operand expanded(const Operand& operand, const std::string& labels) {
    std::string present;
    std::vector<int64_t> dims, full;
    for (const char label : labels) {
      const bool has = operand.labels.find(label) != std::string::npos;
      if (has) present += label;
      dims.push_back(has ? sizes_[label] : 1);
      full.push_back(sizes_[label]);
    }
    const ValueId value = s_.reshape(arranged(operand, present).value, Shape(dims));
    return {s_.op("Expand", {value, s_.integers(full)}), labels};
  }

  int64_t count(const std::string& labels) {
    int64_t product = 1;
    for (const char label : labels) product *= sizes_[label];
    return product;
  }

  // One batched matrix product: labels of both that stay are the batch, those that leave are summed over.
  Operand joined(const Operand& a, const Operand& b, size_t next) {
    std::string batch, summed, left, right;
    for (const char label : a.labels) {
      const bool shared = b.labels.find(label) != std::string::npos;
      (!shared ? left : is_wanted(label, next) ? batch : summed) += label;
    }
    for (const char label : b.labels) {
      if (a.labels.find(label) == std::string::npos) right += label;
    }
    const Operand x = arranged(a, batch + left + summed), y = arranged(b, batch + summed + right);
    const ValueId product =
        s_.op("MatMul", {s_.reshape(x.value, {count(batch), count(left), count(summed)}),
                         s_.reshape(y.value, {count(batch), count(summed), count(right)})});
    std::vector<int64_t> dims;
    for (const char label : batch + left + right) dims.push_back(sizes_[label]);
    return only_wanted({s_.reshape(product, Shape(dims)), batch + left + right}, next);
  }

  Node& node_;
  NodeConversion& conversion_;
  Steps s_;
  std::vector<Operand> operands_;
  std::string output_;
  std::map<char, int64_t> sizes_;
};

}  // namespace

void convert_einsum(Node& node, NodeConversion& conversion) {
  if (std::find(node.inputs.begin(), node.inputs.end(), kNoValue) != node.inputs.end()) {
    return conversion.invalid("has an absent input");
  }
  Einsum(node, conversion).convert();
}

}  // namespace tilewright
