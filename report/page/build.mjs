// Builds dist/page.html and dist/LICENSES.txt. The same sources give the same bytes in any folder.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { deflateRaw } from 'pako';

const root = dirname(fileURLToPath(import.meta.url));
const out = join(root, process.argv[2] ?? 'dist');

const script = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['chrome110', 'firefox115', 'safari16.4'],
  charset: 'ascii',
  legalComments: 'none',
  metafile: true,
  write: false,
});
const loader = await build({
  absWorkingDir: root,
  entryPoints: ['src/loader.ts'],
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2015'],
  charset: 'ascii',
  write: false,
});
const style = await build({
  absWorkingDir: root,
  entryPoints: ['src/style.css'],
  bundle: true,
  minify: true,
  charset: 'ascii',
  legalComments: 'none',
  metafile: true,
  write: false,
});

const js = script.outputFiles[0].text.trimEnd();
const css = style.outputFiles[0].text.trimEnd();
const load = loader.outputFiles[0].text.trimEnd();
if (/<\/?script|<!--/i.test(load)) throw new Error('the loader holds a tag or a marker');
if (css.includes('\0')) throw new Error('the style holds a NUL, which ends it');
// zlib of Node packs differently on other processors.
const packed = Buffer.from(deflateRaw(`${css}\0${js}`, { level: 9 })).toString('base64');

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(load)} ${hash(js)}`,
  `style-src ${hash(css)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types lit-html oplens',
].join('; ');

// Functions as replacements: '$' has no meaning in what they return.
const page = readFileSync(join(root, 'src/page.html'), 'utf8')
  .replace('{{policy}}', () => policy)
  .replace('{{packed}}', () => packed)
  .replace('{{loader}}', () => load);
for (const marker of ['<!--oplens:title-->', '<!--oplens:data-->']) {
  if (page.split(marker).length !== 2) throw new Error(`${marker} must be in the page once`);
}

/** The packages whose code or style is in the page, with their licences. */
function licences() {
  const inputs = [...Object.keys(script.metafile.inputs), ...Object.keys(style.metafile.inputs)];
  const names = new Set();
  for (const input of inputs) {
    const parts = input.split('node_modules/');
    if (parts.length < 2) continue;
    const words = parts[parts.length - 1].split('/');
    names.add(words[0].startsWith('@') ? `${words[0]}/${words[1]}` : words[0]);
  }
  return [...names].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).sort().find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    const text = readFileSync(join(folder, file), 'utf8').replace(/\r\n/g, '\n').trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
}

mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'page.html'), page);
const rule = `\n${'-'.repeat(80)}\n\n`;
writeFileSync(join(out, 'LICENSES.txt'),
  `Libraries whose code is in page.html.\n\n${licences().join(rule)}`);
console.log(`page.html ${Buffer.byteLength(page)} bytes: script ${js.length}, style ${css.length}, both packed ${packed.length}, loader ${load.length}`);
