#include "tilewright/base/error.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Error, KeepsTheContextChainOutermostFirst) {
  Error error(ErrorKind::kUnsupported, "no reader for it", "remove the node");
  error.add_context("node 'a'").add_context("file 'm.onnx'");
  EXPECT_STREQ(error.what(), "file 'm.onnx': node 'a': no reader for it; remove the node");
  EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
}

TEST(Error, ListsEveryDiagnosticAndTakesTheLowestKind) {
  Diagnostics diagnostics;
  diagnostics.raise_if_any();
  diagnostics.error(ErrorKind::kUnsupported, "node 'a'", "Foo", "unknown operator");
  diagnostics.error(ErrorKind::kInvalidInput, "node 'b'", "Conv", "weight missing", "add it");
  try {
    diagnostics.raise_if_any("file 'm.onnx'");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "file 'm.onnx': 2 problems\n  node 'a' (Foo): unknown operator\n"
                 "  node 'b' (Conv): weight missing; add it");
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
  }
}

TEST(Error, ChecksThrowAnInternalError) {
  try {
    TILEWRIGHT_CHECK(1 == 2, "arithmetic broke");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_NE(std::string(error.what()).find("arithmetic broke"), std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright
