// A dynamic dimension goes by its symbol, or by INPUT.AXIS without one. All unbound dimensions are one error,
// whose hint is the options to add; sizes for names that no input has are warnings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "tilewright/frontend/onnx/graph_builder.h"

namespace tilewright {
namespace {

std::string describe_shape(const OnnxValueInfo& info) {
  std::vector<std::string> dims;
  for (const OnnxDimension& dim : info.dims) {
    dims.push_back(dim.size >= 0 ? std::to_string(dim.size) : dim.symbol.empty() ? "?" : dim.symbol);
  }
  return fmt::format("[{}]", fmt::join(dims, ","));
}

class InputBinder {
 public:
  InputBinder(const OnnxModel& model, const OnnxOptions& options, Diagnostics& diagnostics)
      : model_(model), options_(options), diagnostics_(diagnostics) {}

  std::vector<BoundInput> bind() {
    check_given_sizes();
    std::vector<BoundInput> bound;
    for (const OnnxValueInfo* info : open_inputs(model_)) bound.push_back(bind_one(*info));
    report_unbound();
    report_unused();
    return bound;
  }

 private:
  void check_given_sizes() {
    for (const auto& [name, size] : options_.dimensions) {
      if (size < 1) {
        const ErrorKind kind = size == 0 ? ErrorKind::kUnsupported : ErrorKind::kInvalidInput;
        diagnostics_.error(kind, fmt::format("dimension '{}'", name), "", fmt::format("cannot be {}", size),
                           "give a size of 1 or more");
      }
    }
  }

  BoundInput bind_one(const OnnxValueInfo& info) {
    const std::string where = fmt::format("input '{}'", info.name);
    BoundInput bound{info.name, info.type, std::nullopt};
    const auto fixed = options_.fixed_inputs.find(info.name);
    if (fixed != options_.fixed_inputs.end()) {
      used_fixed_.insert(info.name);
      bound.shape = fixed->second.shape();
      if (info.type && *info.type != fixed->second.type()) {
        diagnostics_.error(ErrorKind::kInvalidInput, where, "",
                           fmt::format("is fixed to {} but declared as {}",
                                       to_string(fixed->second.type(), *bound.shape), info.type_name));
      }
      return bound;
    }
    if (!info.type) {
      diagnostics_.error(ErrorKind::kUnsupported, where, "", fmt::format("is {}", info.type_name));
      return bound;
    }
    if (!info.has_shape) {
      diagnostics_.error(ErrorKind::kInvalidInput, where, "", "has no declared shape, not even a rank",
                         "export the model with the shapes of its inputs");
      return bound;
    }
    std::vector<int64_t> dims;
    bool is_complete = true;
    for (size_t axis = 0; axis < info.dims.size(); ++axis) {
      dims.push_back(info.dims[axis].size);
      if (dims.back() >= 0) continue;
      const std::string name = dimension_name(info, axis);
      const auto given = options_.dimensions.find(name);
      if (given != options_.dimensions.end()) {
        used_.insert(name);
        dims.back() = given->second;
      } else {
        is_complete = false;
        if (unbound_names_.insert(name).second) unbound_.push_back(name);
      }
    }
    if (!is_complete) unbound_inputs_.push_back(fmt::format("'{}' {}", info.name, describe_shape(info)));
    if (is_complete) bound.shape = Shape(std::move(dims));
    return bound;
  }

  void report_unbound() {
    if (unbound_.empty()) return;
    std::vector<std::string> hints;
    for (const std::string& name : unbound_) hints.push_back(fmt::format("--shape {}=N", name));
    diagnostics_.error(ErrorKind::kInvalidInput, "inputs", "",
                       fmt::format("dynamic dimensions without a size: {} (of {})", fmt::join(unbound_, ", "),
                                   fmt::join(unbound_inputs_, ", ")),
                       fmt::format("give each a size: {}", fmt::join(hints, " ")));
  }

  void report_unused() {
    for (const auto& [name, size] : options_.dimensions) {
      if (!used_.count(name)) {
        diagnostics_.warn(fmt::format("dimension '{}'", name), "",
                          "no input has a dynamic dimension of this name");
      }
    }
    for (const auto& [name, tensor] : options_.fixed_inputs) {
      if (!used_fixed_.count(name)) {
        diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("input '{}'", name), "",
                           "is to be fixed, but the model has no input of this name");
      }
    }
  }

  const OnnxModel& model_;
  const OnnxOptions& options_;
  Diagnostics& diagnostics_;
  std::set<std::string> used_, used_fixed_, unbound_names_;
  std::vector<std::string> unbound_;
  std::vector<std::string> unbound_inputs_;
};

}  // namespace

std::vector<const OnnxValueInfo*> open_inputs(const OnnxModel& model) {
  std::set<std::string> initialized;
  for (const auto& [name, tensor] : model.initializers) initialized.insert(name);
  std::vector<const OnnxValueInfo*> open;
  for (const OnnxValueInfo& input : model.inputs) {
    if (!initialized.count(input.name)) open.push_back(&input);
  }
  return open;
}

std::string dimension_name(const OnnxValueInfo& info, size_t axis) {
  const std::string& symbol = info.dims[axis].symbol;
  return symbol.empty() ? fmt::format("{}.{}", info.name, axis) : symbol;
}

std::vector<BoundInput> bind_onnx_inputs(const OnnxModel& model, const OnnxOptions& options,
                                         Diagnostics& diagnostics) {
  return InputBinder(model, options, diagnostics).bind();
}

}  // namespace tilewright
