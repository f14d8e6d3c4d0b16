// What is wrong with what a page shows. The functions but the last run inside of the page.

// Texts of a drawing that cover each other or stick out of it, and drawings without marks.
export function chartProblems() {
  const overlaps = [], empty = [];
  for (const figure of document.querySelectorAll('figure')) {
    const title = figure.querySelector('h3').textContent, svg = figure.querySelector('svg');
    if (!svg) { empty.push(`"${title}" draws nothing`); continue; }
    const marks = [...svg.querySelectorAll('.shape, .way')].filter((mark) => { const box = mark.getBBox(); return box.width + box.height > 0; });
    const nothing = svg.textContent.includes('nothing to draw') || svg.textContent.includes('No row passes');
    if (!marks.length && !nothing) empty.push(`"${title}" has no marks`);
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((text) => ({text: text.firstChild ? text.firstChild.textContent : '', box: text.getBoundingClientRect()}))
      .filter(({text, box}) => text !== '' && box.width > 0);
    for (const {text, box} of texts) {
      if (box.left < frame.left - 1.5 || box.right > frame.right + 1.5 || box.top < frame.top - 1.5 || box.bottom > frame.bottom + 1.5) overlaps.push(`"${title}": "${text}" is cut`);
    }
    texts.sort((a, b) => a.box.left - b.box.left);
    for (let i = 0; i < texts.length; ++i) {
      const a = texts[i].box;
      for (let j = i + 1; j < texts.length && texts[j].box.left < a.right - 0.5; ++j) {
        const b = texts[j].box, high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // Boxes have the height of the font, letters are lower: two lines may share a few pixels of it.
        if (high > 0.35 * Math.min(a.height, b.height)) overlaps.push(`"${title}": "${texts[i].text}" and "${texts[j].text}" cover each other`);
      }
    }
  }
  return {overlaps, empty};
}

// The page never scrolls sideways; what is wide scrolls by itself.
export function overflow() {
  const page = document.documentElement;
  return page.scrollWidth > page.clientWidth + 1 ? [`the page is ${page.scrollWidth} pixels wide in a window of ${page.clientWidth}`] : [];
}

// Violations of the Web Content Accessibility Guidelines, levels A and AA, as axe-core finds them.
export async function accessibility(page, axe) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations']}));
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)}`));
}
