type Translator = 'replaces' | 'moves' | 'gathers';

declare global {
  interface Window {
    __translateOn: (kind?: Translator) => () => void;
  }
}

/**
 * What a browser's translation does to a page. Runs in the page, before its own scripts. `__translateOn` then puts capital
 * letters in the place of each text outside translate="no", again 150 ms after every change, and returns a function that ends this.
 * A `kind` of translator:
 * - replaces: two elements take the text node's place (Chrome);
 * - moves: the text node itself is moved into an element;
 * - gathers: one element takes the place of all texts of a parent.
 */
export function simulateTranslation(): void {
  const skip = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEXTAREA', 'CODE', 'FONT', 'OPTION', 'TITLE']);
  const isText = (node: Node): node is Text => node.nodeType === Node.TEXT_NODE;
  const font = () => document.createElementNS('http://www.w3.org/1999/xhtml', 'font');
  const translate = (kind: string): void => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const nodes: Text[] = [];
    while (walker.nextNode()) if (isText(walker.currentNode)) nodes.push(walker.currentNode);
    for (const node of nodes) {
      const parent = node.parentElement;
      if (!parent || skip.has(parent.tagName) || parent.closest('[translate=no],.notranslate,svg,.cm-editor')) continue;
      if (!/\p{L}{2}/u.test(node.data)) continue;
      const [outer, inner] = [font(), font()];
      outer.append(inner);
      if (kind === 'replaces') {
        inner.textContent = node.data.toUpperCase();
        node.replaceWith(outer);
      } else if (kind === 'moves') {
        parent.insertBefore(outer, node);
        node.data = node.data.toUpperCase();
        inner.append(node);
      } else {
        const pieces = [...parent.childNodes].filter(isText);
        node.before(outer);
        inner.textContent = pieces.map(({ data }) => data.toUpperCase()).join('');
        for (const piece of pieces) piece.remove();
      }
    }
  };
  window.__translateOn = (kind = 'replaces') => {
    translate(kind);
    let isDue = false;
    const observer = new MutationObserver(() => {
      if (isDue) return;
      isDue = true;
      setTimeout(() => {
        isDue = false;
        translate(kind);
      }, 150);
    });
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    return () => observer.disconnect();
  };
}
