// Mapping files: what is written reads back; what is wrong is named.
#include "tilewright/spatial/network/mapping_file.h"

#include <gtest/gtest.h>

#include "tilewright/nest/mapping.h"
#include "tilewright/spatial/network/report_testing.h"

namespace tilewright {
namespace {

TEST(MappingFile, WhatIsWrittenReadsBack) {
  NetworkReport report = small_report();
  report.network.layers[0].name = "a \"quoted\": name";
  const MappingFile file = parse_mapping_file(print_mapping_file(report), "m.yaml");
  EXPECT_EQ(file.entries.size(), 5u);  // b has no mapping under dataflow two
  const std::string* text = file.find("a \"quoted\": name");
  ASSERT_TRUE(text);
  const Workload& workload = report.network.shapes[0];
  EXPECT_EQ(print_mapping(workload, parse_mapping(*text, "m.yaml", workload)),
            "- level: dram\n  temporal: M=8\n");
  EXPECT_EQ(file.find("absent"), nullptr);
}

TEST(MappingFile, OneMappingStandsForAnyLayer) {
  const MappingFile file = parse_mapping_file("- {level: dram, temporal: M=8}\n", "m.yaml");
  EXPECT_TRUE(file.find("whatever"));
}

TEST(MappingFile, EveryProblemIsNamed) {
  for (const char* text :
       {"3", "{}", "layers: 3", "layers: []", "layers: [{layer: a}]", "layers: [3]",
        "layers: [{layer: a, mapping: []}]\nsurprise: 1", "layers: [{mapping: [], x: 1}]"}) {
    EXPECT_THROW(parse_mapping_file(text, "m.yaml"), Error) << text;
  }
}

}  // namespace
}  // namespace tilewright
