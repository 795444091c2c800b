import type { Page } from 'playwright';

declare global {
  interface Window {
    changedParts?: Set<Element>;
  }
}
/** Matches the roots of what has changed since the last place was judged. Nothing else can have a new fault of its own. */
export const CHANGED = '[data-changed]';

/** Begins to note which parts of the page change. At first all of it counts as changed. */
export const noteChanges = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const changed = (window.changedParts = new Set<Element>([document.body]));
    new MutationObserver((records) => {
      for (const { type, target, attributeName, addedNodes } of records) {
        if (attributeName === 'data-changed' || attributeName === 'style') continue; // sizes and places, measured at each size
        const own = target instanceof Element ? target : target.parentElement;
        const added = [...addedNodes].filter((node) => node instanceof Element);
        // text alone may have come or gone
        const parts = type === 'childList' && (added.length > 0 || addedNodes.length === 0) ? added : own ? [own] : [];
        for (const part of parts) changed.add(part);
      }
    }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });

/** Marks what has changed; whether anything has that can be seen. */
export const markChanges = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const changed = [...(window.changedParts ?? [])].filter((e) => document.body.contains(e));
    for (const e of changed) e.setAttribute('data-changed', '');
    for (const e of changed) if (e.parentElement?.closest('[data-changed]')) e.removeAttribute('data-changed');
    return document.querySelector('[data-changed]') !== null;
  });

/** Takes what is there as judged, once the charts have followed the window. */
export const clearChanges = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let frames = 0; frames < 4; frames++) await new Promise(requestAnimationFrame);
    for (const e of document.querySelectorAll('[data-changed]')) e.removeAttribute('data-changed');
    window.changedParts?.clear();
  });

/**
 * What does not fit the window or is lost to the keyboard, of what is in front: text that is cut off, controls whose text runs over
 * them, anything that must be scrolled sideways but for tables and lists, a control that is covered when it has the focus or shows no
 * outline then, what only a mouse can press or scroll, header, Run or out of sight, what scrolled though it is no panel, and what moves although less motion is asked for.
 *
 * It runs inside the page, where nothing of this file is at hand.
 */
