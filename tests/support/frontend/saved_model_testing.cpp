// A frozen graph is taken apart into placeholders, variables and the rest; the rest is the graph, or the body
// of a function.
#include "support/frontend/saved_model_testing.h"

#include <fmt/format.h>
#include <leveldb/env.h>
#include <leveldb/options.h>
#include <leveldb/table_builder.h>

#include <array>
#include <cstring>

#include "support/frontend/graphdef_builder_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/tensorflow/values/tf_checksum.h"
#include "tilewright_graphdef.pb.h"

namespace tilewright::saved_model_testing {
namespace {

using namespace graphdef_testing;

std::string fixed32(int field, uint32_t value) {
  return onnx_testing::varint(uint64_t(field) << 3 | 5) +
         std::string(reinterpret_cast<const char*>(&value), 4);
}

uint32_t checksum_of(const std::string& content) {
  return masked_checksum(crc32c(std::as_bytes(std::span(content.data(), content.size()))));
}

class TextFile : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    text.append(data.data(), data.size());
    return {};
  }
  leveldb::Status Close() override { return {}; }
  leveldb::Status Flush() override { return {}; }
  leveldb::Status Sync() override { return {}; }
  std::string text;
};

// Numbers from -64 to 8191 in ordered code.
std::string ordered(int64_t value) {
  if (value < 64) return std::string(1, char(0x80 ^ value));
  return {char(0xc0 | value >> 8), char(value)};
}

std::string slice_key(const std::string& name, const std::vector<std::pair<int64_t, int64_t>>& extents) {
  std::string key = std::string(1, '\0') + name + std::string("\0\1", 2) + "\1" + char(extents.size());
  for (const auto& [start, length] : extents) key += ordered(start) + ordered(length);
  return key;
}

struct TakenVariable {
  std::string name, key, content;
  std::vector<int64_t> dims;
};

// Writes the SavedModel of a graph.
class SavedModelWriter {
 public:
  SavedModelWriter(std::span<const std::byte> graphdef, const SavedModelChoice& choice) : choice_(choice) {
    graph_.ParseFromArray(graphdef.data(), int(graphdef.size()));
    for (const graphdef::NodeDef& node : graph_.node()) take(node);
  }

  SavedModelText write(const std::vector<std::string>& outputs) {
    SavedModelText result;
    result.variables.shards.resize(size_t(choice_.shards));
    std::vector<std::pair<std::string, std::string>> objects;
    for (size_t i = 0; i < variables_.size(); ++i) {
      const TakenVariable& one = variables_[i];
      result.variables.tensor(one.key, kFloat, one.dims, one.content, int(i) % choice_.shards);
      objects.emplace_back(one.name, one.key);
    }
    const bool is_function = choice_.style == VariableStyle::kFunctions;
    if (is_function) result.variables.objects(objects);
    is_function ? write_functions(outputs) : write_graph();
    std::string signature;
    for (const graphdef::NodeDef& node : placeholders_) {
      signature += bytes(
          1, bytes(1, "in_" + node.name()) +
                 bytes(2, bytes(1, (is_function ? "serving_" : "") + node.name() + ":0") + number(2, 1)));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string tensor =
          is_function ? fmt::format("StatefulPartitionedCall:{}", i) : outputs[i] + ":0";
      signature += bytes(2, bytes(1, "out_" + outputs[i]) + bytes(2, bytes(1, tensor)));
    }
    result.model = number(1, 1) + bytes(2, bytes(1, bytes(4, "serve")) + bytes(2, text_.text()) +
                                               bytes(5, bytes(1, "serving_default") + bytes(2, signature)));
    return result;
  }

 private:
  void take(const graphdef::NodeDef& node) {
    if (node.op() == "Placeholder") return placeholders_.push_back(node);
    for (const graphdef::AttrEntry& entry : node.attr()) {
      const graphdef::TensorValue& value = entry.value().tensor();
      if (node.op() != "Const" || entry.key() != "value" || value.dtype() != kFloat) continue;
      if (value.shape().dim_size() == 0 || value.content().empty()) continue;
      TakenVariable variable{node.name(), node.name(), value.content(), {}};
      for (const graphdef::Dim& dim : value.shape().dim()) variable.dims.push_back(dim.size());
      // Keys are the names in TensorFlow 1 and paths of objects in TensorFlow 2.
      if (choice_.style == VariableStyle::kFunctions)
        variable.key = fmt::format("layer-{}/kernel/.ATTRIBUTES/VARIABLE_VALUE", variables_.size());
      return variables_.push_back(variable);
    }
    rest_.push_back(node);
  }

