// Opens every page of a folder in Chromium at three widths and in both themes, uses it as people do, and looks at what
// was drawn. usage: node check.mjs MODULES FOLDER [--quick]     prints what it does; the last line is the figure
// FOLDER holds pairs: NAME.html, and NAME.other.json to compare it with. --quick: each width in one theme only, and at two of
// them what depends on the width.
import {readFileSync, readdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import {basename, join} from 'node:path';
import {accessibility, chartProblems, overflow} from './inspect.mjs';
import {usePage} from './interact.mjs';

const [modules, folder, quick] = process.argv.slice(2);
const require = createRequire(join(modules, 'node_modules', 'x.js'));
const {chromium} = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const kWidths = [390, 1024, 1600], kThemes = ['light', 'dark'];

const names = readdirSync(folder).filter((name) => name.endsWith('.html')).map((name) => basename(name, '.html')).sort();
const figure = {figure: 'pages_in_browser', page_types: 0, opened: 0, console_errors: 0, interactions: 0, accessibility_violations: 0, overlaps: 0};
const problems = [], types = new Set();
const browser = await chromium.launch({executablePath: process.env.TILEWRIGHT_CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu']});

async function open(name, width, theme) {
  const context = await browser.newContext({viewport: {width, height: 900}, colorScheme: theme, acceptDownloads: true});
  const page = await context.newPage(), where = `${name} at ${width} in ${theme}`;
  const complain = (text) => problems.push(`${where}: ${text}`);
  const fault = (text) => { ++figure.console_errors; complain(text); };
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) fault('console: ' + message.text()); });
  page.on('pageerror', (error) => fault('error: ' + error.message + '\n' + error.stack));
  page.on('request', (request) => { if (!/^(file|blob|data):/.test(request.url())) fault('asks for ' + request.url()); });
  await page.goto('file://' + join(folder, name + '.html'));
  ++figure.opened;
  types.add(await page.evaluate(() => JSON.parse(document.getElementById('tilewright-data').textContent).verb));
  const look = async (after) => {
    const found = await page.evaluate(chartProblems);
    for (const text of found.overlaps) { ++figure.overlaps; complain(`${after}: ${text}`); }
    for (const text of found.empty) complain(`${after}: ${text}`);
    for (const text of await page.evaluate(overflow)) complain(`${after}: ${text}`);
  };
  const check = async (after) => {
    for (const text of await accessibility(page, axe)) { ++figure.accessibility_violations; complain(`${after}: ${text}`); }
  };
  const full = !quick || width === 1024;
  await look('as opened');
  if (full) await check('as opened');
  figure.interactions += await usePage(page, join(folder, name + '.other.json'), {look, check, complain, full});
  await context.close();
}

// Two at a time: one draws while the other is inspected.
const work = names.flatMap((name) => kWidths.flatMap((width, at) => (quick ? [kThemes[at % 2]] : kThemes).map((theme) => [name, width, theme])));
const before = Date.now();
async function worker() {
  for (let job = work.shift(); job; job = work.shift()) {
    await open(...job).catch((error) => problems.push(`${job.join(' ')}: ${error.message}`));
  }
}
await Promise.all([worker(), worker()]);
await browser.close();
figure.page_types = types.size;
console.log(`${names.length} pages of ${[...types].sort().join(', ')}: ${figure.opened} opened in ${((Date.now() - before) / 1000).toFixed(1)} s`);
for (const text of problems) console.log('!! ' + text);
console.log(JSON.stringify(figure));
const wanted = ['explain', 'explore', 'generate', 'importance', 'map', 'place', 'report', 'tune'];
const missing = wanted.filter((verb) => !types.has(verb));
if (missing.length) console.error('no page of ' + missing.join(', '));
process.exit(problems.length || missing.length || figure.interactions === 0 ? 1 : 0);
