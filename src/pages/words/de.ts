/** Every German word that a person can see on a page. People are addressed as "Sie". */
import type { Words } from './en.ts';

export const de: Words = {
  languageName: 'Deutsch',
  direction: 'ltr',

  frame: {
    languages: 'Sprache',
    signedInAs: 'Angemeldet als',
    notYou: 'Nicht Sie?',
    yourConnections: 'Ihre Verbindungen',
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
    refused: (server: string) => `${server} hat abgelehnt, was Sie zuvor hinterlegt haben. Es wird nicht mehr verwendet. Bitte geben Sie es neu an.`,
    expired: (day) => `Was Sie zuvor hinterlegt haben, ist am ${day} abgelaufen und wird nicht mehr verwendet. Bitte geben Sie es neu an.`,
    give: 'Speichern und weiter',
    decline: 'Jetzt nicht',
  },

  choice: {
    pageTitle: (server) => `Wählen Sie, was Sie für ${server} verbinden`,
    heading: 'Was möchten Sie verbinden?',
    lead: 'Eines davon genügt für das, worum Sie gebeten haben.',
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

  away: {
    lead: (host) => `Sie gehen jetzt zu ${host}. Dort melden Sie sich an und entscheiden, was erlaubt ist. Danach kommen Sie hierher zurück.`,
    goingTo: 'Sie gehen zu',
    permissions: 'Berechtigungen',
    go: (host) => `Weiter zu ${host}`,
    replaces: 'Sie haben das schon einmal verbunden. Die neue Verbindung ersetzt die alte.',
    more: (server) => `Sie haben das schon einmal verbunden. ${server} braucht jetzt mehr Berechtigungen, als Sie damals erteilt haben.`,
    refused: 'Ihre frühere Verbindung ist nicht mehr gültig und wird nicht mehr verwendet. Bitte verbinden Sie noch einmal.',
  },

  back: {
    retry: 'Noch einmal versuchen',
    code: (code) => `Die Antwort lautete: ${code}`,
    stale: {
      heading: 'Dieser Versuch gilt nicht mehr',
      what: 'Er hat zu lange gedauert, war schon abgeschlossen oder begann in einem anderen Browser. Gerade eben wurde nichts gespeichert.',
    },
    denied: {
      heading: 'Es wurde nichts verbunden',
      what: (title) => `Sie oder ${title} haben es nicht erlaubt. Es wurde nichts gespeichert.`,
    },
    failed: {
      heading: 'Das Verbinden hat nicht geklappt',
      what: (title) => `Die Antwort von ${title} konnte nicht angenommen werden. Es wurde nichts gespeichert. Wenn das wieder vorkommt, sagen Sie es denen, die diese Seite betreuen.`,
    },
    unreachable: {
      heading: 'Verbinden ist im Moment nicht möglich',
      what: (title) => `${title} ist nicht zu erreichen. Das liegt nicht an Ihnen. Bitte versuchen Sie es in ein paar Minuten noch einmal.`,
    },
    unfit: {
      heading: 'Das lässt sich noch nicht verbinden',
      what: (title) => `Der Weg zu ${title} ist nicht fertig eingerichtet. Das liegt nicht an Ihnen. Bitte sagen Sie es denen, die diese Seite betreuen.`,
    },
    partly: {
      heading: 'Einige Berechtigungen fehlen',
      what: (title) => `${title} ist verbunden, aber nicht alles, was gebraucht wird, wurde erlaubt. Es fehlt noch:`,
      todo: 'Versuchen Sie es noch einmal und lassen Sie alle Berechtigungen eingeschaltet. Wenn Sie nicht mehr erlauben möchten, schließen Sie einfach diese Seite.',
    },
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

  trial: {
    before: (judge) => `Vor dem Speichern wird bei ${judge} nachgefragt, ob die Angabe gültig ist. Das kann ein paar Sekunden dauern.`,
    refused: {
      heading: 'Das wurde nicht angenommen',
      what: (judge) => `${judge} hat Ihre Eingabe abgelehnt. Bitte prüfen Sie, ob alles mitkopiert wurde und ob sie noch gültig ist.`,
    },
    timeout: {
      heading: 'Das ließ sich nicht prüfen',
      what: (judge) => `${judge} hat nicht rechtzeitig geantwortet. Ob die Angabe gültig ist, steht deshalb noch nicht fest. Das liegt nicht an Ihnen. Bitte geben Sie sie gleich noch einmal ein.`,
    },
    unreachable: {
      heading: 'Das ließ sich nicht prüfen',
      what: (judge) => `${judge} kann gerade nicht gefragt werden. Ob die Angabe gültig ist, steht deshalb noch nicht fest. Das liegt nicht an Ihnen. Bitte geben Sie sie gleich noch einmal ein.`,
    },
    orAnyway: 'Wenn Sie sicher sind, dass sie stimmt, geben Sie sie noch einmal ein und speichern Sie sie ohne diese Prüfung.',
    storeAnyway: 'Ohne Prüfung speichern',
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

  account: {
    heading: 'Ihre Verbindungen',
    lead: 'Womit sich Ihre Apps für Sie verbinden können und was Sie dafür hinterlegt haben.',
    yours: (account) => `Was hier gespeichert ist, gehört ${account}. Niemand sonst kann es verwenden.`,
    status: {
      none: 'Nicht verbunden',
      stored: 'Verbunden',
      expired: 'Abgelaufen',
      outdated: 'Bitte erneuern',
      rejected: 'Abgelehnt',
    },
    rejected: 'Der Server hat es abgelehnt. Deshalb wird es nicht mehr verwendet. Hinterlegen Sie bitte ein neues.',
    expired: 'Die Zeit dafür ist um, deshalb wird es nicht mehr verwendet. Hinterlegen Sie es bitte noch einmal.',
    outdated: 'Was hier gebraucht wird oder wohin es geht, hat sich seitdem geändert. Deshalb wird es nicht mehr verwendet. Hinterlegen Sie es bitte noch einmal.',
    storedOn: 'Gespeichert am',
    validUntil: 'Gültig bis',
    expiredOn: 'Abgelaufen am',
    endsSoon: 'Es läuft bald ab. Wenn Sie es vorher neu hinterlegen, geht alles ohne Unterbrechung weiter.',
    lastUsed: 'Zuletzt verwendet',
    usedThrough: 'Verwendet über',
    connect: 'Verbinden',
    replace: 'Ersetzen',
    disconnect: 'Trennen',
    disconnectNote: 'Was gespeichert ist, wird sofort gelöscht. Was es braucht, fragt Sie dann wieder danach.',
    disconnectNow: 'Löschen und trennen',
    empty: 'Es gibt noch nichts zu verbinden. Sobald ein Server etwas von Ihnen braucht, finden Sie es hier.',
    signOut: 'Abmelden',
  },

  consent: {
    pageTitle: (title, server) => `Eine weitere App möchte ${title} für ${server} verwenden`,
    heading: (title) => `Darf eine weitere App ${title} verwenden?`,
    lead: (title) => `Sie haben ${title} früher über eine andere App hinterlegt. Diese hier darf es nur verwenden, wenn Sie zustimmen.`,
    caution: 'Erlauben Sie es nur, wenn Sie gerade selbst mit dieser App arbeiten.',
    factsHeading: 'Wer fragt',
    app: 'Name der App',
    appId: 'Kennung der App',
    assurance: 'Es bleibt verschlüsselt. Die App kann es über diesen Server verwenden, bekommt es aber nie zu sehen.',
    allow: 'Erlauben',
    decline: 'Jetzt nicht',
    replace: 'Stattdessen etwas anderes hinterlegen',
  },

  wrongPerson: {
    heading: 'Dieser Link gehört zu einem anderen Konto',
    what: 'Er ist für jemand anderen oder für ein anderes Ihrer Konten. Mit diesem Konto lässt er sich nicht verwenden. Es wurde nichts gespeichert.',
    switchAccount: 'Anderes Konto verwenden',
    switchElsewhere: 'Wenn Sie ein anderes Konto haben, melden Sie sich dort ab, wo Sie sich angemeldet haben, melden Sie sich mit dem anderen an und öffnen Sie den Link noch einmal.',
    notMeant: 'Hat Ihnen jemand diesen Link geschickt? Dann ist er nicht für Sie bestimmt, und Sie können diese Seite einfach schließen.',
  },

  signedOut: {
    heading: 'Sie sind abgemeldet',
    what: 'Was Sie hinterlegt haben, bleibt gespeichert, nur für Sie.',
    elsewhere: 'Bei Ihrer Organisation sind Sie vielleicht noch angemeldet. An einem Computer, den auch andere benutzen, melden Sie sich bitte auch dort ab.',
    signIn: 'Wieder anmelden',
  },

  login: {
    retry: 'Noch einmal anmelden',
    stale: {
      heading: 'Diese Anmeldung gilt nicht mehr',
      what: 'Sie hat zu lange gedauert, war schon abgeschlossen oder begann in einem anderen Browser.',
    },
    denied: {
      heading: 'Sie sind nicht angemeldet',
      what: 'Die Anmeldung wurde abgebrochen, oder dieses Konto ist hier nicht zugelassen. Sie können es noch einmal versuchen oder ein anderes Konto verwenden.',
    },
    failed: {
      heading: 'Die Anmeldung hat nicht geklappt',
      what: 'Die Antwort des Anmeldedienstes konnte nicht angenommen werden. Das liegt nicht an Ihnen. Passiert es noch einmal, wenden Sie sich bitte an die Betreuung dieser Seite.',
    },
    unavailable: {
      heading: 'Im Moment ist keine Anmeldung möglich',
      what: 'Der Anmeldedienst ist nicht erreichbar. Das liegt nicht an Ihnen. Bitte versuchen Sie es in einigen Minuten noch einmal.',
    },
    yourLink: 'Ein Link, den Sie bekommen haben, bleibt, wie er ist. Öffnen Sie ihn nach der Anmeldung noch einmal.',
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
    'not-known': {
      heading: 'Bitte melden Sie sich zuerst an',
      what: 'Diese Seite öffnet sich nur für Menschen, die bei ihrer Organisation angemeldet sind. Wer Sie sind, wurde ihr nicht mitgeteilt.',
      todo: 'Melden Sie sich dort an und öffnen Sie den Link dann noch einmal. Hilft das nicht, wenden Sie sich bitte an die Betreuung dieser Seite.',
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
