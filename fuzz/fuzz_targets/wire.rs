//! Hostile bytes: what is done with them, and what must hold, is in `bodies.rs`.
#![no_main]

#[path = "../../crates/server/tests/fuzz/bodies.rs"]
#[expect(dead_code, reason = "each target uses its own part")]
mod bodies;

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FIXTURE: LazyLock<bodies::Fixture> = LazyLock::new(bodies::Fixture::new);

fuzz_target!(|bytes: &[u8]| {
    FIXTURE.stranger(bytes);
    FIXTURE.member(bytes);
});
