//! Links `demure` to a fixed address on Linux.
//!
//! The engine brings some 7 MB of tables of pointers. In a position-independent executable the
//! loader must write to every page of them before `main`: 2,000 page faults and three quarters of
//! the CPU time of a short call. The price is that the program's own code, unlike its heap, its
//! stack and its libraries, is not at a random place.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
