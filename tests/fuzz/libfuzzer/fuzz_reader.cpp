// Coverage-guided fuzzing of one reader, TILEWRIGHT_READER: what reader_mutations reads (own_targets.h), so
// that no reader is left out. Only an Error about the input may come out.
#include <cstdio>
#include <cstdlib>
#include <set>

#include "fuzz/own_targets.h"
#include "tilewright/base/error.h"

using namespace tilewright;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {
std::vector<FuzzTarget> files;  // of the reader
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* chosen = std::getenv("TILEWRIGHT_READER");
  std::set<std::string> known;
  for (const FuzzTarget& target : own_targets()) {
    known.insert(target.reader);
    if (chosen != nullptr && target.reader == chosen) files.push_back(target);
  }
  if (!files.empty()) return 0;
  for (const std::string& reader : known) std::puts(reader.c_str());
  std::exit(chosen == nullptr ? 0 : 1);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    files.front().read({reinterpret_cast<const std::byte*>(data), size});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInternal) return 0;
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
  return 0;
}

// Now and then a damaged copy of one of the files, which knows their structure.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  Random random(seed);
  if (size > 1 && random.chance(0.9)) return LLVMFuzzerMutate(data, size, max_size);
  const FuzzTarget& file = files[size_t(random.between(0, int64_t(files.size()) - 1))];
  const Bytes damaged = file.damage(file.original, size_t(random.between(0, 1000)), random);
  if (damaged.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  for (size_t i = 0; i < damaged.size(); ++i) data[i] = uint8_t(damaged[i]);
  return damaged.size();
}
