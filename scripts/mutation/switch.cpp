// Which mutant is on, and where it is noted which ones were evaluated. TILEWRIGHT_MUTANT is the number of the
// mutant; TILEWRIGHT_MUTANTS_REACHED a file of one byte per mutant that all processes of a test share.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace mutation {

int active = -1;
static unsigned char unshared[1 << 16];
unsigned char* reached = unshared;

// Before the initialisation of any other file's objects.
__attribute__((constructor(101))) static void read_environment() {
  if (const char* number = std::getenv("TILEWRIGHT_MUTANT")) active = std::atoi(number);
  const char* path = std::getenv("TILEWRIGHT_MUTANTS_REACHED");
  if (path == nullptr) return;
  const int file = ::open(path, O_RDWR);
  if (file < 0) return;
  void* shared = ::mmap(nullptr, sizeof unshared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (shared != MAP_FAILED) reached = static_cast<unsigned char*>(shared);
}

}  // namespace mutation
