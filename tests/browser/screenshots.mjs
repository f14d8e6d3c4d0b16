// Pictures of every page in a folder. usage: node screenshots.mjs MODULES PAGES FOLDER
import {readdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import {basename, join} from 'node:path';

const [modules, pages, folder] = process.argv.slice(2);
const {chromium} = createRequire(join(modules, 'node_modules', 'x.js'))('playwright-core');
const browser = await chromium.launch({executablePath: process.env.TILEWRIGHT_CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu']});

async function shoot(name, file, width, height, theme, {use = async () => {}, fullPage = true} = {}) {
  const page = await browser.newPage({viewport: {width, height}, colorScheme: theme, deviceScaleFactor: fullPage ? 1 : 1.5});
  await page.goto('file://' + join(pages, name + '.html'));
  await use(page);
  await page.screenshot({path: join(folder, file), fullPage});
  await page.close();
  console.log(join(folder, file));
}
for (const name of readdirSync(pages).filter((file) => file.endsWith('.html')).map((file) => basename(file, '.html')).sort()) {
  await shoot(name, `${name}-1440-light.png`, 1440, 900, 'light');
  await shoot(name, `${name}-390-dark.png`, 390, 844, 'dark');
}
// A layer selected in roofline, time line, bars and table at once.
await shoot('explain', 'README.png', 1200, 940, 'light', {fullPage: false, use: async (page) => {
  await page.locator('button.row').nth(3).click();
  await page.evaluate(() => document.querySelector('main h2').scrollIntoView());
  await page.evaluate(() => scrollBy(0, -24));
}});
await browser.close();
