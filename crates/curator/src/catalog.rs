//! The tables of a policy, as the planner sees them and as the engine reads them.
//!
//! The planner sees names and types only: its tables cannot be scanned. The engine's plan
//! of a table reads the source and hands over visible columns and, under a reserved
//! name, the unit's id.

use crate::admit::conversion;
use crate::error::{Error, Result};
use crate::expression::Facts;
use crate::functions;
use crate::gate::DEFAULT_ROWS;
use crate::interval::Interval;
use crate::policy::{
    Access, ColumnKind, ColumnPolicy, Policy, Protection, TablePolicy, UnitPolicy, Value,
};
use crate::rows::{Limits, Owner, RESERVED, Rows};
use crate::source::{RowsOnly, alike, parquet, rows_only, rules};
use crate::spelling::{self, sources};
use crate::total::Total;
use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{
    Column, ExprSchema, Result as PlanResult, ScalarValue, TableReference, plan_err,
};
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::datasource::{TableType, provider_as_source};
use datafusion::execution::SessionState;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::functions_aggregate::expr_fn::{max, min};
use datafusion::logical_expr::{Expr, JoinType, LogicalPlanBuilder, ident};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What plans without protected rows may hold in memory, all at once and together.
pub(crate) const PUBLIC_MEMORY: usize = 2 << 30;

/// The most rows of a public table whose values are listed.
const MOST_LISTED: usize = 10_000;

/// The tables of a policy, opened.
pub(crate) struct Catalog {
    tables: BTreeMap<String, Table>,
    context: SessionContext,
    public: SessionContext,
}

