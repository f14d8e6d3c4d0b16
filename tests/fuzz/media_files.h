// Small pictures and sounds, written by the libraries that the readers use.
#pragma once

#include <cstddef>
#include <vector>

namespace tilewright {

std::vector<std::byte> small_png(bool deep);          // RGB of 8 or of 16 bits
std::vector<std::byte> small_jpeg(bool progressive);  // RGB
std::vector<std::byte> small_wav();                   // two channels of 16 bits

}  // namespace tilewright
