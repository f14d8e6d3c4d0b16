// Calls through oneDNN's C interface: its C++ wrapper copies the arguments of every call.
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

void check(dnnl_status_t status) {
  if (status != dnnl_success) throw dnnl::error(status, "execution");
}

}  // namespace

Invoker::Invoker(const dnnl::engine& engine, dnnl::primitive primitive, std::vector<Argument> arguments,
                 const dnnl::memory::desc& scratchpad)
    : engine_(engine),
      primitive_(std::move(primitive)),
      arguments_(std::move(arguments)),
      scratch_bytes_(scratchpad.get_size()) {
  if (scratch_bytes_ > 0) arguments_.push_back({DNNL_ARG_SCRATCHPAD, scratchpad});
}

std::unique_ptr<Invoker::Call> Invoker::make_call() const {
  auto call = std::make_unique<Call>(Call{dnnl::stream(engine_), {}, {}});
  for (const Argument& argument : arguments_) {
    call->memories.emplace_back(argument.desc, engine_, nullptr);
    call->arguments.push_back({argument.name, call->memories.back().get()});
  }
  return call;
}

void Invoker::run(std::span<void* const> memory, int threads) const {
  std::unique_ptr<Call> call;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      call = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (call == nullptr) call = make_call();
  std::shared_ptr<std::byte[]> scratch;
  for (size_t i = 0; i < memory.size(); ++i) call->memories[i].set_data_handle(memory[i]);
  if (scratch_bytes_ > 0) {
    scratch = tensor_memory(scratch_bytes_, false);
    call->memories.back().set_data_handle(scratch.get());
  }
  const ThreadScope scope(threads);
  check(dnnl_primitive_execute(primitive_.get(), call->stream.get(), int(call->arguments.size()),
                               call->arguments.data()));
  check(dnnl_stream_wait(call->stream.get()));
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(call));
}

std::vector<Invoker::Argument> Runner::arguments(const dnnl::memory::desc& bias) const {
  std::vector<Invoker::Argument> result{
      {DNNL_ARG_SRC, wanted_.source}, {DNNL_ARG_WEIGHTS, wanted_.weights}, {DNNL_ARG_DST, wanted_.target}};
  if (has_bias_) result.push_back({DNNL_ARG_BIAS, bias});
  for (const PostOps::Added& added : added_) result.push_back({added.argument, added.desc});
  return result;
}

void Runner::reorder(void* from, const dnnl::memory::desc& given, void* to,
                     const dnnl::memory::desc& wanted) const {
  dnnl::stream stream(engine_);
  dnnl::memory source(given, engine_, from), target(wanted, engine_, to);
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
}

std::shared_ptr<std::byte[]> Runner::reordered(void* from, const dnnl::memory::desc& given,
                                               const dnnl::memory::desc& wanted) const {
  std::shared_ptr<std::byte[]> result = tensor_memory(wanted.get_size(), false);
  reorder(from, given, result.get(), wanted);
  return result;
}

void Runner::prepack(const Tensor& weights) {
  if (wanted_.weights != given_.weights) {
    prepacked_ = reordered(data_of(weights), given_.weights, wanted_.weights);
  }
}

void Runner::run(KernelInputs inputs, Tensor& target, int threads) const {
  const ThreadScope scope(threads);
  std::shared_ptr<std::byte[]> source, weights, computed;
  std::vector<std::shared_ptr<std::byte[]>> added;
  std::vector<void*> memory{data_of(*inputs[0]), data_of(*inputs[1]), target.mutable_bytes().data()};
  if (!given_.source_within.is_zero()) {
    source = tensor_memory(wanted_.source.get_size(), true);
    reorder(memory[0], given_.source, source.get(), given_.source_within);
    memory[0] = source.get();
  } else if (wanted_.source != given_.source) {
    source = reordered(memory[0], given_.source, wanted_.source);
    memory[0] = source.get();
  }
  if (prepacked_ != nullptr) {
    memory[1] = prepacked_.get();
  } else if (wanted_.weights != given_.weights) {
    weights = reordered(memory[1], given_.weights, wanted_.weights);
    memory[1] = weights.get();
  }
  const bool direct = wanted_.target == given_.target;
  if (!direct) {
    computed = tensor_memory(wanted_.target.get_size(), false);
    memory[2] = computed.get();
  }
  if (has_bias_) memory.push_back(data_of(*inputs[2]));
  for (const PostOps::Added& one : added_) {
    memory.push_back(data_of(*inputs[one.input]));
    // A tensor as large as the result lies as the result is given.
    if (direct || one.desc != wanted_.target) continue;
    added.push_back(reordered(memory.back(), given_.target, wanted_.target));
    memory.back() = added.back().get();
  }
  invoker_.run(memory, threads);
  if (!direct) reorder(computed.get(), wanted_.target, target.mutable_bytes().data(), given_.target);
}

void UnaryRunner::run(const Tensor& source, Tensor& target, int threads) const {
  void* const memory[] = {data_of(source), target.mutable_bytes().data()};
  invoker_.run(memory, threads);
}

}  // namespace tilewright::onednn
