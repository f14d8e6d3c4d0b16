#include "model/onnx_nodes/not_covered.h"

#include <sstream>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"

namespace tilewright {

std::map<std::string, std::string> read_not_covered(const std::filesystem::path& path) {
  std::map<std::string, std::string> reasons;
  std::istringstream lines(read_text_file(path));
  std::string reason;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != ' ') {
      if (line.back() != ':') throw Error(ErrorKind::kInvalidInput, "a reason without a colon: " + line);
      reason = line.substr(0, line.size() - 1);
      continue;
    }
    std::istringstream names(line);
    for (std::string name; names >> name;) {
      if (reason.empty() || !reasons.emplace(name, reason).second) {
        throw Error(ErrorKind::kInvalidInput, "listed twice or without a reason: " + name);
      }
    }
  }
  return reasons;
}

}  // namespace tilewright
