//! The names that a statement may use in each place, and its parameters.

use super::Inner;
use super::evaluate::cast;
use super::functions::read;
use super::plan::{Expr, Slot};
use super::types::{self, Oid, UNKNOWN};
use super::value::{Value, text};

/// An expression and its type.
pub(crate) type Typed = (Expr, Oid);

/// Binds one statement.
pub(crate) struct Binder<'a> {
    pub(crate) catalog: &'a Inner,
    /// The values of the parameters, if they are known.
    parameters: &'a [Option<String>],
    /// Their types; 0 if not known.
    pub(crate) types: Vec<Oid>,
    /// The enclosing queries, the innermost last.
    pub(crate) scopes: Vec<Names>,
    pub(crate) ctes: Vec<CteName>,
    /// The scopes read so far by the query being bound, one bit each.
    pub(crate) reads: u64,
    ids: usize,
    depth: usize,
}

/// The bit of [`Binder::reads`] for a common table expression.
pub(crate) const READS_CTE: u64 = 1 << 63;
/// The largest nesting depth of queries and expressions.
const SCOPES: usize = 40;
const DEPTH: usize = 1_000;

/// The names of one query.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) relations: Vec<RelationNames>,
    pub(crate) width: usize,
    pub(crate) slots: Vec<Slot>,
}

#[derive(Clone)]
pub(crate) struct RelationNames {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
    pub(crate) columns: Vec<ColumnName>,
    /// The index of its first column in the row.
    pub(crate) start: usize,
}

#[derive(Clone)]
pub(crate) struct ColumnName {
    pub(crate) name: String,
    pub(crate) type_oid: Oid,
    /// Not part of `*`.
    pub(crate) hidden: bool,
}

#[derive(Clone)]
pub(crate) struct CteName {
    pub(crate) name: String,
    pub(crate) id: usize,
    pub(crate) columns: Vec<(String, Oid)>,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(catalog: &'a Inner, parameters: &'a [Option<String>]) -> Self {
        Self {
            catalog,
            parameters,
            types: vec![0; parameters.len()],
            scopes: Vec::new(),
            ctes: Vec::new(),
            reads: 0,
            ids: 0,
            depth: 0,
        }
    }

