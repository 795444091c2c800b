// The notebook's side of the widget (anywidget): asks the kernel for the files, and hands them to the viewer in its frame.
let views = 0;

/** Whether the notebook is dark: that of the first background around the output. */
function isDark(element) {
  for (let each = element; each; each = each.parentElement) {
    const [red, green, blue, opacity = 1] = getComputedStyle(each)
      .backgroundColor.match(/[\d.]+/g)
      .map(Number);
    if (opacity > 0) return red * 0.3 + green * 0.59 + blue * 0.11 < 128;
  }
  return matchMedia('(prefers-color-scheme: dark)').matches;
}

export default {
  render({ model, el }) {
    const view = ++views;
    const files = model.get('files').map(({ path, size }) => ({ path, size, parts: [], received: 0 }));
    const of = files.reduce((sum, { size }) => sum + size, 0);
    let problem = '';
    const frame = document.createElement('iframe');
    frame.title = 'Rollouts';
    frame.setAttribute('sandbox', 'allow-scripts'); // what a model wrote is shown there: nothing in it can reach the notebook
    frame.style.cssText = `display: block; width: 100%; height: ${model.get('height')}px; border: 0; color-scheme: normal;`;
    frame.srcdoc = model.get('page');
    const tell = (message) => frame.contentWindow?.postMessage(message, '*');
    const tellAll = () => {
      const isComplete = files.every(({ size, received }) => received >= size);
      if (problem) tell({ type: 'problem', problem });
      else if (!isComplete)
        tell({ type: 'received', bytes: files.reduce((sum, { received }) => sum + received, 0), of });
      else tell({ type: 'files', files: files.map(({ path, parts }) => ({ path, file: new Blob(parts) })) });
    };
    const ask = () => {
      const file = files.findIndex(({ size, received }) => received < size);
      if (file >= 0) model.send({ view, file, from: files[file].received });
    };
    const hear = (message, buffers) => {
      if (message.view !== view) return;
      const file = files[message.file];
      if (message.problem || !buffers[0]?.byteLength)
        problem = message.problem ?? `${file.path} has become shorter. Run the cell again.`;
      else if (message.from === file.received) {
        file.parts.push(new Blob([buffers[0]]));
        file.received += buffers[0].byteLength;
        ask();
      }
      tellAll();
    };
    // a notebook that moves its outputs loads the frame again, which then has forgotten all
    frame.addEventListener('load', () => {
      tell({ type: 'theme', theme: isDark(el) ? 'dark' : 'light' });
      if (files.some(({ received }) => received > 0) || problem || of === 0) tellAll();
    });
    model.on('msg:custom', hear);
    el.append(frame);
    ask();
    return () => model.off('msg:custom', hear);
  },
};