  std::string variable_attributes(const TakenVariable& variable) const {
    return type_attribute("dtype", kFloat) + shape_attribute("shape", variable.dims) +
           string_attribute("shared_name", choice_.style == VariableStyle::kReferences ? "" : variable.name);
  }

  void write_graph() {
    const bool is_resource = choice_.style == VariableStyle::kResources;
    for (const graphdef::NodeDef& node : graph_.node()) {
      const bool is_kept = node.op() == "Placeholder" ||
                           std::any_of(rest_.begin(), rest_.end(), [&](const graphdef::NodeDef& kept) {
                             return kept.name() == node.name();
                           });
      if (is_kept) text_.nodes.push_back(bytes(1, node.SerializeAsString()));
    }
    for (const TakenVariable& one : variables_) {
      // What read the constant reads the value.
      const std::string handle = one.name + "/handle";
      if (is_resource) {
        text_.node(handle, "VarHandleOp", {}, variable_attributes(one));
        text_.node(one.name, "ReadVariableOp", {handle}, type_attribute("dtype", kFloat));
      } else {
        text_.node(one.name, "VariableV2", {}, variable_attributes(one));
      }
    }
    if (!choice_.restores) return;
    for (const std::string& node : restore_nodes("save/", is_resource ? "/handle" : "", false))
      text_.nodes.push_back(bytes(1, node));
  }

  // The nodes that restore all variables; inside a function variables are arguments.
  std::vector<std::string> restore_nodes(const std::string& scope, const std::string& suffix,
                                         bool in_function) {
    std::vector<std::string> nodes;
    std::string names, slices;
    for (const TakenVariable& one : variables_) {
      names += bytes(8, one.key);
      slices += bytes(8, "");
    }
    const auto texts = [&](const std::string& name, const std::string& list) {
      const std::string shape = bytes(2, shape_text({int64_t(variables_.size())}));
      nodes.push_back(node_text(scope + name, "Const", {},
                                type_attribute("dtype", kString) +
                                    attribute("value", bytes(8, number(1, kString) + shape + list))));
    };
    texts("RestoreV2/tensor_names", names);
    texts("RestoreV2/shape_and_slices", slices);
    const std::string output = in_function ? ":output:0" : "";
    nodes.push_back(
        node_text(scope + "RestoreV2", "RestoreV2",
                  {in_function ? "file_prefix" : "save/Const", scope + "RestoreV2/tensor_names" + output,
                   scope + "RestoreV2/shape_and_slices" + output}));
    if (!in_function) nodes.push_back(node_text("save/Const", "Const", {}, type_attribute("dtype", kString)));
    for (size_t i = 0; i < variables_.size(); ++i) {
      const std::string value = fmt::format("{}Identity_{}", scope, i);
      nodes.push_back(node_text(value, "Identity",
                                {fmt::format("{}RestoreV2:{}{}", scope, in_function ? "tensors:" : "", i)}));
      const std::string target = in_function ? fmt::format("resource_{}", i) : variables_[i].name + suffix;
      const bool is_reference = choice_.style == VariableStyle::kReferences;
      nodes.push_back(node_text(fmt::format("{}Assign_{}", scope, i),
                                is_reference ? "Assign" : "AssignVariableOp", {target, value + output}));
    }
    return nodes;
  }

  void write_functions(const std::vector<std::string>& outputs) {
    std::vector<std::string> arguments, handles, resources;
    for (const graphdef::NodeDef& node : placeholders_) {
      graphdef::NodeDef outer = node;
      outer.set_name("serving_" + node.name());
      text_.nodes.push_back(bytes(1, outer.SerializeAsString()));
      arguments.push_back(outer.name());
    }
    for (size_t i = 0; i < variables_.size(); ++i) {
      text_.node(variables_[i].name, "VarHandleOp", {}, variable_attributes(variables_[i]));
      handles.push_back(variables_[i].name);
      resources.push_back(fmt::format("resource_{}", i));
    }
    write_network(outputs, resources);
    arguments.insert(arguments.end(), handles.begin(), handles.end());
    text_.node("StatefulPartitionedCall", "StatefulPartitionedCall", arguments,
               calls("__inference_signature_wrapper"));
    if (!choice_.restores) return;
    text_.node("saver_filename", "Placeholder", {}, type_attribute("dtype", kString));
    handles.insert(handles.begin(), "saver_filename");
    resources.insert(resources.begin(), "file_prefix");
    text_.node("StatefulPartitionedCall_1", "StatefulPartitionedCall", handles,
               calls("__inference__traced_restore"));
    text_.function("__inference__traced_restore", resources, restore_nodes("", "", true),
                   {{"identity", "Identity_0:output:0"}});
  }

