// The WordPress plugin, run by PHP with stand-ins for the functions of WordPress that it calls.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const PLUGIN = fileURLToPath(new URL("../../integrations/wordpress/evidence-chat.php", import.meta.url));
const skip = spawnSync("php", ["--version"]).status === 0 ? false : "platform: no PHP";

/** Reads `[settings, attributes]` and prints the element, the scripts and the settings as they are stored. */
const DRIVER = `<?php
define( 'ABSPATH', '/' );
$scripts = array();
function add_shortcode() {}
function add_action() {}
function add_filter( $name, $callback ) { global $filters; $filters[ $name ] = $callback; }
function is_multisite() { return (bool) getenv( 'MULTISITE' ); }
function esc_attr( $text ) { return htmlspecialchars( $text, ENT_QUOTES ); }
function esc_url_raw( $url, $schemes ) {
  return in_array( parse_url( $url, PHP_URL_SCHEME ), $schemes, true ) ? preg_replace( '/[^a-z0-9-~+_.?#=!&;,\\/:%@$|*\\'()\\[\\]]/i', '', $url ) : '';
}
function wp_parse_url( $url ) { return parse_url( $url ); }
function sanitize_text_field( $text ) { return trim( preg_replace( '/\\s+/', ' ', strip_tags( $text ) ) ); }
function shortcode_atts( $defaults, $given ) { return array_merge( $defaults, array_intersect_key( (array) $given, $defaults ) ); }
function wp_enqueue_script_module( $id, $src ) { global $scripts; $scripts[ $id ] = $src; }
function get_option( $name, $default ) { global $input; return $input[0] ?? $default; }
$input = json_decode( stream_get_contents( STDIN ), true );
require getenv( 'PLUGIN' );
$html = evidence_chat_shortcode( $input[1] );
echo json_encode( array( 'capability' => $filters['option_page_capability_evidence_chat'](), 'html' => $html, 'scripts' => $scripts, 'stored' => evidence_chat_sanitize( $input[0] ) ) );
`;

describe("the WordPress plugin", { skip }, () => {
  let folder;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "evidence-chat-wordpress-"));
    await writeFile(join(folder, "driver.php"), DRIVER);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const run = (settings, attributes = {}, env = {}) =>
    JSON.parse(
      execFileSync("php", [join(folder, "driver.php")], {
        input: JSON.stringify([settings, attributes]),
        env: { ...process.env, PLUGIN, ...env },
        encoding: "utf8",
      }),
    );

  const SCRIPT = "https://chat.example.com/evidence-chat.js";

  test("PHP accepts the file", () => {
    assert.match(execFileSync("php", ["-l", PLUGIN], { encoding: "utf8" }), /No syntax errors/);
  });

  test("the shortcode gives the element with the settings, which its own attributes replace, and the script", () => {
    const settings = { script: SCRIPT, heading: "Ask us", greeting: "", assistant: "shop" };
    assert.deepEqual(run(settings), {
      capability: "manage_options",
      html: '<evidence-chat heading="Ask us" assistant="shop"></evidence-chat>',
      scripts: { "evidence-chat": SCRIPT },
      stored: { script: SCRIPT, endpoint: "", heading: "Ask us", greeting: "", assistant: "shop" },
    });
    assert.equal(
      run(settings, { heading: "Other", mode: "floating", unknown: "x" }).html,
      '<evidence-chat heading="Other" assistant="shop" mode="floating"></evidence-chat>',
    );
  });

  test("the shortcode gives nothing without a script", () => {
    for (const settings of [{}, null, [], { script: "" }, { script: ["x"] }, { script: "javascript:alert(1)" }])
      assert.deepEqual([run(settings).html, run(settings).scripts], ["", []], JSON.stringify(settings));
  });

  test("a shortcode cannot choose the server that gets the visitors' tokens", () => {
    const given = { endpoint: "https://evil.example/api/chat", script: "https://evil.example/evidence-chat.js" };
    const { html, scripts } = run({ script: SCRIPT, endpoint: "https://chat.example.com/api/chat" }, given);
    assert.equal(html, '<evidence-chat endpoint="https://chat.example.com/api/chat"></evidence-chat>');
    assert.deepEqual(scripts, { "evidence-chat": SCRIPT });
    assert.equal(run({ script: SCRIPT }, given).html, "<evidence-chat></evidence-chat>");
  });

  test("on a network of sites, only its administrators may name the script", () => {
    assert.equal(run({}, {}, { MULTISITE: "1" }).capability, "manage_network_options");
  });

  test("values of the shortcode and of the settings cannot leave their attribute", () => {
    const hostile = '"><script>alert(1)</script><b x="';
    const { html } = run(
      { script: SCRIPT, heading: hostile },
      { greeting: hostile, mode: hostile, onclick: "alert(1)" },
    );
    assert.doesNotMatch(html.replace(/="[^"]*"/g, ""), /script|onclick|["']|<b/);
  });

  for (const [address, stored] of [
    ["https://chat.example.com/api/chat", "https://chat.example.com/api/chat"],
    ["http://localhost:8787/api/chat", "http://localhost:8787/api/chat"],
    ["http://chat.example.com/api/chat", ""],
    ["javascript:alert(1)", ""],
    ["//chat.example.com/api/chat", ""],
    ["data:text/javascript,alert(1)", ""],
  ]) {
    test(`the address ${address} is ${stored ? "kept" : "dropped"}`, () => {
      assert.equal(run({ script: address }).stored.script, stored);
      const { html } = run({ script: SCRIPT, endpoint: address });
      assert.equal(html, `<evidence-chat${stored ? ` endpoint="${stored}"` : ""}></evidence-chat>`);
    });
  }
});
