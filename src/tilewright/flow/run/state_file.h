// The state of a bundle between runs, as a file: an .npz archive with an array for every state, by the name
// of its input, and one that says which bundle it belongs to.
#pragma once

#include <filesystem>

#include "tilewright/flow/model/network_state.h"
#include "tilewright/flow/run/bundle.h"

namespace tilewright {

// The states of `file`, or zeros if there is no such file. Errors (invalid input): no archive, or one of
// another bundle.
StateValues read_state(const std::filesystem::path& file, const Bundle& bundle);
void write_state(const std::filesystem::path& file, const Bundle& bundle, const StateValues& state);

}  // namespace tilewright