pub(crate) struct Table {
    pub(crate) policy: TablePolicy,
    source: Arc<dyn TableProvider>,
    /// Visible columns with the types queries see.
    schema: SchemaRef,
    /// Where the rows come from, for the canonical form of a query.
    pub(crate) version: String,
    files: Vec<PathBuf>,
    /// Which files they are, beyond that: for as long as this runs.
    identity: String,
    /// Of a public table that is small: the values of each column.
    listed: BTreeMap<String, Vec<ScalarValue>>,
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

/// Refuses a source that is protected in one table and public in another: it would protect nobody.
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
    /// Refuses to go on if a table's files are not those that were checked when it was opened:
    /// their columns may have other places now, a person other rows, and a key several.
    pub(crate) fn is_as_opened(&self) -> Result<()> {
        for table in self.tables.values() {
            let same = |now: &Stamp| now.version == table.version && now.identity == table.identity;
            if !stamp(&table.files).is_ok_and(|now| same(&now)) {
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

    /// The state for an engine. Where there is little to read one thread reads it: handing rows from
    /// one to another would take longer than counting them. How much there is, the policy says: if
    /// it were the size of the files, one person's row could decide on the plan, and so on the time.
    pub(crate) fn engine_state(&self) -> SessionState {
        const LITTLE: u64 = 100_000;
        let protected = self.tables.values().filter_map(|table| table.policy.protection());
        let rows = protected.map(|protection| protection.rows.unwrap_or(DEFAULT_ROWS));
        let mut state = self.state();
        let options = state.config_mut().options_mut();
        // Files are cut whatever their size, or not at all.
        options.optimizer.repartition_file_min_size = 0;
        if rows.fold(0, u64::saturating_add) <= LITTLE {
            options.execution.target_partitions = 1;
        }
        state
    }

    /// Opens every source of the policy.
    pub(crate) async fn open(policy: &Policy, state: SessionStateBuilder) -> Result<Self> {
        check_sources(policy)?;
        let mut config = SessionConfig::new().with_information_schema(false);
        rows_only(&mut config);
        let options = config.options_mut();
        options.execution.parquet.schema_force_view_types = false;
        options.sql_parser.map_string_types_to_utf8view = false;
        options.explain.show_statistics = false;
        let state = state.with_config(config).with_default_features();
        let state = state.with_physical_optimizer_rules(rules()).build();
        let context = SessionContext::new_with_state(state);
        context.register_udf(functions::clamp());
        context.register_udaf(functions::mode());
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
        let mut catalog = Self { tables, context, public };
        catalog.check_keys().await?;
        catalog.check_owners().await?;
        catalog.list_values().await?;
        Ok(catalog)
    }

    pub(crate) fn state(&self) -> SessionState {
        self.context.state()
    }

    /// For plans that touch no protected row: whoever asks for too much of them is told so, and the
    /// memory is there for others. (Over protected rows such an end would tell of the rows.)
    pub(crate) fn public_state(&self) -> SessionState {
        self.public.state()
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// Each table, its columns and types: what `\d` shows.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (&TablePolicy, &SchemaRef)> {
        self.tables.values().map(|table| (&table.policy, &table.schema))
    }

    /// The rows of a protected table, with the unit's id under the name `unit`.
    ///
    /// Whose row it is, is read from the same typed column that queries see: an id that is
    /// written in two ways is one id, for the bounding as for a join.
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
            // A text that is too long is NULL, as those that functions make.
            let typed = match field.data_type() {
                DataType::Utf8 => Total::conversion(stored.clone(), DataType::Utf8),
                other => conversion(stored.clone(), other, scan.schema()),
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
                let plan = self.carried(plan, name, column, parent, key, &parent_unit)?;
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
        let limits = Limits { groups: protection.max_groups, rows: protection.max_rows_per_group };
        Ok(Rows { plan, owner, facts, limits })
    }

    /// The rows joined with the table that carries their unit.
    ///
    /// An inner join without removing duplicates: a row belongs to everybody it joins with,
    /// once each, and taking a person's rows away takes her copies.
    fn carried(
        &self,
        rows: LogicalPlanBuilder,
        name: &str,
        column: &str,
        parent: &str,
        key: &str,
        unit: &str,
    ) -> Result<LogicalPlanBuilder> {
        let planned = |e: datafusion::error::DataFusionError| Error::planning(&e);
        let theirs = format!("{RESERVED}key");
        let side = LogicalPlanBuilder::from(self.rows(parent, unit)?.plan)
            .project(vec![
                Expr::Column(Column::new(Some(parent), key)).alias(&theirs),
                Expr::Column(Column::new_unqualified(unit)),
            ])
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

    /// What is known of a public table's column: all its values, where it is small.
    pub(crate) fn public_facts(&self, table: &str, column: &str, data_type: &DataType) -> Facts {
        let mut facts = Facts { integral: data_type.is_integer(), ..Facts::unknown() };
        let listed = self.tables.get(table).and_then(|table| table.listed.get(column));
        let Some(listed) = listed else { return facts };
        facts.nullable = listed.iter().any(ScalarValue::is_null);
        let values: Vec<ScalarValue> = listed.iter().filter(|v| !v.is_null()).cloned().collect();
        let numbers: Vec<f64> = values.iter().filter_map(crate::expression::number).collect();
        if !numbers.is_empty() && numbers.len() == values.len() {
            let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            facts.interval = Interval::new(low, high);
        }
        facts.values = Some(values);
        facts
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

    /// Whether `child = parent` is a foreign key that carries the unit.
    pub(crate) fn carries(&self, child: &(String, String), parent: &(String, String)) -> bool {
        let protection = self.tables.get(&child.0).and_then(|table| table.policy.protection());
        matches!(
            protection.map(|protection| &protection.unit),
            Some(UnitPolicy::Via { column, table, key })
                if *column == child.1 && *table == parent.0 && *key == parent.1
        )
    }

    /// What carries the unit names one person: a row with several owners would move what each
    /// of them moves, all at once. The values of nobody but the steward's own files are asked, and
    /// nothing of them is said.
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

    /// The declared keys of public tables are keys.
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

/// Files of one table, by their extension.
enum Format {
    Csv,
    Parquet,
}

impl Table {
    async fn open(policy: &TablePolicy, folder: &Path, state: &SessionState) -> Result<Self> {
        let wrong = |reason: String| Error::Source { table: policy.name.clone(), reason };
        let failed = |e: datafusion::error::DataFusionError| wrong(e.strip_backtrace());
        let path = folder.join(&policy.source);
        let path = std::path::absolute(&path).map_err(|e| wrong(e.to_string()))?;
        let files = files(&path).map_err(|e| wrong(format!("{}: {e}", policy.source)))?;
        let first = files
            .first()
            .ok_or_else(|| wrong(format!("{}: no CSV or Parquet file is there", policy.source)))?;
        let format = match extension(first).as_deref() {
            Some("csv") => Format::Csv,
            _ => Format::Parquet,
        };
        // A path with one of these would be taken for a pattern, and no row be found.
        if files.iter().any(|file| file.to_string_lossy().contains(['[', ']', '?', '{', '}'])) {
            return Err(wrong(format!(
                "{}: brackets, braces and question marks in a file's path are not supported; \
                 rename it",
                policy.source
            )));
        }
        alike(&files).map_err(wrong)?;
        let Stamp { version, identity } = stamp(&files).map_err(|e| wrong(e.to_string()))?;
        let urls: std::result::Result<Vec<_>, _> =
            files.iter().map(|file| ListingTableUrl::parse(file.to_string_lossy())).collect();
        let config = ListingTableConfig::new_with_multi_paths(urls.map_err(failed)?);
        let protected = matches!(policy.access, Access::Protected(_));
        let config = match format {
            Format::Csv => {
                // Without ranges of bytes: one may begin within a quoted field.
                let csv = CsvFormat::default().with_newlines_in_values(true);
                let csv = csv.with_has_header(true).with_truncated_rows(true);
                let options = ListingOptions::new(Arc::new(csv)).with_file_extension(".csv");
                let config = config.with_listing_options(options);
                if protected {
                    files.iter().try_for_each(|file| well_formed(file)).map_err(wrong)?;
                    let names = header(first).map_err(|e| wrong(e.to_string()))?;
                    let text = |name: String| Field::new(name, DataType::Utf8, true);
                    let fields: Vec<Field> = names.into_iter().map(text).collect();
                    config.with_schema(Arc::new(Schema::new(fields)))
                } else {
                    config.infer_schema(state).await.map_err(failed)?
                }
            }
            Format::Parquet => {
                let options =
                    ListingOptions::new(Arc::new(parquet())).with_file_extension(".parquet");
                config.with_listing_options(options).infer_schema(state).await.map_err(failed)?
            }
        };
        let source: Arc<dyn TableProvider> =
            Arc::new(ListingTable::try_new(config).map_err(failed)?);
        let source = if protected { Arc::new(RowsOnly(source)) } else { source };
        let schema = match &policy.access {
            Access::Public { .. } => {
                let schema = source.schema();
                schema.fields().iter().try_for_each(|f| readable(f)).map_err(wrong)?;
                schema
            }
            Access::Protected(protection) => {
                visible(&source.schema(), protection, matches!(format, Format::Csv))
                    .map_err(wrong)?
            }
        };
        let (policy, listed) = (policy.clone(), BTreeMap::new());
        Ok(Self { policy, source, schema, version, files, identity, listed })
    }

    fn facts(&self, field: &Field, protection: &Protection) -> Facts {
        let unit = matches!(&protection.unit, UnitPolicy::Column(column) if column == field.name());
        let data_type = field.data_type();
        let origin = Some((self.policy.name.clone(), field.name().clone()));
        let integral = data_type.is_integer();
        let mut facts = Facts { unit, integral, origin, ..Facts::unknown() };
        let Some(column) = protection.columns.iter().find(|c| c.name == *field.name()) else {
            return facts;
        };
        facts.nullable = column.nullable;
        if let Some((low, high)) = column.bounds {
            facts.interval = Interval::new(low, high);
        }
        facts.grid = column.grid.map(|grid| grid.log2() as i32);
        if let Some(values) = &column.values {
            let scalars = values.iter().filter_map(|value| scalar(value, data_type));
            facts.values = Some(scalars.collect());
            let numbers: Vec<f64> =
                facts.values.iter().flatten().filter_map(crate::expression::number).collect();
            if column.bounds.is_none() && numbers.len() == values.len() {
                let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
                let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                facts.interval = Interval::new(low, high);
            }
        }
        facts
    }
}

/// A public value of the policy as the column's type has it.
fn scalar(value: &Value, data_type: &DataType) -> Option<ScalarValue> {
    let written = match value {
        Value::Text(text) | Value::Date(text) => ScalarValue::Utf8(Some(text.clone())),
        Value::Integer(k) => ScalarValue::Int64(Some(*k)),
        Value::Real(x) => ScalarValue::Float64(Some(*x)),
        Value::Boolean(b) => ScalarValue::Boolean(Some(*b)),
    };
    written.cast_to(data_type).ok().filter(|value| !value.is_null())
}

/// What queries see of a source: no hidden columns, no decimals, CSV text as its kind.
fn visible(
    source: &Schema,
    protection: &Protection,
    csv: bool,
) -> std::result::Result<SchemaRef, String> {
    let named = |name: &str| protection.columns.iter().find(|column| column.name == name);
    let needed = match &protection.unit {
        UnitPolicy::Row => None,
        UnitPolicy::Column(column) | UnitPolicy::Via { column, .. } => Some(column.as_str()),
    };
    let declared = protection.columns.iter().map(|column| column.name.as_str()).chain(needed);
    // The type that the policy declares, whatever the writer of a Parquet file made of the values: one missing
    // value makes some writers store whole numbers as real ones, and queries must not see that.
    let declares = |column: &ColumnPolicy| !matches!(column.kind, None | Some(ColumnKind::Other));
    let shown = |field: &Field| match named(field.name()) {
        Some(column) if csv || declares(column) => csv_type(column),
        _ => plain(field.data_type()),
    };
    if let UnitPolicy::Column(unit) = &protection.unit
        && source.field_with_name(unit).is_ok_and(|field| shown(field).is_floating())
    {
        return Err(format!(
            "`{unit}` is a real number and cannot say whose row it is (NaN is nobody's name): give \
             it `type = \"integer\"` or `type = \"text\"`, or store it so"
        ));
    }
    for name in declared {
        if source.field_with_name(name).is_err() {
            return Err(format!(
                "the policy names column `{name}`, which the source does not have"
            ));
        }
    }
    let mut fields = Vec::new();
    for field in source.fields() {
        if field.name().starts_with(RESERVED) {
            return Err(format!("column names must not begin with {RESERVED}"));
        }
        let column = named(field.name());
        if column.is_some_and(|column| column.hidden) || unlimited(field.data_type()) {
            continue;
        }
        readable(field)?;
        fields.push(Field::new(field.name(), shown(field), true));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// Refuses what the engine cannot read all of. What it fails on only when it gets there would tell whether
/// some row was left to read it for.
fn readable(field: &Field) -> std::result::Result<(), String> {
    use DataType as T;
    let readable = match field.data_type() {
        T::Dictionary(_, values) => {
            values.is_integer()
                || values.is_temporal() && !matches!(**values, T::Interval(_))
                || matches!(
                    **values,
                    T::Float32 | T::Float64 | T::Utf8 | T::LargeUtf8 | T::Utf8View
                )
        }
        T::RunEndEncoded(..) => false,
        _ => true,
    };
    match readable {
        true => Ok(()),
        false => Err(format!(
            "`{}` is stored as {}, which cannot be read: store its values plainly, or give it \
             `hidden = true`",
            field.name(),
            field.data_type()
        )),
    }
}

/// The type that queries see for a stored one: its values' own, however they are stored.
fn plain(stored: &DataType) -> DataType {
    match stored {
        DataType::Dictionary(_, values) => plain(values),
        DataType::RunEndEncoded(_, values) => plain(values.data_type()),
        DataType::Float16 | DataType::Float32 => DataType::Float64,
        stored if stored.is_decimal() => DataType::Float64,
        DataType::Utf8View | DataType::LargeUtf8 => DataType::Utf8,
        stored => stored.clone(),
    }
}

/// Whether a value may be of any size and is no text: lists, structures, bytes. They cannot be
/// asked about: many of them together are more than a column can hold.
pub(crate) fn unlimited(stored: &DataType) -> bool {
    use DataType as T;
    match stored {
        T::Dictionary(_, values) => unlimited(values),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => true,
        other => other.is_nested(),
    }
}

/// The type of a CSV column, from the policy alone: its values are not looked at.
fn csv_type(column: &ColumnPolicy) -> DataType {
    match column.kind {
        Some(ColumnKind::Integer) => DataType::Int64,
        Some(ColumnKind::Real) => DataType::Float64,
        Some(ColumnKind::Boolean) => DataType::Boolean,
        Some(ColumnKind::Date) => DataType::Date32,
        Some(ColumnKind::Time) => DataType::Timestamp(TimeUnit::Microsecond, None),
        Some(ColumnKind::Text | ColumnKind::Other) => DataType::Utf8,
        None => match column.values.as_ref().and_then(|values| values.first()) {
            Some(Value::Integer(_)) => DataType::Int64,
            Some(Value::Real(_)) => DataType::Float64,
            Some(Value::Boolean(_)) => DataType::Boolean,
            Some(Value::Date(_)) => DataType::Date32,
            Some(Value::Text(_)) => DataType::Utf8,
            None if column.bounds.is_some() => DataType::Float64,
            None => DataType::Utf8,
        },
    }
}

fn extension(path: &Path) -> Option<String> {
    path.extension().map(|e| e.to_string_lossy().to_lowercase())
}

fn is_data(path: &Path) -> bool {
    matches!(extension(path).as_deref(), Some("csv" | "parquet"))
}

/// The files of a source: one, a folder's, or those whose name fits a pattern with `*`.
pub(crate) fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = if path.is_dir() {
        let entries = std::fs::read_dir(path)?;
        let paths: std::io::Result<Vec<_>> = entries.map(|e| e.map(|e| e.path())).collect();
        paths?.into_iter().filter(|p| is_data(p)).collect()
    } else if let Some(pattern) =
        path.file_name().map(|n| n.to_string_lossy().into_owned()).filter(|n| n.contains('*'))
    {
        let entries = std::fs::read_dir(path.parent().unwrap_or(Path::new(".")))?;
        let paths: std::io::Result<Vec<_>> = entries.map(|e| e.map(|e| e.path())).collect();
        let fits = |p: &PathBuf| {
            p.file_name().is_some_and(|name| matches(&pattern, &name.to_string_lossy()))
        };
        paths?.into_iter().filter(|p| is_data(p) && fits(p)).collect()
    } else {
        std::fs::metadata(path)?;
        vec![path.to_owned()]
    };
    found.sort();
    Ok(found)
}

/// Whether `name` fits `pattern`, in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    for (i, part) in parts.iter().enumerate() {
        if i + 1 == parts.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

/// What tells files from others.
struct Stamp {
    /// Changes when the files do: names, sizes, times.
    version: String,
    /// Changes when files are replaced by others of the same size and time, too.
    identity: String,
}

fn stamp(files: &[PathBuf]) -> std::io::Result<Stamp> {
    let mut stamp = Stamp { version: String::new(), identity: String::new() };
    for file in files {
        let data = std::fs::metadata(file)?;
        let time = data.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        stamp.version.push_str(&format!("{name} {} {}\n", data.len(), time.as_nanos()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let changed = (data.ctime(), data.ctime_nsec());
            stamp.identity.push_str(&format!("{} {} {changed:?}\n", data.dev(), data.ino()));
        }
        #[cfg(not(unix))]
        stamp.identity.push_str(&format!("{:?}\n", data.created().ok()));
    }
    Ok(stamp)
}

/// Refuses a CSV file with a row that the engine would stumble over: what a single row decides
/// must not decide whether anybody gets an answer, so it is found here, before anybody asks.
fn well_formed(file: &Path) -> std::result::Result<(), String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let reader = csv::ReaderBuilder::new().has_headers(true).from_path(file);
    let mut reader = reader.map_err(|e| format!("{name}: {e}"))?;
    let mut record = csv::ByteRecord::new();
    loop {
        let line = reader.position().line();
        match reader.read_byte_record(&mut record) {
            Ok(true) if record.iter().all(|field| std::str::from_utf8(field).is_ok()) => {}
            Ok(true) => return Err(format!("{name}, after line {line}: a row is not UTF-8 text")),
            Ok(false) => return Ok(()),
            Err(_) => {
                return Err(format!(
                    "{name}, after line {line}: a row has more or fewer fields than the header"
                ));
            }
        }
    }
}

/// The names in the first line of a CSV file.
fn header(file: &Path) -> PlanResult<Vec<String>> {
    let reader = std::fs::File::open(file)?;
    let format = datafusion::arrow::csv::reader::Format::default().with_header(true);
    let (schema, _) = format.infer_schema(reader, Some(0))?;
    Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
}

#[cfg(test)]
mod tests {
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
}
