// Opens reports in Chromium, from the disk, as a reader would: no console message, no request beside the file itself, every
// figure there and drawn inside its frame, telephone width, dark, without scripts; and with hostile names, which run nothing.
//
// usage: node open-report.mjs PROGRAM [FOLDER [WORDS]]    FOLDER: screenshots go there (default, or -: none are taken); WORDS:
// tests with these words in their name alone
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const program = resolve(process.argv[2] ?? 'build/sock');
const pictures = process.argv[3] && process.argv[3] !== '-' ? resolve(process.argv[3]) : null, only = process.argv[4] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'sock-browser-'));
const HOSTILE = ['<script>window.pwned=1</script>', '"><img src=x onerror="window.pwned=2">', '</script><script>window.pwned=3</script>',
  "' onload='window.pwned=4", ']]></style><svg onload=window.pwned=5>', '-->{{7*7}}${7*7}`'];
const CHAPTERS = {
  gbm: ['fields', 'paths', 'trajectories', 'density', 'check', 'made'],
  dense: ['fields', 'slices', 'paths', 'trajectories', 'density', 'marginals', 'check'],
  hostile: ['network', 'fields', 'slices', 'pairs', 'paths', 'trajectories', 'density', 'marginals', 'check']
};

const sock = (...words) => execFileSync(program, words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });

function keep(path, trajectories) {
  const lines = readFileSync(join(folder, path), 'utf8').split('\n');
  const few = lines.filter((line, i) => i === 0 || (line && Number(line.split(',')[0]) < trajectories));
  writeFileSync(join(folder, path), few.join('\n') + '\n');
}

function makeReports() {
  sock('dataset', 'gbm', '--seed', '1', '-o', 'gbm', '--quiet');
  keep('gbm/train.csv', 12);
  sock('fit', 'gbm/train.csv', '--folds', '2', '-o', 'gbm.sock', '--quiet');
  sock('report', 'gbm.sock', 'gbm/train.csv', '--truth', 'gbm/truth.json', '--test', 'gbm/test.csv', '-o', 'gbm.html', '--quiet');
  sock('dataset', 'dense', '--seed', '1', '-o', 'dense', '--quiet');
  sock('fit', 'dense/train.csv', '--no-tune', '--drift', 'linear', '--diffusion', 'linear', '-o', 'dense.sock', '--quiet');
  sock('report', 'dense.sock', 'dense/train.csv', '-o', 'dense.html', '--quiet');
  const quote = (name) => '"' + name.replaceAll('"', '""') + '"';
  const rows = [['traj', '<b onclick=window.pwned=6>time', ...HOSTILE].map(quote).join(',')];
  for (let j = 0; j < 6; j++)
    for (let i = 0; i < 9; i++) rows.push([j, i / 10, ...HOSTILE.map((_, k) => Math.sin(3.1 * j + i * (k + 1)))].join(','));
  const file = '"><img src=x onerror=window.pwned=7><script>window.pwned=8<script>.csv';
  writeFileSync(join(folder, file), rows.join('\n') + '\n');
  sock('fit', file, '--time', '<b onclick=window.pwned=6>time', '--no-tune', '--drift', 'poly:degree=2', '--diffusion', 'linear', '-o', 'h.sock', '--quiet');
  sock('report', 'h.sock', file, '--time', '<b onclick=window.pwned=6>time', '-o', 'hostile.html', '--quiet');
}

// Models of every kind of feature, each small enough for a page in a second: data set, trajectories kept, options of the fit.
const KINDS = {
  polynomial: ['dense', 8, ['--no-tune', '--drift', 'poly:degree=3', '--diffusion', 'poly:degree=2']],
  gaussian: ['dense', 8, ['--no-tune', '--drift', 'gauss:eta=2', '--diffusion', 'gauss:eta=2']],
  expansion: ['dense', 8, ['--no-tune', '--drift', 'gauss:eta=2', '--drift-path', 'exact', '--diffusion', 'affine', '--diagonal']],
  matrix: ['dense', 8, ['--no-tune', '--drift', 'curlfree:eta=2', '--diffusion', 'constant']],
  fourier: ['dense', 8, ['--no-tune', '--drift', 'affine+fourier:p=20,eta=2', '--diffusion', 'fourier:p=20,eta=2']],
  nystrom: ['dense', 8, ['--no-tune', '--drift', 'nystrom:m=12,of=gauss,eta=2', '--diffusion', 'nystrom:m=6,of=poly,degree=2']],
  rates: ['lotka-volterra', 8, ['--no-tune', '--lower', '0', '--drift', 'poly:degree=2', '--diffusion', 'rates:degree=2']],
  bounded: ['wright-fisher', 20, ['--no-tune', '--lower', '0', '--upper', '1', '--drift', 'affine', '--diffusion', 'rates:degree=2']], // on both sides
  root: ['lotka-volterra', 8, ['--no-tune', '--lower', '0', '--drift', 'poly:degree=2', '--diffusion', 'poly:degree=2,in=root']],
  averages: ['doublewell', 20, ['--folds', '2', '--noise', 'none']], // of several kernels
  absorbed: ['feller', 20, ['--no-tune', '--lower', '0', '--drift', 'linear', '--diffusion', 'rates:degree=1']],
  floor: ['dense', 8, null] // that of polynomials, with a floor of 0.3 on a
};