export async function misfits(page: Page): Promise<string[]> {
  await page.keyboard.press('Tab'); // who uses keys is shown the focus, wherever a script sets it after that
  return page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    const found = new Set<string>();
    const nameOf = (e: Element) => `${e.tagName.toLowerCase()}.${e.getAttribute('class') ?? ''}`;
    const labelOf = (e: Element) => `“${(e.ariaLabel ?? e.textContent).trim().slice(0, 40)}”`;
    const seen = (e: Element) =>
      e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !e.closest('.visually-hidden, .brand');
    const front = document.querySelector('dialog[open]') ?? document.body;
    const around = function* (e: Element) {
      for (let box: Element | null = e; box; box = box.tagName === 'DIALOG' ? null : box.parentElement) yield box;
    };

    for (const box of [document.documentElement, ...document.querySelectorAll('main, dialog[open], .inspector')]) {
      if (box.scrollWidth > box.clientWidth + 1) found.add(`${nameOf(box)} scrolls sideways to ${box.scrollWidth}`);
    }

    // nobody reads these; a link that skips something lies above the window until it has the focus
    const unread = 'option, script, style, .skip-link:not(:focus)';
    const texts = document.createTreeWalker(front, NodeFilter.SHOW_TEXT);
    // many texts lie in the same boxes, and nothing moves while they are read
    const boxes = new Map<Element, ReturnType<typeof boxOf>>();
    const boxOf = (e: Element) => {
      const { overflowX, overflowY, textOverflow } = getComputedStyle(e);
      const ellipsis = textOverflow === 'ellipsis';
      return {
        edge: e.getBoundingClientRect(),
        cutX: /hidden|clip/.test(overflowX) && !ellipsis,
        cutY: /hidden|clip/.test(overflowY) && !ellipsis,
        shortened: ellipsis && e.scrollWidth > e.clientWidth + 1 && !e.closest('[title]'),
        scrolled: /auto|scroll/.test(`${overflowX} ${overflowY}`),
      };
    };
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const own = node.parentElement;
      if (!own || node.textContent?.trim() === '' || own.closest(unread) || !seen(own)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      let { left, right, top, bottom } = range.getBoundingClientRect();
      for (const box of around(own)) {
        let known = boxes.get(box);
        if (!known) boxes.set(box, (known = boxOf(box)));
        const { edge, cutX, cutY, shortened, scrolled } = known;
        if (cutX && (right > edge.right + 2 || left < edge.left - 2))
          found.add(`cut off: ${labelOf(own)} ${nameOf(box)}`);
        if (cutY && (bottom > edge.bottom + 2 || top < edge.top - 2))
          found.add(`cut off: ${labelOf(own)} ${nameOf(box)}`);
        if (shortened) found.add(`shortened, and nowhere in full: ${labelOf(box)}`);
        if (!scrolled) continue;
        [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
        [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
        if (right <= left || bottom <= top) break; // a scroll away
      }
    }

    const operable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    for (const box of front.querySelectorAll('*')) {
      const { overflowX, overflowY } = getComputedStyle(box);
      const scrolls =
        (/auto|scroll/.test(overflowY) && box.scrollHeight > box.clientHeight + 1) ||
        (/auto|scroll/.test(overflowX) && box.scrollWidth > box.clientWidth + 1);
      if (!scrolls || !seen(box)) continue;
      const reached = [box, ...box.querySelectorAll(operable)].some((e) => e.matches(operable) && seen(e));
      if (!reached) found.add(`not scrolled by keys: ${nameOf(box)}`);
    }

    for (const e of front.querySelectorAll('button, a, summary, label')) {
      const runsOver = e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).display !== 'inline';
      if (runsOver && seen(e)) found.add(`runs over its ${nameOf(e)}: ${labelOf(e)}`);
    }

    for (const control of front.querySelectorAll<HTMLElement>(operable)) {
      if (!seen(control) || control.matches(':disabled')) continue;
      // what has not changed shows the focus as before, but something new may lie on it
      const changed = control.closest('[data-changed]') !== null;
      if (!changed && control.matches('.skip-link')) continue; // out of sight without the focus
      if (changed) control.focus();
      else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      control.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      if (changed && document.activeElement !== control) continue;
      let { left, right, top, bottom } = control.getBoundingClientRect();
      const tall = bottom - top;
      for (const box of around(control)) {
        if (box === control) continue; // a field scrolls its own text
        const { overflow } = getComputedStyle(box);
        if (
          box.scrollTop + box.scrollLeft !== 0 &&
          (box === document.documentElement || !/auto|scroll/.test(overflow))
        ) {
          found.add(`${nameOf(box)} was scrolled for ${nameOf(control)} ${labelOf(control)}`);
          box.scrollTo(0, 0);
        }
        if (!/auto|scroll|hidden|clip/.test(overflow)) continue;
        const edge = box.getBoundingClientRect();
        [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
        [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
      }
      const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      const label = control.closest('label');
      const onTop =
        there !== null &&
        (control.contains(there) ||
          label?.contains(there) === true ||
          // a file's own button, hidden in what is pressed
          (there.contains(control) && there.getBoundingClientRect().height < 4 * tall));
      if (!onTop) found.add(`covered: ${nameOf(control)} ${labelOf(control)} by ${there ? nameOf(there) : 'nothing'}`);
      // an editor's text is longer than its window: the window has the outline
      const { outlineStyle } = getComputedStyle(control.closest('.editor:focus-within') ?? control);
      const told = outlineStyle !== 'none' || control.matches('.chart-surface :scope');
      if (changed && control.tabIndex >= 0 && !told) found.add(`no outline: ${nameOf(control)} ${labelOf(control)}`);
    }

    for (const part of document.querySelectorAll('.header, .run, .screens, .views, .tabs')) {
      const { top, left, bottom, right } = part.getBoundingClientRect();
      const inSight = top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
      if (!inSight && front === document.body && part.checkVisibility()) found.add(`out of sight: ${nameOf(part)}`);
    }
    // a screen that the style sheet gives no place stands in a corner, a word wide
    for (const main of document.querySelectorAll('main')) {
      const { width, height } = main.getBoundingClientRect();
      if (seen(main) && (width < Math.min(300, innerWidth / 2) || height < 120)) {
        found.add(`${nameOf(main)} has ${width} × ${height}`);
      }
    }

    for (const e of front.querySelectorAll('*')) {
      const style = getComputedStyle(e);
      // what the picture of the clip chooses, the list beside it and the rollout choose by keys
      const forMouse = style.cursor === 'pointer' && !e.closest(`${operable}, label, [tabindex], .clip-map`);
      if (forMouse && seen(e)) found.add(`for a mouse alone: ${nameOf(e)}`);
      if (!/^0s(, 0s)*$/.test(style.transitionDuration)) found.add(`moves: ${nameOf(e)}`);
    }
    for (const animation of document.getAnimations())
      if (animation.playState === 'running') found.add('an animation runs');
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    return [...found];
  });
}
