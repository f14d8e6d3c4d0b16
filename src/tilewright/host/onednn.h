// What all users of oneDNN (v2 API, OpenMP runtime) in the host engine share. Private to the module's .cpp
// files: the library's header is heavy.
#pragma once

#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

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

// A primitive with its arguments, which are made once and point to other memory in each run. Runs that
// overlap have arguments of their own. Scratch memory belongs to each run.
class Invoker {
 public:
  struct Argument {
    int name;  // DNNL_ARG_SRC, ...
    dnnl::memory::desc desc;
  };
  Invoker(const dnnl::engine& engine, dnnl::primitive primitive, std::vector<Argument> arguments,
          const dnnl::memory::desc& scratchpad);

  // One pointer per argument.
  void run(std::span<void* const> memory, int threads) const;

 private:
  struct Call {
    dnnl::stream stream;
    std::vector<dnnl::memory> memories;  // the last is the scratch memory
    std::vector<dnnl_exec_arg_t> arguments;
  };
  std::unique_ptr<Call> make_call() const;

  dnnl::engine engine_;
  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
  size_t scratch_bytes_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Call>> idle_;
};

// A primitive that runs on tensors as they lie in memory: reorders to and from the layouts the primitive
// prefers, weights only once when they are constant.
class Runner {
 public:
  // How the tensors of the graph lie in memory; where the source lies within zeros that the primitive reads
  // around it (empty: it reads the source alone).
  struct Layouts {
    dnnl::memory::desc source, weights, target, source_within;
  };

  // `desc` is any forward primitive descriptor with source, weights and optional bias. `weights`: the
  // constant, or nullptr.
  template <typename PrimitiveDesc>
  Runner(const dnnl::engine& engine, const PrimitiveDesc& desc, dnnl::primitive primitive, Layouts given,
         const Tensor* weights, std::vector<PostOps::Added> added = {})
      : engine_(engine),
        given_(std::move(given)),
        wanted_{desc.src_desc(), desc.weights_desc(), desc.dst_desc(), {}},
        has_bias_(desc.bias_desc().get_size() > 0),
        added_(std::move(added)),
        invoker_(engine, std::move(primitive), arguments(desc.bias_desc()), desc.scratchpad_desc()) {
    if (weights != nullptr) prepack(*weights);
  }

  // Inputs 0 and 1 are source and weights, 2 the bias if the primitive has one, and the rest what
  // post-operations add.
  void run(KernelInputs inputs, Tensor& target, int threads) const;

 private:
  std::vector<Invoker::Argument> arguments(const dnnl::memory::desc& bias) const;
  void prepack(const Tensor& weights);
  // A copy of `from` in the layout `wanted`.
  std::shared_ptr<std::byte[]> reordered(void* from, const dnnl::memory::desc& given,
                                         const dnnl::memory::desc& wanted) const;
  void reorder(void* from, const dnnl::memory::desc& given, void* to, const dnnl::memory::desc& wanted) const;

  dnnl::engine engine_;
  Layouts given_, wanted_;
  bool has_bias_;
  std::vector<PostOps::Added> added_;
  Invoker invoker_;
  std::shared_ptr<std::byte[]>
      prepacked_;  // set if the weights are constant and the primitive wants another layout
};

// A primitive of one source and one target without weights, on tensors as they lie in memory.
class UnaryRunner {
 public:
  template <typename PrimitiveDesc>
  UnaryRunner(const dnnl::engine& engine, const PrimitiveDesc& desc, dnnl::primitive primitive)
      : invoker_(engine, std::move(primitive),
                 {{DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_DST, desc.dst_desc()}}, desc.scratchpad_desc()) {
  }

  void run(const Tensor& source, Tensor& target, int threads) const;

 private:
  Invoker invoker_;
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