function makeKinds() {
  const made = new Set();
  for (const [kind, [set, kept, options]] of Object.entries(KINDS)) {
    if (!made.has(set)) { sock('dataset', set, '--seed', '2', '-o', set, '--quiet'); keep(`${set}/train.csv`, kept); made.add(set); }
    if (options) sock('fit', `${set}/train.csv`, ...options, '-o', `${kind}.sock`, '--quiet');
    else {
      const plain = readFileSync(join(folder, 'polynomial.sock'), 'latin1'), floored = plain.replace('\\"floor\\":0.0', '\\"floor\\":0.3');
      assert.notEqual(plain, floored);
      writeFileSync(join(folder, `${kind}.sock`), floored, 'latin1');
    }
    sock('report', `${kind}.sock`, `${set}/train.csv`, '-o', `${kind}.html`, '--quiet');
  }
}

// Sizes of the two states.
const SIZES = { huge: [1e30, 1e30], tiny: [1e-30, 1e-30], unlike: [1e15, 1e-15], ordinary: [1, 1] };

function makeSizes() {
  for (const [name, [one, other]] of Object.entries(SIZES)) {
    const lines = ['traj,t,x,y'];
    for (let j = 0; j < 6; j++)
      for (let i = 0; i < 9; i++) lines.push([j, i / 10, one * Math.sin(3.1 * j + i), other * Math.cos(j + 1.7 * i)].join(','));
    writeFileSync(join(folder, `${name}.csv`), lines.join('\n') + '\n');
    sock('fit', `${name}.csv`, '--no-tune', '--drift', 'linear', '--diffusion', 'linear', '-o', `${name}.sock`, '--quiet');
    sock('report', `${name}.sock`, `${name}.csv`, '-o', `${name}.html`, '--quiet');
  }
}

// A state that two inputs drive, of which one makes its noise louder.
function makeDriven() {
  let seed = 3604;
  const uniform = () => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return (seed + 0.5) / 4294967296; };
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const lines = ['traj,t,x,y,u,w'];
  for (let j = 0; j < 8; j++)
    for (let i = 0, x = normal(), y = normal(); i < 120; i++) {
      const u = 2 * Math.sin(i / 9 + j), w = 1 + Math.cos(i / 13 + 2 * j), h = 0.05;
      lines.push([j, i * h, x, y, u, w].join(','));
      [x, y] = [x + h * (-x + u + 0.5 * y) + Math.sqrt(h) * (0.3 + 0.4 * w) * normal(), y + h * (-2 * y + w) + Math.sqrt(h) * 0.5 * normal()];
    }
  writeFileSync(join(folder, 'driven.csv'), lines.join('\n') + '\n');
  sock('fit', 'driven.csv', '--input', 'u,w', '--noise', 'none', '--folds', '2', '--drift', 'affine', '--diffusion', 'affine', '-o', 'driven.sock', '--quiet');
  sock('report', 'driven.sock', 'driven.csv', '-o', 'driven.html', '--quiet');
}

const rows = (text) => text.trim().split('\n').slice(1).map((line) => line.split(',').map(Number));
const read = (name) => readFileSync(join(folder, name), 'utf8');

// Mean and variance with their standard errors.
function moments(values) {
  const n = values.length, mean = values.reduce((s, v) => s + v, 0) / n, off = values.map((v) => (v - mean) ** 2);
  const variance = off.reduce((s, v) => s + v, 0) / (n - 1), fourth = off.reduce((s, v) => s + (v - variance) ** 2, 0) / (n - 1);
  return { mean, meanError: Math.sqrt(variance / n), variance, varianceError: Math.sqrt(fourth / n) };
}

