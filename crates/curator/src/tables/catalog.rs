//! The tables of a policy, as the planner sees them and as the engine reads them.
//!
//! The planner sees names and types only: its tables cannot be scanned. The engine's plan of a table reads the source
//! and yields the visible columns and, under a reserved name, the unit's id.

use crate::error::engine::Known;
use crate::error::{Error, Result};
use crate::identity::spelling::{self, sources};
use crate::policy::{Access, Accounting, DEFAULT_ROWS, Policy, TablePolicy, UnitPolicy};
use crate::rows::added_functions;
use crate::rows::admit::{FUNCTIONS, SPELLINGS, conversion};
use crate::rows::expression::Facts;
use crate::rows::meaning::ScaledIntervals;
use crate::rows::postgres;
use crate::rows::to_char;
use crate::rows::total::Total;
use crate::rows::{Limits, Owner, RESERVED, Rows};
use crate::statement::names::Names;
use crate::tables::series::Series;
use crate::tables::source::{rows_only, rules};
use crate::tables::table::{Stamp, Table, stamp};
use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{
    Column, ExprSchema, Result as PlanResult, ScalarValue, TableReference, plan_err,
};
use datafusion::datasource::{TableType, provider_as_source};
use datafusion::execution::SessionState;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::functions_aggregate::expr_fn::{max, min};
use datafusion::logical_expr::{
    AggregateUDF, Expr, JoinType, LogicalPlan, LogicalPlanBuilder, ident,
};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The memory limit for all plans without protected rows together.
pub(crate) const PUBLIC_MEMORY: usize = 2 << 30;

/// The largest number of rows of a public table whose values are listed.
const MOST_LISTED: usize = 10_000;

/// The tables of a policy, opened.
pub(crate) struct Catalog {
    tables: BTreeMap<String, Table>,
    context: SessionContext,
    public: SessionContext,
    names: Names,
    accounting: Accounting,
}

/// A protected table as the planner sees it: names and types.
#[derive(Debug)]
struct Planned {
    schema: SchemaRef,
}

#[async_trait]
impl TableProvider for Planned {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        _: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> PlanResult<Arc<dyn ExecutionPlan>> {
        plan_err!("a protected table cannot be read directly")
    }
}

/// Refuses a source that is protected in one table and public in another: it would protect no one.
fn check_sources(policy: &Policy) -> Result<()> {
    let spelled = |table: &TablePolicy| sources(&policy.folder, &table.source);
    let behind = |table: &TablePolicy| spelling::files(&policy.folder, &table.source);
    let (public, protected): (Vec<&TablePolicy>, Vec<&TablePolicy>) =
        policy.tables.iter().partition(|table| matches!(table.access, Access::Public { .. }));
    for table in protected {
        let (here, files) = (spelled(table), behind(table));
        let same = |other: &&&TablePolicy| {
            spelled(other).iter().any(|source| here.contains(source))
                || behind(other).iter().any(|file| files.contains(file))
        };
        if let Some(other) = public.iter().find(same) {
            let reason = format!(
                "its source is the public table {}'s too; leave `public = true` out there, or name another file",
                other.name
            );
            return Err(Error::Source { table: table.name.clone(), reason });
        }
    }
    Ok(())
}