  static std::string calls(const std::string& function) {
    return attribute("f", bytes(10, bytes(1, function)));
  }

  // The network in one function, called by another, as Keras does.
  void write_network(const std::vector<std::string>& outputs, const std::vector<std::string>& resources) {
    std::vector<std::string> arguments, body;
    for (const graphdef::NodeDef& node : placeholders_) arguments.push_back(node.name());
    arguments.insert(arguments.end(), resources.begin(), resources.end());
    for (size_t i = 0; i < variables_.size(); ++i)
      body.push_back(
          node_text(variables_[i].name, "ReadVariableOp", {resources[i]}, type_attribute("dtype", kFloat)));
    for (graphdef::NodeDef node : rest_) {
      for (std::string& input : *node.mutable_input()) input = inside(input);
      body.push_back(node.SerializeAsString());
    }
    std::vector<std::pair<std::string, std::string>> results, passed;
    for (size_t i = 0; i < outputs.size(); ++i) {
      results.emplace_back(fmt::format("result_{}", i), inside(outputs[i]));
      passed.emplace_back(fmt::format("result_{}", i), fmt::format("network:output:{}", i));
    }
    text_.function("__inference_call", arguments, body, results);
    text_.function("__inference_signature_wrapper", arguments,
                   {node_text("network", "StatefulPartitionedCall", arguments, calls("__inference_call"))},
                   passed);
  }

  std::string inside(const std::string& input) const {
    if (input[0] == '^') return input;
    for (const graphdef::NodeDef& node : placeholders_) {
      if (node.name() == input) return input;
    }
    const size_t colon = input.rfind(':');
    return colon == std::string::npos ? input + ":output:0"
                                      : input.substr(0, colon) + ":output" + input.substr(colon);
  }

  SavedModelChoice choice_;
  graphdef::GraphDef graph_;
  std::vector<graphdef::NodeDef> placeholders_, rest_;
  std::vector<TakenVariable> variables_;
  GraphDefText text_;
};

}  // namespace

std::string sorted_table(const std::map<std::string, std::string>& entries, size_t block_bytes,
                         bool is_compressed) {
  leveldb::Options options;
  options.compression = is_compressed ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  options.block_size = block_bytes;
  TextFile file;
  leveldb::TableBuilder builder(options, &file);
  for (const auto& [key, value] : entries) builder.Add(key, value);
  builder.Finish();
  return file.text;
}

