/** Every German word that a person can see on a page. People are addressed as "Sie". */
import type { Words } from './en.ts';

export const de: Words = {
  languageName: 'Deutsch',
  direction: 'ltr',

  frame: {
    languages: 'Sprache',
    signedInAs: 'Angemeldet als',
    support: 'Hilfe',
    newTab: 'öffnet einen neuen Tab',
  },

  entry: {
    pageTitle: (title, server) => `${title} verbinden für ${server}`,
    pageTitleAgain: (title, server) => `Bitte prüfen: ${title} verbinden für ${server}`,
    heading: (title) => `${title} verbinden`,
    askedBy: (server) => `Angefragt von ${server}`,
    lead: 'Das wird gebraucht, um Ihren Auftrag auszuführen.',
    help: (host) => `Wo Sie das auf ${host} finden`,
    replaces: 'Sie haben hierfür schon etwas hinterlegt. Ihre neue Eingabe ersetzt es.',
    give: 'Speichern und weiter',
    decline: 'Jetzt nicht',
  },

  facts: {
    heading: 'Was damit geschieht',
    through: 'Angefragt über',
    selfReported: 'so nennt sich die App selbst',
    neededFor: 'Gebraucht für',
    storedFor: 'Gespeichert für',
    sentOnlyTo: 'Geht nur an',
    keptFor: 'Aufbewahrt für',
    assurance: (client) =>
      client === undefined
        ? 'Verschlüsselt gespeichert. Weder der Assistent noch die App, aus der Sie kommen, bekommt es zu sehen.'
        : `Verschlüsselt gespeichert. Weder der Assistent noch ${client} bekommt es zu sehen.`,
  },

  problems: {
    summary: (count) => (count === 1 ? 'Eine Angabe bitte noch einmal prüfen' : `${count} Angaben bitte noch einmal prüfen`),
    nothingStored: 'Es ist noch nichts gespeichert. Zu Ihrer Sicherheit sind verdeckte Eingaben wieder leer.',
    label: 'Bitte prüfen:',
    empty: 'Bitte füllen Sie dieses Feld aus.',
    pattern: 'Das hat nicht die erwartete Form. Bitte prüfen Sie, ob alles mitkopiert wurde.',
    unusable: 'Das enthält Zeichen, die hier nicht möglich sind, zum Beispiel Zeilenumbrüche. Bitte kopieren Sie es noch einmal.',
    'too-long': 'Das ist länger als möglich. Bitte fügen Sie nur den Wert selbst ein.',
  },

  done: {
    heading: (title) => `${title} ist verbunden`,
    byItself: (client) =>
      `${client ?? 'Die App, aus der Sie kommen,'} macht von selbst weiter. Falls nicht, gehen Sie zurück und schreiben Sie „weiter“.`,
    sayContinue: (client) => `Gehen Sie zurück zu ${client ?? 'der App, aus der Sie kommen,'} und schreiben Sie „weiter“.`,
    close: 'Sie können diese Seite schließen.',
  },

  declined: {
    heading: 'In Ordnung, jetzt nicht',
    nothingStored: 'Es wurde nichts gespeichert.',
    later: (client) =>
      `Wenn Sie später verbinden möchten, fragen Sie in ${client ?? 'der App, aus der Sie kommen,'} einfach noch einmal. Sie bekommen dann einen neuen Link.`,
  },

  expired: {
    heading: 'Dieser Link ist abgelaufen',
    pageTitle: (title) => `Dieser Link ist abgelaufen: ${title}`,
    why: (title) => `Zu Ihrer Sicherheit gilt der Link für ${title} nur kurze Zeit. Es wurde nichts gespeichert.`,
    renew: 'Neuen Link holen',
    askAgain: 'Gehen Sie zurück zu der App, aus der Sie kommen, und fragen Sie noch einmal. Sie bekommen dann einen neuen Link.',
  },

  alreadyDone: {
    heading: (title) => `${title}: schon erledigt`,
    what: 'Dieser Link hat seinen Zweck erfüllt. Hier ist nichts weiter zu tun.',
  },

  problem: {
    'not-found': {
      heading: 'Dieser Link funktioniert nicht',
      what: 'Vielleicht fehlt ein Stück davon, oder er gilt nicht mehr.',
      todo: 'Öffnen Sie ihn noch einmal genau so, wie er Ihnen gezeigt wurde, oder fragen Sie in der App, aus der Sie kommen, noch einmal. Sie bekommen dann einen neuen Link.',
    },
    'forbidden-origin': {
      heading: 'Es wurde nichts gespeichert',
      what: 'Das Formular kam nicht von dieser Seite. Zu Ihrem Schutz wurde es nicht angenommen.',
      todo: 'Öffnen Sie den Link, den Sie bekommen haben, noch einmal und füllen Sie das Formular dort aus.',
    },
    'too-many': {
      heading: 'Bitte eine kurze Pause',
      what: 'Es gab viele Versuche in kurzer Zeit, deshalb pausiert diese Seite. Ihr Link bleibt, wie er ist.',
      todo: (wait) =>
        wait === undefined
          ? 'Bitte warten Sie einen Moment und versuchen Sie es dann noch einmal.'
          : `Bitte warten Sie ${wait} und versuchen Sie es dann noch einmal.`,
    },
    unavailable: {
      heading: 'Im Moment nicht möglich',
      what: 'Etwas, das diese Seite braucht, ist nicht erreichbar. Das liegt nicht an Ihnen.',
      todo: (wait) =>
        `Bitte warten Sie ${wait ?? 'einige Minuten'} und versuchen Sie es dann noch einmal. Ihr Link bleibt, wie er ist.`,
    },
    'not-local': {
      heading: 'Nur auf demselben Computer',
      what: 'Diese Seite öffnet sich nur auf dem Computer, auf dem der Server läuft.',
      todo: 'Öffnen Sie den Link in einem Browser auf diesem Computer.',
    },
    'too-large': {
      heading: 'Das war zu viel Text',
      what: 'Was gesendet wurde, ist größer, als diese Seite annimmt. Es wurde nichts gespeichert.',
      todo: 'Gehen Sie zurück und fügen Sie nur den Wert selbst ein.',
    },
    'bad-request': {
      heading: 'Das ist nicht angekommen',
      what: 'Diese Seite konnte nicht lesen, was der Browser gesendet hat. Es wurde nichts gespeichert.',
      todo: 'Öffnen Sie den Link, den Sie bekommen haben, noch einmal und versuchen Sie es erneut.',
    },
  },
};
