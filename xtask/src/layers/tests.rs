use super::*;

#[test]
fn walks_the_repository_and_skips_what_is_built() {
    let files = files(&root()).unwrap();
    assert!(files.iter().any(|f| f.path == "xtask/src/layers.rs"));
    assert!(files.iter().any(|f| f.path.starts_with(".cargo/")));
    assert!(!files.iter().any(|f| f.path.starts_with("target/") || f.path.starts_with(".git/")));
    assert!(files.is_sorted_by(|a, b| a.path <= b.path));
}
