/* model.js - f, a and paths of a model out of its features and weights (docs/evidence.md), by the law of `sock simulate`:
 * Euler-Maruyama, or the step of second order; noise by a Cholesky factor; bounds, and states that never leave them.
 * sockModel(told) answers { d, fields(z, f, a), paths(specification) }; nothing here touches the page. */
(function (root) {
  'use strict';

  /* ---- Kernels as text: name:key=value,key=value+name... ---- */

  function parse(text) {
    return text.split(/\+(?=[a-z])/).map(function (term) {
      var at = term.indexOf(':'), out = { name: at < 0 ? term : term.slice(0, at), scale: 1, degree: 2 };
      (at < 0 ? '' : term.slice(at + 1)).replace(/([A-Za-z]+)=(\[[^\]]*\]|[^,]*)/g, function (_, key, value) {
        out[key] = key === 'of' || key === 'in' || key === 'bounds' ? value
          : key === 'B' ? value.slice(1, -1).split(';').map(function (row) { return row.trim().split(/\s+/).map(Number); })
          : Number(value);
      });
      return out;
    });
  }

  function dot(d, x, y, at) {
    var sum = 0;
    for (var k = 0; k < d; k++) sum += x[k] * y[at + k];
    return sum;
  }

  /* k(x, y) without B; y: a point of an array. */
  function kernel(term, d, x, y, at) {
    var name = term.name === 'nystrom' ? term.of || 'gauss' : term.name, sum = 0;
    if (name === 'constant') return term.scale;
    if (name === 'linear') return term.scale * dot(d, x, y, at);
    if (name === 'affine') return term.scale * (dot(d, x, y, at) + 1);
    if (name === 'poly') return term.scale * Math.pow(dot(d, x, y, at) + 1, term.degree);
    for (var k = 0; k < d; k++) sum += (x[k] - y[at + k]) * (x[k] - y[at + k]);
    return term.scale * Math.exp(Math.max(-0.5 * sum / term.eta / term.eta, -600));
  }

  /* f += K(x, y) w of a curl-free or divergence-free kernel. */
  function vectorField(term, d, x, y, at, w, f) {
    var square = 0, along = 0, k, u = [];
    for (k = 0; k < d; k++) u.push((x[k] - y[at + k]) / term.eta);
    for (k = 0; k < d; k++) { square += u[k] * u[k]; along += u[k] * w[at + k]; }
    var phi = term.scale * Math.exp(-0.5 * square) / term.eta / term.eta, curl = term.name === 'curlfree';
    for (k = 0; k < d; k++) f[k] += phi * ((curl ? 1 : d - 1 - square) * w[at + k] + (curl ? -1 : 1) * u[k] * along);
  }

  /* ---- Features ---- */

  function numbers(array) {
    var raw = atob(array.base64), bytes = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Float64Array(bytes.buffer);
  }

  /* Weighted monomials up to a degree, as parent, variable and ratio; the last is 1. */
  function monomials(d, degree) {
    var levels = [[{ last: 0, run: 0 }]], table = [], start = [], count = 0, g;
    for (g = 1; g <= degree; g++) {
      levels[g] = [];
      levels[g - 1].forEach(function (q, place) {
        for (var v = g === 1 ? 0 : q.last; v < d; v++) {
          var run = g > 1 && v === q.last ? q.run + 1 : 1;
          levels[g].push({ last: v, run: run, parent: place, ratio: Math.sqrt((degree - g + 1) / run) });
        }
      });
    }
    for (g = degree; g >= 0; g--) { start[g] = count; count += levels[g].length; }
    for (g = degree; g > 0; g--)
      levels[g].forEach(function (m) { table.push({ parent: start[g - 1] + m.parent, variable: m.last, ratio: m.ratio }); });
    return table;
  }

  function polynomial(term, d, degree, kept) {
    var table = monomials(d, degree), root = Math.sqrt(term.scale), all = new Float64Array(table.length + 1);
    return {
      p: kept ? kept.length : all.length,
      put: function (u, phi, at) {
        all[table.length] = root;
        for (var j = table.length - 1; j >= 0; j--) all[j] = all[table[j].parent] * u[table[j].variable] * table[j].ratio;
        if (kept) for (j = 0; j < kept.length; j++) phi[at + j] = all[kept[j]];
        else phi.set(all, at);
      }
    };
  }

  function fourier(term, d, omega, beta) {
    var p = beta.length, size = Math.sqrt(2 * term.scale / p);
    return {
      p: p,
      put: function (u, phi, at) {
        for (var j = 0; j < p; j++) phi[at + j] = size * Math.cos(dot(d, u, omega, j * d) / term.eta + beta[j]);
      }
    };
  }

  /* Kernel values at points, and what L^-1 makes of them (factor null: it is in the weights). */
  function landmarks(terms, d, points, factor) {
    var p = points.length / d;
    return {
      p: p,
      put: function (u, phi, at) {
        var i, k, sum;
        for (i = 0; i < p; i++) {
          sum = 0;
          for (k = 0; k < terms.length; k++) sum += kernel(terms[k], d, u, points, i * d);
          phi[at + i] = sum;
        }
        for (i = 0; factor && i < p; i++) {
          sum = phi[at + i];
          for (k = 0; k < i; k++) sum -= factor[i * p + k] * phi[at + k];
          phi[at + i] = sum / factor[i * p + i];
        }
      }
    };
  }

  function linear(term, d) {
    var root = Math.sqrt(term.scale);
    return { p: d, put: function (u, phi, at) { for (var k = 0; k < d; k++) phi[at + k] = root * u[k]; } };
  }

  function rootOf(x) { return x > 0 ? Math.sqrt(x) : 0; }

  /* Coordinates of bounded states, and those that the features see where they are of roots. */
  function rootMap(term, d) {
    if (term['in'] !== 'root' && term.name !== 'rates') return null;
    var sides = term.bounds || new Array(d + 1).join('l'), rates = term.name === 'rates', inner = 0;
    for (var k = 0; k < d; k++) inner += sides[k] === 'b' ? 2 : sides[k] === '-' && rates ? 0 : 1;
    return {
      inner: inner,
      put: function (x, u) {
        for (var k = 0, j = 0; k < d; k++) {
          if (sides[k] === '-') { if (!rates) u[j++] = x[k]; continue; }
          u[j++] = rootOf(sides[k] === 'u' ? -x[k] : sides[k] === 'b' ? Math.min(x[k], 1) : x[k]);
          if (sides[k] === 'b') u[j++] = rootOf(1 - Math.max(x[k], 0));
        }
      }
    };
  }

  /* A map: phi(x) of `in` coordinates. */
  function features(entry, wide) {
    var pivoted = /^pivoted\((.*)\)$/.exec(entry.features), terms = parse(pivoted ? pivoted[1] : entry.features);
    var get = function (name) { return entry.arrays[name] ? numbers(entry.arrays[name]) : null; };
    var roots = rootMap(terms[0], wide), d = roots ? roots.inner : wide, origin = get('origin'), scale = get('scale');
    var parts = pivoted ? [landmarks(terms, d, get('0.landmarks'), get('0.factor'))] : terms.map(function (term, i) {
      var kept = get(i + '.kept');
      if (term.name === 'fourier') return fourier(term, d, get(i + '.omega'), get(i + '.beta'));
      if (term.name === 'nystrom') return landmarks([term], d, get(i + '.landmarks'), get(i + '.factor'));
      if (term.name === 'linear') return linear(term, d);
      return polynomial(term, d, term.name === 'affine' ? 1 : term.name === 'constant' ? 0 : term.degree, kept);
    });
    var p = parts.reduce(function (sum, part) { return sum + part.p; }, 0);
    var z = new Float64Array(wide), u = new Float64Array(d), phi = new Float64Array(p);
    return {
      p: p,
      at: function (x) {
        for (var k = 0; k < wide; k++) z[k] = scale ? (x[k] - (origin ? origin[k] : 0)) / scale[k] : x[k];
        if (roots) roots.put(z, u);
        for (var i = 0, at = 0; i < parts.length; at += parts[i++].p) parts[i].put(roots ? u : z, phi, at);
        return phi;
      }
    };
  }

  /* ---- Fields ---- */

  /* f += of one term of the drift. */
  function driftTerm(entry, d, wide) {
    var weight = numbers(entry.weight);
    if (entry.features) {
      var map = features(entry, wide);
      return function (z, f) {
        var phi = map.at(z);
        for (var j = 0; j < map.p; j++) for (var k = 0; k < d; k++) f[k] += phi[j] * weight[j * d + k];
      };
    }
    var terms = parse(entry.kernel), centre = numbers(entry.centre);
    return function (z, f) {
      terms.forEach(function (term) {
        for (var i = 0; i < centre.length; i += d) {
          if (term.name === 'curlfree' || term.name === 'divfree') { vectorField(term, d, z, centre, i, weight, f); continue; }
          var value = kernel(term, d, z, centre, i);
          for (var k = 0; k < d; k++) {
            if (!term.B) { f[k] += value * weight[i + k]; continue; }
            for (var l = 0; l < d; l++) f[k] += value * term.B[k][l] * weight[i + l];
          }
        }
      });
    };
  }

  /* a += of one term of the diffusion: B B' with B_k = phi' V_k, or for each column its owner's square alone. */
  function diffusionTerm(entry, d, wide) {
    var map = features(entry, wide), v = numbers(entry.v), r = entry.v.cols, p = map.p, b = new Float64Array(d * r);
    return function (z, a) {
      var phi = map.at(z), i, j, k, l;
      b.fill(0);
      for (k = 0; k < d; k++) for (i = 0; i < p; i++) {
        var weight = phi[i], row = (k * p + i) * r;
        for (j = 0; j < r; j++) b[k * r + j] += weight * v[row + j];
      }
      for (j = 0; entry.owner && j < r; j++) { k = entry.owner[j]; a[k * d + k] += b[k * r + j] * b[k * r + j]; }
      for (k = 0; !entry.owner && k < d; k++) for (l = 0; l < d; l++) {
        var sum = 0;
        for (j = 0; j < r; j++) sum += b[k * r + j] * b[l * r + j];
        a[k * d + l] += sum;
      }
    };
  }

  /* ---- Random numbers: sfc32, and normal ones in pairs by Box and Muller ---- */

  function normals(seed) {
    var a = seed >>> 0, b = 0x9e3779b9, c = 0x243f6a88, count = 1, spare = null;
    function next() {
      var t = (a + b + count++) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + t | 0;
      return (t >>> 0) / 4294967296;
    }
    for (var i = 0; i < 20; i++) next();
    return function () {
      if (spare !== null) { var kept = spare; spare = null; return kept; }
      var radius = Math.sqrt(-2 * Math.log(1 - next())), angle = 2 * Math.PI * next();
      spare = radius * Math.sin(angle);
      return radius * Math.cos(angle);
    };
  }

  /* The Cholesky factor of d x d numbers in place, with zero columns where it is singular. */
  function factor(d, a) {
    for (var k = 0; k < d; k++) {
      var whole = a[k * d + k], left = whole, j, l;
      for (j = 0; j < k; j++) left -= a[k * d + j] * a[k * d + j];
      var empty = left <= 1e-14 * whole;
      a[k * d + k] = empty ? 0 : Math.sqrt(left);
      for (l = k + 1; l < d; l++) {
        var sum = a[l * d + k];
        for (j = 0; j < k; j++) sum -= a[l * d + j] * a[k * d + j];
        a[l * d + k] = empty ? 0 : sum / a[k * d + k];
      }
    }
  }

  function reflect(x, low, high) {
    if (x >= low && x <= high) return x;
    if (high === Infinity) return 2 * low - x;
    if (low === -Infinity) return 2 * high - x;
    var width = high - low, y = Math.abs(x - low) % (2 * width);
    return width <= 0 ? low : y > width ? high - (y - width) : low + y;
  }

  /* ---- The model ---- */

  root.sockModel = function (told) {
    var d = told.d, wide = d + told.inputs.length;
    var drift = told.drift.map(function (t) { return driftTerm(t, d, wide); });
    var diffusion = told.diffusion.map(function (t) { return diffusionTerm(t, d, wide); });
    var lower = told.lower.map(function (v) { return v === null ? -Infinity : v; });
    var upper = told.upper.map(function (v) { return v === null ? Infinity : v; });
    var bounded = lower.concat(upper).some(isFinite), inside = new Float64Array(wide);
    var usual = told.inputs.map(function (input) { return input.usual; });

    /* f (d) and a (d x d; null: not wanted) at z: states, then inputs. a is that of the nearest point inside. */
    function fields(z, f, a) {
      var i, k;
      for (k = 0; k < d; k++) f[k] = 0;
      for (i = 0; i < drift.length; i++) drift[i](z, f);
      if (!a) return;
      for (k = 0; k < wide; k++) inside[k] = k < d && bounded ? Math.min(Math.max(z[k], lower[k]), upper[k]) : z[k];
      for (k = 0; k < d * d; k++) a[k] = 0;
      for (i = 0; i < diffusion.length; i++) diffusion[i](inside, a);
      for (k = 0; k < d; k++) a[k * d + k] += told.floor;
    }

    function rests(x) {
      for (var k = 0; k < told.absorbing.length; k++)
        if ((told.absorbing[k] & 1 && x[k] <= lower[k]) || (told.absorbing[k] & 2 && x[k] >= upper[k])) return true;
      return false;
    }

    /* Many paths, side by side. s: x0, paths, seed, and, if wanted, inputs (values), bounds ('none', 'clip' or 'reflect'; clip
     * where the model has bounds), lower, upper. What it answers: x (paths x d; NaN: lost), lost, and step(h). */
    function paths(s) {
      var low = s.lower || lower, high = s.upper || upper, mode = s.bounds || (bounded ? 'clip' : 'none');
      var x = new Float64Array(s.paths * d), z = new Float64Array(wide), f = new Float64Array(d), a = new Float64Array(d * d);
      var noise = new Float64Array(d), random = normals(s.seed), frozen = new Uint8Array(s.paths), run = { x: x, lost: 0 };
      for (var i = 0; i < x.length; i++) x[i] = s.x0[i % d];
      for (i = d; i < wide; i++) z[i] = (s.inputs || usual)[i - d];

      function first(p, h) {
        if (told.has_diffusion) factor(d, a);
        for (var k = 0; k < d; k++) noise[k] = told.has_diffusion ? random() : 0;
        for (k = 0; k < d; k++) {
          var sum = 0;
          for (var l = 0; told.has_diffusion && l <= k; l++) sum += a[k * d + l] * noise[l];
          x[p + k] += h * f[k] + Math.sqrt(h) * sum;
        }
      }

      function second(p, h) {
        var m = d / 2, k, l, c = new Float64Array(m * m), one, other;
        for (k = 0; k < m; k++) x[p + k] += h * x[p + m + k] + h * h / 2 * f[m + k];
        for (k = 0; k < m; k++) x[p + m + k] += h * f[m + k];
        if (!told.has_diffusion) return;
        for (k = 0; k < m * m; k++) c[k] = a[(m + Math.floor(k / m)) * d + m + k % m];
        factor(m, c);
        for (k = 0; k < d; k++) noise[k] = random();
        for (k = 0; k < m; k++) {
          for (one = other = 0, l = 0; l <= k; l++) { one += c[k * m + l] * noise[m + l]; other += c[k * m + l] * noise[l]; }
          x[p + k] += h * Math.sqrt(h) * (other + one / Math.sqrt(3)) / 2;
          x[p + m + k] += Math.sqrt(h) * other;
        }
      }

      function settle(p) {
        var good = true, k;
        for (k = 0; k < d; k++) good = good && isFinite(x[p + k]);
        if (!good) { for (k = 0; k < d; k++) x[p + k] = NaN; run.lost++; return; }
        for (k = 0; mode !== 'none' && k < d; k++)
          x[p + k] = mode === 'reflect' ? reflect(x[p + k], low[k], high[k]) : Math.min(Math.max(x[p + k], low[k]), high[k]);
      }

      run.step = function (h) {
        for (var i = 0, p = 0; i < s.paths; i++, p += d) {
          if (isNaN(x[p]) || frozen[i]) continue;
          for (var k = 0; k < d; k++) z[k] = x[p + k];
          if (mode !== 'none' && told.absorbing.length && rests(z)) { frozen[i] = 1; continue; }
          fields(z, f, told.has_diffusion ? a : null);
          if (told.order === 2) second(p, h); else first(p, h);
          settle(p);
        }
      };
      return run;
    }

    return { d: d, told: told, fields: fields, paths: paths, usual: usual };
  };
})(typeof window === 'undefined' ? globalThis : window);
