use super::*;

#[test]
fn one_file_has_one_real_spelling() {
    let root = tempfile::tempdir().unwrap();
    let (folder, data) = (root.path().join("policy"), root.path().join("data"));
    for made in [&folder, &data] {
        std::fs::create_dir(made).unwrap();
    }
    std::fs::write(folder.join("visits.csv"), "id\n").unwrap();
    std::fs::write(data.join("stays.csv"), "id\n").unwrap();
    std::os::unix::fs::symlink("visits.csv", folder.join("link.csv")).unwrap();
    std::os::unix::fs::symlink(&data, folder.join("elsewhere")).unwrap();
    let whole = folder.join("visits.csv").display().to_string();
    for source in ["visits.csv", "./visits.csv", ".//visits.csv", "link.csv", &whole] {
        let all = sources(&folder, source);
        assert_eq!((all[0].as_str(), all.last().unwrap().as_str()), (source, "visits.csv"));
    }
    let outside = data.join("stays.csv").display().to_string();
    for source in ["../data/stays.csv", "elsewhere/stays.csv", &outside] {
        assert_eq!(sources(&folder, source).last().unwrap(), "../data/stays.csv");
    }
    // Patterns, and files that do not exist.
    assert_eq!(sources(&folder, "elsewhere/*.csv").last().unwrap(), "../data/*.csv");
    assert_eq!(sources(&folder, "gone.csv"), ["gone.csv"]);
    assert_eq!(sources(&folder, "gone/gone.csv"), ["gone/gone.csv"]);
}
#[test]
fn a_file_is_the_same_under_another_name_in_a_folder_and_after_a_move() {
    let root = tempfile::tempdir().unwrap();
    let (folder, data) = (root.path().join("policy"), root.path().join("data"));
    for made in [&folder, &data] {
        std::fs::create_dir(made).unwrap();
    }
    for name in ["visits.csv", "staff.csv"] {
        std::fs::write(data.join(name), "id\n").unwrap();
    }
    let own = files(&folder, "../data/visits.csv");
    let has =
        |folder: &Path, source: &str| files(folder, source).iter().any(|file| own.contains(file));
    std::fs::hard_link(data.join("visits.csv"), folder.join("hard.csv")).unwrap();
    std::os::unix::fs::symlink(data.join("visits.csv"), folder.join("soft.csv")).unwrap();
    for source in ["../data", "../data/*.csv", "../data/v*", "hard.csv", "soft.csv", "*.csv"] {
        assert!(has(&folder, source), "{source}");
    }
    for source in ["../data/staff.csv", "../data/s*.csv", "gone.csv"] {
        assert!(!has(&folder, source), "{source}");
    }
    // After the policy was moved and the file renamed.
    assert!(has(root.path(), "data/visits.csv"));
    std::fs::rename(data.join("visits.csv"), data.join("stays.csv")).unwrap();
    assert!(has(&folder, "../data/stays.csv"));
    // Another file at the same path is identified by its path; a copy elsewhere is a different file.
    std::fs::write(data.join("visits.csv"), "id\n").unwrap();
    assert!(has(&folder, "../data/visits.csv"));
    std::fs::copy(data.join("stays.csv"), data.join("copy.csv")).unwrap();
    assert!(!has(&folder, "../data/copy.csv"));
}
