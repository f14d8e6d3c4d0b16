// For tests: checkpoints and SavedModels as TensorFlow writes them. The index is written by LevelDB's own
// table builder, so that reading is held against another implementation of the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tilewright::saved_model_testing {

// The table of these entries, as LevelDB writes it; `block_bytes` is when it starts another block, which
// Snappy compresses where that makes it smaller.
std::string sorted_table(const std::map<std::string, std::string>& entries, size_t block_bytes = 4096,
                         bool is_compressed = false);

// The checksums of a damaged table of one block made right again, so that readers look at the damage.
// `original` is the same table without damage.
void reseal_table(std::string& damaged, const std::string& original);

// One slice: first index and length along each axis (a length of -1: all), and its elements.
struct SliceText {
  std::vector<std::pair<int64_t, int64_t>> extents;
  std::string content;
};

struct BundleText {
  std::map<std::string, std::string> entries;  // of the index, but for the header
  std::vector<std::string> shards = {""};      // the data files

  // A tensor of this DataType whose elements are `content`.
  BundleText& tensor(const std::string& key, int type, const std::vector<int64_t>& dims,
                     const std::string& content, int shard = 0);
  BundleText& sliced(const std::string& key, int type, const std::vector<int64_t>& dims,
                     const std::vector<SliceText>& slices, int shard = 0);
  BundleText& text(const std::string& key, const std::string& content);
  // {object name, key} for every variable, as TensorFlow 2 stores them.
  BundleText& objects(const std::vector<std::pair<std::string, std::string>>& keys);

  std::string index() const;
  // FOLDER/variables/variables.index and the data files.
  void write(const std::filesystem::path& folder) const;
};

// How a SavedModel holds its variables.
enum class VariableStyle {
  kReferences,  // VariableV2, restored by Assign
  kResources,   // VarHandleOp and ReadVariableOp in the graph
  kFunctions    // TensorFlow 2: handles captured by functions, restored by a function
};

struct SavedModelText {
  std::string model;  // saved_model.pb
  BundleText variables;

  void write(const std::filesystem::path& folder) const;
};

struct SavedModelChoice {
  VariableStyle style = VariableStyle::kReferences;
  int shards = 1;
  bool restores = true;  // the file says how its variables are restored; else names must do
};

// A frozen GraphDef as a SavedModel: constants with at least one axis of floats become variables. Its
// signature serving_default gives each of `outputs` (nodes) under the name "out_NODE", each placeholder under
// "in_NODE".
SavedModelText saved_model_of(std::span<const std::byte> graphdef, const std::vector<std::string>& outputs,
                              const SavedModelChoice& choice);

// Values for the variables (VariableV2) of a SavedModel: as a bundle, and as constants in place of the
// variables.
struct DrawnVariables {
  BundleText variables;
  std::string frozen;  // a SavedModel
};
DrawnVariables draw_variables(std::span<const std::byte> saved_model, int shards);

}  // namespace tilewright::saved_model_testing
