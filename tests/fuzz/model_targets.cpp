#include "fuzz/model_targets.h"

#include <algorithm>

#include "fuzz/mutation.h"
#include "support/frontend/saved_model_testing.h"
#include "tflite_schema_generated.h"
#include "tilewright/base/file.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {

std::function<Bytes(const Bytes&, size_t, Random&)> damage_protobuf(std::span<const std::byte> original) {
  return [wire = map_protobuf(original)](const Bytes& bytes, size_t index, Random& random) {
    return mutate(bytes, wire, MutationKind(index % kMutationKinds), random);
  };
}

std::function<Bytes(const Bytes&, size_t, Random&)> damage_tflite(std::span<const std::byte> original) {
  constexpr size_t kShortPayload = 64;
  std::vector<bool> is_structure(original.size(), true);
  const tflite_schema::Model* model = tflite_schema::GetModel(original.data());
  for (const tflite_schema::Buffer* buffer : *model->buffers()) {
    if (buffer->data() == nullptr || buffer->data()->size() <= kShortPayload) continue;
    const size_t first = size_t(reinterpret_cast<const std::byte*>(buffer->data()->data()) - original.data());
    std::fill_n(is_structure.begin() + std::ptrdiff_t(first), buffer->data()->size(), false);
  }
  WireMap wire;
  for (size_t i = 0; i < original.size(); ++i) {
    if (is_structure[i]) wire.structural.push_back(i);
  }
  wire.fields = wire.structural;
  return [wire = std::move(wire)](const Bytes& bytes, size_t index, Random& random) {
    return mutate(bytes, wire, MutationKind(index % kMutationKinds), random);
  };
}

FuzzTarget onnx_target(const std::filesystem::path& file) {
  const auto read = [](std::span<const std::byte> bytes) {
    OnnxOptions options;
    options.dimensions["batch_size"] = 1;
    const Graph graph = parse_onnx(bytes, {}, options);
    format_onnx(graph);  // what was accepted must be fit for use
  };
  const Bytes bytes = read_file(file);
  return {"onnx", file.string(), bytes, damage_protobuf(bytes), read};
}

FuzzTarget tensorflow_target(const std::filesystem::path& file, const std::string& output) {
  const auto read = [output](std::span<const std::byte> bytes) {
    TensorflowOptions options;
    options.allow_missing_weights = true;
    if (!output.empty()) options.outputs = {output};
    format_onnx(parse_tensorflow(bytes, options));
  };
  const Bytes bytes = read_file(file);
  return {"tensorflow", file.string(), bytes, damage_protobuf(bytes), read};
}

FuzzTarget checkpoint_target(const std::filesystem::path& folder) {
  const std::filesystem::path index = folder / "variables/variables.index";
  const std::string original = read_text_file(index);
  const auto damage = [original](const Bytes& bytes, size_t at, Random& random) {
    Bytes damaged = damage_anything(bytes, at / 2, random);
    if (at % 2 == 0) return damaged;
    std::string text(reinterpret_cast<const char*>(damaged.data()), damaged.size());
    saved_model_testing::reseal_table(text, original);
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return Bytes(begin, begin + text.size());
  };
  const auto read = [folder](std::span<const std::byte> bytes) {
    const TemporaryFolder copy(std::filesystem::temp_directory_path(), "checkpoint");
    create_folder(copy.path() / "variables");
    for (const char* name : {"saved_model.pb", "variables/variables.data-00000-of-00001"})
      std::filesystem::create_symlink(folder / name, copy.path() / name);
    write_file(copy.path() / "variables/variables.index", bytes);
    format_onnx(read_tensorflow(copy.path()));
  };
  return {"checkpoint", index.string(), read_file(index), damage, read};
}

FuzzTarget tflite_target(const std::filesystem::path& file) {
  const auto read = [](std::span<const std::byte> bytes) {
    const Graph graph = parse_tflite(bytes);
    format_onnx(graph);
    integerize(graph);
  };
  const Bytes bytes = read_file(file);
  return {"tflite", file.string(), bytes, damage_tflite(bytes), read};
}

}  // namespace tilewright
