use super::*;

#[test]
fn a_link_stays_a_link_and_what_was_left_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("clinic.toml"), folder.path().join("link.toml"));
    rewrite(&path, "one").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    std::fs::write(part(&path, "1"), "left").unwrap();
    std::fs::write(part(&path, "x"), "other").unwrap();
    let busy = File::create(part(&path, "2")).unwrap();
    busy.lock().unwrap();
    rewrite(&link, "two").unwrap();
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
    let there = |number: &str| part(&path, number).exists();
    assert!(!there("1") && there("2") && there("x"));
    let count = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(count, 4);
}
