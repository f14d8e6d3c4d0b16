// Uses a page as people do: sorts, filters, selects by mouse and keys, compares, switches colours, downloads. What does not
// do what it should is a complaint. Returns how much was done.
import {readFileSync} from 'node:fs';

export async function usePage(page, other, {look, check, complain, full}) {
  let done = 0;
  const act = async (what, action) => {
    ++done;
    try {
      await action();
    } catch (error) {
      complain(`${what}: ${error.message.split('\n')[0]}`);
    }
  };
  const expect = (condition, text) => { if (!condition) throw new Error(text); };
  if (full) await useTables(page, act, expect);
  await act('select a row', async () => {
    const button = page.locator('button.row').first(), name = await button.textContent();
    await button.click();
    expect(await page.locator('#details').isVisible(), 'no details are shown');
    expect((await page.locator('#details h2').textContent()) === name, 'the details are of another row');
    expect(await page.locator('tr.is-chosen').count() > 0, 'the row is not marked');
    expect(await page.locator('svg .is-chosen').count() > 0, `'${name}' is marked in no chart`);
  });
  if (full) await check('with a row selected');
  await look('with a row selected');
  await act('escape', async () => {
    await page.keyboard.press('Escape');
    expect(!(await page.locator('#details').isVisible()), 'the details stay');
    expect(await page.locator('.is-chosen').count() === 0, 'something stays selected');
  });

  if (full) await useCharts(page, act, expect, look);
  await act('download the data', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'Download the data as JSON'}).click()]);
    expect(JSON.parse(readFileSync(await download.path(), 'utf8')).format === 'tilewright page 1', 'it is no report');
  });

  await act('compare', async () => {
    await page.setInputFiles('#other-file', other);
    await page.locator('#comparison b').waitFor();
    expect(await page.locator('.delta').count() > 0, 'no difference is shown');
  });
  await look('compared');
  if (full) await check('compared');
  await act('only what differs', async () => {
    await page.locator('#only-different').check();
    expect(await page.locator('#only-different').isChecked(), 'the box is not checked');
    await look('only what differs');
    await page.getByRole('button', {name: 'Stop comparing'}).click();
    expect(await page.locator('.delta').count() === 0, 'differences stay');
  });
  await act('compare with something else', async () => {
    await page.setInputFiles('#other-file', {name: 'notes.json', mimeType: 'application/json', buffer: Buffer.from('{"a": 1}')});
    await page.locator('#problem').waitFor();
    expect((await page.locator('#problem').textContent()).includes('notes.json'), 'the message does not name the file');
  });
  await act('switch colours', async () => {
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme), before = await theme();
    await page.locator('#theme').click();
    expect(await theme() !== before, 'the colours stay');
    if (full) await check('in the other colours');
    await page.locator('#theme').click();
  });
  if (full) await act('reach everything by keys', () => tabThrough(page, expect));
  if (full) await act('inside of a frame', () => inFrame(page, expect));
  return done;
}

async function useTables(page, act, expect) {
  const tables = await page.locator('.table').count();
  for (let t = 0; t < tables; ++t) {
    const table = page.locator('.table').nth(t);
    await act(`table ${t + 1}: sort`, () => sortColumns(table, expect));
    await act(`table ${t + 1}: filter`, () => filterTable(table, expect));
  }
}

async function useCharts(page, act, expect, look) {
  const charts = await page.locator('figure').count();
  for (let c = 0; c < charts; ++c) {
    const figure = page.locator('figure').nth(c), marks = figure.locator('.mark');
    if (await marks.count() === 0) continue;
    await act(`chart ${c + 1}: keys`, () => walkMarks(page, figure, expect));
    if (await figure.getByRole('button', {name: /^Zoom into/}).count()) {
      await act(`chart ${c + 1}: zoom`, async () => {
        const wide = async () => Number(await figure.locator('svg').getAttribute('width')), before = await wide();
        await figure.getByRole('button', {name: /^Zoom into/}).click();
        expect(await wide() > 1.5 * before, 'the drawing is no wider');
        await look('zoomed');
        await figure.getByRole('button', {name: /^Zoom out/}).click();
        expect(await wide() === before, 'zooming out does not undo it');
      });
    }
    await act(`chart ${c + 1}: download`, () => downloadSvg(page, figure, expect));
  }
}

