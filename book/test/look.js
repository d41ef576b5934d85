// Looks at each framed page and leaves its findings as the page's text: lines of GOOD, or BAD and what is wrong.
'use strict';

const findings = [];
const theme = location.search.slice(1);

function find(good, words) {
  findings.push(good ? 'GOOD' : 'BAD ' + words);
}

function longest(code) {
  return code.textContent.split('\n').reduce((a, b) => b.length > a.length ? b : a).trim();
}

function widths(page, where) {
  const root = page.documentElement;
  find(root.scrollWidth <= root.clientWidth, where + ': scrolls sideways, ' + root.scrollWidth + ' pixels');
  const stuck = [...page.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 &&
    getComputedStyle(e).overflowX === 'auto' && e.tabIndex < 0 && e.clientWidth);
  find(!stuck.length, where + ': the keyboard cannot scroll ' + (stuck[0] || root).outerHTML.slice(0, 60));
  const code = [...page.querySelectorAll('pre:not(.terminal)')].filter(e => e.scrollWidth > e.clientWidth);
  find(root.clientWidth < 1000 || !code.length, where + ': wider than the page: ' + code.map(longest));
  const bar = page.querySelector('.bar');
  find(bar.offsetHeight < 60, where + ': the bar at the top is ' + bar.offsetHeight + ' pixels high');
}

function themed(page, where) {
  const paper = getComputedStyle(page.documentElement).backgroundColor.match(/\d+/g).map(Number);
  find((paper[0] < 128) === (theme === 'dark'), where + ': its paper is rgb(' + paper + ')');
}

function quiz(page, where) {
  for (const question of page.querySelectorAll('.question')) {
    const explanation = question.querySelector('.explanation');
    const shown = () => getComputedStyle(explanation).display !== 'none';
    const before = shown();
    const wrong = question.querySelector('.wrong'), right = question.querySelectorAll('.right');
    if (wrong) wrong.click();
    const misled = shown() && wrong.type === 'radio';
    if (wrong && wrong.type === 'checkbox') wrong.click();
    for (const option of right) option.click();
    find(!before && !misled && shown(),
      where + ', ' + question.querySelector('legend').textContent + ': explains at the wrong time');
  }
}

// What the page's own script adds: it remembers.
function memory(page, where, frame) {
  if (!page.querySelector('.question')) return;
  const kept = frame.contentWindow.localStorage.getItem('warpwise ' + frame.getAttribute('src').slice(6));
  find(/"q1-\d+":true/.test(kept), where + ': does not remember the answers');
}

async function barriers(page, where, frame) {
  const script = page.createElement('script');
  script.src = '../axe.js';
  const there = new Promise(resolve => { script.onload = () => resolve(true); script.onerror = () => resolve(false); });
  page.head.append(script);
  if (!await there) return;
  const rules = theme === 'dark' ? { runOnly: ['color-contrast'] } : {};
  const { violations } = await frame.contentWindow.axe.run(page, { resultTypes: ['violations'], ...rules });
  find(!violations.length, where + ': ' + violations.map(v => v.id + ' (' + v.help + '): ' +
    v.nodes.slice(0, 3).map(n => n.html.slice(0, 80)).join(' and ').replace(/\s+/g, ' ')).join('; '));
}

addEventListener('load', async () => {
  for (const frame of document.querySelectorAll('iframe')) {
    const scripts = !frame.hasAttribute('sandbox'), page = frame.contentDocument;
    const where = frame.getAttribute('src').slice(6) + ' at ' + frame.width + (scripts ? '' : ' with no scripts');
    widths(page, where);
    themed(page, where);
    quiz(page, where);
    if (scripts) memory(page, where, frame);
    // It takes seconds a page: each is looked at narrow and light, and its colours wide and dark.
    if (scripts && (theme === 'light') === (frame.width === '390')) await barriers(page, where, frame);
  }
  document.body.textContent = '\n' + findings.join('\n') + '\nDONE\n';
});
