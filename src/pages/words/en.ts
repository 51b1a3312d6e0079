/**
 * Every English word that a person can see on a page, and the pattern for all other languages:
 * `Words` is the type of this object, so a language that lacks a word does not compile.
 *
 * For translators: short, warm and exact; no jargon, no blame. `client` is the name that the asking
 * app gives itself and may be missing; `title` names the credential, `server` the MCP server.
 */

const theApp = 'the app you came from';

export const en = {
  languageName: 'English',
  direction: 'ltr' as 'ltr' | 'rtl',

  frame: {
    languages: 'Language',
    signedInAs: 'Signed in as',
    notYou: 'Not you?',
    yourConnections: 'Your connections',
    support: 'Get help',
    newTab: 'opens in a new tab',
  },

  entry: {
    pageTitle: (title: string, server: string) => `Connect ${title} for ${server}`,
    pageTitleAgain: (title: string, server: string) => `Please check: connect ${title} for ${server}`,
    heading: (title: string) => `Connect ${title}`,
    askedBy: (server: string) => `Asked for by ${server}`,
    lead: 'This is needed to do what you asked for.',
    help: (host: string) => `Where to find this on ${host}`,
    replaces: 'You have stored this before. What you enter now takes its place.',
    refused: (server: string) => `${server} refused what you stored before, so it is not used any more. Please give a new one.`,
    expired: (day: string) => `What you stored before expired on ${day}, so it is not used any more. Please give a new one.`,
    give: 'Save and continue',
    decline: 'Not now',
  },

  choice: {
    pageTitle: (server: string) => `Choose what to connect for ${server}`,
    heading: 'Which one do you want to connect?',
    lead: 'Any one of these is enough to do what you asked for.',
  },

  facts: {
    heading: 'What happens with it',
    through: 'Asked through',
    selfReported: 'the name it gives itself',
    neededFor: 'Needed for',
    storedFor: 'Stored for',
    sentOnlyTo: 'Sent only to',
    keptFor: 'Kept for',
    assurance: (client: string | undefined) =>
      `Stored encrypted. Neither the assistant nor ${client ?? theApp} gets to see it.`,
  },

  away: {
    lead: (host: string) => `You go to ${host} now. There you sign in and decide what is allowed. Then you come back here.`,
    goingTo: 'You go to',
    permissions: 'Permissions',
    go: (host: string) => `Continue to ${host}`,
    replaces: 'You have connected this before. The new connection takes the place of the old one.',
    more: (server: string) => `You have connected this before. ${server} now needs more permissions than you gave then.`,
    refused: 'The connection that you made before is no longer valid, so it is not used any more. Please connect again.',
  },

  back: {
    retry: 'Try again',
    code: (code: string) => `The answer was: ${code}`,
    stale: {
      heading: 'This attempt is no longer valid',
      what: 'It took too long, was finished already, or began in a different browser. Nothing was stored just now.',
    },
    denied: {
      heading: 'Nothing was connected',
      what: (title: string) => `You, or ${title}, did not allow it. Nothing was stored.`,
    },
    failed: {
      heading: 'Connecting did not work',
      what: (title: string) => `The answer of ${title} could not be accepted. Nothing was stored. If it happens again, tell the people who look after this page.`,
    },
    unreachable: {
      heading: 'Connecting is not possible at the moment',
      what: (title: string) => `${title} cannot be reached. This is not your doing. Please try again in a few minutes.`,
    },
    unfit: {
      heading: 'This cannot be connected yet',
      what: (title: string) => `Something about the way to ${title} is not set up. This is not your doing. Please tell the people who look after this page.`,
    },
    partly: {
      heading: 'Some permissions are missing',
      what: (title: string) => `${title} is connected, but not everything that is needed was allowed. Still missing:`,
      todo: 'Try again and leave every permission switched on, or close this page if you do not want to allow more.',
    },
  },

  problems: {
    summary: (count: number) => (count === 1 ? 'One entry needs another look' : `${count} entries need another look`),
    nothingStored: 'Nothing has been stored yet. For your safety, hidden entries are empty again.',
    label: 'Please check:',
    empty: 'Please fill this in.',
    pattern: 'This does not have the expected form. Please check that you copied all of it.',
    unusable: 'This contains characters that cannot be used here, such as line breaks. Please copy it once more.',
    'too-long': 'This is longer than it can be. Please paste only the value itself.',
  },

  trial: {
    before: (judge: string) => `Before it is stored, ${judge} is asked whether it is valid. That can take a few seconds.`,
    refused: {
      heading: 'This was not accepted',
      what: (judge: string) => `${judge} refused what you entered. Please check that you copied all of it, and that it is still valid.`,
    },
    timeout: {
      heading: 'This could not be checked',
      what: (judge: string) => `${judge} did not answer in time, so nobody knows yet whether it is valid. This is not your doing. Please enter it again in a moment.`,
    },
    unreachable: {
      heading: 'This could not be checked',
      what: (judge: string) => `${judge} cannot be asked at the moment, so nobody knows yet whether it is valid. This is not your doing. Please enter it again in a moment.`,
    },
    orAnyway: 'If you are sure that it is right, enter it once more and store it without this check.',
    storeAnyway: 'Store without the check',
  },

  done: {
    heading: (title: string) => `${title} is connected`,
    byItself: (client: string | undefined) =>
      `${client ?? 'The app you came from'} goes on by itself. If it does not, go back and say “continue”.`,
    sayContinue: (client: string | undefined) => `Go back to ${client ?? theApp} and say “continue”.`,
    close: 'You may close this page.',
  },

  declined: {
    heading: 'All right, not now',
    nothingStored: 'Nothing was stored.',
    later: (client: string | undefined) =>
      `Whenever you want to connect, ask again in ${client ?? theApp}. You will get a new link.`,
  },

  expired: {
    heading: 'This link has expired',
    pageTitle: (title: string) => `This link has expired: ${title}`,
    why: (title: string) => `For your safety, the link to connect ${title} works only for a short time. Nothing was stored.`,
    renew: 'Get a new link',
    askAgain: `Go back to ${theApp} and ask again. You will get a new link.`,
  },

  alreadyDone: {
    heading: (title: string) => `${title}: all done already`,
    what: 'This link has done its work. There is nothing more to do here.',
  },

  account: {
    heading: 'Your connections',
    lead: 'What your apps can connect to for you, and what you have stored for it.',
    yours: (account: string) => `What is stored here belongs to ${account}. Nobody else can use it.`,
    status: {
      none: 'Not connected',
      stored: 'Connected',
      expired: 'Expired',
      outdated: 'Please renew',
      rejected: 'Refused',
    },
    rejected: 'The server refused it, so it is no longer used. To go on, store a new one.',
    expired: 'Its time is over, so it is no longer used. To go on, store it once more.',
    outdated: 'What is needed here, or where it goes, has changed since you stored it. It is no longer used. To go on, store it once more.',
    storedOn: 'Stored on',
    validUntil: 'Valid until',
    expiredOn: 'Expired on',
    endsSoon: 'It expires soon. If you store it anew before then, nothing stops.',
    lastUsed: 'Last used',
    usedThrough: 'Used through',
    connect: 'Connect',
    replace: 'Replace',
    disconnect: 'Disconnect',
    disconnectNote: 'What is stored is deleted at once. Whatever needs it will ask you again.',
    disconnectNow: 'Delete and disconnect',
    empty: 'There is nothing to connect yet. When a server needs something from you, you will find it here.',
    signOut: 'Sign out',
  },

  consent: {
    pageTitle: (title: string, server: string) => `Another app wants to use ${title} for ${server}`,
    heading: (title: string) => `May another app use ${title}?`,
    lead: (title: string) => `You stored ${title} earlier, through a different app. This one may use it only if you agree.`,
    caution: 'Allow it only if you are working with this app right now.',
    factsHeading: 'Who is asking',
    app: 'App',
    appId: 'App ID',
    assurance: 'It stays encrypted. The app gets to use it through this server, but never to see it.',
    allow: 'Allow',
    decline: 'Not now',
    replace: 'Store a different one instead',
  },

  wrongPerson: {
    heading: 'This link is for another account',
    what: 'It was made for someone else, or for another account of yours. With this account it cannot be used, and nothing was stored.',
    switchAccount: 'Use another account',
    switchElsewhere: 'If you have another account, sign out where you signed in, sign in with that one, and open the link once more.',
    notMeant: 'Did someone send you this link? Then it is not meant for you, and you can simply close this page.',
  },

  signedOut: {
    heading: 'You are signed out',
    what: 'What you have stored stays stored, for you alone.',
    elsewhere: 'Your organisation may still have you signed in. On a computer that others use, sign out there as well.',
    signIn: 'Sign in again',
  },

  login: {
    retry: 'Sign in again',
    stale: {
      heading: 'This sign-in is no longer valid',
      what: 'It took too long, was finished already, or began in a different browser.',
    },
    denied: {
      heading: 'You are not signed in',
      what: 'The sign-in was cancelled, or this account is not allowed in. You can try again or use another account.',
    },
    failed: {
      heading: 'The sign-in did not work',
      what: 'The answer of the sign-in service could not be accepted. This is not your doing. If it happens again, tell the people who look after this page.',
    },
    unavailable: {
      heading: 'Signing in is not possible at the moment',
      what: 'The sign-in service cannot be reached. This is not your doing. Please try again in a few minutes.',
    },
    yourLink: 'A link that you were given stays as it is. After signing in, open it once more.',
  },

  problem: {
    'not-found': {
      heading: 'This link does not work',
      what: 'A part of it may be missing, or it is no longer in use.',
      todo: `Open it once more exactly as it was shown to you, or go back to ${theApp} and ask again. You will get a new link.`,
    },
    'forbidden-origin': {
      heading: 'Nothing was stored',
      what: 'The form did not come from this page. To protect you, it was not accepted.',
      todo: 'Open the link that you were given once more, and fill in the form there.',
    },
    'too-many': {
      heading: 'A short pause, please',
      what: 'There were many tries in a short time, so this page takes a break. Your link stays as it is.',
      todo: (wait: string | undefined) =>
        wait === undefined ? 'Please wait a moment, then try again.' : `Please wait ${wait}, then try again.`,
    },
    unavailable: {
      heading: 'Not possible at the moment',
      what: 'Something that this page depends on cannot be reached. This is not your doing.',
      todo: (wait: string | undefined) => `Please try again in ${wait ?? 'a few minutes'}. Your link stays as it is.`,
    },
    'not-local': {
      heading: 'Only on the same computer',
      what: 'This page opens only on the computer on which the server runs.',
      todo: 'Open the link in a browser on that computer.',
    },
    'not-known': {
      heading: 'Please sign in first',
      what: 'This page opens only for people who have signed in with their organisation, and it was not told who you are.',
      todo: 'Sign in there, then open the link once more. If that does not help, tell the people who look after this page.',
    },
    'too-large': {
      heading: 'That was too much text',
      what: 'What was sent is larger than this page accepts. Nothing was stored.',
      todo: 'Go back and paste only the value itself.',
    },
    'bad-request': {
      heading: 'That did not come through',
      what: 'This page could not read what the browser sent. Nothing was stored.',
      todo: 'Open the link that you were given once more, and try again.',
    },
  },
};

export type Words = typeof en;
