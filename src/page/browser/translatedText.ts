/**
 * Lets the page go on while the browser translates it. A translation takes text nodes that React made out of their
 * parent and puts elements of its own in their place, so React fails when it removes or inserts beside such a text, and
 * writes new numbers into nodes that nobody sees. Therefore this notes what each parent contained before something
 * other than React changed it. Before React next changes that parent or a text of it, the parent gets these nodes back
 * in place of the translation. The browser then translates the new text.
 *
 * It replaces the four members of `Node.prototype` with which React 19 changes children and texts.
 *
 * Call it once, before the first render. Returns a function that undoes it.
 */
export function keepTranslatedTextLive(): () => void {
  const natives = Object.getOwnPropertyDescriptors(Node.prototype);
  const parents = new WeakMap<Node, Node>(); // by node: where React has put it
  const contents = new WeakMap<Node, readonly ChildNode[]>(); // by translated parent: its children before that
  const observer = new MutationObserver(noteForeignChanges);

  /** Notes the parents that lost nodes which React still has there. React's own changes never get here. */
  function noteForeignChanges(records: readonly MutationRecord[]): void {
    for (const { target, removedNodes } of records) {
      const isTaken = (node: Node) => parents.get(node) === target && node.parentNode !== target;
      if (contents.has(target) || !Array.from(removedNodes).some(isTaken)) continue;
      contents.set(target, childrenBefore(records, target));
    }
  }

  /** Gives a translated parent its nodes back. Nodes that are in place stay there, so that none loses the focus. */
  function restore(parent: Node): void {
    if (parent.isConnected) noteForeignChanges(observer.takeRecords());
    const children = contents.get(parent);
    if (!children) return;
    contents.delete(parent);
    for (const child of [...parent.childNodes]) if (!children.includes(child)) child.remove();
    let next = parent.firstChild;
    for (const child of children) {
      if (child === next) next = next.nextSibling;
      else parent.insertBefore(child, next);
    }
    observer.takeRecords();
  }

  for (const name of ['appendChild', 'insertBefore', 'removeChild'] as const) {
    const native = natives[name];
    Object.defineProperty(Node.prototype, name, {
      ...native,
      value(this: Node, child: Node, ...rest: unknown[]): unknown {
        if (!isReacts(child)) return Reflect.apply(native.value as () => unknown, this, [child, ...rest]);
        restore(this);
        const formerParent = parents.get(child);
        if (formerParent && formerParent !== this) restore(formerParent);
        if (name === 'removeChild') parents.delete(child);
        else parents.set(child, this);
        const result: unknown = Reflect.apply(native.value as () => unknown, this, [child, ...rest]);
        if (this.isConnected) observer.takeRecords(); // React's own change
        return result;
      },
    });
  }
  Object.defineProperty(Node.prototype, 'nodeValue', {
    ...natives.nodeValue,
    set(this: Node, value: string | null) {
      const parent = parents.get(this);
      if (parent && this.parentNode !== parent) restore(parent);
      natives.nodeValue.set?.call(this, value);
    },
  });
  observer.observe(document, { childList: true, subtree: true });
  return () => {
    observer.disconnect();
    for (const name of ['appendChild', 'insertBefore', 'removeChild', 'nodeValue'] as const)
      Object.defineProperty(Node.prototype, name, natives[name]);
  };
}

/** The children that `parent` had before the changes in `records`, found by undoing them from the last to the first. */
function childrenBefore(records: readonly MutationRecord[], parent: Node): readonly ChildNode[] {
  const children = [...parent.childNodes];
  for (const { target, addedNodes, removedNodes, nextSibling } of records.toReversed()) {
    if (target !== parent) continue;
    const [first = nextSibling] = addedNodes as NodeListOf<ChildNode>;
    const at = first ? children.indexOf(first as ChildNode) : children.length;
    children.splice(at, addedNodes.length, ...(removedNodes as NodeListOf<ChildNode>));
  }
  return children;
}

let reactKey: string | undefined; // the name under which React notes on each of its nodes to which component it belongs

function isReacts(node: Node): boolean {
  reactKey ??= Object.keys(node).find((key) => key.startsWith('__reactFiber$'));
  return reactKey !== undefined && reactKey in node;
}
