// The first job to run: LeNet, trained on Fashion-MNIST, to the overlay in both arithmetics, every output
// checked. Each step is the call that a verb makes, and says which command does the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/target/shared_folders.h"
#include "tilewright/search/deadline.h"

namespace tilewright {

// Where Debian's package dataset-fashion-mnist has its files.
inline constexpr const char* kFashionMnist = "/usr/share/datasets/fashion-mnist";

struct DemoRequest {
  std::string command = "tilewright";          // as the user would type it, for the commands that are shown
  std::filesystem::path data = kFashionMnist;  // the idx files of Fashion-MNIST
  std::filesystem::path output;                // folder, made or replaced
  int64_t images = 10000;                      // of the test images
  int threads = 1;
  SharedFolders folders;
  Deadline* deadline = nullptr;                  // ends it before the next step; null: none
  std::function<void(const std::string&)> show;  // gets the text of every step as it comes; may be empty
};

// Its text is what `show` did not get: what was made, where it is, and what to try next. Its JSON has all
// steps. Errors (invalid input): files of the data set are missing or hold fewer images, the folder has
// content that the demo did not write; (internal) an output differs from the reference. Expired: the deadline
// ended it; nothing is written.
Answer run_demo(const DemoRequest& request);

}  // namespace tilewright
