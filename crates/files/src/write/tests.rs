use super::*;

#[test]
fn a_failure_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    write_text(&path, "first").unwrap();
    let half = write(&path, |out| {
        out.write_all(b"second").map_err(Error::writing(&path))?;
        Err(Error::damaged(&path))
    });
    assert!(half.is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "first");
    write_text(&path, "third").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "third");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
