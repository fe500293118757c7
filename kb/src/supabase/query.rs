//! Builds requests to PostgREST.
//! <https://docs.postgrest.org/en/stable/references/api/tables_views.html>

use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use serde_json::Value;

/// A request that can be cloned and sent again.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(super) method: Method,
    /// Below `/rest/v1/`.
    pub(super) path: String,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) prefer: Vec<&'static str>,
    pub(super) body: Option<Bytes>,
    /// Maximum wait for the response.
    pub(super) timeout: Duration,
    /// The schema, if it is not the default of PostgREST.
    pub(super) schema: Option<&'static str>,
}

/// Default timeout of a request to the database.
const TIMEOUT: Duration = Duration::from_secs(60);

/// For functions that set their own limit, at most ten minutes. A request that ends earlier would be repeated while the database
/// still works on it.
const LONG_TIMEOUT: Duration = Duration::from_secs(620);

impl Query {
    /// Reads columns of a table or view, in the syntax of PostgREST.
    pub(crate) fn select(table: &str, columns: &str) -> Self {
        Self::new(Method::GET, table.to_owned(), None).with("select", columns)
    }

    /// Inserts rows, or replaces those with the same key.
    pub(crate) fn upsert(table: &str, key: &str, rows: &[Value]) -> Self {
        let mut query = Self::new(Method::POST, table.to_owned(), Some(Value::from(rows).to_string()));
        query.prefer = vec!["resolution=merge-duplicates", "return=minimal"];
        query.with("on_conflict", key)
    }

    /// Changes the rows that match the filters, and returns their `columns`.
    pub(crate) fn update(table: &str, changes: &Value, columns: &str) -> Self {
        let mut query = Self::new(Method::PATCH, table.to_owned(), Some(changes.to_string()));
        query.prefer = vec!["return=representation"];
        query.with("select", columns)
    }

    /// Deletes the rows that match the filters.
    pub(crate) fn delete(table: &str) -> Self {
        Self::new(Method::DELETE, table.to_owned(), None)
    }

    /// Calls a function with named arguments.
    pub(crate) fn call(function: &str, arguments: &Value) -> Self {
        Self::new(Method::POST, format!("rpc/{function}"), Some(arguments.to_string()))
    }

    /// Calls a function that sets its own `statement_timeout`.
    pub(crate) fn call_long(function: &str, arguments: &Value) -> Self {
        Self { timeout: LONG_TIMEOUT, ..Self::call(function, arguments) }
    }

    /// Filters by a column that equals the value.
    pub(crate) fn eq(self, column: &str, value: &str) -> Self {
        self.with(column, &format!("eq.{value}"))
    }

    /// Filters by a column that is greater than the value.
    pub(crate) fn gt(self, column: &str, value: &str) -> Self {
        self.with(column, &format!("gt.{value}"))
    }

    /// Filters by a column that equals one of the values.
    pub(crate) fn one_of(self, column: &str, values: impl IntoIterator<Item = impl ToString>) -> Self {
        let quoted = |value: String| format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
        let list: Vec<_> = values.into_iter().map(|value| quoted(value.to_string())).collect();
        self.with(column, &format!("in.({})", list.join(",")))
    }

    /// Sorts by `column.asc` or `column.desc`.
    pub(crate) fn order(self, order: &str) -> Self {
        self.with("order", order)
    }

    pub(crate) fn limit(self, rows: usize) -> Self {
        self.with("limit", &rows.to_string())
    }

    pub(crate) fn in_schema(self, schema: &'static str) -> Self {
        Self { schema: Some(schema), ..self }
    }

    fn new(method: Method, path: String, body: Option<String>) -> Self {
        let body = body.map(Bytes::from);
        let (parameters, prefer) = (Vec::new(), Vec::new());
        Self { method, path, parameters, prefer, body, timeout: TIMEOUT, schema: None }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.to_owned(), value.to_owned()));
        self
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_function_that_sets_its_own_limit_is_awaited_for_longer() {
        assert!(Query::call_long("f", &Value::Null).timeout > Duration::from_secs(10 * 60));
        let text_of = |folder| -> String {
            let files = fs::read_dir(format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
        };
        let (migrations, calls) = (text_of("../supabase/migrations"), text_of("src/knowledge_base"));
        let functions = migrations.split("create function public.").skip(1);
        let long: Vec<_> = functions
            .filter(|text| text.split("$$").next().unwrap().contains("set statement_timeout"))
            .map(|text| text.split('(').next().unwrap())
            .collect();
        assert!(long.contains(&"kb_set_enabled") && long.contains(&"kb_publish_document"), "{long:?}");
        for function in long {
            assert!(!calls.contains(&format!("Query::call(\"{function}\"")), "{function}");
        }
    }

    #[test]
    fn values_of_a_list_are_quoted_and_escaped() {
        let query = Query::call("f", &Value::Null).one_of("source", ["a,b", "c\")", "d\\"]);
        let list = r#"in.("a,b","c\")","d\\")"#;
        assert_eq!(query.parameters, [("source".to_owned(), list.to_owned())]);
    }
}
