import { CHAPTER_FORMULAS } from '../../formulas.ts';
import type { ChapterTexts } from '../shape.ts';

/** Die Kapitel auf Deutsch, in Lesereihenfolge. Jedes hat höchstens 150 Wörter, Formeln eingeschlossen. */
export const CHAPTERS: ChapterTexts = {
  rollout: {
    title: 'Was ist ein Rollout?',
    text: [
      'Ein Sprachagent handelt in einem Markow-Entscheidungsprozess. Der Zustand sind alle bisherigen Tokens. Eine Aktion ist das nächste Token, gezogen von der Policy. Schließt der Agent einen Aufruf ab, antwortet das Werkzeug mit einer Beobachtung: Tokens, die nicht von der Policy stammen. Dann macht der Agent weiter. Am Ende bekommt er eine Belohnung, hier auch schon für Aufrufe, die ihn weiterbringen.',
      'Eine Episode vom Prompt bis zum Ende ist ein Rollout; ein Aufruf mit seiner Antwort ist ein Zug. Beim Schreiben lässt eine Grammatik nur Tokens zu, die in das Format eines Aufrufs oder einer Antwort passen. Ein Batch enthält mehrere Prompts, jeden mehrmals ausgespielt. Rollouts desselben Prompts unterscheiden sich nur durch Zufall, und aus diesem Unterschied lernt der Agent.',
    ],
    formulas: ['Token ~ softmax(Logits / τ) über die Wörter, die die Grammatik erlaubt'],
    exercises: {
      drawn: {
        task: 'Zählen',
        question:
          'Update 1 der Aufzeichnung, acht Rollouts: Welchen Anteil ihrer Tokens, Prompts und Beobachtungen eingeschlossen, hat der Agent gezogen?',
        choices: { under: 'unter einem Drittel', middle: 'ein bis zwei Drittel', over: 'über zwei Drittel' },
        seen: 'Von {tokens:count} Tokens hat der Agent {drawn:count} gezogen, das sind {share:percent}.',
        why: 'Der Rest ist Text von Prompt und Werkzeug. Der Agent liest ihn; das Training darf ihn nicht bewerten.',
        cannot: 'Es sind keine Rollouts zu sehen, die man zählen könnte.',
      },
    },
  },
  mask: {
    title: 'Die zwei Masken',
    text: [
      'Jedes Token hat eine Rolle: Prompt, Aktion oder Beobachtung. Nur die Aktionen hat die Policy gezogen, also dürfen nur sie bewertet werden.',
      'Dafür sorgen zwei Masken. Die Verlustmaske hält die anderen aus dem Verlust; die Advantage-Maske hält ihren Advantage auf 0. Sind beide aus, wird der Agent für Text belohnt, den er nicht geschrieben hat.',
      'Wie viel das schadet, zeigt die Zahlensuche mit sechs Füllwörtern je Beobachtung und acht Seeds. Sind beide Masken aus, löst der Agent nach 40 Updates 20 Punkte weniger Aufgaben (95-%-Intervall −30 bis −10). Nach 100 sind es 5 Punkte weniger (−18 bis +8), das kann Zufall sein.',
    ],
    formulas: [
      'm = 1 für Rolle = Aktion (Maske aus: Aktion oder Beobachtung)',
      'Schub = m · A · ρ · Gewicht im Verlust',
    ],
    exercises: {
      both: {
        task: 'Beide Masken aus, ein Update',
        question: 'Beide Masken aus: schiebt der Policy-Verlust an Wörtern, die das Werkzeug geschrieben hat?',
        choices: { none: 'an keinem', some: 'an einigen' },
        seen: 'Von {words:count} Wörtern des Werkzeugs hat der Policy-Verlust an {pushed:count} geschoben.',
        why: 'Das am stärksten geschobene Token ist nebenan ausgewählt, seine Zahlen stehen im Inspektor. Halte M gedrückt, um denselben Batch mit beiden Masken zu sehen.',
        cannot: 'In diesem Batch hat kein Werkzeug geantwortet: es gibt kein Wort von ihm.',
      },
      loss: {
        task: 'Nur die Verlustmaske aus, ein Update',
        question:
          'Verlustmaske aus, Advantage-Maske an: schiebt der Policy-Verlust an Wörtern, die das Werkzeug geschrieben hat?',
        choices: { none: 'an keinem', some: 'an einigen' },
        seen: 'Von {words:count} Wörtern des Werkzeugs hat der Policy-Verlust an {pushed:count} geschoben.',
        why: 'Ihr Advantage ist 0, also werden sie nicht geschoben. Sie zählen nur im Mittelwert mit und machen die anderen Schübe kleiner.',
        cannot: 'In diesem Batch hat kein Werkzeug geantwortet: es gibt kein Wort von ihm.',
      },
    },
  },
  advantage: {
    title: 'Advantage',
    text: [
      'Ein Advantage sagt, um wie viel besser ein Rollout lief als erwartet. GRPO vergleicht mit den Rollouts desselben Prompts: Es zieht den Mittelwert ihrer Belohnungen ab und teilt durch deren Streuung. Jedes Aktionstoken des Rollouts trägt diese Zahl.',
      'Wo alle Rollouts dasselbe bekommen (bis auf 10⁻⁶), ist der Advantage genau 0: Aus dieser Gruppe lernt der Agent nichts.',
    ],
    formulas: CHAPTER_FORMULAS.advantage,
    exercises: {
      sum: {
        task: 'Ein Update, dann addieren',
        question:
          'Acht Rollouts eines Prompts, einige besser bezahlt als andere. Was ist die Summe ihrer acht Advantages?',
        choices: { positive: 'über 0', zero: 'genau 0, bis auf Rundung', negative: 'unter 0' },
        seen: 'Die {rollouts:count} Rollouts bekamen im Mittel {mean:number}, mit einer Streuung von {std:number}. Ihre Advantages ergeben zusammen {sum:number}.',
        why: 'GRPO zieht ihren eigenen Mittelwert ab. Eine Gruppe verschiebt Wahrscheinlichkeit daher immer nur von den schlechteren Rollouts zu den besseren. Der auffälligste ist nebenan ausgewählt.',
        cannot:
          'Keine Gruppe dieses Batches hat verschiedene Belohnungen, oder ihre Advantages kommen nicht aus Gruppen.',
      },
    },
  },
  critic: {
    title: 'Der Critic und GAE',
    text: [
      'PPO hat keine Gruppe zum Vergleichen. Ein Critic sagt an jedem Token die Belohnung voraus, die noch kommt; der Advantage gibt an, um wie viel es besser kam, aufsummiert mit dem Abfall λ.',
      'A′ und V′ sind vom nächsten Token in der Advantage-Maske. Eine Beobachtung dazwischen kostet keinen Abfall: Der Credit geht von Agententoken zu Agententoken. Danach werden die Advantages normiert (whitening) und noch einmal maskiert.',
    ],
    formulas: CHAPTER_FORMULAS.critic,
    exercises: {
      within: {
        task: 'Ein Update mit PPO',
        question: 'Bei GRPO tragen alle Aktionen eines Rollouts denselben Advantage. Und mit einem Critic?',
        choices: { same: 'auch hier dieselbe Zahl', differ: 'sie unterscheiden sich von Token zu Token' },
        seen: 'Von {rollouts:count} Rollouts mit mehr als einem Zug haben {differing:count} Advantages, die sich im Rollout unterscheiden.',
        why: 'Jedes Token wird mit dem verglichen, was der Critic dort erwartete: ein Aufruf, der half, lässt sich von einem unterscheiden, der nicht half.',
        cannot: 'Kein Rollout dieses Batches hat mehr als einen Zug.',
      },
      explains: {
        task: 'PPO 20 Updates trainieren',
        question: 'Sieht der Critic nach 20 Updates mehr von der Belohnung voraus als am Anfang, oder weniger?',
        choices: { more: 'mehr davon', less: 'weniger davon' },
        seen: 'Die erklärte Varianz ging von {before:number} auf {after:number}; 1 wäre alles.',
        why: 'Sein Value-Kopf beginnt ohne Wissen und lernt zusammen mit der Policy. Solange er wenig weiß, sind Advantages vor allem Glück.',
        cannot: 'Die erklärte Varianz ging von {before:number} auf {after:number}: zu nah beieinander.',
      },
    },
  },
  clip: {
    title: 'Der Clip',
    text: [
      'Ein Batch dient mehreren Optimierer-Schritten. Nach dem ersten ist die Policy nicht mehr die, von der die Tokens stammen; das Verhältnis ρ sagt, wie viel wahrscheinlicher eines geworden ist. PPO belohnt ein Token nicht mehr, sobald ρ den Bereich 1 ± ε verlassen hat: der Gradient ist dann genau 0.',
      'Die alten Log-Wahrscheinlichkeiten werden vor dem ersten Schritt neu berechnet, dort ist also ρ = 1 und nichts wird abgeschnitten. Eine dritte Schranke c begrenzt den Verlust, wo A < 0.',
    ],
    formulas: CHAPTER_FORMULAS.clip,
    exercises: {
      tight: {
        task: 'Ein Update mit ±0,2, eins mit ±0,02',
        question:
          'Aus demselben Batch zweimal gelernt: mit ε = 0,2 und mit ε = 0,02. Wie viele Tokens hält der enge Clip auf?',
        choices: { more: 'mehr', same: 'gleich viele', fewer: 'weniger' },
        seen: 'Bei ±0,2 hielt der Clip {wide:percent} der Tokens auf, bei ±0,02 {tight:percent}.',
        why: 'Nach ein, zwei Schritten verlassen die Verhältnisse den engen Bereich. Die Farben nebenan zeigen Verhältnisse; eine Kerbe in der Ecke markiert ein Token, das im letzten Schritt abgeschnitten wurde.',
        cannot: 'Keiner der beiden Bereiche hielt ein Token auf: die Policy hat sich kaum bewegt.',
      },
    },
  },
  kl: {
    title: 'KL zur Referenz',
    text: [
      'Die Referenz ist die Policy, mit der der Lauf begann. Eine KL-Strafe zieht die Policy zu ihr zurück: im Verlust mit Gewicht β, oder abgezogen von der Belohnung jedes Aktionstokens.',
      'Aus einem gezogenen Token lässt sie sich nicht genau berechnen, nur schätzen. k1 kann negativ sein und hat in einem Verlust den falschen Gradienten; k3 ist nie negativ und ist die Voreinstellung.',
    ],
    formulas: CHAPTER_FORMULAS.kl,
    exercises: {
      held: {
        task: 'Zehn Updates ohne, zehn mit β = 0,5',
        question: 'Zwei Läufe vom selben Anfang mit demselben Seed, einer mit β = 0,5. Wo steht der nach zehn Updates?',
        choices: { nearer: 'näher an der Referenz', further: 'weiter von ihr weg' },
        seen: 'Die KL zur Referenz war ohne Strafe {free:number} nats, mit ihr {held:number} (Mittel der letzten drei Updates).',
        why: 'Die Strafe hält die Policy nah am Anfang und bremst das Lernen. „Ohne“ heißt hier β = 10⁻⁶, denn bei 0 wird die KL nicht gemessen. Die Farben nebenan zeigen δ.',
        cannot: 'Die KL zur Referenz war {free:number} und {held:number} nats: für einen Seed zu nah beieinander.',
      },
    },
  },
  trap: {
    title: 'Die Echo-Falle: alle Rollouts gleich',
    text: [
      'Mit wenigen Prompts, vielen Epochen und ohne Entropie-Bonus legt sich die Policy auf einen Weg fest, egal was sie liest. Alle Rollouts und Belohnungen werden gleich. Die Advantages sind dann 0, und sie kann sich nicht mehr befreien.',
      'In RAGENs Echo Trap steigt die Belohnung und bricht dann ein. Hier bleibt der Erfolg niedrig, und in zwei von acht Läufen fiel er danach um die Hälfte: Die Rollouts glichen sich zu früh und beachteten nicht, was sie lasen. Die Anzeige meldet TRAP, wenn Rollouts sich gleichen und der Erfolg die Hälfte des Zuwachses verloren hat oder wenn Züge kaum von Beobachtungen abhängen.',
    ],
    formulas: ['Streuung der Belohnung ≤ ½ · beste, flache Gruppen ≥ 0,7, Entropie ≤ ½ · erste'],
    exercises: {
      spread: {
        task: 'Kaputtmachen: 40 Updates',
        question:
          'Erst gewinnen manche Starts und andere nicht: die Belohnungen eines Prompts streuen. Wo ist diese Streuung nach 40 Updates?',
        choices: { stays: 'über der Hälfte ihres größten Werts', falls: 'bei der Hälfte oder darunter' },
        seen: 'Am größten war die Streuung bei Update {at:count}, {best:number}; am Ende war sie {after:number}. In {flat:percent} der Gruppen bekamen am Ende alle Rollouts dasselbe.',
        why: 'Wenn sich Belohnungen nicht mehr unterscheiden, gibt es nichts zu vergleichen. Die Policy ändert sich nicht mehr, ob gut oder schlecht. Andere Seeds enden anders: Die acht aufgezeichneten stehen unter Experiments.',
        cannot: 'Bei diesem Seed hat nie ein Rollout gewonnen, also konnte nichts einbrechen.',
      },
      solved: {
        task: 'Die aufgezeichneten Läufe ansehen',
        question:
          'Und die Zahlensuche der ersten Seite, die ihre Aufgaben zu lösen lernt? In wie vielen von acht aufgezeichneten Läufen, je ein Seed, endet auch ihre Streuung bei der Hälfte oder darunter?',
        choices: { few: 'in höchstens zwei', some: 'in drei bis fünf', most: 'in sechs oder mehr' },
        seen: 'In {fell:count} von {runs:count} Läufen endete die Streuung bei der Hälfte ihres größten Werts oder darunter, während {success:percent} der Rollouts ihre Aufgabe lösten.',
        why: 'Wo alle Rollouts gewinnen, bekommen auch alle dasselbe. Eine kleine Streuung allein ist keine Falle: Darum prüft die Anzeige auch den Erfolg und ob Züge von Beobachtungen abhängen.',
        cannot: 'Keiner der aufgezeichneten Läufe hat eine Streuung gemessen.',
      },
    },
  },
  process: {
    title: 'Prozessbelohnung',
    text: [
      'Eine Ergebnisbelohnung wird einmal bezahlt, am letzten Aktionstoken einer gelösten Aufgabe. Eine Prozessbelohnung wird bei dem Aufruf bezahlt, der half. So muss der Credit nicht zurückwandern.',
      'Die Zahlensuche bezahlt den Anteil des Suchraums, in Bit, den ein Aufruf ausschließt. Das ist Reward-Shaping: Ein Lauf kann lernen, diese Belohnung zu sammeln, statt die Aufgabe zu lösen. Deshalb wird der Erfolg getrennt gemessen.',
    ],
    formulas: ['r = w_Ergebnis·gelöst + w_Prozess·Fortschritt − Strafen, jedes an seinem Token'],
    exercises: {
      flat: {
        task: 'Ein Update mit, eins ohne',
        question:
          'Dieselben Rollouts, einmal auch für Fortschritt bezahlt und einmal nur für das Ergebnis. In wie vielen Gruppen bekommen ohne sie alle Rollouts dasselbe?',
        choices: { more: 'in mehr', fewer: 'in weniger' },
        seen: 'Mit Prozessbelohnung bekamen in {paid:percent} der Gruppen alle dasselbe, und niemand lernte daraus; ohne sie in {unpaid:percent}.',
        why: 'Am Ergebnis gemessen sind acht Fehlschläge gleich, aber einer von ihnen hat besser gefragt. Die Farben nebenan zeigen Belohnungen.',
        cannot: 'In beiden bekamen in {paid:percent} der Gruppen alle dasselbe: zu wenige Gruppen, um es zu sagen.',
      },
    },
  },
  text: {
    title: 'Agenten, die Text schreiben',
    text: [
      'Die kleinen Agenten hier haben ein Wort für alles, was sie sagen können. Ein Sprachmodell schreibt denselben Aufruf als JSON, in Wortstücken: mehr Tokens für eine Entscheidung, und mehr, was schiefgehen kann.',
      'Sonst ändert sich nichts. Eine Chat-Vorlage sagt, wo Züge beginnen und enden; die Antwort des Werkzeugs wird als Tokens eingefügt, die nicht von der Policy stammen. Rollen, Masken, Advantages und der Clip sind dieselben. Trainiert wird mit den gezogenen Token-IDs. Sie werden nie als Text neu zerlegt, sonst würden die Masken verrutschen.',
    ],
    formulas: ['<tool_call>{"name": "calculate", "arguments": {…}}</tool_call>'],
    exercises: {
      longer: {
        task: 'Ein Update in Wörtern, eins in Text',
        question:
          'Der Rechner, einmal in eigenen Wörtern und einmal in Text: Wievielmal so viele Tokens hat ein Rollout in Text?',
        choices: { two: 'unter zweimal so viele', five: 'zwei- bis fünfmal', over: 'über fünfmal' },
        seen: 'Nach seinem Prompt hatte ein Rollout {words:number} Tokens in Wörtern und {text:number} in Text: {times:number}-mal so viele.',
        why: 'Alle Tokens eines Rollouts teilen seinen Advantage. Die meisten sind Klammern, Anführungszeichen und Namen, und jedes kann falsch gezogen werden.',
        cannot: 'Einer der beiden Läufe hat keinen Rollout hinterlassen, der sich messen ließe.',
      },
    },
  },
  kernels: {
    title: 'Die Kernel',
    text: [
      'Hier läuft keine Tensor-Bibliothek. Vorwärts- und Rückwärtslauf, Sampler, Credit, Verlust und AdamW sind WGSL-Kernel; jeder beginnt mit seiner Mathematik, seinen Formen und dem, was parallel läuft. Puffer, Bind-Gruppen und Pipelines entstehen einmal, vor dem ersten Update.',
      'Das CPU-Backend berechnet dasselbe in TypeScript und WebAssembly. Die Kernel werden daran geprüft.',
    ],
    formulas: ['abgewartetes Zurücklesen je Update = Stücke beim Ziehen + Zahlen (1) + behaltene Gewichte (1)'],
    exercises: {
      stages: {
        task: 'Drei Updates',
        question:
          'Ein Update zieht 128 Rollouts und lernt dann in zwei Epochen aus ihnen. Was dauert auf diesem Gerät länger?',
        choices: { rollout: 'das Ziehen', learn: 'das Lernen' },
        seen: 'Das Ziehen dauerte {rollout:number} s je Update, das Lernen {learn:number} s.',
        why: 'Beim Ziehen geht es Token für Token, und jedes Mal wartet der Agent auf das Werkzeug. Gelernt wird aus ganzen Zeilen auf einmal, vorwärts und rückwärts. Bei großen Modellen auf großen GPUs ist meist das Ziehen langsamer. Profile, oben, misst jeden Kernel.',
        cannot: 'Das Ziehen dauerte {rollout:number} s je Update, das Lernen {learn:number} s: zu nah beieinander.',
      },
    },
  },
};
