use super::*;
use std::os::unix::fs::PermissionsExt;

#[test]
fn files_are_created_for_their_owner_and_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    assert_eq!(check(&path), Ok(()));
    create(&path).unwrap();
    assert_eq!(mode(&path), Some(0o600));
    assert!(create(&path).is_err());
    for open in [0o640, 0o604, 0o620, 0o601, 0o666] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(open)).unwrap();
        let exposed = check(&path).unwrap_err();
        assert!(exposed.to_string().contains("chmod 600"), "{exposed}");
        assert!(tighten(&path).unwrap() && !tighten(&path).unwrap());
        assert_eq!(check(&path), Ok(()));
    }
}
