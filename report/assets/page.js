/* page.js - zoomable series on top of the static figures. The numbers are those of the figure's own links (CSV in data:
 * addresses), so that nothing is stored twice. A link's data-chart says what can be drawn of it:
 *   lines:1,2;3,4   a chart for each list of columns, over the first column
 *   fan             start, time, then five quantiles for each state, with the trajectories of the page beneath
 *   trajectories    trajectory, time, states: a chart for each state
 * Names of columns reach the page as text (uPlot sets textContent), never as markup. */
(function () {
  'use strict';
  if (typeof uPlot !== 'function') return;

  function decode(link) {
    var raw = atob(link.getAttribute('href').split('base64,')[1]);
    var bytes = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new TextDecoder('utf-8').decode(bytes);
  }

  /* CSV with quotes in the header alone: names, and columns of numbers or null. */
  function table(link) {
    var text = decode(link), names = [], name = '', quoted = false, at = 0;
    for (; at < text.length; at++) {
      var c = text[at];
      if (quoted) {
        if (c !== '"') name += c;
        else if (text[at + 1] === '"') { name += c; at++; } else quoted = false;
      } else if (c === '"') quoted = true;
      else if (c === ',' || c === '\n') {
        names.push(name);
        name = '';
        if (c === '\n') break;
      } else name += c;
    }
    var columns = names.map(function () { return []; });
    text.slice(at + 1).split('\n').forEach(function (line) {
      if (!line) return;
      line.split(',').forEach(function (cell, i) { if (columns[i]) columns[i].push(cell === '' ? null : Number(cell)); });
    });
    return { names: names, columns: columns };
  }

  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim(); }

  function short(name) { return name.length > 40 ? name.slice(0, 39) + '\u2026' : name; }

  function labels(u, splits) {
    return splits.map(function (v) {
      var size = Math.abs(v);
      return v == null ? '' : (size >= 1e5 || (size > 0 && size < 1e-3) ? v.toExponential(1) : String(Number(v.toPrecision(6)))).replace('-', '\u2212');
    });
  }

  /* Of an axis that shows log(x) the labels are those of x. */
  function isLog(name) { return /^log\(.+\)$/.test(name); }
  function labelsOf(name) {
    return isDated(name) ? datesAt : isLog(name) ? function (u, splits) { return labels(u, splits.map(function (v) { return v == null ? v : Number(Math.exp(v).toPrecision(3)); })); } : labels;
  }
  /* Of times that were dates the labels are dates, in UTC, as fine as the ticks are apart. */
  var lengths = { second: 1, minute: 60, hour: 3600, day: 86400, week: 604800, year: 31557600 };
  var dates = document.body.dataset.dates;
  function isDated(name) { return Boolean(lengths[dates]) && name.slice(-dates.length - 3) === ' [' + dates + ']'; }
  function dated(v, step) {
    var when = new Date(Math.round(v * lengths[dates] * 1000)), text = isNaN(when) ? '' : when.toISOString(), apart = step * lengths[dates];
    return apart >= 360 * 86400 ? text.slice(0, 4) : apart >= 28 * 86400 ? text.slice(0, 7) : apart >= 86400 ? text.slice(0, 10)
      : apart >= 60 ? text.slice(5, 16).replace('T', ' ') : text.slice(11, 19);
  }
  /* Ticks at round dates, as on the static axes. */
  var even = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600];
  var months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000];
  function roundDates(u, axis, low, high) {
    var unit = lengths[dates], from = low * unit, to = high * unit, most = Math.max(2, Math.floor(u.width / 110)), found = [], at, first;
    var step = even.find(function (s) { return (to - from) / s <= most; });
    if (step) for (at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at / unit);
    if (step) return found;
    step = months.find(function (m) { return (to - from) / (m * 2629746) <= most; }) || 12000;
    first = new Date(from * 1000);
    for (at = Math.floor((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step; found.length < 50; at += step) {
      var when = new Date(0);
      when.setUTCFullYear(Math.floor(at / 12), at - 12 * Math.floor(at / 12), 1);
      if (!(when / 1000 <= to)) break;
      if (when / 1000 >= from) found.push(when / 1000 / unit);
    }
    return found;
  }
  function datesAt(u, splits) { return splits.map(function (v) { return v == null ? '' : dated(v, splits.length > 1 ? splits[1] - splits[0] : 1); }); }

  function shownAs(name) { return isDated(name) ? short(name.slice(0, -dates.length - 3)) : isLog(name) ? short(name.slice(4, -1)) + ' (log scale)' : short(name); }

  /* As wide as the widest label. */
  function room(u, values) {
    return 18 + 7.2 * (values || []).reduce(function (most, v) { return Math.max(most, String(v).length); }, 2);
  }

  /* names: of the axes. */
  function options(box, names, series, more) {
    var axis = { stroke: colour('text'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line') } };
    return Object.assign({
      width: Math.max(260, box.clientWidth), height: 300, series: series, pxAlign: 0, /* else lines become stairs */
      scales: { x: { time: false } },
      axes: [Object.assign({ label: shownAs(names[0]), values: labelsOf(names[0]), labelSize: 22 }, axis, isDated(names[0]) ? { splits: roundDates } : {}),
        Object.assign({ label: shownAs(names[1]), values: labelsOf(names[1]), labelSize: 22, size: room }, axis)],
      cursor: { drag: { x: true, y: true, uni: 20 } }
    }, more || {});
  }

  function value(u, v) { return v == null ? '' : Number(v.toPrecision(5)).toString(); }

  function plot(box, opts, data) {
    var chart = new uPlot(opts, data, box);
    if (window.ResizeObserver) new ResizeObserver(function () {
      var wide = Math.max(260, box.clientWidth);
      if (Math.abs(wide - chart.width) > 2) chart.setSize({ width: wide, height: 300 });
    }).observe(box);
    return chart;
  }

  function sortedBy(columns) {
    var order = columns[0].map(function (_, i) { return i; }).sort(function (a, b) { return columns[0][a] - columns[0][b]; });
    return columns.map(function (c) { return order.map(function (i) { return c[i]; }); });
  }

  function lines(box, t, lists) {
    lists.split(';').forEach(function (list) {
      var picked = [0].concat(list.split(',').map(Number));
      var data = sortedBy(picked.map(function (i) { return t.columns[i]; }));
      var series = picked.map(function (column, i) {
        return { label: short(t.names[column]), value: value, stroke: i ? colour('c' + (i - 1) % 6) : undefined, width: 1.6,
          dash: t.names[column].indexOf('truth') >= 0 ? [6, 4] : undefined, spanGaps: true };
      });
      plot(box, options(box, [t.names[0], picked.slice(1).map(function (i) { return t.names[i]; }).join(', ')], series), data);
    });
  }

  /* Rows of a long table by the number in its first column, each a list of columns from the second on. */
  function groups(t) {
    var found = new Map();
    t.columns[0].forEach(function (key, row) {
      if (!found.has(key)) found.set(key, t.columns.slice(1).map(function () { return []; }));
      found.get(key).forEach(function (column, c) { column.push(t.columns[c + 1][row]); });
    });
    return Array.from(found.values());
  }

  function title(box, text) {
    var p = document.createElement('p');
    p.textContent = text;
    box.appendChild(p);
  }

  function readout(box, time, lead) {
    var p = document.createElement('p');
    p.className = 'read';
    box.appendChild(p);
    return function (u) {
      var i = u.cursor.idx;
      if (i == null) { p.textContent = ''; return; }
      var at = u.data[0][i], parts = [isDated(time) ? shownAs(time) + ' ' + dated(at, 1 / lengths[dates] * 3600) : short(time) + ' ' + value(u, at)];
      lead.forEach(function (s) {
        var v = u.data[s][i];
        if (v != null) parts.push(u.series[s].label + ' ' + value(u, v));
      });
      p.textContent = parts.join(', ');
    };
  }

  function thin(paths, most) {
    var every = Math.ceil(paths.length / most);
    return paths.filter(function (_, i) { return i % every === 0; });
  }

  function trajectories(box, t) {
    var all = thin(groups(t), 40);
    t.names.slice(2).forEach(function (name, k) {
      title(box, name);
      var data = uPlot.join(all.map(function (g) { return [g[0], g[k + 1]]; }));
      var series = [{}].concat(all.map(function (_, i) {
        return { label: 'path', stroke: colour('c' + i % 4), width: 1, spanGaps: true, points: { show: false } };
      }));
      plot(box, options(box, [t.names[1], name], series, { legend: { show: false } }), data);
    });
  }

  function fan(box, t) {
    var link = document.querySelector('a[download="trajectories.csv"]'), paths = link ? thin(groups(table(link)), 40) : [];
    var fans = groups(t), states = (t.names.length - 2) / 5;
    for (var k = 0; k < states; k++) drawFan(box, t, fans, paths, k);
  }

  function drawFan(box, t, fans, paths, k) {
    var tables = [], series = [{}], bands = [], lead = [], first = 2 + 5 * k;
    title(box, t.names[first].replace(/ 5 %$/, ''));
    paths.forEach(function (g) {
      tables.push([g[0], g[1 + k]]);
      series.push({ label: 'data', stroke: colour('data'), width: 0.6, spanGaps: true, points: { show: false } });
    });
    fans.forEach(function (g, own) {
      var base = series.length, paint = 'c' + [0, 2, 3][own % 3];
      tables.push([g[0]].concat(g.slice(1 + 5 * k, 6 + 5 * k)));
      ['5 %', '25 %', 'median', '75 %', '95 %'].forEach(function (label, q) {
        series.push({ label: label, stroke: colour(paint), width: q === 2 ? 2 : 0.5, spanGaps: true, points: { show: false } });
      });
      bands.push({ series: [base + 4, base], fill: colour('band') });
      if (fans.length === 1) bands.push({ series: [base + 3, base + 1], fill: colour('band') });
      if (lead.length === 0) lead = [base, base + 1, base + 2, base + 3, base + 4];
    });
    var holder = document.createElement('div');
    box.appendChild(holder);
    var show = readout(box, t.names[1], fans.length === 1 ? lead : []);
    plot(holder, options(box, [t.names[1], t.names[first].replace(/ 5 %$/, '')], series, { legend: { show: false }, bands: bands, hooks: { setCursor: [show] } }), uPlot.join(tables));
  }

  function draw(box, links) {
    box.textContent = '';
    links.forEach(function (link) {
      var kind = link.dataset.chart, t = table(link);
      if (kind === 'fan') fan(box, t);
      else if (kind === 'trajectories') trajectories(box, t);
      else lines(box, t, kind.split(':')[1]);
    });
  }

  var open = [];
  document.querySelectorAll('figure').forEach(function (figure) {
    var links = Array.from(figure.querySelectorAll('a[data-chart]'));
    if (!links.length) return;
    var button = document.createElement('button'), box = document.createElement('div');
    var entry = { box: box, links: links };
    button.type = 'button';
    button.textContent = 'Zoom and read values';
    button.setAttribute('aria-expanded', 'false');
    box.className = 'chart';
    box.hidden = true;
    button.addEventListener('click', function () {
      box.hidden = !box.hidden;
      button.setAttribute('aria-expanded', String(!box.hidden));
      button.textContent = box.hidden ? 'Zoom and read values' : 'Close (drag to zoom, double click to reset)';
      open = open.filter(function (other) { return other !== entry; });
      if (box.hidden) box.textContent = '';
      else { open.push(entry); draw(box, links); }
    });
    var files = figure.querySelector('.files');
    figure.insertBefore(button, files);
    figure.insertBefore(box, files);
  });
  /* The colours of a canvas do not follow the reader's setting by themselves. */
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function () {
    open.forEach(function (entry) { draw(entry.box, entry.links); });
  });
})();
