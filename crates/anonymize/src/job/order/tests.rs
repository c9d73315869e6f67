use super::*;

#[test]
fn values_are_ordered_as_asked() {
    let column = |values: [&str; 3]| Column {
        name: "v".to_owned(),
        values: values.map(str::to_owned).to_vec(),
        codes: vec![0, 1, 2],
    };
    let order = |values, how: &[&str]| {
        let how: Vec<String> = how.iter().map(|text| (*text).to_owned()).collect();
        of(&column(values), &how)
    };
    assert_eq!(order(["10", "9", "-1"], &[]).unwrap(), [2, 1, 0]);
    assert_eq!(order(["10", "9", "-1"], &["v=text"]).unwrap(), [2, 0, 1]);
    assert_eq!(order(["c", "a", "b"], &[]).unwrap(), [1, 2, 0]);
    assert_eq!(order(["c", "a", "b"], &["v=b,c,a", "w=text"]).unwrap(), [2, 0, 1]);
    assert_eq!(order(["c", "a", "b"], &["v=appearance"]).unwrap(), [0, 1, 2]);
    for (values, how, says) in [
        (["c", "secret", "b"], "v=c,b", "1 rows"),
        (["c", "secret", "b"], "v=number", "not all numbers"),
        (["c", "secret", "b"], "v", "column=order"),
    ] {
        let why = order(values, &[how]).unwrap_err().to_string();
        assert!(why.contains(says) && !why.contains("secret"), "{why}");
    }
}