// A page that fails the test on anything it says or asks for.
async function openPage(browser, name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 900 }, ...options });
  const page = await context.newPage(), faults = [], address = pathToFileURL(join(folder, name)).href;
  page.on('console', (m) => faults.push(`console ${m.type()}: ${m.text()}`));
  page.on('pageerror', (e) => faults.push(`error: ${e.message}`));
  page.on('dialog', (d) => { faults.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on('request', (r) => { if (r.url() !== address) faults.push(`request: ${r.url().slice(0, 100)}`); });
  await page.goto(address);
  return { page, context, faults };
}

// What is in the page: chapters with their panels, and what is wrong with these. Runs inside the page.
function survey() {
  const chapters = {}, wrong = [];
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  for (const section of document.querySelectorAll('section[id]')) {
    const panels = [...section.querySelectorAll('.panels > svg')];
    if (panels.length) chapters[section.id] = panels.length;
    for (const svg of panels) {
      const box = svg.getBoundingClientRect(), shapes = svg.querySelectorAll('path,rect:not(.ground),circle,ellipse').length;
      if (box.width < 200 || box.height < 100 || shapes < 8) wrong.push(`${section.id}: a panel of ${box.width} x ${box.height} with ${shapes} shapes`);
      for (const text of svg.querySelectorAll('text')) {
        const t = text.getBoundingClientRect();
        if (t.left < box.left - 1 || t.right > box.right + 1 || t.top < box.top - 1 || t.bottom > box.bottom + 1)
          wrong.push(`${section.id}: '${text.textContent.slice(0, 40)}' leaves its picture`);
      }
    }
  }
  const root = document.documentElement;
  const tables = document.querySelectorAll('table').length, links = document.querySelectorAll('a[download]').length;
  return { chapters, wrong, tables, links, width: root.scrollWidth, room: root.clientWidth, buttons: document.querySelectorAll('button').length,
    pwned: window.pwned, text: document.querySelector('main').innerText };
}

// Ratio of luminances of text and ground, as WCAG counts it; the least over a sample of texts. Runs inside the page.
function leastContrast() {
  const rgb = (c) => c.match(/[\d.]+/g).slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  const light = (c) => { const [r, g, b] = rgb(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = light(getComputedStyle(document.body).backgroundColor);
  const colours = [...document.querySelectorAll('p,a,th,td,code,figcaption')].map((e) => getComputedStyle(e).color)
    .concat([...document.querySelectorAll('svg text')].slice(0, 400).map((e) => getComputedStyle(e).fill));
  return Math.min(...[...new Set(colours)].map((c) => (Math.max(light(c), ground) + 0.05) / (Math.min(light(c), ground) + 0.05)));
}

async function shoot(page, name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

async function openCharts(page) {
  await page.evaluate(() => { for (const fold of document.querySelectorAll('details')) fold.open = true; });
  for (const button of await page.locator('figure button').all()) await button.click();
  return page.evaluate(() => [...document.querySelectorAll('.chart')].map((box) => {
    const canvases = [...box.querySelectorAll('canvas')];
    const drawn = canvases.filter((c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v > 0));
    return [canvases.length, drawn.length];
  }));
}

const tests = {
  async 'complete, silent and alone, with charts that open'(browser) {
    for (const name of Object.keys(CHAPTERS)) {
      const { page, context, faults } = await openPage(browser, `${name}.html`);
      const found = await page.evaluate(survey);
      assert.deepEqual(Object.keys(found.chapters), CHAPTERS[name]);
      assert.deepEqual(found.wrong, []);
      await shoot(page, `${name}-light`);
      for (const [canvases, drawn] of await openCharts(page)) assert.ok(canvases > 0 && drawn === canvases, `${drawn} of ${canvases} charts drawn`);
      assert.ok((await page.evaluate(survey)).width <= 1000);
      await shoot(page, `${name}-charts`);
      assert.deepEqual(faults, []);
      await context.close();
    }
  },
  async 'charts zoom where they are dragged, and come back'(browser) {
    const { page, context, faults } = await openPage(browser, 'gbm.html');
    await page.locator('#fields button').click();
    const canvas = () => page.evaluate(() => document.querySelector('#fields canvas').toDataURL()), before = await canvas();
    await page.locator('#fields .u-over').first().scrollIntoViewIfNeeded();
    const box = await page.locator('#fields .u-over').first().boundingBox();
    await page.mouse.move(box.x + 0.3 * box.width, box.y + 0.5 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.5 * box.height, { steps: 4 });
    await page.mouse.up();
    await page.waitForTimeout(100);
    assert.notEqual(await canvas(), before);
    await page.mouse.dblclick(box.x + 0.5 * box.width, box.y + 0.5 * box.height);
    await page.waitForTimeout(100);
    assert.equal(await canvas(), before);
    assert.match(await page.locator('#fields .u-legend').first().innerText(), /^x\s*-?[\d.]+\s*f\s*-?[\d.]+/);
    assert.deepEqual(faults, []);
    await context.close();
  },
  // What canvases were asked to write, and where.
  async 'charts have whole labels, names on their axes and lines that are no stairs'(browser) {
    const lines = ['t,wealth in pounds'];
    for (let i = 0, x = 1.5e6; i < 300; i++) { lines.push([i, x].join(',')); x += 2e4 * Math.sin(i * i) - 0.02 * (x - 1.5e6); }
    writeFileSync(join(folder, 'large.csv'), lines.join('\n') + '\n');
    sock('fit', 'large.csv', '--no-tune', '--drift', 'affine', '--diffusion', 'constant', '-o', 'large.sock', '--quiet');
    sock('report', 'large.sock', 'large.csv', '-o', 'large.html', '--quiet');
    for (const width of [1000, 390]) {
      const context = await browser.newContext({ viewport: { width, height: 900 } }), page = await context.newPage();
      await page.addInitScript(() => {
        window.written = [];
        window.odd = 0;
        const plain = CanvasRenderingContext2D.prototype.fillText, lineTo = Path2D.prototype.lineTo;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
          const m = this.getTransform(), wide = this.measureText(text).width, turned = Math.abs(m.b) > 0.5;
          const from = this.textAlign === 'right' || this.textAlign === 'end' ? x - wide : this.textAlign === 'center' ? x - wide / 2 : x;
          const ends = [from, from + wide].map((v) => (turned ? m.f + m.b * v : m.e + m.a * v + m.c * y));
          window.written.push({ text, low: Math.min(...ends), high: Math.max(...ends), room: turned ? this.canvas.height : this.canvas.width });
          return plain.apply(this, arguments);
        };
        Path2D.prototype.lineTo = function (x, y) { if (Math.abs(y - Math.round(y)) > 0.01) window.odd++; return lineTo.apply(this, arguments); };
      });
      await page.goto(pathToFileURL(join(folder, 'large.html')).href);
      const start = await page.evaluate(() => window.written.length);
      for (const button of await page.locator('figure button').all()) await button.click();
      await page.waitForTimeout(200);
      const found = await page.evaluate((n) => ({ written: window.written.slice(n), odd: window.odd }), start);
      const texts = found.written.map((w) => w.text);
      assert.ok(texts.some((t) => /^1\.5e\+6$/.test(t)), texts.slice(0, 40).join(' '));
      for (const name of ['t', 'wealth in pounds', 'lag']) assert.ok(texts.includes(name), `${name} among ${[...new Set(texts)].slice(0, 60)}`);
      for (const w of found.written) assert.ok(w.low >= -1 && w.high <= w.room + 1, `'${w.text}' is cut: ${w.low} to ${w.high} of ${w.room}`);
      assert.ok(found.odd > 200, `${found.odd} points between pixels`);
      await context.close();
    }
  },
  async 'the contents stay in sight'(browser) {
    for (const width of [1000, 390]) {
      const { page, context, faults } = await openPage(browser, 'gbm.html', { viewport: { width, height: 800 } });
      const top = () => page.evaluate(() => Math.round(document.querySelector('nav').getBoundingClientRect().top));
      assert.ok(await top() > 50);
      for (const y of [1500, 3000, 5000]) {
        await page.evaluate((to) => window.scrollTo({ top: to, behavior: 'instant' }), y);
        assert.equal(await top(), 0);
      }
      await page.evaluate(() => document.querySelector('nav a[href="#density"]').click()); // and no heading goes beneath them
      await page.waitForTimeout(1200);
      const [heading, foot] = await page.evaluate(() => [document.querySelector('#density h2').getBoundingClientRect().top, document.querySelector('nav').getBoundingClientRect().bottom]);
      assert.ok(heading >= foot - 1 && heading < 400, `${heading}, ${foot}`);
      assert.deepEqual(faults, []);
      await context.close();
    }
  },
  // The law is that of `sock simulate`: f and a to rounding, mean and variance of ends within four standard errors.
  async 'the page simulates its model'(browser) {
    makeKinds();
    for (const [kind, [set]] of Object.entries(KINDS)) {
      const { page, context, faults } = await openPage(browser, `${kind}.html`);
      const data = rows(read(`${set}/train.csv`)), points = data.filter((_, i) => i % 13 === 0).slice(0, 40).map((row) => row.slice(2));
      const header = read(`${set}/train.csv`).split('\n')[0].split(',').slice(2), d = header.length;
      writeFileSync(join(folder, 'points.csv'), [header.join(','), ...points.map((p) => p.join(','))].join('\n') + '\n');
      const told = rows(sock('eval', `${kind}.sock`, '--at', 'points.csv').toString());
      const found = await page.evaluate((list) => list.map((x) => window.sock.fields(x)), points);
      const upper = [...Array(d).keys()].flatMap((k) => [...Array(d - k).keys()].map((l) => k * d + k + l));
      for (const [from, take] of [[d, (f) => f[0]], [2 * d, (f) => upper.map((i) => f[1][i])]]) {
        const size = Math.max(...told.flatMap((row) => row.slice(from, from + take(found[0]).length).map(Math.abs)));
        told.forEach((row, i) => take(found[i]).forEach((v, j) => assert.ok(Math.abs(v - row[from + j]) < 1e-6 * size, `${kind}: ${v} for ${row[from + j]}`)));
      }
      const x0 = points[0], step = (data[1][1] - data[0][1]) / 10, time = 100 * step;
      const ends = await page.evaluate(([x, t, h]) => window.sock.simulate(x, t, 1000, 7, h), [x0, time, step]);
      const known = rows(sock('simulate', `${kind}.sock`, `--x0=${x0.join(',')}`, '--times', `0,${time}`, '--step', String(step), '--paths', '4000', '--seed', '3').toString())
        .filter((row) => row[1] > 0);
      for (let k = 0; k < d; k++) {
        const one = moments(ends.filter((_, i) => i % d === k)), other = moments(known.map((row) => row[2 + k]));
        const off = [(one.mean - other.mean) / Math.hypot(one.meanError, other.meanError), (one.variance - other.variance) / Math.hypot(one.varianceError, other.varianceError)];
        assert.ok(off.every((z) => Math.abs(z) < 4), `${kind}, state ${k}: off by ${off} standard errors`);
      }
      await shoot(page, `live-${kind}`);
      assert.deepEqual(faults, []);
      await context.close();
    }
  },
  // Inputs are held where the page's fields, or a call, put them; `sock simulate` holds them by --input-value.
  async 'inputs are held where they are put'(browser) {
    makeDriven();
    const { page, context, faults } = await openPage(browser, 'driven.html');
    const ends = (given) => page.evaluate(([u]) => window.sock.simulate([0.3, -0.2], 1, 3000, 11, 0.005, u), [given]);
    const off = (values, u, w) => {
      const known = rows(sock('simulate', 'driven.sock', '--x0=0.3,-0.2', '--times', '0,1', '--step', '0.005', '--paths', '4000', '--seed', '5', '--input-value', `u=${u},w=${w}`).toString()).filter((row) => row[1] > 0);
      return [0, 1].flatMap((k) => {
        const one = moments(values.filter((_, i) => i % 2 === k)), other = moments(known.map((row) => row[2 + k]));
        return [(one.mean - other.mean) / Math.hypot(one.meanError, other.meanError), (one.variance - other.variance) / Math.hypot(one.varianceError, other.varianceError)];
      });
    };
    const right = (z) => assert.ok(z.every((v) => Math.abs(v) < 4), `off by ${z} standard errors`);
    const asked = await ends({ u: 1.5, w: 2 });
    right(off(asked, 1.5, 2));
    assert.ok(off(asked, 0, 2).some((v) => Math.abs(v) > 8)); // and nowhere else
    const label = page.locator('#live label', { hasText: /^w/ }).locator('input');
    await label.fill('0.25');
    await label.dispatchEvent('change');
    right(off(await ends({ u: -1 }), -1, 0.25));
    assert.match(await page.evaluate(() => { try { window.sock.simulate([0, 0], 1, 1, 1, 1, { v: 1 }); return ''; } catch (e) { return e.message; } }), /no input is called v/);
    assert.deepEqual(faults, []);
    await context.close();
  },
  async 'fans of several starts have pictures of their own, and bands that differ'(browser) {
    for (const colorScheme of ['light', 'dark']) {
      const { page, context } = await openPage(browser, 'averages.html', { colorScheme });
      const panels = await page.evaluate(() => [...document.querySelectorAll('#paths .panels > svg')].map((svg) => ['fan90', 'fan50', 'model'].map((name) =>
        [...svg.querySelectorAll(`path.${name}`)].map((e) => [getComputedStyle(e).fill, getComputedStyle(e).fillOpacity].join(' ')))));
      assert.equal(panels.length, 3);
      for (const [wide, tight, median] of panels) {
        assert.deepEqual([wide.length, tight.length, median.length], [1, 1, 1]);
        assert.notEqual(wide[0], tight[0]);
      }
      await context.close();
    }
  },
  // Positions are the data's states; the page simulates velocities as well.
  async 'the page of a model of second order simulates it'(browser) {
    sock('dataset', 'duffing', '--seed', '5', '-o', 'duffing');
    sock('fit', 'duffing/test.csv', '--order', '2', '--noise', 'none', '--drift', 'poly:degree=3', '--diffusion', 'affine', '-o', 'second.sock');
    sock('report', 'second.sock', 'duffing/test.csv', '-o', 'second.html');
    const { page, context, faults } = await openPage(browser, 'second.html');
    const points = [[0.5, 0.3], [-1, 0.8], [0.2, -1]];
    writeFileSync(join(folder, 'points.csv'), ['q,v_q', ...points.map((p) => p.join(','))].join('\n') + '\n');
    const told = rows(sock('eval', 'second.sock', '--at', 'points.csv').toString());
    const found = await page.evaluate((list) => list.map((x) => window.sock.fields(x)), points);
    told.forEach((row, i) => [...found[i][0], found[i][1][3]].forEach((v, j) =>
      assert.ok(Math.abs(v - row[[2, 3, 6][j]]) < 1e-6 * Math.max(1, Math.abs(v)), `${v} for ${row}`)));
    const ends = await page.evaluate(([x, t, h]) => window.sock.simulate(x, t, 2000, 7, h), [points[0], 2, 0.02]);
    const known = rows(sock('simulate', 'second.sock', '--x0=0.5,0.3', '--times', '0,2', '--step', '0.02', '--paths', '4000', '--velocities', '--seed', '3').toString())
      .filter((row) => row[1] > 0);
    for (let k = 0; k < 2; k++) {
      const one = moments(ends.filter((_, i) => i % 2 === k)), other = moments(known.map((row) => row[2 + k]));
      const off = [(one.mean - other.mean) / Math.hypot(one.meanError, other.meanError), (one.variance - other.variance) / Math.hypot(one.varianceError, other.varianceError)];
      assert.ok(off.every((z) => Math.abs(z) < 4), `state ${k}: off by ${off} standard errors`);
    }
    await shoot(page, 'live-second');
    assert.deepEqual(faults, []);
    await context.close();
  },
  async 'a click starts paths, and they move'(browser) {
    for (const kind of ['averages', 'rates']) {
      const { page, context, faults } = await openPage(browser, `${kind}.html`);
      const front = page.locator('#live .stage .live-picture canvas').nth(1), said = page.locator('#live .stage .read');
      assert.match(await said.innerText(), /Click in the picture/);
      const ink = () => page.evaluate(() => document.querySelectorAll('#live .stage .live-picture canvas')[1].toDataURL());
      await front.scrollIntoViewIfNeeded();
      const box = await front.boundingBox(), before = await page.locator('#live .stage input[type=number]').first().inputValue();
      const empty = await ink();
      await page.mouse.click(box.x + 0.4 * box.width, box.y + 0.3 * box.height);
      await page.waitForTimeout(500);
      assert.notEqual(await page.locator('#live .stage input[type=number]').first().inputValue(), before);
      assert.notEqual(await ink(), empty);
      assert.match(await said.innerText(), /mean .*standard deviation/);
      const thinning = page.locator('#live .thinning input[type=range]'), dots = () => page.evaluate(() => document.querySelector('#live .thinning .live-picture canvas').toDataURL());
      const first = await dots();
      await thinning.fill('2');
      assert.notEqual(await dots(), first);
      assert.match(await page.locator('#live .thinning .read').innerText(), /every 4th point/);
      await shoot(page, `started-${kind}`);
      assert.deepEqual(faults, []);
      await context.close();
    }
  },
  // Of a plane that is chosen the legend has the lines of its own states, and only those that are in the picture.
  async 'the legend follows the plane'(browser) {
    const lines = ['t,x,y,z'];
    for (let i = 0; i < 200; i++) lines.push([i / 10, Math.sin(i * i), Math.sin(3 * i), 5 + Math.sin(0.7 * i * i)].join(','));
    writeFileSync(join(folder, 'three.csv'), lines.join('\n') + '\n');
    sock('fit', 'three.csv', '--no-tune', '--drift', 'affine', '--diffusion', 'constant', '-o', 'three.sock', '--quiet');
    sock('report', 'three.sock', 'three.csv', '-o', 'three.html', '--quiet');
    const { page, context, faults } = await openPage(browser, 'three.html');
    const keys = () => page.evaluate(() => [...document.querySelectorAll('#live .keys .key')].filter((k) => !k.hidden).map((k) => k.innerText.trim()).filter((k) => / is 0$/.test(k)));
    const zeros = async (k, l) => { // lines of f_k that the plane of x and z has, by its signs on a grid
      const at = await page.evaluate(() => [...document.querySelectorAll('#live .stage input[type=number]')].map((e) => Number(e.value)));
      const f = await page.evaluate(([x0, own, other]) => {
        const signs = new Set();
        for (let i = 0; i <= 40; i++) for (let j = 0; j <= 40; j++) {
          const x = [...x0];
          x[own] = (own === 2 ? 4 : -1) + 2 * i / 40; x[other] = (other === 2 ? 4 : -1) + 2 * j / 40;
          signs.add(window.sock.fields(x)[0][own] < 0);
        }
        return signs.size;
      }, [at, k, l]);
      return f === 2;
    };
    const choose = page.locator('#live .stage select');
    const first = await keys();
    assert.ok(first.length && first.every((k) => /^f of [xy] is 0$/.test(k)), first);
    await choose.nth(2).selectOption('2');
    for (const [name, k, l] of [['x', 0, 2], ['z', 2, 0]]) if (await zeros(k, l)) assert.ok((await keys()).includes(`f of ${name} is 0`), `${name} of ${await keys()}`);
    assert.ok(!(await keys()).includes('f of y is 0'));
    const y = page.locator('#live .stage input[type=number]').nth(1); // far away, it moves all lines out of the picture
    await y.fill('1e6');
    await y.dispatchEvent('change');
    assert.deepEqual(await keys(), []);
    assert.deepEqual(faults, []);
    await context.close();
  },
  // Starts are typed, and means told, in units of p; the model's state is its logarithm.
  async 'logarithms are shown in the units of the data'(browser) {
    const lines = ['t,p'];
    for (let i = 0; i < 60; i++) lines.push([i / 4, Math.exp(4 + 2 * Math.sin(i * i))].join(','));
    writeFileSync(join(folder, 'logs.csv'), lines.join('\n') + '\n');
    sock('fit', 'logs.csv', '--log', 'p', '--no-tune', '--drift', 'affine', '--diffusion', 'constant', '-o', 'logs.sock', '--quiet');
    sock('report', 'logs.sock', 'logs.csv', '-o', 'logs.html', '--quiet');
    const { page, context, faults } = await openPage(browser, 'logs.html');
    const box = page.locator('#live .stage input[type=number]').first(), said = page.locator('#live .stage .read');
    assert.ok(Math.abs(Number(await box.inputValue()) / Number(lines[1].split(',')[1]) - 1) < 1e-3);
    assert.equal((await page.locator('#live .stage label').filter({ has: page.locator('input[type=number]') }).first().innerText()).trim(), 'p');
    await box.fill('-3');
    await box.dispatchEvent('change');
    assert.ok(Number(await box.inputValue()) > 0, 'a start below 0 is not taken');
    await box.fill('55');
    await box.dispatchEvent('change');
    assert.equal(Number(await box.inputValue()), 55);
    await page.waitForFunction(() => /; p: mean/.test(document.querySelector('#live .stage .read').innerText));
    const mean = Number(/; p: mean ([\d.]+)/.exec(await said.innerText())[1]);
    assert.ok(mean > 5 && mean < 2000, `a mean of ${mean} is no p`);
    await openCharts(page);
    assert.ok((await page.evaluate(survey)).text.includes('(log scale)') || (await page.locator('svg text', { hasText: '(log scale)' }).count()) > 0);
    await shoot(page, 'logs');
    assert.deepEqual(faults, []);
    await context.close();
  },
  async 'fits a telephone'(browser) {
    for (const name of Object.keys(CHAPTERS)) {
      const { page, context, faults } = await openPage(browser, `${name}.html`, { viewport: { width: 360, height: 740 }, isMobile: true, deviceScaleFactor: 2 });
      await openCharts(page);
      const found = await page.evaluate(survey);
      assert.ok(found.width <= found.room && found.room <= 360, `${name}: ${found.width} pixels in ${found.room}`);
      assert.deepEqual(found.wrong, []);
      await shoot(page, `${name}-phone`);
      assert.deepEqual(faults, []);
      await context.close();
    }
  },
  async 'is complete without scripts'(browser) {
    const on = await openPage(browser, 'gbm.html'), off = await openPage(browser, 'gbm.html', { javaScriptEnabled: false });
    const without = await off.page.evaluate(survey);
    const scripted = await on.page.evaluate(survey);
    assert.equal(without.buttons, 0);
    assert.ok(scripted.buttons > 0);
    assert.deepEqual([without.chapters, without.tables, without.links], [scripted.chapters, scripted.tables, scripted.links]);
    for (const word of ['No objection', 'dx/dt', 'Model card', 'relative duality gap', 'sock fit ', 'perplexity'])
      assert.ok(without.text.includes(word), `'${word}' is missing`);
    await shoot(off.page, 'gbm-noscript');
    await on.context.close();
    await off.context.close();
  },
  async 'dark and light can be read'(browser) {
    const grounds = [];
    for (const colorScheme of ['light', 'dark']) {
      const { page, context } = await openPage(browser, 'gbm.html', { colorScheme });
      grounds.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
      const contrast = await page.evaluate(leastContrast);
      assert.ok(contrast >= 4.5, `${colorScheme}: contrast ${contrast}`);
      await shoot(page, `gbm-${colorScheme}`);
      await context.close();
    }
    assert.notEqual(grounds[0], grounds[1]);
  },
  async 'numbers can be saved'(browser) {
    const { page, context } = await openPage(browser, 'gbm.html', { acceptDownloads: true });
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('a[download="fields.csv"]').click()]);
    const text = readFileSync(await download.path(), 'utf8');
    assert.match(text, /^x,f,f_truth,a,a_truth\n(-?[\d.e+-]+,){4}-?[\d.e+-]+\n/);
    assert.equal(text.trim().split('\n').length, 242);
    await context.close();
  },
  // Data of any size, and any number that a reader may type as a start: nothing is shown that is no number, nothing breaks or hangs.
  async 'hostile numbers are borne'(browser) {
    makeSizes();
    for (const [name, [size]] of Object.entries(SIZES)) {
      const { page, context, faults } = await openPage(browser, `${name}.html`);
      await openCharts(page);
      const starts = page.locator('#live .stage input[type=number]');
      assert.ok((await starts.count()) >= 2, `${name}: no starts to type`);
      for (const value of ['1e308', '-1.7e308', '0', '5e-324', String(size), '-1e9', '']) {
        for (const box of await starts.all()) {
          await box.fill(value);
          await box.dispatchEvent('change');
        }
        await page.waitForTimeout(60);
        assert.equal(await page.evaluate(() => 6 * 7), 42);
      }
      const text = await page.evaluate(() => document.body.innerText);
      assert.doesNotMatch(text, /\bNaN\b|\bInfinity\b|\bundefined\b/, name);
      assert.deepEqual(faults, [], name);
      await context.close();
    }
  },
  async 'hostile names are text'(browser) {
    const { page, context, faults } = await openPage(browser, 'hostile.html');
    await openCharts(page);
    for (const element of await page.locator('#summary b, .chart p, #live label, #live .keys').all()) await element.click();
    const found = await page.evaluate(survey);
    assert.equal(found.pwned, undefined);
    assert.equal(await page.locator('img, iframe, object, embed, form, link, svg script, main script, [onerror], [onload], [onclick]').count(), 0);
    assert.equal(await page.locator('script').count(), 4);
    for (const name of HOSTILE) assert.ok(found.text.includes(name), `${name} is not shown`);
    assert.deepEqual(faults, []);
    await context.close();
  },
  // The test above would be worth nothing if scripts could not be seen to run, or if escaping were the only wall.
  async 'a script that got in would be seen, and would not run'(browser) {
    const page = readFileSync(join(folder, 'hostile.html'), 'utf8');
    const planted = page.replace('<main>', '<main><script>window.pwned=9</script><img src="x.png" onerror="window.pwned=10">');
    const open = planted.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '');
    assert.notEqual(planted, page);
    assert.notEqual(open, planted);
    writeFileSync(join(folder, 'planted.html'), planted);
    writeFileSync(join(folder, 'open.html'), open);
    const guarded = await openPage(browser, 'planted.html'), bare = await openPage(browser, 'open.html');
    assert.ok((await bare.page.evaluate(() => window.pwned)) >= 9);
    assert.equal(await guarded.page.evaluate(() => window.pwned), undefined);
    assert.ok(guarded.faults.some((fault) => fault.includes('Content Security Policy')));
    assert.ok(bare.faults.some((fault) => fault.startsWith('request')));
    await guarded.context.close();
    await bare.context.close();
  }
};

const binary = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
assert.ok(binary, 'there is no Chromium: run tools/install-deps');
let failed = 0, browser;
try {
  makeReports();
  browser = await chromium.launch({ executablePath: binary, args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
  for (const [name, test] of Object.entries(tests).filter(([name]) => name.includes(only))) {
    const start = Date.now();
    try {
      await test(browser);
      console.log(`ok      ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
