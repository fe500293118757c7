// The text of files that a new project gets.

/** It gets the password of the database, so it is pinned. From version 3 on, it changes a hosted database only with `--remote`. */
const SUPABASE = "supabase@3.1.0";
/** It sees the tokens of users. */
const SUPABASE_JS =
  '<script src="https://cdn.jsdelivr.net/npm/@supabase/supabase-js@2.119.1/dist/umd/supabase.js" integrity="sha384-2DeuFKyqIlpZfFmj+jl/+IbM3DwDM4vGKsvK0fI32E0ZDt24W33hB6pka4RAdbz2" crossorigin="anonymous"></script>';

/** @param {Record<string, string>} answers @param {Record<string, string>} versions */
export function packageJson({ name, documents }, versions) {
  const folder = documents.includes(" ") ? `"${documents}"` : documents;
  return `${JSON.stringify(
    {
      name,
      private: true,
      type: "module",
      engines: { node: ">=22.12" },
      scripts: {
        schema: "supabase db push --remote --include-seed",
        kb: "node --env-file-if-exists=.env node_modules/evidence-chat/bin.mjs kb",
        sync: `npm run --silent kb -- sync ${folder}`,
        deploy: "evidence-chat deploy",
        "worker-secret": "npm run --silent kb -- worker-secret | wrangler secret put CHAT_WORKER_SECRET",
      },
      devDependencies: { ...versions, supabase: SUPABASE.split("@")[1] },
    },
    null,
    2,
  )}\n`;
}

/** Without settings of sign-in: `supabase config push` would change those of the hosted project. */
export function supabaseConfig(/** @type {Record<string, string>} */ { name }) {
  return `# For the Supabase CLI, which creates the tables (\`npm run schema\`). All other settings are in the dashboard.
project_id = "${name}"

[db]
major_version = 17

[db.seed]
enabled = true
sql_paths = ["./seed.sql"]
`;
}

export function gitignore() {
  return "node_modules/\n.env\n.dev.vars\n.evidence-chat/\n.evidence-chat.partial/\n.wrangler/\nsupabase/.temp/\n";
}

/** @param {Record<string, string>} answers */
export function tag(answers) {
  const isAnonymous = answers.visitors === "anonymous";
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>${answers.name}</title>
    <!-- Copy these lines into your pages. Replace chat.example.com with the address that \`npm run deploy\` prints. -->
    <script type="module" src="https://chat.example.com/evidence-chat.js"></script>
  </head>
  <body>
    <evidence-chat mode="floating"></evidence-chat>
${isAnonymous ? "" : signedIn(answers)}  </body>
</html>
`;
}

function signedIn(answers) {
  return `    ${SUPABASE_JS}
    <script type="module">
      // Your site signs its users in with Supabase; this gives the chat the token of the user.
      const { auth } = globalThis.supabase.createClient("${answers["supabase-url"]}", "${answers["supabase-key"]}");
      document.querySelector("evidence-chat").tokenProvider = async () => {
        const { data, error } = await auth.getSession();
        if (error) throw error;
        return data.session?.access_token ?? null;
      };
    </script>
`;
}

/** @param {Record<string, string>} answers */
export function readme(answers) {
  return `# ${answers.name}

A chat that answers from the documents, with sources: [Evidence Chat](https://github.com/evidence-chat/evidence-chat).

${stepList(answers)}

Later: \`npm run sync\` after each change of the documents, \`npm run kb -- doctor\` to check, \`npm run deploy\` after a change of
\`wrangler.toml\` or an update of the packages.
`;
}

/** The steps from this folder to the first answer. @param {Record<string, string>} answers */
export function stepList(answers) {
  const steps = [
    "`npm install`",
    `Log in to Supabase and choose the project: \`npx ${SUPABASE} login\`, then \`npx ${SUPABASE} link --project-ref ${projectRef(answers)}\`. ` +
      "The second asks for the database's password.",
    "Create the tables: `npm run schema`",
    "Put the secret key (Project Settings → API Keys) into `.env`. It stays on this computer.",
    `Fill the knowledge base from \`${answers.documents}\`: \`npm run sync\``,
    "Log in to Cloudflare: `npx wrangler login`. Then deploy: `npm run deploy`",
    "Let the database recognise the Worker: `npm run worker-secret`",
    "Copy the tag from `index.html` into your pages, with the address that step 6 printed.",
  ];
  if (answers.visitors === "anonymous") {
    steps.push(
      "In the Supabase dashboard, turn on anonymous sign-ins (Authentication → Sign In / Providers), and in the table " +
        '`chat_settings` set `default_audience` to `["role:authenticated"]`: until then, anonymous visitors see no documents.',
      "Protect sign-ins: create a Turnstile widget at Cloudflare, put its secret key into the dashboard (Authentication → " +
        "Attack Protection) and its site key into `wrangler.toml` as `CHAT_TURNSTILE_SITE_KEY`, and deploy again.",
    );
  }
  return steps.map((step, index) => `${index + 1}. ${step}`).join("\n");
}

function projectRef(answers) {
  return /^https:\/\/([a-z0-9]+)\.supabase\.co$/.exec(answers["supabase-url"])?.[1] ?? "YOUR-REF";
}

export function exampleDocument() {
  return `# About this chat

This chat answers questions about the documents of this site. It answers only with sentences that are in the documents, and shows
where each of them is from.

If the documents do not answer a question, the chat says so instead of guessing.

Replace this file with documents of your own: Markdown, HTML, PDF, Word, CSV and plain text can be read.
`;
}
