import type { Page } from 'playwright';

/**
 * What does not fit the window or is lost to the keyboard, of what is in front: text that is cut off, controls whose text runs over
 * them, anything that must be scrolled sideways but for tables and lists, a control that is covered when it has the focus or shows no
 * outline then, what only a mouse can press or scroll, and what moves although less motion is asked for.
 *
 * It runs inside the page, where nothing of this file is at hand.
 */
export async function misfits(page: Page): Promise<string[]> {
  await page.keyboard.press('Tab'); // who uses keys is shown the focus, wherever a script sets it after that
  return page.evaluate(() => {
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
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const own = node.parentElement;
      if (!own || node.textContent?.trim() === '' || own.closest(unread) || !seen(own)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      let { left, right, top, bottom } = range.getBoundingClientRect();
      for (const box of around(own)) {
        const { overflowX, overflowY, textOverflow } = getComputedStyle(box);
        const edge = box.getBoundingClientRect();
        const cutX = /hidden|clip/.test(overflowX) && textOverflow !== 'ellipsis';
        const cutY = /hidden|clip/.test(overflowY) && textOverflow !== 'ellipsis';
        const scrolled = /auto|scroll/.test(`${overflowX} ${overflowY}`);
        if (cutX && (right > edge.right + 2 || left < edge.left - 2))
          found.add(`cut off: ${labelOf(own)} ${nameOf(box)}`);
        if (cutY && (bottom > edge.bottom + 2 || top < edge.top - 2))
          found.add(`cut off: ${labelOf(own)} ${nameOf(box)}`);
        if (textOverflow === 'ellipsis' && box.scrollWidth > box.clientWidth + 1 && !box.closest('[title]')) {
          found.add(`shortened, and nowhere in full: ${labelOf(box)}`);
        }
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
      control.focus();
      control.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      if (document.activeElement !== control) continue;
      let { left, right, top, bottom } = control.getBoundingClientRect();
      const tall = bottom - top;
      for (const box of around(control)) {
        if (box === control || !/auto|scroll|hidden|clip/.test(getComputedStyle(box).overflow)) continue;
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
      if (control.tabIndex >= 0 && !told) found.add(`no outline: ${nameOf(control)} ${labelOf(control)}`);
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
