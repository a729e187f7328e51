#pragma once

#include <caf/type_id.hpp>

/// First type id of every block of message types. Ranges must not overlap
/// (tests/guards checks it); a block grows inside its hundred.
namespace bureau::type_ids {

inline constexpr caf::type_id_t atoms = 200;
inline constexpr caf::type_id_t common = 300;
inline constexpr caf::type_id_t model = 400;
inline constexpr caf::type_id_t files = 500;
inline constexpr caf::type_id_t journal = 550;
inline constexpr caf::type_id_t http = 600;
inline constexpr caf::type_id_t process = 700;
inline constexpr caf::type_id_t executor = 800;
inline constexpr caf::type_id_t harness = 900;
inline constexpr caf::type_id_t session = 1000;
inline constexpr caf::type_id_t office = 1100;
inline constexpr caf::type_id_t transport = 1200;
inline constexpr caf::type_id_t settings = 1300;
inline constexpr caf::type_id_t metrics = 1400;
inline constexpr caf::type_id_t node = 1500;
inline constexpr caf::type_id_t artifacts = 1600;
inline constexpr caf::type_id_t jobs = 1650;
inline constexpr caf::type_id_t memory = 1700;
inline constexpr caf::type_id_t interaction = 1750;
inline constexpr caf::type_id_t events = 1800;
inline constexpr caf::type_id_t turns = 1850;
inline constexpr caf::type_id_t channels = 1875;
inline constexpr caf::type_id_t watch = 1920;
inline constexpr caf::type_id_t tests = 2000;

} // namespace bureau::type_ids
