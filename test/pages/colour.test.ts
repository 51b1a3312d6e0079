import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrast, formatColour, paletteFor, parseColour } from '../../src/pages/colour.ts';
import type { Colour } from '../../src/pages/colour.ts';

const paper: readonly [Colour, ...Colour[]] = [parseColour('#ffffff'), parseColour('#eff2f1')];
const night: readonly [Colour, ...Colour[]] = [parseColour('#1b1f1e'), parseColour('#121514')];

test('colours are read from three or six digits', () => {
  assert.deepEqual(parseColour('#2F6f4f'), [47, 111, 79]);
  assert.deepEqual(parseColour('#0af'), [0, 170, 255]);
  assert.equal(formatColour([0, 170, 255]), '#00aaff');
});

for (const wrong of ['', 'green', '2f6f4f', '#2f6f4', '#2f6f4fff', '#fff;}body{x:y', '#ggg', '#fff\n']) {
  test(`${JSON.stringify(wrong)} is not taken for a colour`, () => {
    assert.throws(() => parseColour(wrong), RangeError);
  });
}

test('contrast is the ratio of WCAG 2.2', () => {
  assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21);
  assert.equal(contrast([1, 2, 3], [1, 2, 3]), 1);
  assert.equal(contrast(parseColour('#777'), parseColour('#fff')).toFixed(2), '4.48');
});

test('words on a dark accent are white, on a light one black', () => {
  assert.equal(paletteFor(parseColour('#2f6f4f'), paper).onAccent, '#ffffff');
  assert.equal(paletteFor(parseColour('#ffd500'), paper).onAccent, '#000000');
});

test('an accent that reads on the page is used as it is', () => {
  const { accent, accentInk, accentEdge } = paletteFor(parseColour('#2f6f4f'), paper);
  assert.deepEqual({ accent, accentInk, accentEdge }, { accent: '#2f6f4f', accentInk: '#2f6f4f', accentEdge: '#2f6f4f' });
});

test('an accent too light for paper fills buttons unchanged and is darkened for words', () => {
  const { accent, accentInk } = paletteFor(parseColour('#ffd500'), paper);
  assert.deepEqual({ accent, accentInk }, { accent: '#ffd500', accentInk: '#806b00' });
});

test('an accent too dark for the night is lightened for words', () => {
  assert.equal(paletteFor(parseColour('#000000'), night).accentInk, '#858585');
});
