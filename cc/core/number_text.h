// Numbers in messages.
#ifndef REVERB_TF_CORE_NUMBER_TEXT_H_
#define REVERB_TF_CORE_NUMBER_TEXT_H_

#include <cstdio>
#include <cstdlib>
#include <string>

namespace reverb_tf::core {

// The shortest text that reads back as the same number: "0.1", "1e+300", "nan", "-inf".
inline std::string NumberText(double value) {
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

}  // namespace reverb_tf::core

#endif  // REVERB_TF_CORE_NUMBER_TEXT_H_
