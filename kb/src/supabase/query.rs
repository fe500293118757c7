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

    /// Replaces the default timeout.
    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
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
    use super::*;

    #[test]
    fn values_of_a_list_are_quoted_and_escaped() {
        let query = Query::call("f", &Value::Null).one_of("source", ["a,b", "c\")", "d\\"]);
        let list = r#"in.("a,b","c\")","d\\")"#;
        assert_eq!(query.parameters, [("source".to_owned(), list.to_owned())]);
    }
}
