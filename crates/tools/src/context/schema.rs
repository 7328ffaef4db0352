//! The API schema of a cluster: asked from the cluster itself once per process, and kept on disk between processes.
//!
//! What is on disk is what a node of that version served. It is taken for a day; after that the cluster is asked again, and
//! what is on disk serves only while the cluster does not answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pve::Version;
use pve::apidoc::{SCHEMA_PATH, Schema};
use tokio::sync::OnceCell;

use super::Cluster;
use crate::fault::{Fault, Kind};
use crate::search::{self, ApiMethod, Index};
use crate::store::create_private_dir;

/// How long a kept schema is taken without asking. Packages of a node change without its version.
const FRESH: Duration = Duration::from_hours(24);

/// The schema of one cluster, and where it is kept.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    dir: Option<PathBuf>,
    schema: OnceCell<Arc<Schema>>,
    index: OnceCell<Arc<Index>>,
}

impl Cluster {
    /// Keeps the API schema in this directory, from now on.
    pub fn keep_schema_in(&mut self, dir: PathBuf) {
        self.shelf.dir = Some(dir);
    }

    /// What the cluster says of its own API. Where it cannot be had, the fault says why.
    pub async fn schema(&self) -> Result<Arc<Schema>, Fault> {
        let read = self.shelf.schema.get_or_try_init(|| self.look_up());
        read.await.cloned()
    }

    /// An index of the schema's methods, in their order.
    pub async fn schema_index(&self) -> Result<Arc<Index>, Fault> {
        let schema = self.schema().await?;
        let index = self.shelf.index.get_or_init(async || {
            let methods: Vec<_> = schema.methods().iter().map(ApiMethod::from).collect();
            Arc::new(Index::new(search::methods(&methods)))
        });
        Ok(index.await.clone())
    }

    async fn look_up(&self) -> Result<Arc<Schema>, Fault> {
        let file = self.schema_file(self.version().await?);
        if let Some(schema) = file.as_deref().and_then(|file| kept(file, Some(FRESH))) {
            return Ok(schema);
        }
        match self.ask_for_schema().await {
            Ok((document, schema)) => {
                if let Some(file) = file {
                    // A schema that cannot be kept is asked for again next time.
                    let _ = keep(&file, &document);
                }
                Ok(schema)
            }
            Err(fault) => file.and_then(|file| kept(&file, None)).ok_or(fault),
        }
    }

    async fn ask_for_schema(&self) -> Result<(Vec<u8>, Arc<Schema>), Fault> {
        let lacks = |why: String| {
            let message = format!("{} does not tell its API schema: {why}", self.name);
            Fault::new(Kind::Unreachable, message).hint(format!(
                "a node serves it at {SCHEMA_PATH} (package pve-docs); a proxy before the node must let that through"
            ))
        };
        let document = self.pve.document(SCHEMA_PATH).await;
        let document = document.map_err(|error| lacks(crate::fault::explain(&error)))?;
        let schema = Schema::parse(&document).map_err(|error| lacks(error.to_string()))?;
        Ok((document, Arc::new(schema)))
    }

    /// Where the schema of this cluster in this version is kept.
    fn schema_file(&self, version: &Version) -> Option<PathBuf> {
        let plain = |text: &str| -> String {
            let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
            text.chars()
                .map(|c| if keep(c) { c } else { '_' })
                .collect()
        };
        let name = format!("{}_{}.js", plain(&self.name), plain(&version.text));
        Some(self.shelf.dir.as_ref()?.join(name))
    }
}

/// The schema in a file, if it can be read and is not older than that.
fn kept(file: &Path, within: Option<Duration>) -> Option<Arc<Schema>> {
    if let Some(within) = within {
        let written = fs::metadata(file).ok()?.modified().ok()?;
        // A file from the future was written by a clock that is wrong.
        let age = SystemTime::now().duration_since(written).ok()?;
        if age > within {
            return None;
        }
    }
    Schema::parse(&fs::read(file).ok()?).ok().map(Arc::new)
}

/// Writes it beside its place first: other processes see all of it or nothing.
fn keep(file: &Path, document: &[u8]) -> std::io::Result<()> {
    if let Some(dir) = file.parent() {
        create_private_dir(dir)?;
    }
    let draft = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&draft, document)?;
    fs::rename(&draft, file).inspect_err(|_| drop(fs::remove_file(&draft)))
}
