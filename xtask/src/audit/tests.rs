use super::*;
use serde_json::json;

#[test]
fn verdicts_are_told_apart() {
    let found = json!({ "audits": [
            { "audited": "a", "verdict": "violated" },
            { "audited": "b", "verdict": "not refuted" },
        ] });
    assert_eq!(names(&found, "violated"), ["a"]);
    assert_eq!(names(&found, "not refuted"), ["b"]);
    assert_eq!(audits(&json!({})).count(), 0);
}
