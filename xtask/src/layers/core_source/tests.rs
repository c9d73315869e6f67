use super::*;

const ROOT: &str = "//! The core.\n#![forbid(unsafe_code)]\n";

fn check(text: &str) -> Vec<String> {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let (root, other) =
        (file("crates/core/src/lib.rs", ROOT), file("crates/core/src/unit.rs", text));
    let natural = file("crates/natural/src/lib.rs", ROOT);
    violations(&[&root, &other, &natural])
}

#[test]
fn plain_code_passes() {
    assert!(check("use std::fmt;\nuse std::{fmt, ops};\nfn f() {}\n").is_empty());
    assert!(check("/// No `std::fs`, no println!() here.\nfn f() {} // nor dbg!()\n").is_empty());
    assert!(check("let pid = std::process::id();\nlet x = prologue::y();\n").is_empty());
}

#[test]
fn io_clocks_and_logs_are_found() {
    for line in [
        "use std::fs::File;",
        "use std::{fmt, fs};",
        "use std::{net::TcpStream};",
        "    println!(\"{x}\");",
        "    eprintln!(\"{x}\");",
        "let now = std::time::Instant::now();",
        "async fn f() {}",
    ] {
        let found = check(&format!("fn f() {{}}\n{line}\n"));
        assert_eq!(found.len(), 1, "{line}");
        assert!(found[0].starts_with("crates/core/src/unit.rs:2: "), "{found:?}");
    }
}

#[test]
fn tests_are_passed_over_and_what_follows_them_is_not() {
    let tests = "#[cfg(test)]\n#[expect(x, reason = \"y\")]\nmod tests {\n    fn f() {\n        println!();\n    }\n}\n";
    assert!(check(tests).is_empty());
    assert_eq!(check(&format!("{tests}use std::fs;\n")).len(), 1);
    assert_eq!(check("#[cfg(test)]\nmod fixtures;\nuse std::fs;\n").len(), 1);
    assert!(check("#[cfg(test)]\nuse std::fs;\n").is_empty());
    assert!(check("#[cfg(test)]\nuse std::{\n    fs,\n};\n").is_empty());
    assert_eq!(shipped(&format!("fn f() {{}}\n{tests}")).count(), 1);
    // Inside an item, too.
    let method =
        "impl A {\n    #[cfg(test)]\n    fn f() {\n        dbg!(1);\n    }\n    fn g() {}\n}\n";
    assert_eq!(shipped(method).count(), 3);
}

#[test]
fn unsafe_code_must_be_forbidden() {
    let root = |of: &str, text: &str| File { path: format!("{of}lib.rs"), text: text.to_owned() };
    let (safe, commented) = (ROOT, "// #![forbid(unsafe_code)]\n");
    for (core, natural, broken) in [(safe, safe, 0), (commented, safe, 1), (safe, commented, 1)] {
        let roots = [root(super::super::CORE[0], core), root(super::super::CORE[1], natural)];
        assert_eq!(violations(&roots.iter().collect::<Vec<_>>()).len(), broken);
    }
    assert_eq!(violations(&[]).len(), 2);
}

#[test]
fn a_large_core_is_found() {
    assert!(check(&"x\n".repeat(MOST_LINES[0] - 2)).is_empty());
    assert!(check(&"\n// note\n".repeat(MOST_LINES[0])).is_empty());
    assert!(check(&"x\n".repeat(MOST_LINES[0]))[0].contains("what can leave it"));
}
