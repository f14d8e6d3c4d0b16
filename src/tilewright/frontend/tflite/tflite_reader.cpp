// The steps of reading: parse and check the flatbuffer, lower it operator by operator, verify the graph.
#include "tilewright/frontend/tflite/tflite_reader.h"

#include <fmt/format.h>

#include "tilewright/base/file.h"
#include "tilewright/frontend/finish_reading.h"
#include "tilewright/frontend/tflite/tflite_lowering.h"
#include "tilewright/frontend/tflite/tflite_model.h"

namespace tilewright {

Graph parse_tflite(std::span<const std::byte> bytes, const TfliteOptions& options, Diagnostics* warnings) {
  Diagnostics diagnostics;
  const TfliteModel model = parse_tflite_model(bytes, diagnostics);
  Graph graph = TfliteLowering(model, options, diagnostics).run();
  return finish_reading(std::move(graph), diagnostics, warnings);
}

Graph read_tflite(const std::filesystem::path& path, const TfliteOptions& options, Diagnostics* warnings) {
  return with_context(fmt::format("file '{}'", path.string()),
                      [&] { return parse_tflite(read_file(path), options, warnings); });
}

}  // namespace tilewright
