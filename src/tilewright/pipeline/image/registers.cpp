// The identity words, and the page of registers.
#include "tilewright/pipeline/image/registers.h"

#include <fmt/format.h>

namespace tilewright::pipeline {

MemoryImage encode(const DesignIdentity& identity) {
  const uint32_t words[] = {uint32_t(identity.hash), uint32_t(identity.hash >> 32), identity.input_bytes,
                            identity.output_bytes,   identity.weight_bytes,         identity.port_bytes,
                            identity.channels};
  MemoryImage image(32);
  for (int i = 0; i < DesignIdentity::kWords; ++i) image.add_word();
  for (size_t i = 0; i < std::size(words); ++i) image.set(int64_t(i), 0, 32, int64_t{words[i]});
  return image;
}

DesignIdentity decode_identity(const MemoryImage& image) {
  const auto word = [&](int64_t i) { return uint32_t(image.get(i, 0, 32)); };
  DesignIdentity identity;
  identity.hash = word(0) | uint64_t{word(1)} << 32;
  identity.input_bytes = word(2);
  identity.output_bytes = word(3);
  identity.weight_bytes = word(4);
  identity.port_bytes = word(5);
  identity.channels = word(6);
  return identity;
}

std::string register_table() {
  std::string text = "| offset | register | access | meaning |\n|---|---|---|---|\n";
  for (const DeviceRegister& r : kRegisters) {
    text += fmt::format("| 0x{:03X} | {} | {} | {} |\n", r.offset, r.name, r.access, r.meaning);
  }
  return text;
}

}  // namespace tilewright::pipeline