impl Catalog {
    /// Fails if a table's files are not those that were checked when it was opened: columns may have moved, a person
    /// may have other rows, and a key may not be unique any more.
    pub(crate) fn verify_unchanged(&self) -> Result<()> {
        for table in self.tables.values() {
            let same = |now: &Stamp| now.version == table.version && now.identity == table.identity;
            if !stamp(&table.files, table.policy.separator()).is_ok_and(|now| same(&now)) {
                return Err(Error::Source {
                    table: table.policy.name.clone(),
                    reason: "its files have changed since they were opened; start again to have \
                             them checked and read anew"
                        .to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The state for an engine. If there is little to read, a single thread reads it, because passing rows between
    /// threads would take longer than counting them. The policy says how much there is: if it were the size of the
    /// files, one person's row could decide the plan, and so the running time.
    pub(crate) fn engine_state(&self) -> SessionState {
        const LITTLE: u64 = 100_000;
        let protected = self.tables.values().filter_map(|table| table.policy.protection());
        let rows = protected.map(|protection| protection.rows.unwrap_or(DEFAULT_ROWS));
        let mut state = self.state();
        let options = state.config_mut().options_mut();
        // Files are split whatever their size, or not at all.
        options.optimizer.repartition_file_min_size = 0;
        if rows.fold(0, u64::saturating_add) <= LITTLE {
            options.execution.target_partitions = 1;
        }
        state
    }

    /// Opens every source of the policy, for queries with these additional aggregate functions.
    pub(crate) async fn open(
        policy: &Policy,
        state: SessionStateBuilder,
        aggregates: impl IntoIterator<Item = AggregateUDF>,
    ) -> Result<Self> {
        check_sources(policy)?;
        let mut config = SessionConfig::new().with_information_schema(false);
        rows_only(&mut config);
        let options = config.options_mut();
        options.execution.parquet.schema_force_view_types = false;
        options.sql_parser.map_string_types_to_utf8view = false;
        options.explain.show_statistics = false;
        let mut state = state.with_config(config).with_default_features();
        let planners = state.expr_planners().get_or_insert_default();
        planners.insert(0, Arc::new(ScaledIntervals));
        let state = state.with_physical_optimizer_rules(rules()).build();
        let context = SessionContext::new_with_state(state);
        context.register_udf(added_functions::clamp());
        postgres::functions().for_each(|function| context.register_udf(function));
        context.register_udtf("generate_series", Arc::new(Series));
        context.register_udf(to_char::to_char());
        aggregates.into_iter().for_each(|function| context.register_udaf(function));
        let mut tables = BTreeMap::new();
        for table in &policy.tables {
            let opened = Table::open(table, &policy.folder, &context.state()).await?;
            let provider: Arc<dyn TableProvider> = match table.access {
                Access::Public { .. } => Arc::clone(&opened.source),
                Access::Protected(_) => Arc::new(Planned { schema: Arc::clone(&opened.schema) }),
            };
            let name = TableReference::bare(table.name.clone());
            let wrong = |reason: String| Error::Source { table: table.name.clone(), reason };
            context.register_table(name, provider).map_err(|e| wrong(e.strip_backtrace()))?;
            tables.insert(table.name.clone(), opened);
        }
        let runtime = RuntimeEnvBuilder::new().with_memory_limit(PUBLIC_MEMORY, 1.0);
        let runtime = runtime.build_arc().map_err(|e| Error::planning(&e))?;
        let public = SessionStateBuilder::new_from_existing(context.state());
        let public = SessionContext::new_with_state(public.with_runtime_env(runtime).build());
        let mut names = Names::default();
        tables.values().for_each(|table| names.add(&table.policy.name, &table.schema));
        let accounting = policy.budget.accounting;
        let mut catalog = Self { tables, context, public, names, accounting };
        catalog.check_keys().await?;
        catalog.check_owners().await?;
        catalog.list_values().await?;
        Ok(catalog)
    }

    /// How the budget is kept.
    pub(crate) fn accounting(&self) -> Accounting {
        self.accounting
    }

    pub(crate) fn state(&self) -> SessionState {
        self.context.state()
    }

    /// The names that statements may use.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// The same for messages, with those of functions.
    pub(crate) fn known(&self) -> Known {
        let functions = FUNCTIONS.iter().map(|(name, _)| *name);
        Known {
            tables: self.names.tables().map(str::to_owned).collect(),
            functions: functions.chain(SPELLINGS.iter().copied()).map(str::to_owned).collect(),
        }
    }

    /// The state for plans that touch no protected row: a plan that needs too much memory fails with an error, and the
    /// memory stays available to others. (Over protected rows, such a failure would reveal something about the rows.)
    pub(crate) fn public_state(&self) -> SessionState {
        self.public.state()
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// Each table with its columns and types, as `\d` shows them.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (&TablePolicy, &SchemaRef)> {
        self.tables.values().map(|table| (&table.policy, &table.schema))
    }

    /// The rows of a protected table, with the unit's id under the name `unit`.
    ///
    /// The id is read from the same typed column that queries see: an id that is written in two ways is one id, both
    /// for contribution bounding and for a join.
    pub(crate) fn rows(&self, name: &str, unit: &str) -> Result<Rows> {
        let missing = || Error::Sql(format!("table `{name}` does not exist"));
        let table = self.tables.get(name).ok_or_else(missing)?;
        let Access::Protected(protection) = &table.policy.access else { return Err(missing()) };
        let planned = |e: datafusion::error::DataFusionError| Error::planning(&e);
        let reference = TableReference::bare(name);
        let source = provider_as_source(Arc::clone(&table.source));
        let scan = LogicalPlanBuilder::scan(reference.clone(), source, None).map_err(planned)?;
        let of = |field: &Field| Expr::Column(Column::new(Some(name), field.name()));
        let typed = table.schema.fields().iter().map(|field| {
            let stored = of(field);
            // A text that is too long becomes NULL, as in the results of functions.
            let typed = match (table.written(field, protection), field.data_type()) {
                (Some(written), kind) => Total::reading(stored.clone(), written, kind.clone()),
                (None, DataType::Utf8) => Total::conversion(stored.clone(), DataType::Utf8),
                (None, other) => conversion(stored.clone(), other, scan.schema()),
            };
            match typed {
                same if same == stored => same,
                typed => typed.alias_qualified(Some(reference.clone()), field.name()),
            }
        });
        let typed: Vec<Expr> = typed.collect();
        let plan = scan.project(typed).map_err(planned)?;
        let mut exprs: Vec<Expr> = table.schema.fields().iter().map(|field| of(field)).collect();
        let mut facts: Vec<Facts> =
            table.schema.fields().iter().map(|field| table.facts(field, protection)).collect();
        let (plan, owner) = match &protection.unit {
            UnitPolicy::Row => (plan, None),
            UnitPolicy::Column(column) => {
                (plan, Some(Expr::Column(Column::new(Some(name), column))))
            }
            UnitPolicy::Via { column, table: parent, key } => {
                let parent_unit = format!("{unit}_via");
                let parents = self.rows(parent, &parent_unit)?;
                // A reference to the id itself is the id: rows without a partner are left out.
                let is_id = parents.is_unit(&Column::new(Some(parent), key));
                let named = table.schema.fields().iter().position(|field| field.name() == column);
                if let Some(at) = named {
                    facts[at].unit = is_id;
                }
                let plan = Self::carried(plan, name, column, parents, parent, key, &parent_unit)?;
                (plan, Some(Expr::Column(Column::new_unqualified(parent_unit))))
            }
        };
        let owner = match owner {
            None => Owner::Row { copies: 1 },
            Some(column) => {
                exprs.push(column.alias(unit));
                facts.push(Facts { unit: true, ..Facts::unknown() });
                Owner::Person { column: Column::new_unqualified(unit), once: false }
            }
        };
        let plan = plan.project(exprs).and_then(LogicalPlanBuilder::build).map_err(planned)?;
        let limits = Limits {
            groups: protection.max_groups,
            rows: protection.max_rows_per_group,
            learnt: protection.learnt,
        };
        Ok(Rows { plan, owner, facts, limits })
    }

    /// Joins the rows with the table that carries their unit.
    ///
    /// This is an inner join: a row belongs to everyone it joins with, once each, and removing a person's rows removes
    /// that person's copies.
    fn carried(
        rows: LogicalPlanBuilder,
        name: &str,
        column: &str,
        parents: Rows,
        parent: &str,
        key: &str,
        unit: &str,
    ) -> Result<LogicalPlanBuilder> {
        let planned = |e: datafusion::error::DataFusionError| Error::planning(&e);
        let theirs = format!("{RESERVED}key");
        let side = LogicalPlanBuilder::from(parents.plan)
            .project(vec![
                Expr::Column(Column::new(Some(parent), key)).alias(&theirs),
                Expr::Column(Column::new_unqualified(unit)),
            ])
            .and_then(LogicalPlanBuilder::distinct)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        let type_of = |schema: &datafusion::common::DFSchema, column: &Column| {
            schema.field_from_column(column).map(|field| field.data_type().clone())
        };
        let ours = Column::new(Some(name), column);
        let theirs = Column::new_unqualified(theirs);
        let (a, b) = (
            type_of(rows.schema(), &ours).map_err(planned)?,
            type_of(side.schema(), &theirs).map_err(planned)?,
        );
        if a != b {
            let reason = format!(
                "`{column}` is {a} and `{parent}.{key}`, to which it refers, is {b}: give both the \
                 same `type` in the policy"
            );
            return Err(Error::Source { table: name.to_owned(), reason });
        }
        let on = (vec![ours], vec![theirs]);
        rows.join(side, JoinType::Inner, on, None).map_err(planned)
    }

    /// The facts about a public table's column, including all its values if the table is small.
    pub(crate) fn public_facts(&self, table: &str, column: &str, data_type: &DataType) -> Facts {
        let mut facts = Facts { integral: data_type.is_integer(), ..Facts::unknown() };
        let listed = self.tables.get(table).and_then(|table| table.listed.get(column));
        if let Some(listed) = listed {
            facts.list(listed);
        }
        facts
    }

    /// Whether a plan reads a protected table.
    pub(crate) fn is_protected(&self, plan: &LogicalPlan) -> bool {
        let mut protected = false;
        // The closure never fails, so neither does the walk.
        let _ = plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                let table = self.tables.get(scan.table_name.table());
                let public =
                    table.is_some_and(|t| matches!(t.policy.access, Access::Public { .. }));
                protected |= !public;
            }
            Ok(TreeNodeRecursion::Continue)
        });
        protected
    }

    /// Whether a public table is small enough for its values to be listed.
    pub(crate) fn is_small(&self, table: &str) -> bool {
        self.tables.get(table).is_some_and(|table| !table.listed.is_empty())
    }

    /// Reads the values of small public tables, which are public keys wherever they are joined.
    async fn list_values(&mut self) -> Result<()> {
        let mut found = Vec::new();
        for table in self.tables.values() {
            let Access::Public { .. } = &table.policy.access else { continue };
            let name = table.policy.name.clone();
            let wrong = |e: datafusion::error::DataFusionError| Error::Source {
                table: name.clone(),
                reason: e.strip_backtrace(),
            };
            let sql = format!("SELECT * FROM \"{name}\" LIMIT {}", MOST_LISTED + 1);
            let rows = self.context.sql(&sql).await.map_err(wrong)?;
            let rows = rows.collect().await.map_err(wrong)?;
            let count: usize = rows.iter().map(|batch| batch.num_rows()).sum();
            if count > MOST_LISTED {
                continue;
            }
            let mut listed = BTreeMap::new();
            for (i, field) in table.schema.fields().iter().enumerate() {
                let mut values: Vec<ScalarValue> = Vec::new();
                for batch in &rows {
                    for row in 0..batch.num_rows() {
                        let value = ScalarValue::try_from_array(batch.column(i), row);
                        values.push(value.map_err(wrong)?);
                    }
                }
                let mut seen = std::collections::HashSet::new();
                values.retain(|value| seen.insert(value.clone()));
                listed.insert(field.name().clone(), values);
            }
            found.push((name, listed));
        }
        for (name, listed) in found {
            if let Some(table) = self.tables.get_mut(&name) {
                table.listed = listed;
            }
        }
        Ok(())
    }

    /// The key that carries a unit and whose values a column holds: the column itself, if other tables take their unit
    /// from it, or the column that it refers to. Two columns with the same key hold equal values only in rows of the
    /// same person ([`Self::check_owners`]).
    pub(crate) fn carried_key(&self, column: &(String, String)) -> Option<(String, String)> {
        let unit = |table: &str| {
            let table = self.tables.get(table)?;
            Some(&table.policy.protection()?.unit)
        };
        let mut here = column.clone();
        // The policy has no circles of references.
        while let Some(UnitPolicy::Via { column, table, key }) = unit(&here.0)
            && *column == here.1
        {
            here = (table.clone(), key.clone());
        }
        let carries = |name: &String| {
            matches!(unit(name), Some(UnitPolicy::Via { table, key, .. })
                if *table == here.0 && *key == here.1)
        };
        (here != *column || self.tables.keys().any(carries)).then_some(here)
    }

    /// Checks that every key that carries a unit belongs to one person: a row with several owners would let each of
    /// them change it. Only the steward's own files are read, and no value is reported.
    async fn check_owners(&self) -> Result<()> {
        for table in self.tables.values() {
            let Some(protection) = table.policy.protection() else { continue };
            let UnitPolicy::Via { table: parent, key, .. } = &protection.unit else { continue };
            let wrong = |reason: String| Error::Source { table: parent.clone(), reason };
            let failed = |e: datafusion::error::DataFusionError| wrong(e.strip_backtrace());
            let unit = format!("{RESERVED}owner");
            let shared_key = Expr::Column(Column::new(Some(parent), key));
            let owner = Expr::Column(Column::new_unqualified(&unit));
            let plan = LogicalPlanBuilder::from(self.rows(parent, &unit)?.plan)
                .filter(shared_key.clone().is_not_null().and(owner.clone().is_not_null()))
                .and_then(|rows| {
                    let (least, most) = (min(owner.clone()).alias("a"), max(owner).alias("z"));
                    rows.aggregate(vec![shared_key], vec![least, most])
                })
                .and_then(|rows| rows.filter(ident("a").not_eq(ident("z"))))
                .and_then(|rows| rows.limit(0, Some(1)))
                .and_then(LogicalPlanBuilder::build)
                .map_err(failed)?;
            let shared = DataFrame::new(self.state(), plan).collect().await.map_err(failed)?;
            if shared.iter().any(|batch| batch.num_rows() > 0) {
                return Err(wrong(format!(
                    "a value of `{key}` belongs to several people, but `{}` takes its unit from \
                     it; give every `{key}` one person, or use `unit = \"row\"` there",
                    table.policy.name
                )));
            }
        }
        Ok(())
    }

    /// Checks that the declared keys of public tables are unique.
    async fn check_keys(&self) -> Result<()> {
        for table in self.tables.values() {
            let Access::Public { key } = &table.policy.access else { continue };
            if key.is_empty() {
                continue;
            }
            let quoted: Vec<String> = key.iter().map(|k| format!("\"{k}\"")).collect();
            let columns = quoted.join(", ");
            let name = &table.policy.name;
            let sql =
                format!("SELECT 1 FROM \"{name}\" GROUP BY {columns} HAVING COUNT(*) > 1 LIMIT 1");
            let wrong = |reason: String| Error::Source { table: name.clone(), reason };
            let frame = self.context.sql(&sql).await.map_err(|e| wrong(e.strip_backtrace()))?;
            let repeats = frame.collect().await.map_err(|e| wrong(e.strip_backtrace()))?;
            if repeats.iter().any(|batch| batch.num_rows() > 0) {
                return Err(wrong(format!(
                    "two rows have the same key ({}); remove `key` or the duplicates",
                    key.join(", ")
                )));
            }
        }
        Ok(())
    }
}
