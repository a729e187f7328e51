#pragma once

#include "messages/contracts/channel.hpp"
#include "messages/identity/office_address.hpp"
#include "messages/interfaces/common.hpp"

namespace bureau {

/// What a channel that was started tells its host (agent contracts, rule 69).
enum class channel_event : uint8_t {
  /// Its transport is dead for good.
  failed,
  /// It works with a fault, which `reason` tells.
  degraded,
  /// The fault is over.
  recovered,
  /// `summary` takes the place of the one before.
  summary_changed,
};

std::string to_string(channel_event what);

/// News of a channel. The host ignores those of another start than the last.
struct channel_news {
  platform_id platform = platform_id::console;
  /// The start that it comes from.
  uint64_t generation = 0;
  channel_event what = channel_event::recovered;
  std::string reason;
  /// An open record.
  json_text summary;
  friend bool operator==(const channel_news&, const channel_news&) = default;
};

BUREAU_INSPECT(channel_news, x.platform, x.generation, x.what, x.reason,
               x.summary);

/// How a channel is, as its host publishes it.
struct channel_report {
  platform_id platform = platform_id::console;
  contracts::channel_status status;
  /// Number of its starts.
  uint64_t generation = 0;
  friend bool operator==(const channel_report&,
                         const channel_report&) = default;
};

BUREAU_INSPECT(channel_report, x.platform, x.status, x.generation);

/// The CHANNEL HOST actor interface: the side of the node that a channel sees.
using channel_host_actor =
  caf::typed_actor<caf::reacts_to<atom::notice, channel_news>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_channels, bureau::type_ids::channels)
CAF_ADD_TYPE_ID(bureau_channels, (bureau::channel_news))
CAF_ADD_TYPE_ID(bureau_channels, (bureau::channel_report))
CAF_ADD_TYPE_ID(bureau_channels, (bureau::channel_host_actor))
CAF_END_TYPE_ID_BLOCK(bureau_channels)
