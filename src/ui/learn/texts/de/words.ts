import type { Words } from '../en/words.ts';

/** Was Learn neben seinen Kapiteln sagt. */
export const WORDS: Words = {
  learn: 'Lernen',
  chapters: 'Kapitel',
  language: 'Sprache',
  tour: 'Rundgang',
  present: 'Vorführen',
  print: 'Drucken',
  classView: 'Klasse',
  nextChapter: 'Nächstes Kapitel',
  progress: '{done:count} von {all:count} Aufgaben erledigt, {right:count} richtig vorhergesagt',
  startOver: 'Von vorn beginnen',
  chapterDone: 'alle Aufgaben erledigt',
  chapterBegun: '{done:count} von {all:count} Aufgaben erledigt',

  exercise: 'Aufgabe {n:count}',
  predict: 'Deine Vorhersage',
  predictFirst: 'Erst vorhersagen, dann führt der Knopf es aus.',
  reads: 'Es wird nichts trainiert: gelesen wird aus den sichtbaren Rollouts.',
  readsShipped: 'Es wird nichts trainiert: gelesen wird aus Läufen, die vorher aufgezeichnet wurden.',
  trains: '{runs:count} × {updates:count} Updates werden nebenan im Labor trainiert, Seed {seed:count}.',
  under: 'Lauf {arm:count} von {arms:count}: Update {update:count} von {updates:count}',
  starting: 'Das Labor wird vorbereitet …',
  stop: 'Anhalten',
  once: 'Noch einmal',
  right: 'Richtig',
  wrong: 'Falsch',
  unclear: 'Nicht zu sagen',
  predicted: 'Vorhergesagt hast du: {choice:text}.',
  answer: 'Die Zahlen sagen: {choice:text}.',
  tries: 'Versuch {n:count}, Seed {seed:count}, {backend:text}.',
  failed: 'Nicht zu sagen: {why:text}',
  interrupted: 'Nicht zu sagen: vorher wurde ein anderer Lauf gestartet. Führe die Aufgabe noch einmal aus.',
  borrowed:
    'Die Aufgabe hat das Labor. Deine Regler, dein Lauf und das, was du angesehen hast, kommen zurück, wenn du das Kapitel verlässt.',
  giveBack: 'Mein Labor zurück',
  keep: 'Diesen Lauf im Labor behalten',

  link: 'Link zu diesem Kapitel kopieren',
  exerciseLink: 'Link zu Aufgabe {n:count} kopieren',
  copied: 'Kopiert.',
  notCopied: 'Der Browser verweigert die Zwischenablage. Der Link ist {link:text}',

  handIn: 'Abgeben',
  handInNote:
    'Speichert die Ergebnisse dieses Kapitels als kleine JSON-Datei, für die Klassenansicht der Lehrkraft. Sie enthält den Namen unten, Vorhersagen, Zahlen, Seed und Backend. Gesendet wird nichts.',
  name: 'Name oder Kürzel',
  save: 'Ergebnisse speichern',
  nothingYet: 'Noch ist nichts abzugeben: führe eine Aufgabe aus.',
  nameFirst: 'Schreibe zuerst einen Namen oder ein Kürzel.',

  presentation: 'Vorführung: {title:text}',
  slide: '{n:count} von {all:count}',
  keys: '← → blättern, Esc beendet',
  previous: 'Zurück',
  next: 'Weiter',
  end: 'Beenden',

  classTitle: 'Klasse',
  classNote:
    'Lege hier die Dateien ab, die unter einem Kapitel gespeichert wurden. Sie werden in diesem Tab zusammengeführt und sind weg, wenn er geschlossen wird: nichts wird gesendet oder aufbewahrt.',
  chooseFiles: 'Dateien wählen …',
  dropHere: 'Ergebnisdateien hier ablegen',
  noFiles: 'Noch keine Ergebnisse.',
  merged: '{files:count} Dateien, {students:count} Namen',
  clear: 'Alle herausnehmen',
  csv: 'Als CSV speichern',
  tableCaption: 'Urteile und Zahlen nach Name und Aufgabe',
  plotCaption: 'Vorhersagen nach Aufgabe',
  plotSentence: '{exercise:text}: {right:count} richtig, {wrong:count} falsch, {unclear:count} nicht zu sagen.',
  student: 'Name',
  notDone: 'nicht erledigt',
  problems: 'Zu diesen Dateien',
  backToChapters: 'Zurück zu den Kapiteln',
  damaged:
    '{file:text}: bekommen {got:text}, gebraucht wird die JSON-Datei, wie die Seite sie gespeichert hat. Bitte noch einmal anfordern.',
  foreign:
    '{file:text}: bekommen {got:text}, gebraucht werden Ergebnisse eines Kapitels ({want:text}). Sie werden im Kapitel unter Abgeben gespeichert.',
  newer:
    '{file:text}: bekommen Version {got:text}, gebraucht wird {want:text}. Mit der Seite öffnen, die sie geschrieben hat, oder diese Seite neu laden.',
  duplicate:
    '{file:text}: dieselben Ergebnisse wie {other:text}, gebraucht werden sie einmal. Ausgelassen; es ist nichts zu tun.',
  again:
    '{file:text}: andere Ergebnisse von {name:text} für das Kapitel „{chapter:text}“ als {other:text}. Die neueren zählen; sind es zwei Personen, braucht eine einen anderen Namen.',
};