void reseal_table(std::string& damaged, const std::string& original) {
  // The footer: place and size of the blocks about the table and of the index, each seven bits at a time.
  size_t at = original.size() - 48;
  std::array<size_t, 4> numbers{};
  for (size_t& number : numbers) {
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(original[at++]);
      number |= size_t(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
  }
  constexpr size_t kTrailer = 5;
  const std::pair<size_t, size_t> blocks[] = {
      {0, numbers[0] - kTrailer}, {numbers[0], numbers[1]}, {numbers[2], numbers[3]}};
  for (const auto& [offset, size] : blocks) {
    if (damaged.size() < offset + size + kTrailer) continue;
    const uint32_t checksum = checksum_of(damaged.substr(offset, size + 1));
    std::memcpy(damaged.data() + offset + size + 1, &checksum, sizeof checksum);
  }
}

BundleText& BundleText::tensor(const std::string& key, int type, const std::vector<int64_t>& dims,
                               const std::string& content, int shard) {
  std::string& data = shards[size_t(shard)];
  entries[key] = number(1, type) + bytes(2, shape_text(dims)) + number(3, shard) +
                 number(4, int64_t(data.size())) + number(5, int64_t(content.size())) +
                 fixed32(6, checksum_of(content));
  data += content;
  return *this;
}

BundleText& BundleText::sliced(const std::string& key, int type, const std::vector<int64_t>& dims,
                               const std::vector<SliceText>& slices, int shard) {
  std::string whole = number(1, type) + bytes(2, shape_text(dims));
  for (const SliceText& slice : slices) {
    std::string extents;
    std::vector<int64_t> part = dims;
    for (size_t axis = 0; axis < slice.extents.size(); ++axis) {
      const auto& [start, length] = slice.extents[axis];
      extents += bytes(1, length < 0 ? "" : number(1, start) + number(2, length));
      if (length >= 0) part[axis] = length;
    }
    whole += bytes(7, extents);
    tensor(slice_key(key, slice.extents), type, part, slice.content, shard);
  }
  entries[key] = whole;
  return *this;
}

BundleText& BundleText::text(const std::string& key, const std::string& content) {
  const auto size = uint32_t(content.size());
  const std::string length(reinterpret_cast<const char*>(&size), 4);
  const uint32_t length_checksum = checksum_of(length);
  const std::string after = std::string(reinterpret_cast<const char*>(&length_checksum), 4) + content;
  const std::string stored = onnx_testing::varint(size) + after;
  entries[key] = number(1, kString) + bytes(2, "") + number(4, int64_t(shards[0].size())) +
                 number(5, int64_t(stored.size())) + fixed32(6, checksum_of(length + after));
  shards[0] += stored;
  return *this;
}

BundleText& BundleText::objects(const std::vector<std::pair<std::string, std::string>>& keys) {
  std::string graph;
  for (const auto& [name, key] : keys)
    graph += bytes(1, bytes(2, bytes(1, "VARIABLE_VALUE") + bytes(2, name) + bytes(3, key)));
  return text("_CHECKPOINTABLE_OBJECT_GRAPH", graph);
}

std::string BundleText::index() const {
  std::map<std::string, std::string> all = entries;
  all.emplace("", number(1, int64_t(shards.size())) + bytes(3, number(1, 1)));
  return sorted_table(all);
}

void BundleText::write(const std::filesystem::path& folder) const {
  create_folder(folder / "variables");
  const std::string prefix = (folder / "variables/variables").string();
  write_text_file(prefix + ".index", index());
  for (size_t i = 0; i < shards.size(); ++i)
    write_text_file(fmt::format("{}.data-{:05}-of-{:05}", prefix, i, shards.size()), shards[i]);
}

void SavedModelText::write(const std::filesystem::path& folder) const {
  create_folder(folder);
  write_text_file(folder / "saved_model.pb", model);
  variables.write(folder);
}

DrawnVariables draw_variables(std::span<const std::byte> saved_model, int shards) {
  graphdef::SavedModel model;
  model.ParseFromArray(saved_model.data(), int(saved_model.size()));
  DrawnVariables result;
  result.variables.shards.resize(size_t(shards));
  Random random(1);
  int count = 0;
  for (graphdef::NodeDef& node : *model.mutable_meta_graphs(0)->mutable_graph_def()->mutable_node()) {
    if (node.op() != "VariableV2") continue;
    graphdef::TensorValue value;
    std::vector<int64_t> dims;
    int64_t elements = 1;
    for (const graphdef::AttrEntry& entry : node.attr()) {
      if (entry.key() == "dtype") value.set_dtype(entry.value().type());
      if (entry.key() == "shape") *value.mutable_shape() = entry.value().shape();
    }
    if (value.dtype() != kFloat) continue;
    for (const graphdef::Dim& dim : value.shape().dim()) dims.push_back(dim.size()), elements *= dim.size();
    std::vector<float> values(size_t(elements), 0);
    for (float& one : values) one = float(0.01 + 0.01 * random.uniform());
    value.set_content(raw(values));
    result.variables.tensor(node.name(), kFloat, dims, value.content(), count++ % shards);
    node.set_op("Const");
    graphdef::AttrEntry& entry = *node.add_attr();
    entry.set_key("value");
    *entry.mutable_value()->mutable_tensor() = value;
  }
  result.frozen = model.SerializeAsString();
  return result;
}

SavedModelText saved_model_of(std::span<const std::byte> graphdef, const std::vector<std::string>& outputs,
                              const SavedModelChoice& choice) {
  return SavedModelWriter(graphdef, choice).write(outputs);
}

}  // namespace tilewright::saved_model_testing
