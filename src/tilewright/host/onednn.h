// What all users of oneDNN (v2 API, OpenMP runtime) in the host engine share. Private to the module's .cpp
// files: the library's header is heavy.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "tilewright/host/kernel.h"

namespace tilewright::onednn {

// Lets OpenMP parallel regions started by the calling thread use `threads` threads; restores the old number.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int previous_;
};

// Row-major f32 of the given sizes.
dnnl::memory::desc plain(const std::vector<int64_t>& dims);

// A primitive that runs on row-major tensors: reorders to and from the layouts the primitive prefers, weights
// only once when they are constant. Its scratch memory belongs to each run, so that runs may overlap.
class Runner {
 public:
  // `desc` is any forward primitive descriptor with source, weights and optional bias. The *_plain
  // descriptors say how the tensors of the graph lie in memory. `weights`: the constant, or nullptr.
  template <typename PrimitiveDesc>
  Runner(const dnnl::engine& engine, const PrimitiveDesc& desc, dnnl::primitive primitive,
         dnnl::memory::desc source_plain, dnnl::memory::desc weights_plain, dnnl::memory::desc target_plain,
         const Tensor* weights)
      : engine_(engine),
        primitive_(std::move(primitive)),
        source_plain_(std::move(source_plain)),
        weights_plain_(std::move(weights_plain)),
        target_plain_(std::move(target_plain)),
        source_(desc.src_desc()),
        weights_(desc.weights_desc()),
        target_(desc.dst_desc()),
        bias_(desc.bias_desc()),
        scratchpad_(desc.scratchpad_desc()) {
    if (weights != nullptr) prepack(*weights);
  }

  // `bias` is nullptr or f32 elements in the layout that the primitive was described with.
  void run(const Tensor& source, const Tensor& weights, const Tensor* bias, Tensor& target,
           int threads) const;

 private:
  void prepack(const Tensor& weights);

  dnnl::engine engine_;
  dnnl::primitive primitive_;
  dnnl::memory::desc source_plain_, weights_plain_, target_plain_;
  dnnl::memory::desc source_, weights_, target_, bias_, scratchpad_;
  dnnl::memory prepacked_;  // empty unless the weights are constant and the primitive wants another layout
};

// Turns oneDNN's exceptions into Errors (internal): whatever we ask of it has been checked before.
template <typename Body>
decltype(auto) guarded(Body&& body) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    throw Error(ErrorKind::kInternal, std::string("oneDNN: ") + error.what());
  }
}

}  // namespace tilewright::onednn
