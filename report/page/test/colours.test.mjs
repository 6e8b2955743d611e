// Colours that stand beside each other in charts are told apart by people who see no green or no red.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const CSS = readFileSync(join(import.meta.dirname, '../src/style/base.css'), 'utf8');
/** Machado, Oliveira and Fernandes 2009, severity 1; on linear light. */
const SEEN = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  'without green': [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  'without red': [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
};
/** Those of the overview and of causes; 5 and 7 are of names, which are written beside them. */
const TOGETHER = [0, 1, 2, 3, 4, 6, 8, 9, 10, 11];
/** Of OKLab's distance: black and white are 1 apart. */
const LEAST = 0.09;

const linear = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
const through = (matrix, colour) => matrix.map((row) => Math.min(1, Math.max(0, row.reduce((sum, part, at) => sum + part * colour[at], 0))));
function oklab([r, g, b]) {
  const [l, m, s] = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]].map(([x, y, z]) => Math.cbrt(x * r + y * g + z * b));
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}
const apart = (a, b) => Math.hypot(...a.map((value, at) => value - b[at]));
const palettes = [...CSS.matchAll(/--c0:[^\n]*/g)].map(([line]) => [...line.matchAll(/--c(\d+): (#[0-9a-f]{6});/g)].map(([, , colour]) => colour));

test('the palettes are one of light and one of dark', () => {
  assert.equal(palettes.length, 3);
  for (const palette of palettes) assert.equal(palette.length, 12);
  assert.deepEqual(palettes[1], palettes[2]);
});

for (const [name, matrix] of Object.entries(SEEN)) {
  test(`colours are told apart by who sees ${name}`, () => {
    for (const palette of palettes.slice(0, 2)) {
      const seen = palette.map((colour) => oklab(through(matrix, linear(colour))));
      for (const a of TOGETHER) for (const b of TOGETHER) if (a < b) assert.ok(apart(seen[a], seen[b]) >= LEAST, `--c${a} ${palette[a]} and --c${b} ${palette[b]}: ${apart(seen[a], seen[b]).toFixed(3)}`);
    }
  });
}
