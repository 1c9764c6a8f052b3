// What a table's counters say about a call that waits.
#ifndef REVERB_TF_CLIENT_TABLE_TEXT_H_
#define REVERB_TF_CLIENT_TABLE_TEXT_H_

#include <string>

#include "reverb_tf/client.h"

namespace reverb_tf::client {

// "3 of at most 10 items; its limiter ... <rule with numbers>", or that the server has no such
// table.
std::string TableStateText(const ServerInfo& info, const std::string& table, bool sampling);

}  // namespace reverb_tf::client

#endif  // REVERB_TF_CLIENT_TABLE_TEXT_H_
