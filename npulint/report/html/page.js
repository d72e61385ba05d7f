(() => {
  'use strict';
  const $ = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const HEAD = 8; // cards of a file that are shown at once
  const [LINES, FILES, PLACES] = [400, 12, 20]; // of findings on paper: messages, files of one, lines of a file
  const form = $('#filters');
  const groups = $('#groups');

  // Cards outside of the window have an estimated height, which the real one replaces on the way: go on until the
  // place stays where it is, unless the reader scrolls meanwhile.
  let landing = 0;
  for (const name of ['wheel', 'touchstart', 'keydown']) addEventListener(name, () => { landing += 1; }, { passive: true });
  function land(el) {
    const mine = (landing += 1);
    let [steady, last, left] = [0, NaN, 90];
    const step = () => {
      if (mine !== landing) return;
      el.scrollIntoView({ behavior: 'instant', block: 'start' });
      const { top } = el.getBoundingClientRect();
      steady = Math.abs(top - last) < 1 ? steady + 1 : 0;
      last = top;
      if (steady < 4 && (left -= 1)) requestAnimationFrame(step);
    };
    step();
  }

  // Paper shows the checklists that are folded away on the screen, and one line for all findings that say the same.
  let folded = [];
  let papers = [];
  addEventListener('beforeprint', () => {
    folded = all(':is(.program, .item):not([open])').filter((one) => !one.matches('.many > .program'));
    for (const one of folded) one.open = true;
    if (form && groups) papers = printed();
    document.documentElement.classList.toggle('compact', papers.length > 0);
  });
  addEventListener('afterprint', () => {
    for (const one of folded) one.open = false;
    for (const one of papers) one.remove();
    folded = [];
    papers = [];
    document.documentElement.classList.remove('compact');
  });
  sides($('#sides'));
  if (!form || !groups) return;

  const boxOf = (el) => ({
    el,
    number: $('.n', el),
    head: $('.cards', el),
    rest: $('.rest', el),
    more: $('.rest > summary > b', el),
    shown: 0,
    folded: 0,
  });
  const checks = all('.group', groups).map(boxOf);
  const cards = [];
  for (const box of checks) {
    const said = `${$('h3', box.el).textContent} ${$('.tags', box.el).textContent}`.toLowerCase();
    const { category, topic } = box.el.dataset;
    for (const el of all('.f', box.el)) {
      const inRest = Boolean(box.rest && box.rest.contains(el));
      cards.push({ el, severity: el.dataset.s, category, topic, said, text: '', shown: true, box, check: box, inRest, inRestOfCheck: inRest });
    }
  }
  const byId = new Map(cards.map((card) => [card.el.id, card]));
  let boxes = checks;
  let files = null;

  const textOf = (card) => {
    if (!card.text) card.text = `${card.said} ${card.el.textContent.toLowerCase()}`;
    return card.text;
  };
  const chosen = (name) => new Set(all(`input[name="${name}"]:checked`, form).map((input) => input.value));
  const numbers = (name) => new Map(all(`input[name="${name}"] + span b`, form).map((b) => [b.dataset.n, b]));
  const numberOf = { severity: numbers('severity'), category: numbers('category') };
  const topics = all('select option[data-name]', form);
  const add = (map, key) => map.set(key, (map.get(key) || 0) + 1);

  function apply() {
    const words = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const severities = chosen('severity');
    const categories = chosen('category');
    const topic = form.topic.value;
    const found = { severity: new Map(), category: new Map(), topic: new Map() };
    let shown = 0;
    for (const box of boxes) box.shown = box.folded = 0;
    for (const card of cards) {
      let show = words.every((word) => textOf(card).includes(word));
      if (show) {
        const s = severities.has(card.severity);
        const c = categories.has(card.category);
        const t = !topic || topic === card.topic;
        if (c && t) add(found.severity, card.severity);
        if (s && t) add(found.category, card.category);
        if (s && c) add(found.topic, card.topic);
        show = s && c && t;
      }
      if (show !== card.shown) card.el.hidden = !(card.shown = show);
      if (show) {
        shown += 1;
        card.box.shown += 1;
        if (card.inRest) card.box.folded += 1;
      }
    }
    for (const box of boxes) {
      box.el.hidden = !box.shown;
      box.number.textContent = box.shown;
      if (!box.rest) continue;
      box.rest.hidden = !box.folded;
      box.more.textContent = box.folded;
      if (box.folded && box.folded === box.shown) box.rest.open = true;
    }
    for (const name of ['severity', 'category']) {
      for (const [value, b] of numberOf[name]) b.textContent = found[name].get(value) || 0;
    }
    for (const option of topics) option.textContent = `${option.dataset.name} (${found.topic.get(option.dataset.name) || 0})`;
    const output = form.shown;
    output.textContent = output.dataset.text.replace('{shown}', shown).replace('{all}', cards.length);
    $('.no-match').hidden = shown > 0;
  }

  function grouped() {
    if (form.group.value === 'file') {
      boxes = files || byFile();
      files = boxes;
    } else {
      boxes = checks;
    }
    const put = new Map();
    const into = (place, el) => (put.has(place) ? put.get(place) : put.set(place, []).get(place)).push(el);
    for (const card of form.group.value === 'file' ? ordered() : cards) {
      card.box = form.group.value === 'file' ? card.file : card.check;
      card.inRest = form.group.value === 'file' ? card.inRestOfFile : card.inRestOfCheck;
      into(card.inRest ? $('.cards', card.box.rest) : card.box.head, card.el);
    }
    for (const [place, els] of put) place.replaceChildren(...els);
    groups.replaceChildren(...boxes.map((box) => box.el));
    groups.classList.toggle('by-file', form.group.value === 'file');
    apply();
  }

  const placeOf = (card) => /^(.*):(\d+):(\d+)$/s.exec($('.at a', card.el).textContent) || ['', '', 0, 0];
  let sorted = null;
  function ordered() {
    if (!sorted) {
      for (const card of cards) [, card.path, card.line, card.column] = placeOf(card);
      sorted = [...cards].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line || a.column - b.column));
    }
    return sorted;
  }

  function byFile() {
    const found = new Map();
    const about = $('#about');
    for (const card of ordered()) {
      const list = found.get(card.path) || found.set(card.path, []).get(card.path);
      card.inRestOfFile = list.length >= HEAD;
      list.push(card);
      const details = about.content.firstElementChild.cloneNode(true);
      details.dataset.check = card.check.el.id;
      card.el.append(details);
    }
    return Array.from(found, ([path, list]) => {
      const el = document.createElement('section');
      el.className = 'group file';
      el.innerHTML = '<header><h3 class="path"></h3> <b class="n"></b></header><div class="cards"></div>';
      $('h3', el).textContent = path;
      if (list.length > HEAD) {
        const rest = document.createElement('details');
        rest.className = 'rest';
        rest.innerHTML = '<summary><b></b> <span></span></summary><div class="cards"></div>';
        $('span', rest).textContent = about.dataset.rest;
        el.append(rest);
      }
      const box = boxOf(el);
      for (const card of list) card.file = box;
      return box;
    });
  }

  // What is true of all findings of a check is shown at one of them when it is asked for.
  groups.addEventListener('toggle', (event) => {
    const details = event.target;
    if (!details.matches('.about') || details.childElementCount > 1) return;
    const check = checks.find((box) => box.el.id === details.dataset.check).el;
    for (const part of ['h3', '.tags', '.advice']) {
      const copy = $(part, check).cloneNode(true);
      if (part === 'h3') {
        const name = document.createElement('p');
        name.className = 'what';
        name.append(...copy.childNodes);
        details.append(name);
      } else details.append(copy);
    }
  }, true);

  // Source that has to be scrolled is reached by the keyboard, in browsers that do not see to it as well.
  groups.addEventListener('contentvisibilityautostatechange', (event) => {
    if (event.skipped) return;
    const source = $('.src', event.target);
    if (source && source.scrollWidth > source.clientWidth) source.tabIndex = 0;
  });

  function reveal(id) {
    const check = checks.find((box) => box.el.id === id);
    let card = byId.get(id);
    if (!card && !check) return false;
    if (check && form.group.value === 'file') {
      form.group.value = 'check';
      grouped();
    }
    if ((check && check.el.hidden) || (card && !card.shown)) {
      const grouping = form.group.value;
      form.reset();
      form.group.value = grouping;
      for (const input of all('input[name="severity"]', form)) input.checked = true;
      apply();
    }
    const el = check ? check.el : card.el;
    for (let up = el.parentElement; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
    for (const old of all('.found')) old.classList.remove('found');
    if (card) el.classList.add('found');
    el.tabIndex = -1;
    el.focus({ preventScroll: true });
    land(el);
    return true;
  }

  // Any other place: the browser goes there first.
  function arrive(id) {
    const el = id && document.getElementById(id);
    if (el) requestAnimationFrame(() => land(el));
  }

  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    const id = link.getAttribute('href').slice(1);
    if (!reveal(id)) return arrive(id);
    event.preventDefault();
    history.replaceState(null, '', `#${id}`);
  });
  addEventListener('hashchange', () => reveal(location.hash.slice(1)) || arrive(location.hash.slice(1)));

  // The findings that are shown, as paper has them: for each message its places, by file.
  function printed() {
    const said = new Map(); // by group, message and file: lines
    const inside = (map, key, made) => map.get(key) || map.set(key, made).get(key);
    for (const card of cards) {
      if (!card.shown) continue;
      const head = $('h4', card.el);
      const messages = inside(said, card.box, new Map());
      const { places } = inside(messages, head.textContent, { head, places: new Map() });
      const [, path, line] = placeOf(card);
      inside(places, path, []).push(line);
    }
    const room = Math.max(3, Math.floor(LINES / Math.max(said.size, 1)));
    return Array.from(said, ([box, messages]) => {
      const el = document.createElement('ul');
      el.className = 'paper';
      el.append(...[...messages.values()].slice(0, room).map(entry), more(messages.size - room));
      box.el.append(el);
      return el;
    });
  }
  function entry({ head, places }) {
    const files = Array.from(places, ([path, lines]) => `${path}:${lines.slice(0, PLACES).join(', ')}${more(lines.length - PLACES)}`);
    const where = document.createElement('span');
    where.className = 'path';
    where.textContent = ` ${files.slice(0, FILES).join(' · ')}${more(files.length - FILES)}`;
    const item = document.createElement('li');
    item.append(...head.cloneNode(true).childNodes, where);
    return item;
  }
  const more = (number) => (number > 0 ? ` +${number}` : '');

  let timer = 0;
  form.addEventListener('input', (event) => {
    clearTimeout(timer);
    if (event.target.name === 'group') grouped();
    else if (event.target.name === 'q') timer = setTimeout(apply, 60);
    else apply();
  });
  form.addEventListener('reset', () => setTimeout(grouped));
  form.addEventListener('submit', (event) => event.preventDefault());
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== 'checkbox' && event.target.type !== 'radio') return;
    event.preventDefault();
    form.q.focus();
  });

  // The comparison has a filter of its own: rows by their answer and their text.
  function sides(filter) {
    const opened = () => {
      const item = location.hash.startsWith('#item-') && document.getElementById(location.hash.slice(1));
      if (item && item.tagName === 'DETAILS') item.open = true;
    };
    addEventListener('hashchange', opened);
    opened();
    if (!filter) return;
    const items = all('.item').map((el) => ({ el, rows: all('tr[data-a]', el), equal: $('.equal', el), said: '' }));
    const told = (el) => all('th, .value, .at', el).map((part) => part.textContent.toLowerCase()).join(' '); // no source
    const total = items.reduce((n, item) => n + item.rows.length, 0);
    for (const item of items) {
      const head = $('.title', item.el).textContent.toLowerCase();
      item.said = item.el.textContent.toLowerCase();
      item.rows = item.rows.map((el) => ({ el, answer: el.dataset.a, text: `${head} ${told(el)}` }));
    }
    const filtered = () => {
      const words = filter.q.value.toLowerCase().split(/\s+/).filter(Boolean);
      const answers = new Set(all('input[name="answer"]:checked', filter).map((input) => input.value));
      let shown = 0;
      let left = 0;
      for (const item of items) {
        let inside = 0;
        for (const row of item.rows) {
          const show = answers.has(row.answer) && words.every((word) => row.text.includes(word));
          row.el.hidden = !show;
          if (show) inside += 1;
        }
        for (const table of all('table', item.el)) table.hidden = !$('tr[data-a]:not([hidden])', table);
        if (item.equal) {
          item.equal.hidden = !$('tr[data-a]:not([hidden])', item.equal);
          if (words.length && !item.equal.hidden) item.equal.open = true;
        }
        const bare = answers.has(item.el.dataset.a) && words.every((word) => item.said.includes(word));
        item.el.hidden = !(inside || (!item.rows.length && bare));
        if (words.length && inside && item.el.tagName === 'DETAILS') item.el.open = true;
        shown += inside;
        left += !item.el.hidden;
      }
      filter.shown.textContent = filter.shown.dataset.text.replace('{shown}', shown).replace('{all}', total);
      $('.no-rows').hidden = left > 0;
    };
    filter.addEventListener('input', filtered);
    filter.addEventListener('reset', () => setTimeout(filtered));
    filter.addEventListener('submit', (event) => event.preventDefault());
    addEventListener('hashchange', () => {
      const item = items.find((one) => `#${one.el.id}` === location.hash);
      if (item && item.el.hidden) {
        filter.reset();
        setTimeout(() => item.el.scrollIntoView());
      }
    });
    filter.hidden = false;
  }

  form.hidden = false;
  apply();
  if (location.hash) reveal(location.hash.slice(1)) || arrive(location.hash.slice(1));
})();
