// A bundle is known by a hash of its integer graph and its pairs: compiled for another overlay, it keeps its
// states.
#include "tilewright/flow/run/state_file.h"

#include <fmt/format.h>

#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/flow/samples/npz.h"
#include "tilewright/frontend/onnx/onnx_writer.h"

namespace tilewright {
namespace {

// Not the name of an input that a network would have.
constexpr const char* kBundleMember = "tilewright.bundle";

int64_t identity_of(const Bundle& bundle) {
  const std::vector<std::byte> graph = format_onnx(bundle.graph);
  std::string text(reinterpret_cast<const char*>(graph.data()), graph.size());
  for (const StatePair& pair : bundle.states) text += pair.input + "=" + pair.output + ";";
  return int64_t(fnv1a(text));
}

}  // namespace

StateValues read_state(const std::filesystem::path& file, const Bundle& bundle) {
  StateValues state(bundle.graph, bundle.states);
  if (file.empty() || !std::filesystem::exists(file)) return state;
  with_context(fmt::format("state '{}'", file.string()), [&] {
    const NamedArrays arrays = parse_npz(read_file(file));
    const auto find = [&](const std::string& name) -> const Tensor* {
      for (const auto& [member, tensor] : arrays) {
        if (member == name) return &tensor;
      }
      return nullptr;
    };
    const Tensor* identity = find(kBundleMember);
    if (identity == nullptr || identity->type() != ElementType::kI64 || identity->size() != 1 ||
        identity->integer_at(0) != identity_of(bundle)) {
      throw Error(ErrorKind::kInvalidInput, "is not a state of this bundle",
                  "give the file that this bundle wrote; without a file it begins with zeros");
    }
    std::vector<Tensor> values;
    for (const StatePair& pair : state.pairs()) {
      const Tensor* value = find(pair.input);
      if (value == nullptr)
        throw Error(ErrorKind::kInvalidInput, fmt::format("lacks the state '{}'", pair.input),
                    "begin without the file");
      values.push_back(*value);
    }
    state.set(std::move(values));
  });
  return state;
}

void write_state(const std::filesystem::path& file, const Bundle& bundle, const StateValues& state) {
  NamedArrays arrays = {{kBundleMember, Tensor::scalar(identity_of(bundle))}};
  for (size_t i = 0; i < state.pairs().size(); ++i)
    arrays.emplace_back(state.pairs()[i].input, state.values()[i]);
  write_npz(file, arrays);
}

}  // namespace tilewright
