use super::*;
use crate::tables::read_all::thorough;
use datafusion::prelude::{CsvReadOptions, SessionContext};

#[tokio::test]
async fn joined_rows_are_looked_up_and_not_held() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.csv");
    std::fs::write(&file, "id,x\n1,2\n").unwrap();
    let context = SessionContext::new();
    let file = file.to_str().unwrap();
    context.register_csv("t", file, CsvReadOptions::new()).await.unwrap();
    let state = thorough(context.state());
    let sql = "SELECT a.x FROM t a JOIN t b ON a.id = b.id JOIN t c ON b.id = c.id \
            JOIN t d ON c.id = d.id";
    let plan = state.create_logical_plan(sql).await.unwrap();
    let plan = state.create_physical_plan(&plan).await.unwrap();
    let mut joins = 0;
    plan.apply(|node| {
        if let Some(join) = node.downcast_ref::<HashJoinExec>() {
            joins += 1;
            assert_eq!(tables(join.left()), 1, "{sql}");
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .unwrap();
    assert_eq!(joins, 3);
}
