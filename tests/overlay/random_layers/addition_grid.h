// Additions with every pair of power-of-two multipliers, and with random ones, on every preset overlay
// against the reference kernel. Each is compiled with its default schedule and run on the functional
// simulator.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tilewright::random_layers {

struct AdditionSummary {
  int64_t pairs = 0, wrong = 0;
  int64_t refused = 0;                         // additions that the overlay leaves to the host
  std::map<std::string, int64_t> by_hardware;  // pairs
  std::string first_problems;
};

// Every `step`-th of the pairs +-2^a, 2^b (a and b up to 22), once unshifted and once with a random shift and
// bias.
AdditionSummary check_powers_of_two(uint64_t seed, int64_t step, const std::string& hardware_folder);
// `count` random pairs. Half of the multipliers are multiples of a random power of two, biases reach to the
// last bit.
AdditionSummary check_random_multipliers(uint64_t seed, int64_t count, const std::string& hardware_folder);
void add(AdditionSummary& total, const AdditionSummary& other);
std::string describe(const AdditionSummary& summary);

}  // namespace tilewright::random_layers
