// On the host a graph runs as it was read, after the passes that keep its values: quantised models too follow
// ONNX's definitions there. On an overlay they run in integer operators (docs/reference/arithmetic.md).
#include "tilewright/flow/run/onnx_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "tilewright/flow/run/compile_model.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/frontend/onnx/onnx_inputs.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

bool same(const OnnxOptions& a, const OnnxOptions& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.identical(y.second);
  };
  return a.dimensions == b.dimensions && std::equal(a.fixed_inputs.begin(), a.fixed_inputs.end(),
                                                    b.fixed_inputs.begin(), b.fixed_inputs.end(), equal);
}

// Errors (unsupported): what the overlay does not take, node by node, where it takes none.
void check_used(const Bundle& bundle) {
  Diagnostics refusals;
  for (size_t n = 0; n < bundle.nodes.size(); ++n) {
    if (!bundle.nodes[n].on_host()) return;
    const Node& node = bundle.graph.nodes[n];
    refusals.error(ErrorKind::kUnsupported, where(node), node.op, bundle.nodes[n].reason);
  }
  refusals.raise_if_any(fmt::format("no layer runs on {}", bundle.hardware.name));
  throw Error(ErrorKind::kUnsupported, "no layer runs on " + bundle.hardware.name + ": there is none");
}

Bundle overlay_bundle(Graph graph, const OnnxSessionOptions& options) {
  if (!is_quantized(graph)) {
    throw Error(ErrorKind::kUnsupported, "the overlay runs quantised models, and this one is not",
                "quantise it first, or run it on the device CPU");
  }
  Compilation made = compile_model(std::move(graph),
                                   {.hardware = options.overlay, .records = {}, .folders = options.folders});
  check_used(made.bundle);
  return std::move(made.bundle);
}

Tensor in_numpy_types(Tensor tensor) {
  if (tensor.type() != ElementType::kBF16) return tensor;
  Tensor bits(ElementType::kU16, tensor.shape());
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), bits.mutable_bytes().begin());
  return bits;
}

}  // namespace

// What one set of shapes and deciding values needs.
struct OnnxSession::Built {
  OnnxOptions options;
  std::optional<Executor> host;
  std::optional<Session> overlay;

  std::vector<Tensor> run(std::vector<Tensor> inputs) {
    return host ? host->run(std::move(inputs)) : overlay->run(inputs);
  }
};

struct OnnxSession::Parts {
  std::vector<std::byte> bytes;
  OnnxModel model;
  OnnxSessionOptions options;
  std::mutex mutex;  // of built
  std::unique_ptr<Built> built;

  void build(OnnxOptions bound) {
    if (built && same(built->options, bound)) return;
    built.reset();
    Graph graph = parse_onnx(bytes, {}, bound);
    auto fresh = std::make_unique<Built>(std::move(bound));
    if (options.overlay.empty()) {
      fresh->host.emplace(optimize(std::move(graph)), HostOptions{options.threads});
    } else {
      fresh->overlay.emplace(
          std::make_shared<const Engine>(overlay_bundle(std::move(graph), options), Execution::kAsPlaced));
    }
    built = std::move(fresh);
  }
};

OnnxSession::OnnxSession(std::span<const std::byte> bytes, OnnxSessionOptions options)
    : parts_(std::make_unique<Parts>()) {
  parts_->bytes.assign(bytes.begin(), bytes.end());
  Diagnostics ignored;  // the reader proper reports them
  parts_->model = parse_onnx_model(parts_->bytes, {}, ignored);
  parts_->options = std::move(options);
  if (has_fixed_shapes(parts_->model)) parts_->build({});
}

OnnxSession::~OnnxSession() = default;

std::vector<Tensor> OnnxSession::run(std::vector<Tensor> inputs) {
  const std::lock_guard lock(parts_->mutex);
  OnnxBinding bound = bind_inputs(parts_->model, std::move(inputs));
  parts_->build(std::move(bound.options));
  std::vector<Tensor> outputs = parts_->built->run(std::move(bound.inputs));
  for (Tensor& output : outputs) output = in_numpy_types(std::move(output));
  return outputs;
}

}  // namespace tilewright
