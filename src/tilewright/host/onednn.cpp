#include "tilewright/host/onednn.h"

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

namespace {

// oneDNN takes no pointer to const; sources are only read.
void* data_of(const Tensor& tensor) { return const_cast<std::byte*>(tensor.bytes().data()); }

}  // namespace

void Runner::prepack(const Tensor& weights) {
  if (weights_ == weights_plain_) return;
  dnnl::stream stream(engine_);
  dnnl::memory plain_weights(weights_plain_, engine_, data_of(weights));
  prepacked_ = dnnl::memory(weights_, engine_);
  dnnl::reorder(plain_weights, prepacked_).execute(stream, plain_weights, prepacked_);
  stream.wait();
}

void Runner::run(const Tensor& source, const Tensor& weights, const Tensor* bias, Tensor& target,
                 int threads) const {
  const ThreadScope scope(threads);
  dnnl::stream stream(engine_);
  const auto in_layout = [&](const Tensor& tensor, const dnnl::memory::desc& from,
                             const dnnl::memory::desc& to) {
    dnnl::memory given(from, engine_, data_of(tensor));
    if (from == to) return given;
    dnnl::memory wanted(to, engine_);
    dnnl::reorder(given, wanted).execute(stream, given, wanted);
    return wanted;
  };
  dnnl::memory result(target_plain_, engine_, target.mutable_bytes().data());
  dnnl::memory computed = target_ == target_plain_ ? result : dnnl::memory(target_, engine_);
  std::unordered_map<int, dnnl::memory> arguments{
      {DNNL_ARG_SRC, in_layout(source, source_plain_, source_)},
      {DNNL_ARG_WEIGHTS, prepacked_ ? prepacked_ : in_layout(weights, weights_plain_, weights_)},
      {DNNL_ARG_DST, computed},
      {DNNL_ARG_SCRATCHPAD, dnnl::memory(scratchpad_, engine_)}};
  if (bias != nullptr) {
    arguments.insert({DNNL_ARG_BIAS, dnnl::memory(bias_, engine_, data_of(*bias))});
  }
  primitive_.execute(stream, arguments);
  if (target_ != target_plain_) dnnl::reorder(computed, result).execute(stream, computed, result);
  stream.wait();
}

}  // namespace tilewright::onednn
