// What an operator implementation of the host engine looks like. Kernels are pure functions: node attributes
// and input tensors in, output tensors out; the executor owns order, memory and error context.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct HostOptions {
  int threads = 1;  // upper bound on the threads that one run uses
};

// One pointer per listed input of the node; nullptr where an optional input is absent.
using KernelInputs = std::span<const Tensor* const>;

// Returns one tensor per listed output (more are ignored). Output shapes follow from the input tensors alone.
// Errors (no node context needed, the caller adds it): unsupported element types or attribute values
// (kUnsupported), data-dependent inputs that are out of range, e.g. Gather indices (kInvalidInput).
using Kernel = std::vector<Tensor> (*)(const Node&, KernelInputs, const HostOptions&);

// What is known about an input of a node before it runs.
struct KernelOperand {
  bool present = false;
  ElementType type = ElementType::kF32;
  Shape shape;
  const Tensor* constant = nullptr;  // nullptr: not known yet
};

// A node bound to its input shapes and constants, for kernels that do work once per graph: generating code,
// reordering weights. The inputs given to the bound kernel have the types and shapes of the operands.
using BoundKernel = std::function<std::vector<Tensor>(KernelInputs, const HostOptions&)>;
using BindKernel = BoundKernel (*)(const Node&, std::span<const KernelOperand>, const HostOptions&);

// How an operator treats f16 and bf16.
enum class HalfTypes {
  kThroughFloat,  // the kernel sees f32; its f32 outputs are rounded back to the type of the inputs
  kNative,        // the kernel takes them as they are: data movement, Cast
};

struct KernelEntry {
  const char* domain;  // "" is ONNX
  const char* op;
  Kernel kernel;  // exactly one of kernel and bind is set
  BindKernel bind = nullptr;
  HalfTypes half = HalfTypes::kThroughFloat;
};

}  // namespace tilewright
