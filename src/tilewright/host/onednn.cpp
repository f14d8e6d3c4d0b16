#include "tilewright/host/onednn.h"

#include <map>

#include "tilewright/host/image_layout.h"
#include "tilewright/tensor/tensor_memory.h"

// OpenMP's own declarations, without asking the compiler for its OpenMP mode (which would link the runtime of
// that compiler beside the one oneDNN uses).
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace tilewright::onednn {

ThreadScope::ThreadScope(int threads) : previous_(omp_get_max_threads()) {
  omp_set_num_threads(threads < 1 ? 1 : threads);
}
ThreadScope::~ThreadScope() { omp_set_num_threads(previous_); }

dnnl::memory::desc plain(const std::vector<int64_t>& dims) {
  return dnnl::memory::desc(dims, dnnl::memory::data_type::f32, Shape(dims).strides());
}

dnnl::memory::desc plain_channels_last(const std::vector<int64_t>& dims) {
  const Shape stored = channels_last(Shape(dims));
  return dnnl::memory::desc(dims, dnnl::memory::data_type::f32,
                            permuted(Shape(stored.strides()), channels_first_axes(stored.rank())).dims());
}

dnnl::algorithm eltwise_algorithm(const std::string& name) {
  using dnnl::algorithm;
  static const std::map<std::string, algorithm> table = {
      {"relu", algorithm::eltwise_relu},
      {"clip", algorithm::eltwise_clip},
      {"logistic", algorithm::eltwise_logistic},
      {"tanh", algorithm::eltwise_tanh},
      {"elu", algorithm::eltwise_elu},
      {"swish", algorithm::eltwise_swish},
      {"hardswish", algorithm::eltwise_hardswish},
      {"mish", algorithm::eltwise_mish},
      {"gelu_erf", algorithm::eltwise_gelu_erf},
      {"gelu_tanh", algorithm::eltwise_gelu_tanh},
      {"linear", algorithm::eltwise_linear},
      {"soft_relu", algorithm::eltwise_soft_relu},
  };
  const auto found = table.find(name);
  TILEWRIGHT_CHECK(found != table.end(), "post-operation " + name);
  return found->second;
}

PostOps::PostOps(const Node& node, std::span<const KernelOperand> operands, size_t first,
                 const dnnl::memory::desc& target) {
  for (const PostOperation& operation : post_operations(node)) {
    if (operation.name != "add") {
      operations.append_eltwise(1, eltwise_algorithm(operation.name), operation.alpha, operation.beta);
      continue;
    }
    const size_t input = first + added.size();
    TILEWRIGHT_CHECK(input < operands.size() && operands[input].present, "added tensor of " + node.op);
    dnnl::memory::desc desc = target;
    if (operands[input].shape.element_count() != Shape(target.dims()).element_count()) {
      std::vector<int64_t> dims(target.dims().size(), 1);
      std::copy(operands[input].shape.begin(), operands[input].shape.end(),
                dims.end() - operands[input].shape.rank());
      desc = plain(dims);
    }
    added.push_back({input, DNNL_ARG_ATTR_MULTIPLE_POST_OP(operations.len()) | DNNL_ARG_SRC_1, desc});
    operations.append_binary(dnnl::algorithm::binary_add, desc);
  }
}

namespace {

// oneDNN takes no pointer to const; sources are only read.
void* data_of(const Tensor& tensor) { return const_cast<std::byte*>(tensor.bytes().data()); }

// Memory for the time of a run, of the run's pool.
struct Scratch {
  Scratch(const dnnl::memory::desc& desc, const dnnl::engine& engine)
      : bytes(tensor_memory(desc.get_size(), false)), memory(desc, engine, bytes.get()) {}
  std::shared_ptr<std::byte[]> bytes;
  dnnl::memory memory;
};

}  // namespace

void Runner::prepack(const Tensor& weights) {
  if (wanted_.weights == given_.weights) return;
  dnnl::stream stream(engine_);
  dnnl::memory plain_weights(given_.weights, engine_, data_of(weights));
  prepacked_ = dnnl::memory(wanted_.weights, engine_);
  dnnl::reorder(plain_weights, prepacked_).execute(stream, plain_weights, prepacked_);
  stream.wait();
}

void Runner::run(KernelInputs inputs, Tensor& target, int threads) const {
  const ThreadScope scope(threads);
  dnnl::stream stream(engine_);
  std::vector<Scratch> scratch;
  scratch.reserve(4);
  const auto in_layout = [&](const Tensor& tensor, const dnnl::memory::desc& from,
                             const dnnl::memory::desc& to) {
    dnnl::memory given(from, engine_, data_of(tensor));
    if (from == to) return given;
    const dnnl::memory& wanted = scratch.emplace_back(to, engine_).memory;
    dnnl::reorder(given, wanted).execute(stream, given, const_cast<dnnl::memory&>(wanted));
    return wanted;
  };
  const bool direct = wanted_.target == given_.target;
  dnnl::memory result(given_.target, engine_, target.mutable_bytes().data());
  dnnl::memory computed = direct ? result : scratch.emplace_back(wanted_.target, engine_).memory;
  std::unordered_map<int, dnnl::memory> arguments{
      {DNNL_ARG_SRC, in_layout(*inputs[0], given_.source, wanted_.source)},
      {DNNL_ARG_WEIGHTS, prepacked_ ? prepacked_ : in_layout(*inputs[1], given_.weights, wanted_.weights)},
      {DNNL_ARG_DST, computed}};
  if (scratchpad_.get_size() > 0) {
    arguments.insert({DNNL_ARG_SCRATCHPAD, scratch.emplace_back(scratchpad_, engine_).memory});
  }
  if (bias_.get_size() > 0) {
    arguments.insert({DNNL_ARG_BIAS, dnnl::memory(bias_, engine_, data_of(*inputs[2]))});
  }
  for (const PostOps::Added& added : added_) {
    arguments.insert({added.argument, dnnl::memory(added.desc, engine_, data_of(*inputs[added.input]))});
  }
  primitive_.execute(stream, arguments);
  if (!direct) dnnl::reorder(computed, result).execute(stream, computed, result);
  stream.wait();
}

void UnaryRunner::run(const Tensor& source, Tensor& target, int threads) const {
  const ThreadScope scope(threads);
  dnnl::stream stream(engine_);
  const Scratch scratch(scratchpad_, engine_);
  primitive_.execute(stream, {{DNNL_ARG_SRC, dnnl::memory(source_, engine_, data_of(source))},
                              {DNNL_ARG_DST, dnnl::memory(target_, engine_, target.mutable_bytes().data())},
                              {DNNL_ARG_SCRATCHPAD, scratch.memory}});
  stream.wait();
}

}  // namespace tilewright::onednn
