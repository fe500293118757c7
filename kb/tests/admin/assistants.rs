//! `kb assistants`.

use super::*;

#[test]
fn assistants_are_listed_with_what_they_search_and_for_whom() {
    let rows = value!([
        { "name": "default", "enabled": true, "title": null, "collections": null, "audience": null },
        { "name": "staff", "enabled": false, "title": "Staff\u{1b}[2J", "collections": ["handbook", "faq"],
          "audience": ["team:staff"] },
    ]);
    let list = |arguments: &[&str]| kb(&table("GET /rest/v1/assistants", rows.clone()).url, arguments);
    let output = list(&["assistants"]).out;
    let lines: Vec<Vec<_>> = output.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["default", "enabled", "signed-in", "users", "all"], "{output}");
    assert_eq!(lines[2], ["staff", "disabled", "team:staff", "handbook,", "faq"], "{output}");
    assert_eq!(list(&["assistants", "--json"]).json(), rows);
}
