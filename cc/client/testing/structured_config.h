// Configs of structured writers for tests, written as text.
#ifndef REVERB_TF_CLIENT_TESTING_STRUCTURED_CONFIG_H_
#define REVERB_TF_CLIENT_TESTING_STRUCTURED_CONFIG_H_

#include <string>
#include <utility>
#include <vector>

#include "cc/client/structured_writer_config.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "proto/patterns.pb.h"

namespace reverb_tf::client {

// The serialized message of a text as of protobuf's text format.
inline std::string SerializedConfig(const std::string& text) {
  deepmind::reverb::StructuredWriterConfig config;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &config)) << text;
  return config.SerializeAsString();
}

// A config for table "t" with priority 1; `rest` has the conditions.
inline std::string ConstantConfig(const std::string& flat, const std::string& rest = "") {
  return SerializedConfig(flat + " table: 't' priority { constant_fn { value: 1 } } " + rest);
}

// `[start:stop:step]` of a column, or `[stop]` if start is 0. 0 is "not given".
inline std::string Node(int column, int start, int stop = 0, int step = 0) {
  std::string text = "flat { flat_source_index: " + std::to_string(column);
  if (start != 0) text += " start: " + std::to_string(start);
  if (stop != 0) text += " stop: " + std::to_string(stop);
  if (step != 0) text += " step: " + std::to_string(step);
  return text + " } ";
}

inline std::vector<PatternConfig> ParsedConfigs(const std::vector<std::string>& serialized) {
  Result<std::vector<PatternConfig>> configs = ParsePatternConfigs(serialized);
  EXPECT_TRUE(configs.ok()) << configs.status().ToString();
  return std::move(configs).value();
}

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_TESTING_STRUCTURED_CONFIG_H_
