// What all users of oneDNN (v2 API, OpenMP runtime) in the host engine share. Private to the module's .cpp
// files: the library's header is heavy.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "tilewright/host/kernel.h"
#include "tilewright/host/post_operations.h"

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
// f32 of the given sizes, N x C x spatial, with the channels last in memory.
dnnl::memory::desc plain_channels_last(const std::vector<int64_t>& dims);

// The post-operations of a node, and where the tensors that they add are among its inputs and in memory.
struct PostOps {
  // `first`: the input that is added first; `target`: the result, in the layout of its tensor. Added tensors
  // that are smaller than the result broadcast to it.
  PostOps(const Node& node, std::span<const KernelOperand> operands, size_t first,
          const dnnl::memory::desc& target);

  struct Added {
    size_t input;
    int argument;  // of the primitive
    dnnl::memory::desc desc;
  };
  dnnl::post_ops operations;
  std::vector<Added> added;
};

// A primitive that runs on tensors as they lie in memory: reorders to and from the layouts the primitive
// prefers, weights only once when they are constant. Its scratch memory belongs to each run, so that runs may
// overlap.
class Runner {
 public:
  // How the tensors of the graph lie in memory.
  struct Layouts {
    dnnl::memory::desc source, weights, target;
  };

  // `desc` is any forward primitive descriptor with source, weights and optional bias. `weights`: the
  // constant, or nullptr.
  template <typename PrimitiveDesc>
  Runner(const dnnl::engine& engine, const PrimitiveDesc& desc, dnnl::primitive primitive, Layouts given,
         const Tensor* weights, std::vector<PostOps::Added> added = {})
      : engine_(engine),
        primitive_(std::move(primitive)),
        given_(std::move(given)),
        wanted_{desc.src_desc(), desc.weights_desc(), desc.dst_desc()},
        bias_(desc.bias_desc()),
        scratchpad_(desc.scratchpad_desc()),
        added_(std::move(added)) {
    if (weights != nullptr) prepack(*weights);
  }

  // Inputs 0 and 1 are source and weights, 2 the bias if the primitive has one, and the rest what
  // post-operations add.
  void run(KernelInputs inputs, Tensor& target, int threads) const;

 private:
  void prepack(const Tensor& weights);

  dnnl::engine engine_;
  dnnl::primitive primitive_;
  Layouts given_, wanted_;
  dnnl::memory::desc bias_, scratchpad_;
  std::vector<PostOps::Added> added_;
  dnnl::memory prepacked_;  // empty unless the weights are constant and the primitive wants another layout
};

// A primitive of one source and one target without weights, on tensors as they lie in memory.
class UnaryRunner {
 public:
  template <typename PrimitiveDesc>
  UnaryRunner(const dnnl::engine& engine, const PrimitiveDesc& desc, dnnl::primitive primitive)
      : engine_(engine),
        primitive_(std::move(primitive)),
        source_(desc.src_desc()),
        target_(desc.dst_desc()),
        scratchpad_(desc.scratchpad_desc()) {}

  void run(const Tensor& source, Tensor& target, int threads) const;

 private:
  dnnl::engine engine_;
  dnnl::primitive primitive_;
  dnnl::memory::desc source_, target_, scratchpad_;
};

dnnl::algorithm eltwise_algorithm(const std::string& post_operation);

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
