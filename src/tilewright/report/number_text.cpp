// Numbers as people read them: four significant digits and a prefix.
#include "tilewright/report/number_text.h"

#include <fmt/format.h>

#include <cmath>

namespace tilewright {
namespace {

// Four significant digits with the prefix that leaves one to three before the point.
std::string with_prefix(double value, int exponent3) {
  constexpr const char* kPrefixes[] = {"f", "p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr int kUnity = 5, kLast = 11;
  int step = kUnity + exponent3;
  if (value == 0 || !std::isfinite(value)) return fmt::format("{} ", value);
  // 999.95 would print as 1000.
  while (std::abs(value) >= 999.95 && step < kLast) value /= 1000, ++step;
  while (std::abs(value) < 0.99995 && step > 0) value *= 1000, --step;
  const double size = std::abs(value);
  const int digits = size < 9.9995 ? 3 : size < 99.995 ? 2 : 1;
  return fmt::format("{:.{}f} {}", value, digits, kPrefixes[step]);
}

}  // namespace

std::string scaled_number(double value) {
  std::string text = std::abs(value) >= 1 && std::abs(value) < 1000 && value == std::floor(value)
                         ? fmt::format("{:.0f} ", value)
                         : with_prefix(value, 0);
  if (text.back() == ' ') text.pop_back();
  return text;
}

std::string energy_text(double value, const std::string& unit) {
  if (unit == "fj") return with_prefix(value, -5) + "J";
  if (unit == "pj") return with_prefix(value, -4) + "J";
  if (unit == "nj") return with_prefix(value, -3) + "J";
  if (unit == "uj") return with_prefix(value, -2) + "J";
  return scaled_number(value);
}

std::string time_text(double cycles, double clock_mhz) {
  if (clock_mhz <= 0) return "";
  return with_prefix(cycles / clock_mhz, -2) + "s";
}

std::string percent_text(double share) { return fmt::format("{:.1f}%", 100 * share); }

}  // namespace tilewright
