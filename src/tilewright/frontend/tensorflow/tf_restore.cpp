// The key of a variable is, in this order: the one under which the file's own RestoreV2 reads what is
// assigned to the variable (TensorFlow 1, and the function for that in files of TensorFlow 2), the one that
// the checkpoint's graph of objects states for the variable's name, the name itself.
#include "tilewright/frontend/tensorflow/tf_restore.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tilewright/base/plain_text.h"
#include "tilewright/frontend/tensorflow/values/tf_bundle.h"
#include "tilewright_graphdef.pb.h"

namespace tilewright {
namespace {

constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

// What `ref` stands for behind operators that pass it on; a node of -1 if that is not in the file.
TfRef passed_on(const TfModel& model, TfRef ref) {
  static constexpr std::array<const char*, 3> kPassing = {"Identity", "RefIdentity", "IdentityN"};
  for (size_t steps = 0; ref.node >= 0 && steps < model.nodes.size(); ++steps) {
    const TfNode& node = model.nodes[size_t(ref.node)];
    if (!node.is_one_of(kPassing)) return ref;
    if (size_t(ref.output) >= node.inputs.size()) break;
    ref = node.inputs[size_t(ref.output)];
  }
  return {};
}

// Text number `index` of a constant list of texts; the last one stands for all that follow.
std::string text_at(const TfModel& model, const TfNode& reader, size_t input, int index) {
  if (input >= reader.inputs.size()) return "";
  const TfRef ref = passed_on(model, reader.inputs[input]);
  if (ref.node < 0) return "";
  const std::vector<std::string>& texts = model.nodes[size_t(ref.node)].texts;
  return texts.empty() ? "" : texts[std::min(size_t(index), texts.size() - 1)];
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// "4 6 0,2:-": the sizes of the whole tensor, then first index and length along each axis, or "-" for all.
std::optional<std::vector<TfExtent>> slice_extents(std::string_view text) {
  std::vector<TfExtent> extents;
  const size_t space = text.rfind(' ');
  for (const std::string_view axis : split_text(text.substr(space == text.npos ? 0 : space + 1), ':')) {
    if (axis == "-") {
      extents.emplace_back();
      continue;
    }
    const std::vector<std::string_view> numbers = split_text(axis, ',');
    if (numbers.size() != 2) return std::nullopt;
    const std::optional<int64_t> start = whole_number(numbers[0]), length = whole_number(numbers[1]);
    if (!start || !length) return std::nullopt;
    extents.push_back({*start, *length});
  }
  return extents;
}

class Restoring {
 public:
  Restoring(const std::filesystem::path& prefix, Diagnostics& diagnostics)
      : bundle_(prefix), diagnostics_(diagnostics) {
    find_objects();
  }

  void restore(TfNode& variable) {
    try {
      const std::string key = key_of(variable);
      if (!bundle_.has(key)) {
        return error(variable, {ErrorKind::kInvalidInput, "", "",
                                fmt::format("has no value: the checkpoint has no tensor '{}'", key),
                                "export the model with all its variables"});
      }
      const auto [known, is_new] = tensors_.try_emplace(key);
      if (is_new) known->second = bundle_.read(key);
      accept(variable, part_for(variable, known->second));
    } catch (const Error& problem) {
      for (const Diagnostic& part : problem.diagnostics()) error(variable, part);
    }
  }

 private:
  // Names and keys by what the checkpoint says of objects; names that two objects have are of no use.
  void find_objects() {
    if (!bundle_.has(kObjectGraphKey)) return;
    try {
      graphdef::TrackableObjectGraph objects;
      if (!objects.ParseFromString(bundle_.read_text(kObjectGraphKey))) {
        throw Error(ErrorKind::kInvalidInput, "its text cannot be read", "export the model again");
      }
      for (const graphdef::TrackableObject& object : objects.nodes()) {
        for (const graphdef::SerializedTensor& tensor : object.attributes()) {
          if (!valid_utf8(tensor.checkpoint_key())) continue;
          const auto [known, is_new] = key_of_name_.emplace(tensor.full_name(), tensor.checkpoint_key());
          if (!is_new && known->second != tensor.checkpoint_key()) known->second.clear();
        }
      }
    } catch (const Error& problem) {
      for (const Diagnostic& part : problem.diagnostics())
        diagnostics_.error(part.kind, fmt::format("checkpoint entry '{}'", kObjectGraphKey), "", part.message,
                           part.hint);
    }
  }

  std::string key_of(const TfNode& variable) const {
    if (!variable.restored_key.empty()) return variable.restored_key;
    const std::string shared = variable.string_or("shared_name", "");
    for (const std::string& name : {shared, variable.name}) {
      const auto found = key_of_name_.find(name);
      if (found != key_of_name_.end() && !found->second.empty()) return found->second;
    }
    return !shared.empty() && bundle_.has(shared) && valid_utf8(shared) ? shared : variable.name;
  }

  // A partitioned variable is a part of the tensor.
  static Tensor part_for(const TfNode& variable, const Tensor& whole) {
    if (variable.restored_slice.empty()) return whole;
    const std::optional<std::vector<TfExtent>> extents = slice_extents(variable.restored_slice);
    const std::optional<TfPart> part = extents ? part_of(whole.shape(), *extents) : std::nullopt;
    if (!part) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("is restored from part '{}' of a tensor {}",
                                                        variable.restored_slice, to_string(whole.shape())));
    }
    Tensor result(whole.type(), part->shape);
    copy_to_part(result, part->starts, whole);
    return result;
  }

