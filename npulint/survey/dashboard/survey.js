(() => {
  'use strict';
  const PAGE = 50; // projects that are listed at once
  const FEW = 2; // blockers that are named in a row
  const $ = (selector) => document.querySelector(selector);
  const { projects, checks, frameworks, verdicts, texts } = JSON.parse($('#data').textContent);
  const form = $('#projects form');
  const table = $('#rows');
  const heads = Array.from(table.tHead.rows[0].cells);
  const columns = heads.map((head) => head.dataset.column);
  const labels = Object.fromEntries(heads.map((head) => [head.dataset.column, head.textContent]));
  const pager = $('.pager');
  const [previous, place, next] = pager.children;
  const number = new Intl.NumberFormat(document.documentElement.lang);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const tones = { ready: 'passed', check: 'note', open: 'warning', blocked: 'error' };
  const toneOf = (project) => tones[verdicts[project.v][0]] || 'unknown';

  // How projects are ordered: by these numbers, one after the other; true: upwards.
  const unknown = (value) => (value === undefined ? Infinity : value);
  const ready = (one) => -(one.p + one.x + one.u ? one.p / (one.p + one.x + one.u) : -1);
  const keys = {
    readiness: [(one) => one.v, ready, (one) => unknown(one.mid), (one) => one.b.length, (one) => one.e],
    effort: [(one) => unknown(one.mid), (one) => one.v],
    blockers: [(one) => one.b.length, (one) => one.e, (one) => one.v],
    errors: [(one) => one.e],
    warnings: [(one) => one.w],
    lines: [(one) => one.l],
    name: [],
  };
  const falling = new Set(['errors', 'warnings', 'lines']); // the most first
  let order = { by: 'readiness', up: true };
  let first = 0;
  let found = [];

  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });
  projects.slice().sort((a, b) => collator.compare(a.n, b.n)).forEach((one, rank) => { one.rank = rank; });
  for (const one of projects) {
    const names = [...one.b.map((index) => checks[index].join(' ')), ...one.f.map((index) => frameworks[index][1])];
    one.text = [one.n, one.src, one.why, ...names].join(' ').toLowerCase();
  }

  function compare(a, b) {
    const sign = order.up ? 1 : -1;
    for (const key of keys[order.by]) {
      const [x, y] = [key(a), key(b)];
      if (x !== y) return x < y ? -sign : sign;
    }
    return (a.rank - b.rank) * (order.by === 'name' ? sign : 1);
  }

  function apply() {
    const words = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = new Set(Array.from(form.querySelectorAll('input[name="verdict"]:checked'), (box) => box.value));
    const framework = frameworks.findIndex(([name]) => name === form.framework.value);
    const check = checks.findIndex(([code]) => code === form.check.value);
    found = projects.filter((one) => chosen.has(verdicts[one.v][0])
      && (framework < 0 || one.f.includes(framework))
      && (check < 0 || one.b.includes(check))
      && words.every((word) => one.text.includes(word)));
    found.sort(compare);
    first = 0;
    form.shown.value = fill(texts.shown, { shown: number.format(found.length), all: number.format(projects.length) });
    show();
  }

  function show() {
    const last = Math.min(first + PAGE, found.length);
    table.tBodies[0].replaceChildren(...found.slice(first, last).map(row));
    table.hidden = !found.length;
    $('.no-match').hidden = Boolean(found.length);
    pager.hidden = found.length <= PAGE;
    place.value = fill(texts.page, { first: number.format(first + 1), last: number.format(last), all: number.format(found.length) });
    previous.disabled = first === 0;
    next.disabled = last === found.length;
    for (const head of heads) {
      if (head.dataset.column === order.by) head.setAttribute('aria-sort', order.up ? 'ascending' : 'descending');
      else head.removeAttribute('aria-sort');
    }
    form.order.value = order.by;
  }

  function element(name, attributes = {}, ...children) {
    const one = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    one.append(...children);
    return one;
  }

  function bar(one) {
    const space = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(space, 'svg');
    svg.setAttribute('class', 'bar');
    svg.setAttribute('aria-hidden', 'true');
    const total = one.p + one.x + one.u;
    let at = 0;
    for (const [kind, value] of [['passed', one.p], ['failed', one.x], ['unknown', one.u]]) {
      const rect = document.createElementNS(space, 'rect');
      rect.setAttribute('class', kind);
      rect.setAttribute('x', `${(100 * at) / total}%`);
      rect.setAttribute('width', `${(100 * value) / total}%`);
      svg.append(rect);
      at += value;
    }
    return svg;
  }

  // A path may be broken behind each slash.
  const path = (text) => text.split(/(?<=\/)/).flatMap((part, index) => (index ? [element('wbr'), part] : [part]));
  const hours = (value) => number.format(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));
  const range = (one) => fill(texts.range, { mid: hours(one.mid), low: hours(one.lo), high: hours(one.hi) });
  const counted = (value) => (value === undefined ? '' : number.format(value));
  const failed = (one) => one.why !== undefined;

  const cells = {
    name(one) {
      const title = one.r ? element('a', { href: one.r }, ...path(one.n)) : element('span', {}, ...path(one.n));
      const about = element('button', { type: 'button', class: 'link', 'aria-expanded': 'false', 'aria-label': `${texts.details} ${one.n}` }, texts.details);
      about.addEventListener('click', () => unfold(one, about));
      const used = one.f.map((index) => frameworks[index][1]).join(' · ');
      return element('th', { scope: 'row' }, title, element('small', { class: 'sub' }, used ? `${used} · ` : '', about));
    },
    readiness(one) {
      const cell = element('td', {}, element('b', { class: `s ${toneOf(one)}` }, verdicts[one.v][1]));
      const total = one.p + one.x + one.u;
      const items = fill(texts.items, { passed: number.format(one.p), all: number.format(total) });
      if (total) cell.append(element('small', { class: 'items' }, bar(one), items));
      return cell;
    },
    blockers(one) {
      const cell = element('td');
      const names = one.b.slice(0, FEW).map((index) => element('li', {}, element('code', {}, checks[index][1])));
      const rest = one.b.length - names.length;
      if (rest > 0) names.push(element('li', {}, element('small', {}, fill(texts.more, { n: rest }))));
      if (names.length) cell.append(element('ul', { class: 'checks' }, ...names));
      return cell;
    },
    effort: (one) => numeric('effort', one.mid === undefined ? '' : hours(one.mid)),
    errors: (one) => numeric('errors', failed(one) ? '' : counted(one.e)),
    warnings: (one) => numeric('warnings', failed(one) ? '' : counted(one.w)),
    lines: (one) => numeric('lines', failed(one) ? '' : counted(one.l)),
  };

  function numeric(column, text) {
    return text ? element('td', { class: 'n', 'data-label': labels[column] }, text) : element('td', { class: 'n' });
  }

  function row(one) {
    return element('tr', {}, ...columns.map((column) => cells[column](one)));
  }

  function unfold(one, button) {
    const own = button.closest('tr');
    const open = button.getAttribute('aria-expanded') === 'true';
    button.setAttribute('aria-expanded', String(!open));
    if (open) own.nextSibling.remove();
    else own.after(element('tr', { class: 'more' }, element('td', { colspan: columns.length }, facts(one))));
  }

  function facts(one) {
    const list = element('dl');
    const add = (name, ...values) => list.append(element('dt', {}, name), element('dd', {}, ...values));
    if (failed(one)) add(verdicts[one.v][1], one.why);
    add(texts.source, element('span', { class: 'path' }, ...path(one.src)));
    if (one.c) add(texts.commit, element('code', {}, one.c));
    if (one.mid) add(texts.effort, range(one));
    if (!failed(one)) add(texts.files, number.format(one.files));
    const names = one.b.map((index) => element('li', {}, element('code', {}, checks[index][1]), ` ${checks[index][0]}`));
    if (!failed(one)) add(texts.blockers, names.length ? element('ul', {}, ...names) : texts.none);
    if (one.r) add(texts.report, element('a', { href: one.r }, one.r));
    return list;
  }

  function sort(by) {
    order = { by, up: order.by === by ? !order.up : !falling.has(by) };
    found.sort(compare);
    first = 0;
    show();
  }

  function turn(by) {
    first += by * PAGE;
    show();
    table.scrollIntoView({ block: 'start' });
  }

  let waiting = 0;
  form.addEventListener('input', (event) => {
    if (event.target === form.order) return;
    clearTimeout(waiting);
    if (event.target === form.q) waiting = setTimeout(apply, 80);
    else apply();
  });
  form.order.addEventListener('change', () => {
    order = { by: '', up: true };
    sort(form.order.value);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(() => {
    order = { by: 'readiness', up: true };
    apply();
  }));
  for (const head of heads) head.firstChild.addEventListener('click', () => sort(head.dataset.column));
  for (const button of document.querySelectorAll('[data-check]')) {
    button.addEventListener('click', () => {
      form.reset();
      setTimeout(() => {
        form.check.value = button.dataset.check;
        apply();
        form.scrollIntoView({ block: 'start' });
        form.check.focus({ preventScroll: true });
      }, 1);
    });
  }
  previous.addEventListener('click', () => turn(-1));
  next.addEventListener('click', () => turn(1));
  form.hidden = false;
  apply();
})();
