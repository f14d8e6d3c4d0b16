// static.bin (weights, parameters, micro-ops, instructions) and an input_N.bin per input are cut from the
// program's memory; each output becomes a dump, output_N.bin. No other memory is stored.
#include "tilewright/flow/run/raw_form.h"

#include <fmt/format.h>

namespace tilewright {

overlay::RawProgram raw_form(const overlay::OverlayProgram& program) {
  if (program.setup_count > 0) {
    throw Error(ErrorKind::kUnsupported,
                "a program for one token keeps scratchpads from run to run, which raw programs cannot say",
                "leave out --emit-raw; 'decode' runs the bundle");
  }
  overlay::RawProgram raw;
  raw.hardware = program.hardware;
  raw.memory_bytes = program.memory.size();
  const auto image = [&](const std::string& file, uint64_t address, uint64_t bytes) {
    const auto begin = program.memory.begin() + ptrdiff_t(address);
    raw.load.push_back({file, address, std::vector<std::byte>(begin, begin + ptrdiff_t(bytes))});
  };
  image("static.bin", program.static_address, program.static_bytes);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    image(fmt::format("input_{}.bin", i), program.inputs[i].address, uint64_t(program.inputs[i].bytes));
  }
  raw.instruction_address = program.instruction_address;
  raw.instruction_count = program.instruction_count;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    raw.dump.push_back(
        {fmt::format("output_{}.bin", i), program.outputs[i].address, uint64_t(program.outputs[i].bytes)});
  }
  return raw;
}

}  // namespace tilewright
