use super::*;
use demure_curator::policy::Policy;

#[tokio::test]
async fn a_curators_tables_are_listed() {
    let policy = "[budget]\nepsilon = 1\nper_query = 0.1\n[tables.p]\nsource = \"p.csv\"\n\
            unit = \"id\"\n[tables.p.columns]\nid = { type = \"integer\" }\n\
            age = { type = \"integer\", bounds = [0, 110] }\nnote = { type = \"text\" }\n\
            [tables.v]\nsource = \"v.csv\"\npublic = true\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.csv"), "id,age,note\n1,2,canary\n").unwrap();
    std::fs::write(folder.path().join("v.csv"), "x,y\n1,0.5\n").unwrap();
    let policy = Policy::parse(policy, folder.path()).unwrap();
    let curator = Curator::in_memory(policy).await.unwrap();
    let found: Vec<_> = described(&curator)
        .into_iter()
        .map(|table| (table.name, table.columns, table.comment))
        .collect();
    let column = |name: &str, kind| (name.to_owned(), kind, true);
    let protected = "Protected: answers are noisy aggregates and cost budget.";
    let expected = [
        (
            "p".to_owned(),
            vec![
                column("id", DataType::Int64),
                column("age", DataType::Int64),
                column("note", DataType::Utf8),
            ],
            Some(protected.to_owned()),
        ),
        (
            "v".to_owned(),
            vec![column("x", DataType::Int64), column("y", DataType::Float64)],
            Some("Public.".to_owned()),
        ),
    ];
    assert_eq!(found, expected);
}
