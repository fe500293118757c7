import eslint from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/** Every linted file belongs to one of these; the first that contains it is used. */
const PROJECTS = [
  "web/tsconfig.json",
  "embedder-wasm/npm/tsconfig.json",
  "writer/npm/tsconfig.json",
  "tsconfig.js.json",
  "tests/tsconfig.json",
];

export default defineConfig(
  {
    ignores: [
      "edge-chat/assets/**",
      "edge-chat/build/**",
      "**/dist/**",
      "**/target/**",
      "**/wasm/**",
      "supabase/.local/**",
      // In no TypeScript project yet.
      "examples/**",
      "integrations/docusaurus/src/theme/**",
      "integrations/vitepress/src/theme.js",
      "integrations/*/src/*.d.ts",
    ],
  },
  eslint.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { project: PROJECTS, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: "error",
      // TypeScript reports names that do not exist.
      "no-undef": "off",
      // `const { left_out, ...rest }` is how a property is left out.
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      // The reason of an AbortSignal is passed on unchanged.
      "@typescript-eslint/prefer-promise-reject-errors": [
        "error",
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      // Interfaces declare callbacks as methods, and their users destructure them.
      "@typescript-eslint/unbound-method": "off",
    },
  },
  {
    files: ["web/src/**/*.ts"],
    ignores: ["web/src/lazy-import.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: "ImportExpression:not(CallExpression[callee.name='lazyImport'] ImportExpression)",
          message: "Import with lazyImport: Firefox remembers that a module could not be loaded.",
        },
      ],
    },
  },
  {
    files: ["{web,embedder-wasm/npm,writer/npm}/src/**/*.ts"],
    rules: {
      // TypeScript's types do not say which browser has these.
      "no-restricted-properties": [
        "error",
        ...[
          ["AbortSignal", "any"],
          ["Intl", "Segmenter"],
          ["Response", "json"],
          ["URL", "canParse"],
          ["URL", "parse"],
        ].map(([object, property]) => ({
          object,
          property,
          message: "Chrome 103, Firefox 114 or Safari 16.4 lacks it.",
        })),
      ],
    },
  },
  {
    files: ["**/*.mjs", "integrations/*/src/*.js"],
    rules: {
      // node:test awaits the tests of a file itself.
      "@typescript-eslint/no-floating-promises": [
        "error",
        { allowForKnownSafeCalls: [{ from: "package", package: "node:test", name: ["describe", "test"] }] },
      ],
      // Rows of the database, JSON bodies and test fixtures are `any`, see tsconfig.js.json.
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      // A stub is `async` because the function it replaces is.
      "@typescript-eslint/require-await": "off",
    },
  },
);
