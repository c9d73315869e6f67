use super::*;

#[test]
fn patterns_match_whole_names() {
    for (pattern, name, fits) in [
        ("*.csv", "a.csv", true),
        ("*.csv", "a.csv.bak", false),
        ("a*b*.csv", "axxb1.csv", true),
        ("a*b*.csv", "axx1.csv", false),
        ("visits-*.parquet", "visits-1.parquet", true),
        ("*", "anything", true),
    ] {
        assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
    }
}
