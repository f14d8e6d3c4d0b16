// Times and sizes as people write them.
#pragma once

#include <cstdint>
#include <string>

namespace tilewright {

// "500ms", "10s", "2m", "10min" or "1h"; a number alone counts seconds. Errors (invalid input): another text,
// or nothing above 0.
double seconds_in(const std::string& text);

// Bytes of "800M", "16G" or "2.5GiB", in powers of 1024. Errors (invalid input): another text, or less than
// the 64 MiB that Tilewright itself takes.
int64_t bytes_in(const std::string& text);

}  // namespace tilewright
