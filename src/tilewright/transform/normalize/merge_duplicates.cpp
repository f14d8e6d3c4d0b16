// Hash-based value numbering (Cocke and Schwartz 1970). Constants first, by a hash of both ends and then all
// bits; then nodes in topological order by operator and inputs, so that a merge makes later nodes equal.
#include "tilewright/transform/normalize/merge_duplicates.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tilewright/graph/operator_class.h"
#include "tilewright/transform/edit/graph_editor.h"

namespace tilewright {
namespace {

constexpr uint64_t kHashedBytes = 4096;  // of each end

uint64_t hash(const Tensor& tensor) {
  const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.size_bytes());
  const std::hash<std::string_view> hasher;
  const size_t tail = bytes.size() > kHashedBytes ? bytes.size() - kHashedBytes : 0;
  uint64_t h = hasher(bytes.substr(0, kHashedBytes)) * 31 + hasher(bytes.substr(tail));
  for (const int64_t size : tensor.shape()) h = h * 31 + uint64_t(size);
  return h * 31 + uint64_t(tensor.type());
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool equal(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& left) {
        using T = std::decay_t<decltype(left)>;
        const T& right = std::get<T>(b);
        if constexpr (std::is_same_v<T, Tensor>) {
          return left.identical(right);
        } else if constexpr (std::is_same_v<T, float>) {
          return same_bits(left, right);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_bits);
        } else {
          return left == right;
        }
      },
      a);
}

bool same_computation(const Node& a, const Node& b) {
  if (a.op != b.op || a.domain != b.domain || a.inputs != b.inputs) return false;
  if (a.outputs.size() != b.outputs.size() || a.attributes.size() != b.attributes.size()) return false;
  return std::equal(
      a.attributes.begin(), a.attributes.end(), b.attributes.begin(),
      [](const auto& x, const auto& y) { return x.first == y.first && equal(x.second, y.second); });
}

void merge_constants(GraphEditor& editor) {
  std::unordered_multimap<uint64_t, ValueId> seen;
  for (ValueId id = 0; id < ValueId(editor.graph().values.size()); ++id) {
    const std::optional<Tensor>& constant = editor.value(id).constant;
    if (!constant || editor.graph().is_output(id)) continue;
    const uint64_t key = hash(*constant);
    const auto [first, last] = seen.equal_range(key);
    const auto twin = std::find_if(first, last, [&](const auto& entry) {
      return editor.value(entry.second).constant->identical(*constant);
    });
    if (twin == last) {
      seen.emplace(key, id);
    } else {
      editor.redirect_readers(id, twin->second);
    }
  }
}

void merge_nodes(GraphEditor& editor) {
  std::unordered_multimap<std::string, NodeId> seen;
  for (NodeId id = 0; id < editor.node_count(); ++id) {
    const Node& node = editor.node(id);
    if (operator_class(node) == OperatorClass::kProduct) continue;
    std::string key = node.domain + ":" + node.op;
    for (const ValueId input : node.inputs) key += "," + std::to_string(input);
    const auto [first, last] = seen.equal_range(key);
    const auto twin = std::find_if(
        first, last, [&](const auto& entry) { return same_computation(node, editor.node(entry.second)); });
    const bool is_graph_output = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
      return v != kNoValue && editor.graph().is_output(v);
    });
    if (twin == last) {
      seen.emplace(std::move(key), id);
      continue;
    }
    if (is_graph_output) continue;
    const std::vector<ValueId> outputs = node.outputs, same = editor.node(twin->second).outputs;
    bool replaceable = true;
    for (size_t k = 0; k < outputs.size(); ++k) {
      replaceable &= outputs[k] == kNoValue || same[k] != kNoValue || !editor.is_read(outputs[k]);
    }
    if (!replaceable) continue;
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k] != kNoValue && same[k] != kNoValue) editor.redirect_readers(outputs[k], same[k]);
    }
    editor.kill(id);
  }
}

}  // namespace

Graph merge_duplicates(Graph graph) {
  GraphEditor editor(std::move(graph));
  merge_constants(editor);
  merge_nodes(editor);
  return std::move(editor).finish();
}

}  // namespace tilewright
