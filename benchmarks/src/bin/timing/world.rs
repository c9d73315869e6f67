//! Three tables that differ in one person, and servers of them.

use crate::Fallible;
use crate::shapes::{CLASSES, Class, Shape};
use datafusion::arrow::array::{Int64Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

pub(crate) const PASSWORD: &str = "a password of the audit";
pub(crate) const ACCOUNT: &str = "audit";
/// Attributes there are.
const ATTRIBUTES: i64 = 10;

/// Rows of the person where she has very many.
const HERS: usize = 5_000;
/// Others who have one row each there.
const FEW: usize = 100_000;

/// The tables, in a folder of their own.
pub(crate) struct World {
    folder: tempfile::TempDir,
    rows: usize,
    person: i64,
    attribute: i64,
}

impl World {
    /// Writes the tables.
    pub(crate) fn make(rows: usize) -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        // Somewhere in the middle of the file.
        let person = id(rows / 2, rows);
        let world = Self { folder, rows, person, attribute: person % ATTRIBUTES };
        for class in CLASSES {
            let everybody = (0..rows).map(|row| id(row, rows));
            world.write(class, class.name, everybody)?;
            let hers = std::iter::repeat_n(person, HERS);
            let many = (0..rows.min(FEW)).map(|row| id(row, rows)).chain(hers);
            world.write(class, &format!("{}_many", class.name), many)?;
        }
        Ok(world)
    }

    /// Rows of these people: `user_id`, an attribute `g`, a value `v`.
    fn write(&self, class: Class, name: &str, people: impl Iterator<Item = i64>) -> Fallible<()> {
        let mut columns: [Vec<i64>; 3] = Default::default();
        for user in people {
            let g = match (user == self.person, class.name) {
                (true, "absent") => continue,
                (true, "other") => (self.attribute + 1) % ATTRIBUTES,
                _ => user % ATTRIBUTES,
            };
            let v = (user.wrapping_mul(7919)) % 1000;
            columns.iter_mut().zip([user, g, v]).for_each(|(column, value)| column.push(value));
        }
        let arrays = ["user_id", "g", "v"].into_iter().zip(columns);
        let arrays = arrays.map(|(name, values)| (name, Arc::new(Int64Array::from(values)) as _));
        let batch = RecordBatch::try_from_iter(arrays)?;
        let file = File::create(self.folder.path().join(format!("{name}.parquet")))?;
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None)?;
        writer.write(&batch)?;
        writer.close()?;
        Ok(())
    }

    /// The statement of a shape for one table.
    pub(crate) fn sql(&self, shape: &Shape, class: Class) -> String {
        let sql = shape.sql.replace("{t}", class.name);
        sql.replace("{x}", &self.person.to_string()).replace("{k}", &self.attribute.to_string())
    }

    /// Starts a server whose answers leave on schedule, or not.
    pub(crate) fn serve(&self, schedule: &str) -> Fallible<Server> {
        let path = self.folder.path().join(format!("{schedule}.toml"));
        std::fs::write(&path, self.policy(schedule)?)?;
        Server::start(&path)
    }

    fn policy(&self, schedule: &str) -> Fallible<String> {
        let mut text = format!(
            "[budget]\nepsilon = 1e9\nper_query = 1.0\nmin_per_query = 1e-9\n\
             [timing]\nschedule = '{schedule}'\nnew_queries_per_minute = 'off'\n"
        );
        let attributes: Vec<String> = (0..ATTRIBUTES).map(|g| g.to_string()).collect();
        let tables = CLASSES.iter().flat_map(|Class { name }| {
            [((*name).to_owned(), self.rows), (format!("{name}_many"), self.rows.min(FEW))]
        });
        for (name, rows) in tables {
            write!(
                text,
                "[tables.{name}]\nsource = '{name}.parquet'\nunit = 'user_id'\nrows = {}\n\
                 [tables.{name}.columns]\nuser_id = {{ nullable = false }}\n\
                 g = {{ values = [{}], nullable = false }}\n\
                 v = {{ bounds = [0, 1000], nullable = false }}\n",
                rows,
                attributes.join(", "),
            )?;
        }
        Ok(text)
    }
}

/// Ids from 0, in an order that is none.
fn id(row: usize, rows: usize) -> i64 {
    // 48271 is prime: with any number of rows that it does not divide, every id occurs once.
    let step = if rows.is_multiple_of(48_271) { 1 } else { 48_271 };
    i64::try_from(row * step % rows).unwrap_or(0)
}

/// `demure serve`, until it is dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) port: u16,
    pub(crate) name: String,
}

impl Server {
    fn start(policy: &Path) -> Fallible<Self> {
        let demure = demure()?;
        let mut add = Command::new(&demure)
            .args(["user", "add", ACCOUNT, "--role", "analyst", "--password-stdin", "--policy"])
            .arg(policy)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        add.stdin.take().ok_or("no stdin")?.write_all(format!("{PASSWORD}\n").as_bytes())?;
        let added = add.wait_with_output()?;
        if !added.status.success() {
            let said = String::from_utf8_lossy(&added.stderr);
            return Err(format!("the account could not be made: {said}").into());
        }
        let mut process = Command::new(&demure)
            .args(["serve", "--pg", "127.0.0.1:0", "--http", "127.0.0.1:0"])
            .arg(policy)
            .stdout(Stdio::piped())
            .spawn()?;
        let out = process.stdout.take().ok_or("no output")?;
        let mut server = Self { process, port: 0, name: stem(policy) };
        for line in BufReader::new(out).lines() {
            let line = line?;
            let after = line.split_once("port=").map(|(_, rest)| rest);
            if let Some(port) = after.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            {
                server.port = port;
                return Ok(server);
            }
        }
        Err("the server did not say where it listens; its message is above".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The program of the same build as this one.
fn demure() -> Fallible<PathBuf> {
    let name = format!("demure{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::current_exe()?.with_file_name(name);
    match path.is_file() {
        true => Ok(path),
        false => Err(format!(
            "{} is not built\nhint: cargo xtask audit timing builds it",
            path.display()
        )
        .into()),
    }
}

#[cfg(test)]
mod tests;
