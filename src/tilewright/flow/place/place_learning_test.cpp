// What the list of graphs may name. Training itself has tests in tests/cgra/cgra_training.
#include "tilewright/flow/place/place_learning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class PlaceTrainingSplit : public testing::Test {
 protected:
  void SetUp() override {
    create_folder(folder_ / "graphs");
    fs::copy_file(fs::path(TILEWRIGHT_SOURCE_DIR) / "models/cgra/multiply_add.json",
                  folder_ / "outside.json");
    fs::copy_file(folder_ / "outside.json", folder_ / "graphs/inside.json");
    fs::create_symlink(folder_ / "outside.json", folder_ / "graphs/link.json");
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Of training with that list: the trainer's library is not there, so that a list that is read ends there.
  std::string failure(const std::string& split) const {
    write_text_file(folder_ / "split.json", split);
    PlaceTrainingRequest request;
    request.graphs = folder_ / "graphs";
    request.split = folder_ / "split.json";
    request.fabric = find_fabric("streaming-engine", fs::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
    request.ii = 2;
    request.library = folder_ / "no_library.so";
    try {
      train_placement(request, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_ = fs::temp_directory_path() / ("tilewright-split-" + std::to_string(::getpid()));
};

TEST_F(PlaceTrainingSplit, NamesGraphsOfTheFolder) {
  EXPECT_NE(failure(R"({"train": ["inside"]})").find("no_library.so"), std::string::npos);
}

TEST_F(PlaceTrainingSplit, LeadsNowhereElse) {
  for (const std::string& name :
       {std::string("../outside"), (folder_ / "outside").string(), std::string("link"),
        std::string("../graphs/../outside"), std::string("inside/../../outside")}) {
    const std::string message = failure("{\"train\": [\"inside\", \"" + name + "\"]}");
    EXPECT_TRUE(
        message.starts_with("'" + name + ".json' leads outside '" + (folder_ / "graphs").string() + "'"))
        << message;
  }
}

TEST_F(PlaceTrainingSplit, IsAListOfNames) {
  const std::string file = (folder_ / "split.json").string();
  for (const char* split : {"[]", "{}", "3", R"({"train": 3})", R"({"train": {"a": "inside"}})"}) {
    EXPECT_EQ(failure(split), file + " has no list \"train\"") << split;
  }
  EXPECT_TRUE(failure("{").starts_with(file + ":1:2: no JSON")) << failure("{");
  EXPECT_TRUE(failure("{\"train\": [" + std::string(100000, '[') + std::string(100000, ']') + "]}")
                  .starts_with(file + ": nested deeper than 64"));
  EXPECT_EQ(failure(R"({"train": ["inside", 3]})"), file + ": \"train\" holds 3, which is not a name");
  EXPECT_EQ(failure(R"({"train": []})"), "no graphs in " + (folder_ / "graphs").string());
}

}  // namespace
}  // namespace tilewright
