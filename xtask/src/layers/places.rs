//! No file names a place that only one machine has: a clone elsewhere would not build,
//! and a reader would learn what is none of theirs.

use super::File;

/// Roots of home and working directories. Written in two parts, since this file is read too.
const ROOTS: [&str; 4] =
    [concat!("/", "home/"), concat!("/", "root/"), concat!("/", "Users/"), concat!("/", "work/")];

/// The only registry that a lockfile may name.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Settings that would fetch packages from elsewhere, in files that package managers read.
const ELSEWHERE: [&str; 7] = [
    concat!("--", "index-url"),
    concat!("--extra-", "index-url"),
    concat!("--", "find-links"),
    concat!("--", "trusted-host"),
    concat!("replace", "-with"),
    concat!("[", "registries"),
    concat!("[", "source."),
];
const MANAGED: [&str; 6] = [".cfg", ".conf", ".ini", ".lock", ".toml", ".txt"];

/// The places that files name and should not.
pub(super) fn violations(files: &[File]) -> Vec<String> {
    let mut broken = Vec::new();
    for file in files {
        let managed = MANAGED.iter().any(|suffix| file.path.ends_with(suffix));
        for (i, line) in file.text.lines().enumerate() {
            let mut found = |what: String| broken.push(format!("{}:{}: {what}", file.path, i + 1));
            for root in ROOTS {
                if names_root(line, root) {
                    found(format!("names {root}…, a place of one machine"));
                }
            }
            if managed {
                for setting in ELSEWHERE.iter().filter(|setting| line.contains(**setting)) {
                    found(format!("`{setting}` names another registry"));
                }
            }
            if file.path.ends_with("Cargo.lock")
                && let Some(source) = line.strip_prefix("source = ")
                && source.trim_matches('"') != REGISTRY
            {
                found("comes from another registry than crates.io".to_owned());
            }
        }
    }
    broken
}

/// Whether `line` has an absolute path under `root`, rather than `root` inside a longer path
/// or address.
fn names_root(line: &str, root: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || "._-~$})*".contains(c);
    line.match_indices(root).any(|(at, _)| !line[..at].ends_with(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> Vec<String> {
        violations(&[File { path: path.to_owned(), text: text.to_owned() }])
    }

    #[test]
    fn a_machine_path_is_found_and_a_longer_one_is_not() {
        for line in [
            concat!("see /", "work/main/x"),
            concat!("path = \"/", "root/.cargo\""),
            concat!("file:///", "home/me/x"),
        ] {
            let found = check("docs/a.md", &format!("fine\n{line}\n"));
            assert_eq!(found.len(), 1, "{line}");
            assert!(found[0].starts_with("docs/a.md:2: names /"));
        }
        let url = concat!("https://example.org/", "work/x");
        for line in [
            url,
            concat!("../wo", "rk/x"),
            concat!("$HOME/wo", "rk/x"),
            concat!("network/ro", "ot/x"),
        ] {
            assert!(check("docs/a.md", line).is_empty(), "{line}");
        }
    }

    #[test]
    fn another_registry_is_found() {
        let fine = format!("source = \"{REGISTRY}\"\n");
        assert!(check("Cargo.lock", &fine).is_empty());
        let other = "source = \"registry+https://example.org/index\"\n";
        assert_eq!(check("Cargo.lock", other).len(), 1);
        let option = concat!("--", "index-url https://example.org/simple\n");
        assert_eq!(check("benchmarks/peers/noise.txt", option).len(), 1);
        assert!(check("docs/a.md", option).is_empty());
        let source = concat!("[", "source.crates-io]\n", "replace", "-with = \"x\"\n");
        assert_eq!(check(".cargo/config.toml", source).len(), 2);
    }
}
