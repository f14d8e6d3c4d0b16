// Numbers as people read them.
#pragma once

#include <string>

namespace tilewright {

// "1.234 G" of a number; with a unit that has prefixes of its own (fj, pj, nj, uj) that unit scaled: "1.234
// mJ". Any other `unit` ("mac"): the prefix alone.
std::string scaled_number(double value);
std::string energy_text(double value, const std::string& unit);
// "1.3 ms" of cycles at a clock; "" without one.
std::string time_text(double cycles, double clock_mhz);
// "45.0%" of 0.45.
std::string percent_text(double share);

}  // namespace tilewright