    pub(crate) fn id(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    pub(crate) fn push(&mut self, names: Names) -> Result<(), String> {
        if self.scopes.len() >= SCOPES {
            return Err("the catalog query nests too deep".to_owned());
        }
        self.scopes.push(names);
        Ok(())
    }

    /// Runs something one level deeper.
    pub(crate) fn deeper<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.depth >= DEPTH {
            return Err("the catalog query nests too deep".to_owned());
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// The innermost query's names.
    pub(crate) fn names(&mut self) -> Result<&mut Names, String> {
        self.scopes.last_mut().ok_or_else(|| "an expression outside of any query".to_owned())
    }

    /// Adds a slot after the row of the innermost query.
    pub(crate) fn slot(&mut self, slot: Slot) -> Result<Expr, String> {
        let names = self.names()?;
        names.slots.push(slot);
        Ok(Expr::Column { depth: 0, at: names.width + names.slots.len() - 1 })
    }

    /// The column with a name, in this query or in the nearest enclosing one that has it.
    pub(crate) fn column(&mut self, parts: &[String]) -> Option<Typed> {
        let (table, name) = match parts {
            [name] => (None, name),
            [table, name] => (Some((None, table)), name),
            [.., schema, table, name] => (Some((Some(schema), table)), name),
            [] => return None,
        };
        let called = |relation: &RelationNames| match &table {
            None => true,
            Some((schema, table)) => {
                relation.name == **table
                    && schema.is_none_or(|schema| relation.schema.as_ref() == Some(schema))
            }
        };
        for (depth, names) in self.scopes.iter().rev().enumerate() {
            for relation in names.relations.iter().filter(|relation| called(relation)) {
                let found = relation.columns.iter().position(|column| column.name == *name);
                if let Some(at) = found {
                    self.reads |= 1 << (self.scopes.len() - 1 - depth);
                    let place = Expr::Column { depth, at: relation.start + at };
                    return Some((place, relation.columns[at].type_oid));
                }
            }
        }
        None
    }

    /// The expression for parameter `$number`.
    pub(crate) fn parameter(&mut self, number: &str) -> Result<Typed, String> {
        let at = number.trim_start_matches('$').parse::<usize>().ok();
        let at = at.and_then(|at| at.checked_sub(1)).filter(|at| *at < 65_535);
        let at = at.ok_or_else(|| format!("there is no parameter {number}"))?;
        if at >= self.types.len() {
            self.types.resize(at + 1, 0);
        }
        Ok((Expr::Parameter(at), UNKNOWN))
    }

    /// Converts an expression to a type. An expression of unknown type takes it.
    pub(crate) fn coerce(&mut self, (expr, from): Typed, to: Oid) -> Result<Expr, String> {
        let catalog = self.catalog;
        Ok(match expr {
            Expr::Parameter(at) => {
                if self.types[at] == 0 {
                    self.types[at] = to;
                }
                let known = self.types[at];
                let given = self.parameters.get(at).cloned().flatten();
                match given {
                    Some(given) => {
                        Expr::Const(cast(catalog, read(catalog, &given, known)?, known, to)?)
                    }
                    None => Expr::Const(Value::Null),
                }
            }
            Expr::Const(Value::Text(given)) if from == UNKNOWN => {
                Expr::Const(read(catalog, &given, to)?)
            }
            Expr::Const(Value::Null) => Expr::Const(Value::Null),
            expr if from == to => expr,
            expr if types::is_int(from) && types::is_int(to) => expr,
            expr if types::is_text(from) && types::is_text(to) && to != types::CHAR => expr,
            expr => {
                let from = if from == UNKNOWN { types::TEXT } else { from };
                Expr::Cast { expr: Box::new(expr), from, to }
            }
        })
    }

    /// Converts both to a common type, which is returned with them.
    pub(crate) fn alike(&mut self, a: Typed, b: Typed) -> Result<(Expr, Expr, Oid), String> {
        let common = unify(a.1, b.1);
        let common = if common == UNKNOWN { types::TEXT } else { common };
        Ok((self.coerce(a, common)?, self.coerce(b, common)?, common))
    }

    /// Converts all to a common type.
    pub(crate) fn all_alike(&mut self, all: Vec<Typed>) -> Result<(Vec<Expr>, Oid), String> {
        let common = all.iter().fold(UNKNOWN, |common, (_, oid)| unify(common, *oid));
        let common = if common == UNKNOWN { types::TEXT } else { common };
        let all = all.into_iter().map(|typed| self.coerce(typed, common));
        Ok((all.collect::<Result<_, _>>()?, common))
    }

    /// A literal whose type depends on its context.
    pub(crate) fn literal(given: &str) -> Typed {
        (Expr::Const(text(given)), UNKNOWN)
    }
}

/// The common type of two types.
pub(crate) fn unify(a: Oid, b: Oid) -> Oid {
    let rank = |oid| match oid {
        types::INT2 => 1,
        types::INT4 => 2,
        types::INT8 => 3,
        types::OID => 4,
        _ => 5,
    };
    match (a, b) {
        (UNKNOWN, other) | (other, UNKNOWN) => other,
        _ if a == b => a,
        // Of two kinds of text the first, except for the one-byte kind.
        (types::CHAR, other) if types::is_text(other) => other,
        _ if types::is_text(a) && types::is_text(b) => a,
        _ if types::is_int(a) && types::is_int(b) => {
            if rank(a) >= rank(b) {
                a
            } else {
                b
            }
        }
        _ if matches!(a, types::FLOAT4 | types::FLOAT8 | types::NUMERIC) => a,
        _ if matches!(b, types::FLOAT4 | types::FLOAT8 | types::NUMERIC) => b,
        _ => a,
    }
}
