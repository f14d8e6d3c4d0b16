// All of them are linked; which CPU kernels run is the processor's choice.
#include "tilewright/flow/parts.h"

#include "tilewright/search/models/gradient_boosted.h"

namespace tilewright {

std::vector<BuiltInPart> built_in_parts() {
  const bool vnni = __builtin_cpu_supports("avx512vnni"), avx2 = __builtin_cpu_supports("avx2");
  return {
      {"CPU kernels", "AVX-512 VNNI is the fastest functional simulator", "-",
       vnni   ? "AVX-512 VNNI"
       : avx2 ? "AVX2"
              : "portable"},
      {"ONNX reader", "inspect, optimize, quantize, compile", "libonnx-dev", "built in"},
      {"oneDNN", "float execution on the host", "libdnnl-dev", "built in"},
      {"libzip", ".npz archives as samples and outputs", "libzip-dev", "built in"},
      {"libpng, libjpeg-turbo", "pictures as samples", "libpng-dev, libturbojpeg0-dev", "built in"},
      {"libsndfile", "WAV sounds as samples", "libsndfile1-dev", "built in"},
      {"SQLite", "records of measured trials", "libsqlite3-dev", "built in"},
      {"XGBoost", "learned cost models, importance of design choices", "libxgboost-dev",
       "built in, " + boosting_library()},
  };
}

}  // namespace tilewright
