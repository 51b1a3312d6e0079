/**
 * What the compiler cannot see: promises nobody waits for, values of unknown shape, the process touched from inside.
 * Layout is not checked here; import rules and size budgets are in test/structure.test.ts.
 */
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const namedExportsOnly = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name, so that every file calls it the same.',
};

const processIsAtTheEdge = 'Only src/main.ts touches the process; take what is needed as an argument.';

export default defineConfig(
  globalIgnores(['dist/', 'coverage/', 'data/', 'screenshots/', '.bench/']),
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-restricted-syntax': ['error', namedExportsOnly],
      eqeqeq: 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Text is taken apart by code points here, which is what spreading does.
      '@typescript-eslint/no-misused-spread': ['error', { allow: [{ from: 'lib', name: 'string' }] }],
      '@typescript-eslint/no-invalid-void-type': 'off',
      // Ports are made by functions and have no `this` to lose.
      '@typescript-eslint/unbound-method': 'off',
      // Two packages mark as deprecated what is meant to stand out, not what will go away.
      '@typescript-eslint/no-deprecated': 'off',
      // An async function without await still turns what it throws into a rejection, which ports promise.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['test', 'it', 'describe', 'suite', 'before', 'after'] },
          ],
        },
      ],
    },
  },
  {
    // A test may ask more carefully than the types demand: it reads what came over a wire.
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: { '@typescript-eslint/no-unnecessary-condition': 'off' },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/main.ts'],
    rules: {
      'no-restricted-globals': ['error', { name: 'process', message: processIsAtTheEdge }],
      'no-restricted-imports': [
        'error',
        { paths: ['process', 'node:process'].map((name) => ({ name, message: processIsAtTheEdge })) },
      ],
      'no-console': 'error',
    },
  },
);
