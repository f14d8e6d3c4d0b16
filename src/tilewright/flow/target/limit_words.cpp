// A decimal number and a unit.
#include "tilewright/flow/target/limit_words.h"

#include <charconv>
#include <map>
#include <system_error>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

constexpr int64_t kLeastBytes = int64_t{64} << 20;  // the process itself and its libraries

// 0 where the text is no positive number with one of the units.
double amount(const std::string& text, const std::map<std::string, double>& units) {
  const size_t end = text.find_first_not_of("0123456789.");
  const auto unit = units.find(end == std::string::npos ? "" : text.substr(end));
  double value = 0;
  const char* const last = text.data() + std::min(end, text.size());
  const auto [stop, error] = std::from_chars(text.data(), last, value);
  if (unit == units.end() || error != std::errc() || stop != last || !(value > 0)) return 0;
  return value * unit->second;
}

}  // namespace

double seconds_in(const std::string& text) {
  const double seconds = amount(text, {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}});
  if (seconds > 0) return seconds;
  throw Error(ErrorKind::kInvalidInput, "'" + text + "' is not a time like 500ms, 10s, 2m or 1h");
}

int64_t bytes_in(const std::string& text) {
  std::map<std::string, double> units;
  double scale = 0x1p10;
  for (const char* prefix : {"K", "M", "G", "T"}) {
    for (const char* end : {"", "B", "iB"}) units[std::string(prefix) + end] = scale;
    scale *= 0x1p10;
  }
  const double bytes = amount(text, units);
  if (!(bytes > 0) || bytes > 0x1p62)
    throw Error(ErrorKind::kInvalidInput, "'" + text + "' is not a size",
                "give one like 800M, 16G or 2.5GiB");
  if (bytes < double(kLeastBytes))
    throw Error(ErrorKind::kInvalidInput, "'" + text + "' is too small: at least 64M is needed");
  return int64_t(bytes);
}

}  // namespace tilewright
