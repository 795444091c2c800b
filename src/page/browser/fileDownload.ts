export function download(name: string, type: string, content: string | Blob): void {
  const blob = typeof content === 'string' ? new Blob([content], { type: `${type};charset=utf-8` }) : content;
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // by the next task, the download has read the blob
  setTimeout(() => URL.revokeObjectURL(address));
}

/** A file name made of a text: letters, digits and dashes. */
export function fileName(text: string, ending: string): string {
  return `${text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')}.${ending}`;
}
