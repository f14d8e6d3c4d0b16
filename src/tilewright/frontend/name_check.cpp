// Well-formed sequences of code points, as ONNX asks of every string; messages show other bytes in hex.
#include "tilewright/frontend/name_check.h"

#include <fmt/format.h>

#include "tilewright/base/plain_text.h"

namespace tilewright {
namespace {

// Printable ASCII; every other byte as \xNN.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c >= 0x20 && c < 0x7F ? std::string(1, c)
                                    : fmt::format("\\x{:02x}", unsigned(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace

void check_name(const char* what, const std::string& name, Diagnostics& diagnostics) {
  if (valid_utf8(name)) return;
  diagnostics.error(ErrorKind::kInvalidInput, fmt::format("{} '{}'", what, escaped(name)), "",
                    "its name is not UTF-8", "rename it in the exporting program");
}

}  // namespace tilewright
