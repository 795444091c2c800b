import type { TourTexts } from '../shape.ts';

/** Texte des Rundgangs. Die Knöpfe der Seite sind englisch beschriftet und heißen hier so. */
export const TOUR: TourTexts = {
  name: 'Rundgang',
  at: 'Station {at:count} von {all:count}',
  progress: 'Erledigte Stationen',
  end: 'Rundgang beenden',
  over: 'Der Rundgang ist zu Ende',
  finale: { title: 'Das war der Rundgang', text: 'Mehr erklären die Kapitel unter Learn. Jedes hat eine Aufgabe.' },
  update: 'Update',
  updates: 'Updates',
  stops: {
    watch: {
      title: 'Sieh dir ein Token an',
      text: 'Wähle ein schraffiertes Token. Das Werkzeug hat es geschrieben, also darf es nicht trainiert werden.',
      result:
        '„{word:text}“: Schub {push:signed}. Von {all:count} Tokens des Werkzeugs sind {trained:count} im Verlust.',
    },
    first: {
      title: 'Mach ein Update',
      text: 'Drücke Step one update (▶▏). Der Agent spielt einen Batch Rollouts und lernt daraus, hier in diesem Tab.',
      result: '{updates:text} gemacht. Von {all:count} Tokens des Werkzeugs sind {trained:count} im Verlust.',
    },
    off: {
      title: 'Schalte beide Masken aus',
      text: 'Schalte Loss mask und Advantage mask aus (am Telefon unter Tune). Das nächste Update bewertet dann auch Wörter des Werkzeugs.',
      result: '2 von 2 Masken sind aus. Noch sind von {all:count} Tokens des Werkzeugs {trained:count} im Verlust.',
    },
    effect: {
      title: 'Sieh dir die Wirkung an',
      text: 'Mach noch ein Update. Wenn alle Rollouts einer Aufgabe gleich viel bekommen, wird nichts geschoben. Mach dann noch eins.',
      result:
        'Von {all:count} Tokens des Werkzeugs sind {trained:count} im Verlust. Ausgewählt ist das am stärksten geschobene. „{word:text}“: Schub {push:signed}.',
    },
    pushed: {
      title: 'Was wurde geschoben?',
      text: 'Wähle ein anderes Wort des Werkzeugs (O), das geschoben wurde: ▲ wahrscheinlicher, ▼ unwahrscheinlicher. Der Agent lernt jetzt, die Wörter des Werkzeugs zu schreiben.',
      result: '„{word:text}“: Schub {push:signed}, dabei hat der Agent es nie geschrieben.',
    },
    on: {
      title: 'Schalte die Masken wieder ein',
      text: 'Schalte Loss mask ein (am Telefon unter Tune). Die Advantage-Maske folgt von selbst.',
      result:
        '2 von 2 Masken sind an. Im letzten Batch sind von {all:count} Tokens des Werkzeugs {trained:count} im Verlust.',
    },
    check: {
      title: 'Prüfe die Wirkung',
      text: 'Mach noch ein Update.',
      result: 'Von {all:count} Tokens des Werkzeugs sind wieder {trained:count} im Verlust.',
    },
    learn: {
      title: 'Lass ihn lernen',
      text: 'Drücke Run training, sieh dir {least:count} Updates oder mehr die Kurve Training success an und drücke dann Pause.',
      result: 'Erfolg im Training: {before:percent} → {after:percent} in {updates:text}.',
    },
  },
};
