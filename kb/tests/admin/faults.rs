//! Every command with a faulty server.

use super::*;

#[test]
fn every_command_explains_a_wrong_key_and_an_old_schema() {
    let commands: [&[&str]; 9] = [
        &["list"],
        &["show", "a"],
        &["enable", "a"],
        &["disable", "a"],
        &["remove", "a", "--yes"],
        &["reembed"],
        &["watch"],
        &["retain"],
        &["worker-secret"],
    ];
    for command in commands {
        let fake = FakeServer::start(|_, _| json(401, "{}"));
        let output = kb(&fake.url, command);
        assert_eq!((output.code, output.out.as_str()), (1, ""), "{command:?}");
        assert!(output.err.contains("SUPABASE_SECRET_KEY"), "{command:?}: {}", output.err);
        let fake = FakeServer::start(|_, _| json(404, r#"{"code":"PGRST205","message":"no table"}"#));
        assert!(kb(&fake.url, command).err.contains("supabase db push --remote"), "{command:?}");
    }
}

#[test]
fn escape_sequences_in_responses_are_escaped() {
    let fake = FakeServer::start(|_, _| json(400, "{\"code\":\"x\",\"message\":\"\\u001b[2Jgone\\u009b\"}"));
    let output = kb(&fake.url, &["list"]);
    assert!(output.err.contains("\\u{1b}[2Jgone"), "{}", output.err);
}
