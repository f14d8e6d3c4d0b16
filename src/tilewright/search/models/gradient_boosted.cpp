// The C interface of XGBoost, with its errors turned into ours. Trees are read from the saved model, a JSON
// document whose numbers are exact. Several threads may give other trees than one (ranking draws its pairs
// per thread), so it always runs with one.
#include "tilewright/search/models/gradient_boosted.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

void require(int status) {
  if (status != 0) throw Error(ErrorKind::kInternal, std::string("XGBoost: ") + XGBGetLastError());
}

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

bool all_finite(std::span<const float> values) {
  for (float value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

Matrix make_matrix(std::span<const float> rows, size_t columns, std::span<const float> labels,
                   std::span<const uint32_t> groups, std::span<const float> start) {
  DMatrixHandle handle = nullptr;
  require(XGDMatrixCreateFromMat_omp(rows.data(), labels.size(), columns,
                                     std::numeric_limits<float>::quiet_NaN(), &handle, 1));
  Matrix matrix(handle);
  require(XGDMatrixSetFloatInfo(handle, "label", labels.data(), labels.size()));
  if (!start.empty()) require(XGDMatrixSetFloatInfo(handle, "base_margin", start.data(), start.size()));
  if (!groups.empty()) require(XGDMatrixSetUIntInfo(handle, "group", groups.data(), groups.size()));
  return matrix;
}

Booster make_booster(const Matrix& matrix, const BoostingOptions& options, double base) {
  const DMatrixHandle matrices[] = {matrix.get()};
  BoosterHandle handle = nullptr;
  require(XGBoosterCreate(matrices, 1, &handle));
  Booster booster(handle);
  const bool ranks = options.objective == BoostingOptions::Objective::kRankPairwise;
  const std::pair<const char*, std::string> parameters[] = {
      {"objective", ranks ? "rank:pairwise" : "reg:squarederror"},
      {"tree_method", "hist"},
      {"nthread", "1"},
      {"verbosity", "0"},
      {"base_score", fmt::format("{}", base)},
      {"max_depth", fmt::format("{}", options.depth)},
      {"eta", fmt::format("{}", options.learning_rate)},
      {"min_child_weight", fmt::format("{}", options.min_child_weight)},
      {"subsample", fmt::format("{}", options.row_share)},
      {"colsample_bytree", fmt::format("{}", options.column_share)},
      {"lambda", fmt::format("{}", options.l2)},
      {"max_bin", fmt::format("{}", options.bins)},
      {"seed", fmt::format("{}", options.seed & 0x7fffffff)},
  };
  for (const auto& parameter : parameters) {
    require(XGBoosterSetParam(handle, parameter.first, parameter.second.c_str()));
  }
  return booster;
}

nlohmann::json saved_model(const Booster& booster) {
  bst_ulong length = 0;
  const char* text = nullptr;
  require(XGBoosterSaveModelToBuffer(booster.get(), R"({"format": "json"})", &length, &text));
  return nlohmann::json::parse(text, text + length);
}

// Appends the nodes of a tree to `nodes` and its gains to `importance`.
void read_tree(const nlohmann::json& tree, std::vector<TreeNode>& nodes, std::vector<double>& importance) {
  const auto base = int32_t(nodes.size());
  const auto &left = tree.at("left_children"), &right = tree.at("right_children");
  const auto &columns = tree.at("split_indices"), &values = tree.at("split_conditions");
  const auto &missing = tree.at("default_left"), &gains = tree.at("loss_changes");
  for (size_t i = 0; i < left.size(); ++i) {
    TreeNode node;
    node.value = values[i].get<float>();
    if (left[i].get<int32_t>() >= 0) {
      node.column = columns[i].get<int32_t>();
      node.left = base + left[i].get<int32_t>();
      node.right = base + right[i].get<int32_t>();
      node.missing_left = missing[i].get<int>() != 0;
      importance[size_t(node.column)] += gains[i].get<double>();
    }
    nodes.push_back(node);
  }
}

double mean(std::span<const float> values) {
  double sum = 0;
  for (float value : values) sum += value;
  return sum / double(values.size());
}

}  // namespace

std::string boosting_library() {
  int major = 0, minor = 0, patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

void BoostingOptions::verify() const {
  Diagnostics problems;
  const auto refuse = [&](bool bad, const char* field, const char* message) {
    if (bad) problems.error(ErrorKind::kInvalidInput, "boosting options", field, message);
  };
  const auto share = [](double value) { return value > 0 && value <= 1; };
  refuse(rounds < 1 || rounds > 10000, "rounds", "must be between 1 and 10000");
  refuse(depth < 1 || depth > 16, "depth", "must be between 1 and 16");
  refuse(!share(learning_rate), "learning_rate", "must be above 0 and at most 1");
  refuse(!(min_child_weight >= 0), "min_child_weight", "must not be negative");
  refuse(!share(row_share), "row_share", "must be above 0 and at most 1");
  refuse(!share(column_share), "column_share", "must be above 0 and at most 1");
  refuse(!(l2 >= 0), "l2", "must not be negative");
  refuse(bins < 2 || bins > 65536, "bins", "must be between 2 and 65536");
  problems.raise_if_any();
}

GradientBoosting::GradientBoosting(BoostingOptions options) : options_(options) { options_.verify(); }

void GradientBoosting::fit(std::span<const float> rows, size_t columns, std::span<const float> labels,
                           std::span<const uint32_t> groups, std::span<const float> start) {
  size_t grouped = 0;
  for (uint32_t group : groups) grouped += group;
  Diagnostics problems;
  const auto refuse = [&](bool bad, const char* message) {
    if (bad) problems.error(ErrorKind::kInvalidInput, "boosted trees", "fit", message);
  };
  refuse(columns == 0 || labels.empty(), "needs at least one row and one column");
  refuse(rows.size() != labels.size() * columns, "the rows are not one per label, each with all columns");
  refuse(!groups.empty() && grouped != labels.size(), "the groups do not add up to the rows");
  refuse(!start.empty() && start.size() != labels.size(), "needs a start for every row or none");
  refuse(!all_finite(labels) || !all_finite(start), "labels and starts must be finite");
  problems.raise_if_any();

  const bool ranks = options_.objective == BoostingOptions::Objective::kRankPairwise;
  base_ = ranks || !start.empty() ? 0 : double(float(mean(labels)));
  const Matrix matrix = make_matrix(rows, columns, labels, groups, start);
  const Booster booster = make_booster(matrix, options_, base_);
  for (int i = 0; i < options_.rounds; ++i) {
    require(XGBoosterUpdateOneIter(booster.get(), i, matrix.get()));
  }
  columns_ = columns;
  nodes_.clear();
  roots_.clear();
  importance_.assign(columns, 0);
  const nlohmann::json model = saved_model(booster);
  for (const nlohmann::json& tree : model.at("learner").at("gradient_booster").at("model").at("trees")) {
    roots_.push_back(int32_t(nodes_.size()));
    read_tree(tree, nodes_, importance_);
  }
  double sum = 0;
  for (double gain : importance_) sum += gain;
  for (double& gain : importance_) gain = sum > 0 ? gain / sum : 0;
}

double GradientBoosting::predict(std::span<const float> row) const {
  if (!fitted()) return 0;
  TILEWRIGHT_CHECK(row.size() == columns_, "a row with another number of columns than the fitted ones");
  double sum = base_;
  for (int32_t root : roots_) {
    const TreeNode* node = &nodes_[size_t(root)];
    while (node->column >= 0) {
      const float value = row[size_t(node->column)];
      const bool left = std::isnan(value) ? node->missing_left : value < node->value;
      node = &nodes_[size_t(left ? node->left : node->right)];
    }
    sum += node->value;
  }
  return sum;
}

std::vector<double> GradientBoosting::predict_all(std::span<const float> rows) const {
  std::vector<double> all;
  if (!fitted()) return all;
  TILEWRIGHT_CHECK(rows.size() % columns_ == 0, "rows that are not all of the fitted columns");
  all.reserve(rows.size() / columns_);
  for (size_t i = 0; i < rows.size(); i += columns_) all.push_back(predict(rows.subspan(i, columns_)));
  return all;
}

}  // namespace tilewright
