import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contrast, parseColour } from '../../src/pages/colour.ts';
import { defaultAccent, styleSheet } from '../../src/pages/style-sheet.ts';

/** The colours that the sheet defines for light (first) and dark (second) pages. */
function colourSets(sheet: string): readonly ReadonlyMap<string, string>[] {
  return [...sheet.matchAll(/:root \{\n((?: {2}--[\w-]+: #[\da-f]{6};\n)+)\}/g)].map(
    ([, block = '']) => new Map([...block.matchAll(/--([\w-]+): (#\w+);/g)].map(([, name = '', value = '']) => [name, value])),
  );
}

const words = 4.5;
const shapes = 3;

/** What stands on what somewhere on a page, and the contrast that WCAG 2.2 AA asks for (1.4.3, 1.4.11). */
const pairs: readonly (readonly [front: string, back: string, least: number])[] = [
  ...['ink', 'soft', 'accent-ink'].flatMap((front) =>
    ['surface', 'inset', 'page'].map((back) => [front, back, words] as const),
  ),
  ['alarm', 'surface', words],
  ['alarm', 'alarm-tint', words],
  ['ink', 'alarm-tint', words],
  ['on-accent', 'accent', words],
  ['on-accent', 'accent-hover', words],
  ['accent-ink', 'accent-tint', words],
  ['edge', 'surface', shapes],
  ['accent-edge', 'surface', shapes],
];

function tooFaint(accent: string): readonly string[] {
  return colourSets(styleSheet(accent)).flatMap((colours, index) =>
    pairs
      .filter(([front, back, least]) => {
        const [one, other] = [colours.get(front), colours.get(back)];
        assert.ok(one !== undefined && other !== undefined, `${front} and ${back} are defined`);
        return contrast(parseColour(one), parseColour(other)) < least;
      })
      .map(([front, back]) => `${index === 0 ? 'light' : 'dark'}: ${front} on ${back}`),
  );
}

test('the sheet defines a light and a dark set of colours', () => {
  assert.equal(colourSets(styleSheet(defaultAccent)).length, 2);
});

test('with the default accent everything is readable in light and dark', () => {
  assert.deepEqual(tooFaint(defaultAccent), []);
});

test('with any accent whatever everything is readable in light and dark', () => {
  const channel = fc.integer({ min: 0, max: 255 }).map((part) => part.toString(16).padStart(2, '0'));
  const anyAccent = fc.tuple(channel, channel, channel).map((parts) => `#${parts.join('')}`);
  fc.assert(
    fc.property(anyAccent, (accent) => {
      assert.deepEqual(tooFaint(accent), []);
    }),
    { numRuns: 200, examples: [['#ffffff'], ['#000000'], ['#808080'], ['#ffd500']] },
  );
});

test('an accent that is no colour is refused instead of written into the sheet', () => {
  assert.throws(() => styleSheet('red;}'), RangeError);
});

test('the sheet brings nothing in from elsewhere', () => {
  assert.doesNotMatch(styleSheet(defaultAccent), /url\(|@import|@font-face|https?:/i);
});

test('nothing moves for people who want no motion', () => {
  const [still = '', moving = ''] = styleSheet(defaultAccent).split('@media (prefers-reduced-motion: no-preference)');
  assert.doesNotMatch(still, /transition|animation/);
  assert.match(moving, /transition/);
});
