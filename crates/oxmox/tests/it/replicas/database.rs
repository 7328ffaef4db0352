//! A schema of a test's own on a real PostgreSQL. Gone with it.

use postgres::{Client, NoTls};

pub(super) struct Database {
    admin: String,
    schema: String,
}

impl Database {
    /// `None` where there is no PostgreSQL.
    pub(super) async fn new(test: &str) -> Option<Self> {
        let Ok(admin) = std::env::var("OXMOX_TEST_POSTGRES") else {
            eprintln!("skipped: {test} needs OXMOX_TEST_POSTGRES");
            return None;
        };
        let schema = format!("{test}_{}", std::process::id());
        let database = Self { admin, schema };
        let (admin, sql) = (
            database.admin.clone(),
            format!("CREATE SCHEMA {}", database.schema),
        );
        let make = move || run(&admin, &sql);
        tokio::task::spawn_blocking(make).await.unwrap();
        Some(database)
    }

    /// Where it is, with the password.
    pub(super) fn url(&self) -> String {
        format!("{}?options=-csearch_path%3D{}", self.admin, self.schema)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (admin, sql) = (
            self.admin.clone(),
            format!("DROP SCHEMA {} CASCADE", self.schema),
        );
        std::thread::spawn(move || run(&admin, &sql))
            .join()
            .unwrap();
    }
}

fn run(admin: &str, sql: &str) {
    let mut client = Client::connect(admin, NoTls).unwrap();
    client.batch_execute(sql).unwrap();
}
