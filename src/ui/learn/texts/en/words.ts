/** What Learn says beside its chapters; places as in `fill.ts`. Every other language has the same names. */
export const WORDS = {
  learn: 'Learn',
  chapters: 'Chapters',
  language: 'Language',
  tour: 'Take the tour',
  present: 'Present',
  print: 'Print',
  classView: 'Class',
  nextChapter: 'Next chapter',
  progress: '{done:count} of {all:count} exercises done, {right:count} predicted right',
  startOver: 'Start over',
  chapterDone: 'all exercises done',
  chapterBegun: '{done:count} of {all:count} exercises done',

  exercise: 'Exercise {n:count}',
  predict: 'Your prediction',
  predictFirst: 'Predict first; then the button does it.',
  reads: 'Nothing is trained: it is read from the rollouts in view.',
  readsShipped: 'Nothing is trained: it is read from runs that were recorded before.',
  trains: '{runs:count} × {updates:count} updates are trained in the lab beside this, seed {seed:count}.',
  under: 'Run {arm:count} of {arms:count}: update {update:count} of {updates:count}',
  starting: 'The lab is made ready …',
  stop: 'Stop',
  once: 'Once more',
  right: 'Right',
  wrong: 'Wrong',
  unclear: 'Cannot tell',
  predicted: 'You predicted: {choice:text}.',
  answer: 'The numbers say: {choice:text}.',
  tries: 'Try {n:count}, seed {seed:count}, {backend:text}.',
  failed: 'Cannot tell: {why:text}',
  interrupted: 'Cannot tell: another run was started before this one was done. Do it once more.',
  borrowed:
    'The exercise has the lab. Your knobs, your run and what you looked at come back when you leave the chapter.',
  giveBack: 'Give my lab back',
  keep: 'Keep this run in the lab',

  link: 'Copy the link to this chapter',
  exerciseLink: 'Copy the link to exercise {n:count}',
  copied: 'Copied.',
  notCopied: 'The browser refuses the clipboard. The link is {link:text}',

  handIn: 'Hand in',
  handInNote:
    'Saves what came of this chapter as a small JSON file, for a teacher to drop on the Class view. It holds the name below, predictions, numbers, seed and backend. Nothing is sent.',
  name: 'Name or alias',
  save: 'Save my results',
  nothingYet: 'There is nothing to hand in yet: do an exercise.',
  nameFirst: 'Write a name or an alias first.',

  presentation: 'Presentation: {title:text}',
  slide: '{n:count} of {all:count}',
  keys: '← → move, Esc ends',
  previous: 'Back',
  next: 'On',
  end: 'End',

  classTitle: 'Class',
  classNote:
    'Drop the files that students saved under a chapter. They are merged here, in this tab, and are gone when it is closed: nothing is sent or kept.',
  chooseFiles: 'Choose files …',
  dropHere: 'Drop result files here',
  noFiles: 'No results yet.',
  merged: '{files:count} files, {students:count} names',
  clear: 'Take all out',
  csv: 'Save as CSV',
  tableCaption: 'Verdicts and numbers by name and exercise',
  plotCaption: 'Predictions by exercise',
  plotSentence: '{exercise:text}: {right:count} right, {wrong:count} wrong, {unclear:count} cannot tell.',
  student: 'Name',
  notDone: 'not done',
  problems: 'About these files',
  backToChapters: 'Back to the chapters',
  damaged: '{file:text}: got {got:text}, want the JSON file as the page saved it. Ask for it again.',
  foreign:
    '{file:text}: got {got:text}, want results of a chapter ({want:text}). Save them under Hand in, in a chapter.',
  newer:
    '{file:text}: got version {got:text}, want {want:text}. Open it with the page that wrote it, or load this page anew.',
  duplicate: '{file:text}: got the same results as {other:text}, want each once. Left out; nothing is to do.',
  again:
    '{file:text}: got other results of {name:text} for the chapter “{chapter:text}” than {other:text}. The newer ones count; give one another name if these are two people.',
} as const satisfies Readonly<Record<string, string>>;

/** The same names with words of any language. */
export type Words = Readonly<Record<keyof typeof WORDS, string>>;
