// The page and the texts of a report made by hand: everything is in them, whatever its names are.
#include "tilewright/flow/design/design_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

DesignReport small_report() {
  DesignReport report;
  report.network = "a<b>&\"c\"";
  report.device = "xc7z020";
  report.number_type = "int8";
  report.macs = 4000;
  report.multipliers = 16;
  for (const char* name : {"conv<1>", "pool & sum", "dense"}) {
    DesignLayer layer;
    layer.name = name;
    layer.kind = "convolution";
    layer.place = layer.name == "dense" ? "array" : "lanes";
    layer.array = "4 x 4, dsp";
    layer.macs = 2000;
    layer.multipliers = layer.name == "pool & sum" ? 0 : 16;
    layer.work_cycles = 125;
    layer.cycles = 250;
    layer.weight_bytes = layer.name == "dense" ? 64 : 0;
    layer.bound = "array";
    layer.share_of_peak = 0.5;
    report.layers.push_back(layer);
  }
  report.lanes = {"array", "lanes"};
  report.bars = {{1, 0, 0, 4, 0, 250, 125}, {1, 1, 0, 4, 250, 500, 125}, {0, 2, 0, 1, 0, 750, 125}};
  report.needs = {{"LUT", 500, 1000, 2000}, {"DSP", 30, 20, 40}, {"URAM", 0, 0, 0}};
  report.queues = {{"layer1_queue", 16, 9}, {"layer2_queue", 8, -1}};
  report.estimated_cycles = 760;
  report.estimated_interval = 700;
  report.simulated_cycles = 800;
  report.simulated_interval = 750;
  report.dram_bytes = 4096;
  return report;
}

// The document as it stands in the page.
nlohmann::json data_in(const std::string& html) {
  const std::string opening = "<script type=\"application/json\" id=\"tilewright-data\">";
  const size_t at = html.find(opening) + opening.size();
  return nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
}

nlohmann::json section_of(const nlohmann::json& page, const std::string& id) {
  for (const auto& section : page.at("sections")) {
    if (section.at("id") == id) return section;
  }
  ADD_FAILURE() << "no section " << id;
  return {};
}

nlohmann::json cell(const nlohmann::json& section, size_t row, const std::string& column) {
  const auto& columns = section.at("columns");
  for (size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].at("id") == column) return section.at("rows").at(row).at(c);
  }
  ADD_FAILURE() << "no column " << column;
  return {};
}

TEST(DesignPage, HoldsEveryNumberOfTheReport) {
  const nlohmann::json page = data_in(page_html(design_page(small_report())));
  EXPECT_EQ(page.at("title"), "a<b>&\"c\" on xc7z020");
  EXPECT_EQ(page.at("facts").at(0).at("value"), 800);
  EXPECT_NE(page.at("notes").at(0).get<std::string>().find("(-5.0 %)"), std::string::npos);
  const nlohmann::json layers = section_of(page, "layers");
  ASSERT_EQ(layers.at("rows").size(), 3u);
  EXPECT_EQ(cell(layers, 0, "layer"), "conv<1>");
  EXPECT_EQ(cell(layers, 2, "weight_bytes"), 64);
  EXPECT_TRUE(cell(layers, 0, "weight_bytes").is_null()) << "its weights are on chip";
  EXPECT_EQ(cell(layers, 2, "rate"), 2000.0 / 250);
  const nlohmann::json resources = section_of(page, "resources");
  EXPECT_EQ(resources.at("rows").size(), 2u) << "URAM: neither needed nor there";
  EXPECT_EQ(cell(resources, 1, "of_budget"), 1.5);
  EXPECT_EQ(cell(section_of(page, "queues"), 0, "level"), 9);
  EXPECT_TRUE(cell(section_of(page, "queues"), 1, "level").is_null());
  EXPECT_EQ(section_of(page, "activity").at("rows").size(), 3u);
}

// Names of models come from files: none ends the element that the data stand in, or is lost.
TEST(DesignPage, StaysWholeForAnyNames) {
  Random random(3);
  const std::vector<std::string> pieces = {"a",    "<",         ">",    "&",        "\"",  "'",
                                           "\x01", "</script>", "<!--", "\xc3\xa9", "\xff"};
  for (int round = 0; round < 50; ++round) {
    DesignReport report = small_report();
    const auto word = [&] {
      std::string text;
      for (int64_t i = random.between(0, 12); i > 0; --i) {
        text += pieces[size_t(random.between(0, int64_t(pieces.size()) - 1))];
      }
      return text;
    };
    report.network = word();
    report.device = word();
    report.streaming = random.chance(0.5);
    if (random.chance(0.3)) report.simulated_cycles = report.simulated_interval = 0;
    if (random.chance(0.2)) report.bars.clear();
    if (random.chance(0.2)) report.queues.clear();
    if (random.chance(0.2)) report.multipliers = 0;
    for (DesignLayer& layer : report.layers) {
      layer.name = word();
      layer.bound = word();
      layer.macs = random.between(0, 1000);
      layer.cycles = random.between(0, 1000);
      layer.weight_bytes = random.between(0, 100);
    }
    for (std::string& lane : report.lanes) lane = word();
    const Page page = design_page(report);
    const std::string html = page_html(page);
    EXPECT_EQ(data_in(html), nlohmann::json::parse(page_data(page))) << round;
    EXPECT_EQ(data_in(html).at("sections").size(), page.sections.size());
    EXPECT_TRUE(nlohmann::json::accept(to_json(report)));
  }
}

TEST(DesignReport, TellsTimeAndShareOfPeak) {
  const DesignReport report = small_report();
  EXPECT_DOUBLE_EQ(report.milliseconds(), 800 / 1e5);
  EXPECT_DOUBLE_EQ(report.images_per_second(), 1e8 / 750);
  EXPECT_DOUBLE_EQ(report.share_of_peak(), 4000.0 / (16 * 750));
  const std::string text = to_string(report);
  for (const char* part : {"simulated: 800 cycles", "-5.0 %", "150.0 %", "pool & sum"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  const nlohmann::json json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["layers"].size(), 3u);
  EXPECT_EQ(json["queues"][0]["highest_level"], 9);
  EXPECT_FALSE(json["queues"][1].contains("highest_level"));
}

}  // namespace
}  // namespace tilewright
