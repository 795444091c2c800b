// @ts-nocheck: this runs in the sandbox's QuickJS, which has other globals than the page and Node
// This program runs inside the sandbox, next to a person's environment. It makes episodes of their class, calls its
// methods and returns the results. It starts before the class is loaded and keeps the built-in functions that it needs,
// so that changes that the class makes to them have no effect on it. `task` is the current list of requests and its
// progress. The host stops a method that computes too long, and calls `serve` again, which continues with the next
// request. In a handed-over folder, `rules` checks calls and adds up rewards, which the page does by itself.
(rng, rules) => {
  'use strict';
  const { random, Purpose } = rng;
  const { parse, stringify } = JSON;
  const { create, freeze, is, keys, preventExtensions, getPrototypeOf, getOwnPropertyDescriptor, defineProperty } =
    Object;
  const { apply, ownKeys } = Reflect;
  const { isFinite, isInteger } = Number;
  const toText = String;
  const { isArray } = Array;
  const cut = String.prototype.slice;
  const { push, includes } = Array.prototype;
  const bugs = [TypeError, ReferenceError, RangeError, SyntaxError, InternalError];
  const MAX_TEXT = 4000; // characters of one text
  const MAX_KEY = 200; // characters of a state key or a name
  const MAX_NAMED = 64; // named parts of a reward, or arguments of a call
  const MAX_REWARD = 1e6; // as in src/domain/rewardLimit.ts

  /** Whether a value is a number that a reward may be. */
  const isReward = (value) => typeof value === 'number' && value >= -MAX_REWARD && value <= MAX_REWARD;

  const refuse = (what) => () => {
    throw new TypeError(what);
  };

  /**
   * Removes everything that differs by machine or time, and freezes the rest, so that episodes keep their state only in
   * their own object.
   */
  function close(root) {
    const noCode = refuse('An environment cannot run text as code.');
    for (const object of [() => 0, async () => 0, function* () {}, async function* () {}]) {
      defineProperty(getPrototypeOf(object), 'constructor', { value: noCode });
    }
    root.Math.random = refuse('Math.random differs from run to run. Use the `draw` that reset(task) is given.');
    for (const name of [
      ...[
        'eval',
        'Function',
        'Date',
        'performance',
        'queueMicrotask',
        'SharedArrayBuffer',
        'WeakRef',
        'FinalizationRegistry',
      ],
      ...['atob', 'btoa', 'DOMException', 'escape', 'unescape'],
    ]) {
      delete root[name];
    }
    // these have setters, which freezing does not disable
    for (const name of ['stackTraceLimit', 'prepareStackTrace'])
      defineProperty(Error, name, { value: Error[name], writable: false });
    for (const kind of [Error, ...bugs, EvalError, URIError, AggregateError]) {
      for (const name of ['name', 'message']) overridable(kind.prototype, name);
    }
    // prototypes that can't be reached from the global object by name
    const iterators = ['', [], new Map(), new Set()].map((list) => list[Symbol.iterator]());
    const generators = [function* () {}, async function* () {}].map((make) => make());
    for (const object of [...iterators, 'x'.matchAll(/x/g), ...generators, async () => 0])
      freezeAll(getPrototypeOf(object));
    freezeAll(root);
  }

  /**
   * Lets objects set a property that they inherit from a frozen prototype, such as an error's `this.name = …`, which
   * would fail otherwise.
   */
  function overridable(prototype, name) {
    const { value } = getOwnPropertyDescriptor(prototype, name) ?? {};
    if (value === undefined) return;
    defineProperty(prototype, name, {
      get: () => value,
      set(own) {
        if (this === prototype) throw new TypeError(`'${name}' is read-only`);
        defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
      },
    });
  }

  /**
   * The `draw` for reset(task) and expert(draw): this project's random numbers. The same key gives the same draws
   * everywhere.
   */
  function drawFrom([seed, a, b]) {
    const { next, int: below, shuffle: mix } = random(seed, Purpose.environment, a, b);
    const int = (n) => {
      if (!isInteger(n) || n < 1) throw new RangeError(`draw.int(${toText(n)}): use a whole number of at least 1.`);
      return below(n);
    };
    const pick = (list) => {
      if (!isArray(list) || list.length === 0) throw new RangeError('draw.pick needs a list with at least one item.');
      return list[int(list.length)];
    };
    const shuffle = (list) => mix([...list]);
    return freeze({ next, int, pick, shuffle, chance: (p) => next() < p });
  }

  const REMEDY = 'Keep it in `this` and set it in reset().';
  /** Matches the messages of the virtual machine about a change of what is frozen. */
  const FROZEN = /read-only|not extensible|could not delete property|not configurable/;
  const frozen = new WeakSet();
  const patterns = []; // shared regular expressions, which remember where they stopped

  /**
   * Freezes a value and everything that can be reached from it. Of a file, `name` is the value's name in it, for
   * messages, and `source` is its code.
   */
  function freezeAll(root, name = '', source = '') {
    const queue = [];
    const add = (value, isPrototype = false) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || frozen.has(value)) return;
      frozen.add(value);
      apply(push, queue, [[value, isPrototype]]);
    };
    add(root);
    for (const [value, isPrototype] of queue) {
      const isLive = ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Iterator;
      if (name && isLive && !isPrototype)
        throw new TypeError(
          `\`${name}\` holds a buffer, a typed array or an iterator. It can’t be frozen, so episodes could change it for each other. Use a list, or make it in reset().`,
        );
      add(getPrototypeOf(value), true);
      for (const key of ownKeys(value)) {
        const { value: inner, get, set } = getOwnPropertyDescriptor(value, key);
        for (const each of [get, set]) add(each);
        add(inner, key === 'prototype');
        const isReplaced =
          isPrototype && typeof key === 'string' && [' =', '='].some((by) => source.includes(`.${key}${by}`));
        if (isReplaced) overridable(value, key); // an object may have its own, as in `this.act = this.act.bind(this)`
      }
      if (name && !isPrototype) refuseChanges(value, add);
      if (name && value instanceof RegExp && !isPrototype) {
        preventExtensions(value); // not its lastIndex, without which it can't be used
        apply(push, patterns, [value]);
      } else freeze(value);
    }
  }

  /**
   * Has a collection refuse changes, which freezing doesn't stop, and hands over what it holds. Weak ones can keep
   * something for an episode's own objects.
   */
  function refuseChanges(value, add) {
    const isWeak = value instanceof WeakMap || value instanceof WeakSet;
    if (!isWeak && !(value instanceof Map) && !(value instanceof Set)) return;
    for (const name of ['set', 'add', 'delete', 'clear', 'getOrInsert', 'getOrInsertComputed']) {
      const change = value[name];
      if (change === undefined) continue;
      const guarded = (...values) => {
        if (!isWeak || frozen.has(values[0])) throw new TypeError(`'${name}' would change it, and it is read-only`);
        return apply(change, value, values);
      };
      defineProperty(value, name, { value: guarded });
    }
    if (isWeak) return;
    value.forEach((inner, key) => {
      add(inner);
      add(key);
    });
  }

  /** A reply with a fault if an episode gave a new value to a variable that all episodes share; null if not. */
  function changedVariable() {
    for (let at = 0; at < watched.length; at++) {
      const { name, line, read, value } = watched[at];
      if (!is(read(), value))
        return problem(`All episodes share \`${name}\`, and an episode gave it a new value. ${REMEDY}`, line);
    }
    return null;
  }

  let Environment;
  let file = '';
  const watched = []; // variables that all episodes share
  const episodes = new Map();
  let task = { requests: [], at: 0, replies: [], running: false };

  /** The line of the environment's file where an error was thrown: the first one on its stack. Null if unknown. */
  function lineOf(error) {
    try {
      const places = error.stack.split(`(${file}:`);
      const line = places.length > 1 ? parseInt(places[1], 10) : NaN;
      return isInteger(line) ? line : null;
    } catch {
      return null; // the thrown value is not an error
    }
  }

  function wordsOf(error) {
    try {
      const message = typeof error === 'object' && error !== null ? error.message : error;
      return apply(cut, toText(message), [0, MAX_TEXT]) || 'It threw a value without a message.';
    } catch {
      return 'It threw a value without a message.';
    }
  }

  /** A reply for a fault of the environment. (A tool that rejects a call gives a reply with `refused` instead.) */
  const problem = (what, line = null) => ({ problem: apply(cut, what, [0, MAX_TEXT]), line });
  const thrown = (where, error) =>
    problem(
      changesFrozen(error)
        ? `${where} changes something that can’t be changed, because all episodes share it or the code froze it: ${wordsOf(error)}. ${REMEDY}`
        : `${where} failed: ${wordsOf(error)}`,
      lineOf(error),
    );
  const changesFrozen = (error) => error instanceof TypeError && FROZEN.test(wordsOf(error));

  function textOf(where, value) {
    if (typeof value === 'string')
      return { text: apply(cut, value, [0, MAX_TEXT]), ...(value.length > MAX_TEXT && { cut: value.length }) };
    const is = value === null ? 'null' : isArray(value) ? 'a list' : typeof value;
    const later = typeof value === 'object' && value !== null && typeof value.then === 'function';
    return problem(`${where} returned ${later ? 'a promise' : is}. Return a string.`);
  }

  const VIEW_LIMITS = { text: 2000, cell: 60, rows: 30, columns: 30, marks: 12 };
  const short = (value, most) => apply(cut, toText(value), [0, most]);

  /** The result of view(), copied to plain data; empty if the class has no view(). */
  function shownBy(environment) {
    if (typeof environment.view !== 'function') return {};
    let shown;
    try {
      shown = environment.view();
    } catch (error) {
      return thrown('view()', error);
    }
    if (typeof shown === 'string') return { shown: { kind: 'text', text: short(shown, VIEW_LIMITS.text) } };
    const { text, table, grid, line } = typeof shown === 'object' && shown !== null ? shown : {};
    if (typeof text === 'string') return { shown: { kind: 'text', text: short(text, VIEW_LIMITS.text) } };
    const rows = table ?? grid;
    if (isArray(rows) && rows.length > 0 && rows.length <= VIEW_LIMITS.rows) {
      const cells = [];
      for (const row of rows) {
        const list = typeof row === 'string' ? [...row] : row;
        if (!isArray(list) || list.length === 0 || list.length > VIEW_LIMITS.columns) break;
        const copy = [];
        for (const cell of list) apply(push, copy, [short(cell, VIEW_LIMITS.cell)]);
        apply(push, cells, [copy]);
      }
      if (cells.length === rows.length) return { shown: { kind: table ? 'table' : 'grid', rows: cells } };
    }
    if (typeof line === 'object' && line !== null && isFinite(line.from) && line.from < line.to && isFinite(line.to)) {
      const marks = [];
      for (const name of keys(line.marks ?? {})) {
        const at = line.marks[name];
        if (isFinite(at) && marks.length < VIEW_LIMITS.marks)
          apply(push, marks, [{ name: short(name, VIEW_LIMITS.cell), at }]);
      }
      return { shown: { kind: 'line', from: line.from, to: line.to, marks } };
    }
    return problem(
      `view() returned ${toText(shown)}. Return a string, { table: rows }, { grid: rows } of at most ${VIEW_LIMITS.rows} rows and ${VIEW_LIMITS.columns} columns, or { line: { from, to, marks } }.`,
    );
  }

  function after(environment, reply) {
    const over = typeof environment.done !== 'function' && Boolean(environment.done);
    let turn = {};
    if (typeof environment.stateKey === 'function') {
      const state = environment.stateKey();
      if (typeof state !== 'string' || state.length > MAX_KEY) {
        const is = typeof state === 'string' ? `${state.length} characters` : typeof state;
        return problem(`stateKey() returned ${is}. Return a string of at most ${MAX_KEY} characters.`);
      }
      turn = { state };
    }
    if (typeof environment.turnReward === 'function') {
      const paid = environment.turnReward();
      if (!isReward(paid))
        return problem(
          `turnReward() returned ${apply(cut, toText(paid), [0, MAX_KEY])}. Return a number up to a million.`,
        );
      turn = { ...turn, paid };
    }
    const drawn = shownBy(environment);
    return drawn.problem === undefined ? { ...reply, over, ...turn, ...drawn } : drawn;
  }

  /**
   * Copies the properties of an object from the class, reading each once. Null if there are too many, or one is of
   * another kind.
   */
  function named(object, kinds) {
    if (typeof object !== 'object' || object === null || isArray(object)) return null;
    const names = keys(object);
    if (names.length > MAX_NAMED) return null;
    const own = create(null);
    for (const name of names) {
      const value = object[name];
      if (name.length > MAX_KEY || (typeof value === 'string' && value.length > MAX_TEXT)) return null;
      if (kinds !== null && !apply(includes, kinds, [typeof value])) return null;
      own[name] = value;
    }
    return own;
  }

  const operations = {
    open({ split, index, chance, id }) {
      const environment = new Environment();
      episodes.set(id, environment);
      const begun = textOf('reset()', environment.reset(freeze({ split, index, draw: drawFrom(chance) })));
      if (begun.problem !== undefined) return begun;
      const drawn = shownBy(environment);
      return drawn.problem === undefined ? { ...begun, ...drawn } : drawn;
    },
    call({ id, tool, values, given }) {
      const checked = given === undefined ? { values } : rules.read(tool, given);
      if (checked.refused !== undefined) return checked;
      const environment = episodes.get(id);
      let reply;
      try {
        reply = textOf(`${tool}()`, apply(environment[tool], environment, checked.values));
      } catch (error) {
        if (changesFrozen(error)) return thrown(`${tool}()`, error);
        const bug = bugs.some((kind) => error instanceof kind);
        reply = { refused: wordsOf(error), line: lineOf(error), ...(bug && { bug }) };
      }
      return reply.problem === undefined ? after(environment, reply) : reply;
    },
    answer({ id, text }) {
      const environment = episodes.get(id);
      if (typeof environment.answer === 'function') environment.answer(text);
      return { text: '', over: true };
    },
    expert({ id, chance }) {
      const environment = episodes.get(id);
      if (typeof environment.expert !== 'function') return { none: true };
      const move = environment.expert(drawFrom(chance));
      if (typeof move === 'string') return { answer: apply(cut, move, [0, MAX_TEXT]) };
      if (typeof move !== 'object' || move === null || typeof move.tool !== 'string') {
        return problem('expert() has to return { tool, arguments } or a string.');
      }
      const { tool, arguments: values = {} } = move;
      const checkedValues = named(values, ['string', 'number', 'boolean']);
      if (checkedValues === null || typeof tool !== 'string' || tool.length > MAX_KEY) {
        return problem('expert() has to name its arguments. Each has to be a string, a number or a boolean.');
      }
      return { tool, values: checkedValues };
    },
    observe({ id, history }) {
      const environment = episodes.get(id);
      if (typeof environment.observe !== 'function') return { none: true };
      return textOf('observe()', environment.observe(history));
    },
    reward({ id }) {
      const earned = episodes.get(id).getReward();
      const parts = named(typeof earned === 'number' ? { reward: earned } : earned, null);
      if (parts === null) {
        const object = earned === null ? 'null' : isArray(earned) ? 'a list' : 'an object with too much in it';
        const is = typeof earned === 'object' ? object : toText(earned);
        return problem(
          `getReward() returned ${is}. Return a number, or an object of up to ${MAX_NAMED} named numbers.`,
        );
      }
      for (const name of keys(parts)) {
        if (!isReward(parts[name])) {
          return problem(
            `getReward() gives ${name} = ${apply(cut, toText(parts[name]), [0, MAX_KEY])}. Each part has to be a number up to a million.`,
          );
        }
      }
      return { parts, ...rules?.reward(parts) };
    },
    close({ id }) {
      episodes.delete(id);
      return {};
    },
  };
  const WHERE = {
    open: 'reset()',
    call: 'A tool',
    answer: 'answer()',
    expert: 'expert()',
    observe: 'observe()',
    reward: 'getReward()',
    close: '',
  };

  return {
    close,
    /** Takes the class from the file's `exports`. Returns its static fields as JSON. */
    take(exported, name) {
      Environment = exported.default;
      file = name;
      if (typeof Environment !== 'function') throw new Error('The file has no class as `export default`.');
      const { tasks, maxTurns, weights } = Environment;
      // JSON would write null for NaN and infinity, and an error's text would not name them
      const named = (_, value) => (typeof value === 'number' && !isFinite(value) ? toText(value) : value);
      const settings = stringify({ tasks, maxTurns, weights }, named);
      const source = toText(Environment);
      freezeAll(Environment, Environment.name, source);
      for (const [shared, line, read] of exported.shared ?? []) {
        freezeAll(read(), shared, source);
        if (line > 0) apply(push, watched, [{ name: shared, line, read, value: read() }]);
      }
      return settings;
    },
    /**
     * Serves a list of requests. Without `text`, continues after the request that was stopped; `why` and `line` are the
     * reason and the place.
     */
    serve(text, why, line, begin) {
      if (text !== undefined) task = { requests: parse(text), at: 0, replies: [], running: false };
      if (task.running) {
        const { op } = task.requests[task.at];
        apply(push, task.replies, [problem(`${WHERE[op]} ${why}`, line)]);
        task.at++;
        task.running = false;
      }
      while (task.at < task.requests.length) {
        const request = task.requests[task.at];
        begin();
        task.running = true;
        for (let each = 0; each < patterns.length; each++) patterns[each].lastIndex = 0;
        let reply;
        try {
          reply = operations[request.op](request);
          if (reply.problem === undefined) reply = changedVariable() ?? reply;
        } catch (error) {
          reply = thrown(WHERE[request.op], error);
        }
        task.running = false;
        apply(push, task.replies, [reply]);
        task.at++;
      }
      return stringify(task.replies);
    },
  };
};
