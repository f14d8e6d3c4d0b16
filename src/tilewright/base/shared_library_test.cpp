#include "tilewright/base/shared_library.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

TEST(SharedLibrary, FindsSymbols) {
  const SharedLibrary mathematics("libm.so.6");
  EXPECT_DOUBLE_EQ(mathematics.symbol<double (*)(double)>("sqrt")(9.0), 3.0);
}

TEST(SharedLibrary, RefusesWhatIsNotThere) {
  try {
    SharedLibrary("/no/such/library.so", "build it");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("/no/such/library.so"), std::string::npos);
  }
  EXPECT_THROW(SharedLibrary("libm.so.6").symbol<void*>("no_such_symbol"), Error);
}

}  // namespace
}  // namespace tilewright