  void accept(TfNode& variable, Tensor value) {
    const TfShape declared = variable.declared_shape();
    const auto type = element_type_of_tensorflow(variable.type_or("dtype", 1));
    bool fits =
        type == value.type() && (!declared.has_rank || int(declared.dims.size()) == value.shape().rank());
    for (size_t axis = 0; fits && declared.has_rank && axis < declared.dims.size(); ++axis) {
      fits = declared.dims[axis] < 0 || declared.dims[axis] == value.shape()[int(axis)];
    }
    if (!fits) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("is {} in the checkpoint, the graph declares {}",
                              to_string(value.type(), value.shape()), declared_text(variable, declared)),
                  "variables/ belongs to another model");
    }
    variable.value = std::move(value);
    variable.op = "Const";
  }

  static std::string declared_text(const TfNode& variable, const TfShape& declared) {
    std::string text = tensorflow_type_name(variable.type_or("dtype", 1));
    if (!declared.has_rank) return text;
    for (size_t axis = 0; axis < declared.dims.size(); ++axis)
      text += (axis == 0 ? " " : "x") + (declared.dims[axis] < 0 ? "?" : std::to_string(declared.dims[axis]));
    return text;
  }

  void error(TfNode& variable, const Diagnostic& problem) {
    variable.is_reported = true;
    diagnostics_.error(problem.kind, tf_label(variable), variable.op, problem.message, problem.hint);
  }

  TfBundle bundle_;
  Diagnostics& diagnostics_;
  std::map<std::string, std::string> key_of_name_;
  std::map<std::string, Tensor> tensors_;  // read so far, by key
};

}  // namespace

void find_restored(TfModel& model) {
  static constexpr std::array<const char*, 2> kAssigning = {"Assign", "AssignVariableOp"};
  for (const TfNode& node : model.nodes) {
    if (!node.is_one_of(kAssigning) || node.inputs.size() < 2) continue;
    const TfRef target = passed_on(model, node.inputs[0]), source = passed_on(model, node.inputs[1]);
    if (target.node < 0 || source.node < 0) continue;
    const TfNode& restore = model.nodes[size_t(source.node)];
    TfNode& variable = model.nodes[size_t(target.node)];
    if (!restore.is("RestoreV2") || !variable.restored_key.empty()) continue;
    const std::string key = text_at(model, restore, 1, source.output);
    const std::string slice = text_at(model, restore, 2, source.output);
    if (!valid_utf8(key) || !valid_utf8(slice)) continue;
    variable.restored_key = key;
    variable.restored_slice = slice;
  }
}

void restore_variables(TfNetwork& network, const std::filesystem::path& prefix,
                       const TensorflowOptions& options, Diagnostics& diagnostics) {
  std::error_code ignored;
  const auto variables = std::count_if(network.nodes.begin(), network.nodes.end(), is_variable);
  const bool is_missing = !std::filesystem::exists(TfBundle::index_path(prefix), ignored);
  if (variables == 0 || options.fill_gain > 0 || (is_missing && options.allow_missing_weights)) return;
  try {
    if (is_missing) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("is missing: {} variables have no values", variables),
                  "copy the whole folder of the model, or draw weights with --fill-weights");
    }
    Restoring restoring(prefix, diagnostics);
    for (TfNode& node : network.nodes) {
      if (is_variable(node)) restoring.restore(node);
    }
  } catch (const Error& problem) {
    // One problem, not one per variable.
    for (TfNode& node : network.nodes) node.is_reported |= is_variable(node);
    for (const Diagnostic& part : problem.diagnostics()) {
      diagnostics.error(part.kind, fmt::format("file '{}'", TfBundle::index_path(prefix).string()), "",
                        part.message, part.hint);
    }
  }
}

}  // namespace tilewright
