/* live.js - the page simulates its model: from a start that is clicked or typed, over the data; in one dimension over time, in more
 * in the plane of two states, with the lines where f is 0 and its fixed points. Beneath, the moments of thinned steps.
 * Numbers come from the page's own files (live.json, trajectories.csv); names reach the page as text alone.
 * In the console: sock.fields(x, inputs) answers f and a, sock.simulate(x0, time, paths, seed, step, inputs) where paths end;
 * inputs: values by name, those of the fields above for the rest. */
(function () {
  'use strict';
  var link = document.querySelector('a[data-live]'), home = document.getElementById('live');
  if (!link || !home || typeof sockModel !== 'function') return;

  function decode(a) {
    var raw = atob(a.getAttribute('href').split('base64,')[1]), bytes = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new TextDecoder('utf-8').decode(bytes);
  }

  var told = JSON.parse(decode(link)), model = sockModel(told.model), d = model.d, frame = told.frame, names = told.model.state;
  var fixed = told.fixed || [], inner = frame.step / 10;
  if (frame.lower) frame.lower = frame.lower.map(function (v) { return v === null ? -Infinity : v; });
  if (frame.upper) frame.upper = frame.upper.map(function (v) { return v === null ? Infinity : v; });
  if (!frame.bounds && (frame.lower || frame.upper)) frame.bounds = (frame.lower || []).concat(frame.upper || []).some(isFinite) ? 'clip' : 'none';

  /* ---- Small things ---- */

  function make(tag, parent, text, attributes) {
    var e = document.createElement(tag);
    if (text) e.textContent = text;
    Object.keys(attributes || {}).forEach(function (key) { e.setAttribute(key, attributes[key]); });
    if (parent) parent.appendChild(e);
    return e;
  }

  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim(); }
  function short(name) { return name.length > 28 ? name.slice(0, 27) + '\u2026' : name; }
  function show(v) { return v === 0 ? '0' : String(Number(Number(v).toPrecision(3))).replace('-', '\u2212'); }

  /* The paths file, thinned: a list of { t, x: [state][i] }. */
  function dataPaths() {
    var a = document.querySelector('a[download="trajectories.csv"]'), found = [], last = null;
    if (!a) return found;
    decode(a).split('\n').slice(1).forEach(function (line) {
      if (!line) return;
      var cells = line.split(',');
      if (cells[0] !== last) { found.push({ t: [], x: names.map(function () { return []; }) }); last = cells[0]; }
      var path = found[found.length - 1];
      path.t.push(Number(cells[1]));
      for (var k = 0; k < d; k++) path.x[k].push(cells[2 + k] === undefined || cells[2 + k] === '' ? NaN : Number(cells[2 + k]));
    });
    var every = Math.ceil(found.length / 60);
    return found.filter(function (_, i) { return i % every === 0; });
  }

  /* ---- A picture with axes ---- */

  function ticks(low, high, wanted) {
    var raw = (high - low) / wanted, power = Math.pow(10, Math.floor(Math.log10(raw))), share = raw / power;
    var step = (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10) * power, out = [];
    for (var v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) out.push(Math.abs(v) < 1e-9 * step ? 0 : v);
    return out;
  }

  /* A state that is called log(x) is shown as x: ticks at the logarithms of round numbers, starts and means of x. */
  function inside(name) { return /^log\(.+\)$/.test(name) ? name.slice(4, -1) : null; }
  function own(k, v) { return inside(names[k]) === null ? v : Math.exp(v); }
  function called(k) { return inside(names[k]) === null ? names[k] : inside(names[k]); }
  function shownAs(name) { return inside(name) === null ? short(name) : short(inside(name)) + ' (log scale)'; }

  /* A list of [place, label]. */
  function marks(name, low, high, wanted) {
    var even = function (a, b, place) { return ticks(a, b, wanted).map(function (v) { return [place(v), label(v)]; }); }, found = [];
    if (inside(name) === null) return even(low, high, function (v) { return v; });
    [[1, 2, 5], [1, 3], [1]].some(function (digits) {
      found = [];
      for (var p = Math.floor(low / Math.LN10); p <= high / Math.LN10; p++) digits.forEach(function (n) {
        var at = Math.log(n) + p * Math.LN10;
        if (at >= low && at <= high) found.push([at, label(Number(n + 'e' + p))]);
      });
      return found.length <= wanted + 2;
    });
    return found.length >= 3 ? found.filter(function (m, i) { return i % Math.ceil(found.length / (wanted + 2)) === 0; }) :
      even(Math.exp(low), Math.exp(high), Math.log).filter(function (m) { return isFinite(m[0]); });
  }

  function label(v) {
    var size = Math.abs(v);
    return (size >= 1e5 || (size > 0 && size < 1e-3) ? v.toExponential(1) : String(Number(v.toPrecision(6)))).replace('-', '\u2212');
  }

  /* Two canvases, one for what rests and one for what moves; range: [low, high] across and up. */
  function Picture(parent, height, describe) {
    var holder = make('div', parent, '', { 'class': 'live-picture' }), self = this;
    this.back = make('canvas', holder, '', { role: 'img', 'aria-label': describe });
    this.front = make('canvas', holder, '', { 'aria-hidden': 'true' });
    this.height = height;
    this.holder = holder;
    this.onsize = function () {};
    if (window.ResizeObserver) new ResizeObserver(function () {
      if (Math.abs(holder.clientWidth - self.width) > 2) self.onsize();
    }).observe(holder);
  }

  Picture.prototype.lay = function (across, up, xName, yName) {
    var ratio = window.devicePixelRatio || 1, g;
    this.width = Math.max(260, this.holder.clientWidth);
    this.tall = Math.min(this.height, Math.max(240, this.width * 0.72));
    [this.back, this.front].forEach(function (c) {
      c.width = this.width * ratio;
      c.height = this.tall * ratio;
      c.style.height = this.tall + 'px';
      c.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
    }, this);
    g = this.back.getContext('2d');
    g.font = '12px system-ui,sans-serif';
    var ys = marks(yName, up[0], up[1], 5), wide = Math.max.apply(null, ys.map(function (m) { return g.measureText(m[1]).width; }));
    this.across = across;
    this.up = up;
    this.box = [wide + 30, 10, this.width - 12, this.tall - 40]; /* left, top, right, bottom */
    g.strokeStyle = colour('line');
    g.fillStyle = colour('text');
    g.lineWidth = 1;
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    ys.forEach(function (m) { var y = this.y(m[0]); this.line(g, this.box[0], y, this.box[2], y); g.fillText(m[1], this.box[0] - 6, y); }, this);
    g.textAlign = 'center';
    g.textBaseline = 'top';
    marks(xName, across[0], across[1], this.width < 300 ? 3 : this.width < 500 ? 5 : 8).forEach(function (m) {
      this.line(g, this.x(m[0]), this.box[3], this.x(m[0]), this.box[3] + 4);
      g.fillText(m[1], this.x(m[0]), this.box[3] + 7);
    }, this);
    g.fillText(shownAs(xName), (this.box[0] + this.box[2]) / 2, this.box[3] + 24);
    g.save();
    g.translate(9, (this.box[1] + this.box[3]) / 2);
    g.rotate(-Math.PI / 2);
    g.textBaseline = 'middle';
    g.fillText(shownAs(yName), 0, 0);
    g.restore();
    g.strokeStyle = colour('muted');
    g.strokeRect(this.box[0], this.box[1], this.box[2] - this.box[0], this.box[3] - this.box[1]);
    [g, this.front.getContext('2d')].forEach(function (c) {
      c.beginPath();
      c.rect(this.box[0], this.box[1], this.box[2] - this.box[0], this.box[3] - this.box[1]);
      c.clip();
    }, this);
    return g;
  };
  Picture.prototype.x = function (v) { return this.box[0] + (v - this.across[0]) / (this.across[1] - this.across[0]) * (this.box[2] - this.box[0]); };
  Picture.prototype.y = function (v) { return this.box[3] - (v - this.up[0]) / (this.up[1] - this.up[0]) * (this.box[3] - this.box[1]); };
  Picture.prototype.line = function (g, x0, y0, x1, y1) { g.beginPath(); g.moveTo(x0, y0); g.lineTo(x1, y1); g.stroke(); };
  Picture.prototype.at = function (event) {
    var r = this.back.getBoundingClientRect(), b = this.box;
    var px = (event.clientX - r.left) / r.width * this.width, py = (event.clientY - r.top) / r.height * this.tall;
    if (px < b[0] || px > b[2] || py < b[1] || py > b[3]) return null;
    return [this.across[0] + (px - b[0]) / (b[2] - b[0]) * (this.across[1] - this.across[0]),
      this.up[0] + (b[3] - py) / (b[3] - b[1]) * (this.up[1] - this.up[0])];
  };
  Picture.prototype.curve = function (g, xs, ys) {
    g.beginPath();
    for (var i = 0, on = false; i < xs.length; i++) {
      if (!isFinite(xs[i]) || !isFinite(ys[i])) { on = false; continue; }
      if (on) g.lineTo(this.x(xs[i]), this.y(ys[i])); else g.moveTo(this.x(xs[i]), this.y(ys[i]));
      on = true;
    }
    g.stroke();
  };

  /* The least and the largest of a list that may have nulls. */
  function ends(list) {
    var good = list.filter(function (v) { return v !== null && isFinite(v); });
    return [Math.min.apply(null, good), Math.max.apply(null, good)];
  }

  function widened(range, share) { var more = share * (range[1] - range[0]) || 1; return [range[0] - more, range[1] + more]; }

  /* ---- What rests ---- */

  var state = { u: 0, v: d > 1 ? 1 : 0, start: frame.start.slice(), inputs: model.usual.slice(), paths: 20, seed: 1, speed: 1 };
  var all = dataPaths(), picture, run = null, playing = false;

  /* The data and a little more, no farther than a bound. */
  function ranges(k) {
    var wide = widened([frame.low[k], frame.high[k]], 0.12), low = told.model.lower[k], high = told.model.upper[k], edge = 0.02 * (wide[1] - wide[0]);
    return [low === null ? wide[0] : Math.max(wide[0], low - edge), high === null ? wide[1] : Math.min(wide[1], high + edge)];
  }

  function drawData(g) {
    g.strokeStyle = colour('data');
    g.globalAlpha = all.length < 5 ? 0.9 : 0.45; /* few must be seen, many must not hide what runs */
    g.lineWidth = all.length < 5 ? 1.2 : 0.8;
    all.forEach(function (path) {
      if (d === 1) picture.curve(g, path.t.map(function (t) { return t - path.t[0]; }), path.x[0]);
      else picture.curve(g, path.x[state.u], path.x[state.v]);
    });
    g.globalAlpha = 1;
  }

  /* Where f_k is 0 in the plane, the other states at the start: straight pieces in the cells of a grid. Answers whether
   * there is any. */
  function drawNull(g, k, paint, dash) {
    var n = 60, a = ranges(state.u), b = ranges(state.v), z = Array.from(state.start).concat(state.inputs), f = new Float64Array(d), value = [];
    for (var i = 0; i <= n; i++) for (var j = 0; j <= n; j++) {
      z[state.u] = a[0] + (a[1] - a[0]) * i / n;
      z[state.v] = b[0] + (b[1] - b[0]) * j / n;
      model.fields(z, f, null);
      value.push(f[k]);
    }
    var at = {}, joined = {}; /* by the side of a cell: where the line crosses it, and the sides that it goes on to */
    function cross(i0, j0, i1, j1, out) {
      var one = value[i0 * (n + 1) + j0], other = value[i1 * (n + 1) + j1], side = [i0, j0, i1, j1].join();
      if ((one < 0) === (other < 0)) return;
      var s = one / (one - other);
      at[side] = [a[0] + (a[1] - a[0]) * (i0 + s * (i1 - i0)) / n, b[0] + (b[1] - b[0]) * (j0 + s * (j1 - j0)) / n];
      out.push(side);
    }
    for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
      var hit = [];
      cross(i, j, i + 1, j, hit); cross(i, j, i, j + 1, hit); cross(i + 1, j, i + 1, j + 1, hit); cross(i, j + 1, i + 1, j + 1, hit);
      for (var q = 0; q + 1 < hit.length; q += 2) {
        (joined[hit[q]] = joined[hit[q]] || []).push(hit[q + 1]);
        (joined[hit[q + 1]] = joined[hit[q + 1]] || []).push(hit[q]);
      }
    }
    g.strokeStyle = paint;
    g.lineWidth = 1.8;
    g.setLineDash(dash);
    var lines = chains(joined);
    lines.forEach(function (chain) {
      picture.curve(g, chain.map(function (s) { return at[s][0]; }), chain.map(function (s) { return at[s][1]; }));
    });
    g.setLineDash([]);
    return lines.length > 0;
  }

  /* The pieces of a line, one behind the other, so that dashes go on from piece to piece: open lines first, then rings. */
  function chains(joined) {
    var found = [], sides = Object.keys(joined);
    function follow(from) {
      var chain = [from], here = from, next;
      while (joined[here].length) {
        next = joined[here].pop();
        joined[next].splice(joined[next].indexOf(here), 1);
        chain.push(next);
        here = next;
      }
      found.push(chain);
    }
    sides.forEach(function (s) { if (joined[s].length === 1) follow(s); });
    sides.forEach(function (s) { while (joined[s].length) follow(s); });
    return found;
  }

  function isStable(point) { return /^stable/.test(point.type || ''); }

  /* Points that the data tell apart, of an equation that no test speaks against. */
  function isTold(point) {
    return !frame.refused && (d > 1 || fixed.every(function (other) {
      return other === point || Math.abs(other.x[0].value - point.x[0].value) > ((other.x[0].se || 0) + (point.x[0].se || 0));
    }));
  }

  /* "saddle", "unstable point or centre". */
  function kindsOf(points) {
    var kinds = [];
    points.forEach(function (p) {
      var kind = /^saddle/.test(p.type || '') ? 'saddle' : p.type === 'centre' ? 'centre' : 'unstable point';
      if (kinds.indexOf(kind) < 0) kinds.push(kind);
    });
    return kinds.join(' or ');
  }

  function drawFixed(g) {
    fixed.filter(isTold).forEach(function (point) {
      var stable = isStable(point), v = point.x.map(function (n) { return n.value; });
      g.strokeStyle = g.fillStyle = colour('text');
      g.lineWidth = 1.6;
      if (d === 1) {
        g.setLineDash(stable ? [] : [3, 4]);
        g.lineWidth = 1;
        picture.line(g, picture.box[0], picture.y(v[0]), picture.box[2], picture.y(v[0]));
        g.setLineDash([]);
        return;
      }
      g.beginPath();
      g.arc(picture.x(v[state.u]), picture.y(v[state.v]), 5, 0, 7);
      if (stable) g.fill(); else { g.fillStyle = colour('ground'); g.fill(); g.stroke(); }
    });
  }

  function drawBack() {
    var across = d === 1 ? [0, frame.span] : ranges(state.u), up = ranges(d === 1 ? 0 : state.v);
    var g = picture.lay(across, up, d === 1 ? frame.time + ' from the start' : names[state.u], d === 1 ? names[0] : names[state.v]);
    drawData(g);
    if (d > 1) { nullKeys[0](state.u, drawNull(g, state.u, colour('c3'), [])); nullKeys[1](state.v, drawNull(g, state.v, colour('c2'), [6, 4])); }
    drawFixed(g);
    run = null;
    playing = false;
    tell();
  }

  /* ---- What moves ---- */

  function begin(t0) {
    run = model.paths({ x0: state.start, paths: state.paths, seed: state.seed++, inputs: state.inputs, bounds: frame.bounds || undefined,
      lower: frame.lower || undefined, upper: frame.upper || undefined });
    run.t = d === 1 ? t0 || 0 : 0;
    run.seen = Float64Array.from(run.x);
    run.shown = run.t;
    var g = picture.front.getContext('2d');
    g.clearRect(0, 0, picture.width, picture.tall);
    g.strokeStyle = g.fillStyle = colour('c0');
    for (var p = 0; p < 1; p++) { g.beginPath(); g.arc(d === 1 ? picture.x(run.t) : picture.x(run.x[state.u]), picture.y(run.x[d === 1 ? 0 : state.v]), 4, 0, 7); g.fill(); }
    playing = true;
    requestAnimationFrame(tick);
  }

  function trace() {
    var g = picture.front.getContext('2d');
    if (d > 1 && state.paths > 1) { /* old trails fade */
      g.save();
      g.globalCompositeOperation = 'destination-out';
      g.fillStyle = 'rgba(0,0,0,.03)';
      g.fillRect(0, 0, picture.width, picture.tall);
      g.restore();
    }
    g.strokeStyle = colour('c0');
    g.globalAlpha = state.paths === 1 ? 0.9 : state.paths < 50 ? 0.5 : 0.22;
    g.lineWidth = state.paths === 1 ? 1.4 : 1;
    g.beginPath();
    for (var p = 0; p < run.x.length; p += d) {
      if (isNaN(run.x[p]) || isNaN(run.seen[p])) continue;
      g.moveTo(d === 1 ? picture.x(run.shown) : picture.x(run.seen[p + state.u]), picture.y(run.seen[p + (d === 1 ? 0 : state.v)]));
      g.lineTo(d === 1 ? picture.x(run.t) : picture.x(run.x[p + state.u]), picture.y(run.x[p + (d === 1 ? 0 : state.v)]));
    }
    g.stroke();
    g.globalAlpha = 1;
    run.seen.set(run.x);
    run.shown = run.t;
  }

  var lastFrame = 0;
  function tick(now) {
    if (!playing || !run) return;
    var seconds = Math.min(0.1, lastFrame ? (now - lastFrame) / 1000 : 0.016), rate = frame.span / 8 * state.speed, begun = performance.now();
    var goal = run.t + Math.max(seconds * rate, inner), end = d === 1 ? frame.span : Infinity;
    lastFrame = now;
    while (run.t < Math.min(goal, end) - 1e-9 * inner && performance.now() - begun < 14) {
      var h = Math.min(inner, end - run.t);
      run.step(h);
      run.t += h;
      if (run.t - run.shown >= frame.step * (1 - 1e-9)) trace();
    }
    if (run.t > run.shown) trace();
    if (run.t >= end - 1e-9 * inner || run.lost * d === run.x.length) playing = false;
    tell();
    if (playing) requestAnimationFrame(tick); else lastFrame = 0;
  }

  /* ---- Controls ---- */

  var words, play;

  function tell() {
    play.textContent = playing ? 'Pause' : run && run.t > 0 ? 'Go on' : 'Play';
    if (!run) { words.textContent = 'Click in the picture, or type a start and press Play.'; return; }
    var parts = [short(frame.time) + ' ' + show(run.t) + ' from the start'], n = 0, shown = d === 1 ? [0] : [state.u, state.v];
    shown.forEach(function (k) {
      var mean = 0, square = 0;
      n = 0;
      for (var p = 0; p < run.x.length; p += d) if (!isNaN(run.x[p])) { mean += own(k, run.x[p + k]); n++; }
      mean /= n;
      for (p = 0; p < run.x.length; p += d) if (!isNaN(run.x[p])) square += Math.pow(own(k, run.x[p + k]) - mean, 2);
      parts.push(short(called(k)) + (n > 1 ? ': mean ' + show(mean) + ', standard deviation ' + show(Math.sqrt(square / (n - 1))) : ' ' + show(mean)));
    });
    var gone = 0;
    for (var i = 0; i < run.x.length; i += d) if (!isNaN(run.x[i]) && shown.some(function (k, at) {
      var range = d > 1 && at === 0 ? picture.across : picture.up;
      return run.x[i + k] < range[0] || run.x[i + k] > range[1];
    })) gone++;
    if (gone) parts.push(gone + ' of ' + state.paths + ' outside of the picture');
    if (run.lost) parts.push(run.lost + ' of ' + state.paths + ' paths left the finite numbers');
    words.textContent = parts.join('; ');
  }

  function field(parent, text, value, change) {
    var box = make('label', parent, short(text) + ' '), input = make('input', box, '', { type: 'number', step: 'any' });
    input.value = Number(value.toPrecision(4));
    input.addEventListener('change', function () { if (input.value !== '' && isFinite(input.value)) change(Number(input.value)); });
    return input;
  }

  function choice(parent, text, options, value, change) {
    var box = make('label', parent, text + ' '), select = make('select', box);
    options.forEach(function (o) { make('option', select, o[1], { value: o[0] }); });
    select.value = value;
    select.addEventListener('change', function () { change(Number(select.value)); });
    return select;
  }

  function clamp(k, v) {
    var low = told.model.lower[k], high = told.model.upper[k];
    return Math.max(low === null ? -Infinity : low, Math.min(high === null ? Infinity : high, v));
  }

  var starts = [];
  function setStart(k, v) {
    state.start[k] = clamp(k, v);
    if (starts[k]) starts[k].value = Number(own(k, state.start[k]).toPrecision(4));
  }

  var nullKeys = [];
  function key(parent, paint, dash, text) {
    var box = make('span', parent, '', { 'class': 'key' }), c = make('canvas', box, '', { width: 28, height: 14, 'aria-hidden': 'true' }), g = c.getContext('2d');
    make('span', box, text);
    return function () {
      g.clearRect(0, 0, 28, 14);
      g.strokeStyle = g.fillStyle = paint();
      g.lineWidth = 2;
      g.setLineDash(Array.isArray(dash) ? dash : []);
      g.beginPath();
      if (dash === 'dot' || dash === 'ring') { g.arc(14, 7, 5, 0, 7); if (dash === 'dot') g.fill(); else g.stroke(); return; }
      g.moveTo(2, 7); g.lineTo(26, 7); g.stroke();
    };
  }

  function build() {
    var stage = home.querySelector('.stage'), keys = make('p', stage, '', { 'class': 'keys' }), samples = [];
    samples.push(key(keys, function () { return colour('c0'); }, [], 'simulated'), key(keys, function () { return colour('data'); }, [], 'data'));
    if (d > 1) [['c3', []], ['c2', [6, 4]]].forEach(function (look) { /* they name what is in the picture, as it changes */
      samples.push(key(keys, function () { return colour(look[0]); }, look[1], ''));
      var box = keys.lastChild;
      nullKeys.push(function (k, seen) { box.hidden = !seen; box.lastChild.textContent = 'f of ' + short(names[k]) + ' is 0'; });
    });
    var clear = fixed.filter(isTold), rests = clear.filter(isStable), others = clear.filter(function (p) { return !isStable(p); });
    if (rests.length) samples.push(key(keys, function () { return colour('text'); }, d === 1 ? [] : 'dot', 'stable point'));
    if (others.length) samples.push(key(keys, function () { return colour('text'); }, d === 1 ? [3, 4] : 'ring', kindsOf(others)));
    if (clear.length < fixed.length) make('p', stage, 'Points where f is 0 are not drawn where their errors overlap, or where the verdict objects: see What it means.', { 'class': 'note' });
    picture = new Picture(stage, d === 1 ? 320 : 460, d === 1 ? 'Simulated paths over time. Click to start there.' : 'Simulated paths in the plane of two states. Click to start there.');
    var bar = make('div', stage, '', { 'class': 'controls' });
    play = make('button', bar, 'Play', { type: 'button' });
    var again = make('button', bar, 'Again', { type: 'button' });
    choice(bar, 'paths', [[1, '1'], [20, '20'], [200, '200']], 20, function (v) { state.paths = v; begin(); });
    var speed = make('input', make('label', bar, 'speed '), '', { type: 'range', min: -2, max: 2, step: 0.25, value: 0, 'aria-label': 'speed' });
    speed.addEventListener('input', function () { state.speed = Math.pow(3, Number(speed.value)); });
    if (d > 2) ['u', 'v'].forEach(function (which) {
      choice(bar, which === 'u' ? 'across' : 'up', names.map(function (n, k) { return [k, short(n)]; }), state[which], function (v) { state[which] = v; redraw(); });
    });
    var line = make('div', stage, 'Start: ', { 'class': 'controls' });
    names.forEach(function (name, k) { if (d <= 12) starts[k] = field(line, called(k), own(k, state.start[k]), function (v) {
      if (inside(name) !== null && !(v > 0)) { setStart(k, state.start[k]); return; }
      setStart(k, inside(name) === null ? v : Math.log(v));
      if (d > 2) redraw();
      begin();
    }); });
    told.model.inputs.forEach(function (input, k) { field(line, input.name, state.inputs[k], function (v) { state.inputs[k] = v; redraw(); begin(); }); });
    words = make('p', stage, '', { 'class': 'read' });
    play.addEventListener('click', function () {
      if (playing) { playing = false; lastFrame = 0; tell(); } else if (run && !(d === 1 && run.t >= frame.span * (1 - 1e-9))) { playing = true; requestAnimationFrame(tick); } else begin();
    });
    again.addEventListener('click', function () { begin(); });
    picture.front.addEventListener('click', function (event) {
      var at = picture.at(event);
      if (!at) return;
      if (d === 1) setStart(0, at[1]); else { setStart(state.u, at[0]); setStart(state.v, at[1]); }
      begin(at[0]);
    });
    function redraw() { drawBack(); samples.forEach(function (s) { s(); }); }
    picture.onsize = redraw;
    return redraw;
  }

  /* ---- Moments of thinned steps ---- */

  function buildMoments() {
    var list = told.moments || [], stage = home.querySelector('.thinning');
    var lags = list.map(function (m) { return m.every; }).filter(function (v, i, a) { return a.indexOf(v) === i; });
    if (stage) stage.hidden = lags.length < 2;
    if (!stage || stage.hidden) return function () {};
    var at = { lag: 0, k: 0 }, bar = make('div', stage, '', { 'class': 'controls' });
    var slider = make('input', make('label', bar, 'thinning '), '', { type: 'range', min: 0, max: lags.length - 1, step: 1, value: 0, 'aria-label': 'thinning' });
    var says = make('span', bar, '', { 'class': 'read' }), both = make('div', stage, '', { 'class': 'panels' });
    if (d > 1) choice(bar, 'state', names.slice(0, Math.max.apply(null, list.map(function (m) { return m.index + 1; }))).map(function (n, k) { return [k, short(n)]; }), 0,
      function (v) { at.k = v; redraw(); });
    var pictures = ['f', 'a'].filter(function (q) { return list[0][q + '_raw']; }).map(function (q) {
      return [q, new Picture(make('div', both), 240, 'Moments of ' + q + ' from thinned steps')];
    });
    function redraw() {
      var m = list.filter(function (one) { return one.every === lags[at.lag] && one.index === at.k; })[0];
      if (!m) return;
      says.textContent = (m.every === 1 ? 'every point' : 'every ' + m.every + 'th point') + ': ' + m.steps + ' steps of ' + show(m.h);
      pictures.forEach(function (pair) {
        var q = pair[0], p = pair[1], y = m[q + '_raw'], se = m[q + '_raw_se'], told = m[q + '_expected'], seen = [], bars = [];
        list.forEach(function (one) { /* one frame for all thinnings, so that what moves is the data */
          if (one.index !== at.k) return;
          one[q + '_raw'].forEach(function (v, i) {
            var bar = 1.645 * one[q + '_raw_se'][i];
            seen.push(v, one[q + '_expected'][i]);
            if (v !== null && one[q + '_raw_se'][i] !== null) bars.push(v - bar, v + bar);
          });
        });
        var inner = ends(seen), all = ends(bars.concat(inner)), length = inner[1] - inner[0]; /* wild bars may leave the frame */
        var up = [Math.max(all[0], inner[0] - length), Math.min(all[1], inner[1] + length)];
        if (q === 'a') up[0] = Math.min(0, up[0]);
        var g = p.lay(ranges(at.k), widened(up, 0.06), names[at.k], q === 'f' ? 'mean change / time' : 'variance of change / time');
        g.strokeStyle = colour('c0');
        g.lineWidth = 2;
        p.curve(g, m.x, told.map(function (v) { return v === null ? NaN : v; }));
        g.strokeStyle = g.fillStyle = colour('text');
        g.lineWidth = 1;
        m.x.forEach(function (x, i) {
          if (y[i] === null || se[i] === null) return;
          p.line(g, p.x(x), p.y(y[i] - 1.645 * se[i]), p.x(x), p.y(y[i] + 1.645 * se[i]));
          g.beginPath();
          g.arc(p.x(x), p.y(y[i]), 2.8, 0, 7);
          g.fill();
        });
        p.onsize = redraw;
      });
    }
    slider.addEventListener('input', function () { at.lag = Number(slider.value); redraw(); });
    return redraw;
  }

  /* ---- Begin ---- */

  home.hidden = false;
  document.querySelectorAll('nav a[href="#live"]').forEach(function (a) { a.hidden = false; });
  var draw = build(), drawMoments = buildMoments();
  draw();
  drawMoments();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function () { draw(); drawMoments(); });

  function inputsOf(given) {
    Object.keys(given || {}).forEach(function (name) {
      if (!told.model.inputs.some(function (input) { return input.name === name; })) throw new Error('no input is called ' + name);
    });
    return told.model.inputs.map(function (input, k) { return given && input.name in given ? Number(given[input.name]) : state.inputs[k]; });
  }

  window.sock = {
    fields: function (x, inputs) {
      var f = new Float64Array(d), a = new Float64Array(d * d);
      model.fields(Array.from(x).concat(inputsOf(inputs)), f, told.model.has_diffusion ? a : null);
      return [Array.from(f), Array.from(a)];
    },
    simulate: function (x0, time, paths, seed, step, inputs) {
      var made = model.paths({ x0: x0, paths: paths, seed: seed, inputs: inputsOf(inputs), bounds: frame.bounds || undefined, lower: frame.lower || undefined, upper: frame.upper || undefined });
      var steps = Math.max(1, Math.ceil(time / step * (1 - 1e-12)));
      for (var i = 0; i < steps; i++) made.step(time / steps);
      return Array.from(made.x);
    }
  };
})();