async function sortColumns(table, expect) {
  const columns = await table.locator('thead button').count();
  for (let c = 0; c < columns; ++c) {
    const values = () => table.locator('table').evaluate((element, at) => [...element.querySelectorAll('tbody tr')].filter((row) => row.item)
      .map((row) => row.item.values[row.item.section.column.get(element.querySelectorAll('thead button')[at].dataset.column).at]), c);
    await table.locator('thead button').nth(c).click();
    const order = await table.locator('thead th').nth(c).getAttribute('aria-sort');
    expect(['ascending', 'descending'].includes(order), 'the heading does not say that the table is sorted');
    const numbers = (await values()).filter((value) => typeof value === 'number');
    const sign = order === 'ascending' ? 1 : -1;
    expect(numbers.every((value, at) => at === 0 || sign * (value - numbers[at - 1]) >= 0), `column ${c + 1} is not sorted`);
  }
}

async function filterTable(table, expect) {
  const rows = () => table.locator('tbody tr').count(), all = await rows(), input = table.locator('input');
  const name = await table.locator('button.row').first().textContent();
  await input.fill('"' + name + '"');
  const some = await rows();
  expect(some >= 1 && some <= all, 'its own name leaves no row');
  await input.fill('nothing-has-this-name');
  expect(await rows() === 0, 'a name that nothing has leaves rows');
  expect((await table.locator('.count').textContent()).startsWith('0 of'), 'the count is wrong');
  await input.fill('');
  expect(await rows() === all, 'rows stay away');
}

// Focus enters at one mark; arrows go on, Enter selects.
async function walkMarks(page, figure, expect) {
  expect(await figure.locator('.mark[tabindex="0"]').count() === 1, 'not exactly one mark is in the order of keys');
  await figure.locator('.mark[tabindex="0"]').focus();
  const label = () => page.evaluate(() => document.activeElement.getAttribute('aria-label')), first = await label();
  expect(first, 'the mark has no name');
  if (await figure.locator('.mark').count() > 1) {
    await page.keyboard.press('ArrowRight');
    const at = await page.evaluate(() => [...document.activeElement.closest('svg').querySelectorAll('.mark')].indexOf(document.activeElement));
    expect(at >= 0, 'an arrow leaves the chart');
    await page.keyboard.press('Home');
  }
  await page.keyboard.press('Enter');
  expect(await page.locator('#details').isVisible(), 'Enter selects nothing');
  await page.keyboard.press('Escape');
}

async function downloadSvg(page, figure, expect) {
  const [download] = await Promise.all([page.waitForEvent('download'), figure.getByRole('button', {name: /^Download/}).click()]);
  const text = readFileSync(await download.path(), 'utf8');
  const wrong = await page.evaluate((svg) => new DOMParser().parseFromString(svg, 'image/svg+xml').querySelector('parsererror')?.textContent, text);
  expect(!wrong && text.includes('<svg') && !text.includes('var(--'), `the file is no drawing of its own: ${wrong || 'it needs the page'}`);
}

// Every button, field and scrolling table takes the focus in turn, each visibly.
async function tabThrough(page, expect) {
  const wanted = await page.evaluate(() => [...document.querySelectorAll('button, input, a[href], [tabindex="0"]')]
    .filter((one) => one.tabIndex >= 0 && one.getClientRects().length > 0).length);
  await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); window.reached = new Set(); addEventListener('focusin', (event) => window.reached.add(event.target)); });
  const steps = Math.min(wanted, 400);
  for (let step = 0; step < steps; ++step) await page.keyboard.press('Tab');
  const reached = await page.evaluate(() => window.reached.size);
  expect(reached >= steps - 2, `${reached} of ${steps} elements take the focus`);
  const outlined = await page.evaluate(() => { const style = getComputedStyle(document.activeElement); return style.outlineStyle !== 'none' || document.activeElement.closest('svg') !== null; });
  expect(outlined, 'the focus is not visible');
}

// As a notebook shows it.
async function inFrame(page, expect) {
  const frame = await page.context().newPage();
  await frame.setContent('<!DOCTYPE html><html lang="en"><title>notebook</title><iframe style="width:100%;height:800px"></iframe></html>');
  const html = readFileSync(new URL(page.url()), 'utf8');
  await frame.evaluate((text) => { document.querySelector('iframe').srcdoc = text; }, html);
  await frame.frameLocator('iframe').locator('figure svg .mark').first().waitFor({timeout: 10000});
  await frame.close();
}
