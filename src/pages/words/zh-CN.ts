/**
 * Every word in Simplified Chinese that a person can see on a page. People are addressed as 您; a space
 * stands between Chinese and the names in Latin letters, and punctuation is full-width.
 */
import type { Words } from './en.ts';

const theApp = '您刚才使用的应用';

export const zhCN: Words = {
  languageName: '简体中文',
  direction: 'ltr',

  frame: {
    languages: '语言',
    signedInAs: '当前账号',
    notYou: '不是您？',
    yourConnections: '您的连接',
    support: '获取帮助',
    newTab: '在新标签页中打开',
  },

  entry: {
    pageTitle: (title, server) => `为 ${server} 连接 ${title}`,
    pageTitleAgain: (title, server) => `请检查：为 ${server} 连接 ${title}`,
    heading: (title) => `连接 ${title}`,
    askedBy: (server) => `来自 ${server} 的请求`,
    lead: '完成您的请求需要用到它。',
    help: (host) => `如何在 ${host} 上找到它`,
    replaces: '您之前已经保存过。这次填写的内容会取代原来的内容。',
    refused: (server: string) => `${server} 拒绝了您之前保存的内容，因此不再使用。请重新提供。`,
    expired: (day) => `您之前保存的内容已于 ${day} 过期，因此不再使用。请重新提供。`,
    give: '保存并继续',
    decline: '以后再说',
  },

  choice: {
    pageTitle: (server) => `选择要为 ${server} 连接的内容`,
    heading: '您想连接哪一个？',
    lead: '任选其一，就能完成您要做的事。',
  },

  facts: {
    heading: '提交的内容将如何处理',
    through: '请求来自',
    selfReported: '应用自报的名称',
    neededFor: '用于',
    storedFor: '所属账号',
    sentOnlyTo: '仅发送至',
    keptFor: '保存期限',
    assurance: (client) =>
      client === undefined ? `加密保存。助手和${theApp}都看不到它。` : `加密保存。助手和 ${client} 都看不到它。`,
  },

  away: {
    lead: (host) => `接下来会前往 ${host}。请在那里登录，并决定允许哪些权限，然后会回到这里。`,
    goingTo: '前往',
    permissions: '权限',
    go: (host) => `继续前往 ${host}`,
    replaces: '您以前连接过。新的连接会取代旧的连接。',
    more: (server) => `您以前连接过。${server} 现在需要比当时更多的权限。`,
    refused: '您以前的连接已失效，不会再被使用。请重新连接。',
  },

  back: {
    retry: '重试',
    code: (code) => `得到的回答是：${code}`,
    stale: {
      heading: '这次连接已失效',
      what: '可能是用时过长、已经完成，或是在另一个浏览器中开始的。刚才没有保存任何内容。',
    },
    denied: {
      heading: '没有建立连接',
      what: (title) => `您或 ${title} 没有允许。没有保存任何内容。`,
    },
    failed: {
      heading: '连接没有成功',
      what: (title) => `无法接受 ${title} 的回答。没有保存任何内容。如果再次发生，请告诉管理此页面的人员。`,
    },
    unreachable: {
      heading: '暂时无法连接',
      what: (title) => `无法访问 ${title}。这不是您的问题。请过几分钟再试。`,
    },
    unfit: {
      heading: '目前还不能连接',
      what: (title) => `通往 ${title} 的设置尚未完成。这不是您的问题。请告诉管理此页面的人员。`,
    },
    partly: {
      heading: '缺少部分权限',
      what: (title) => `${title} 已连接，但所需的权限没有全部得到允许。还缺少：`,
      todo: '请重试，并保留所有权限。如果您不想再允许更多，关闭此页面即可。',
    },
  },

  problems: {
    summary: (count) => `有 ${count} 处需要再检查一下`,
    nothingStored: '尚未保存任何内容。为了您的安全，隐藏显示的输入已经清空。',
    label: '请检查：',
    empty: '请填写此项。',
    pattern: '格式不符合要求。请检查是否已完整复制。',
    unusable: '其中含有此处不能使用的字符，例如换行。请重新复制一次。',
    'too-long': '内容过长。请只粘贴所需的值本身。',
  },

  trial: {
    before: (judge) => `保存之前会先向 ${judge} 确认其是否有效，可能需要几秒钟。`,
    refused: {
      heading: '未被接受',
      what: (judge) => `${judge} 拒绝了您填写的内容。请检查是否已完整复制，以及是否仍然有效。`,
    },
    timeout: {
      heading: '暂时无法验证',
      what: (judge) => `${judge} 没有及时答复，因此还不知道其是否有效。这不是您的问题。请稍后重新填写。`,
    },
    unreachable: {
      heading: '暂时无法验证',
      what: (judge) => `目前无法向 ${judge} 确认，因此还不知道其是否有效。这不是您的问题。请稍后重新填写。`,
    },
    orAnyway: '如果您确定内容无误，也可以重新填写，不经验证直接保存。',
    storeAnyway: '不验证，直接保存',
  },

  done: {
    heading: (title) => `${title} 已连接`,
    byItself: (client) =>
      `${client === undefined ? theApp : `${client} `}会自动继续。如果没有，请回到那里并输入“继续”。`,
    sayContinue: (client) => `请回到${client === undefined ? theApp : ` ${client} `}并输入“继续”。`,
    close: '您可以关闭此页面。',
  },

  declined: {
    heading: '好的，以后再说',
    nothingStored: '没有保存任何内容。',
    later: (client) =>
      `想要连接时，只需在${client === undefined ? theApp : ` ${client} `}中再提一次，您就会收到新的链接。`,
  },

  expired: {
    heading: '此链接已过期',
    pageTitle: (title) => `此链接已过期：${title}`,
    why: (title) => `为了您的安全，用于连接 ${title} 的链接只在短时间内有效。没有保存任何内容。`,
    renew: '获取新链接',
    askAgain: `请回到${theApp}再提一次，您会收到新的链接。`,
  },

  alreadyDone: {
    heading: (title) => `${title}：已经完成`,
    what: '此链接的任务已经完成，您无需再做什么。',
  },

  account: {
    heading: '您的连接',
    lead: '您的应用可以代您连接的服务，以及您为此保存的内容。',
    yours: (account) => `这里保存的内容属于 ${account}，其他任何人都不能使用。`,
    status: {
      none: '未连接',
      stored: '已连接',
      expired: '已过期',
      outdated: '需要更新',
      rejected: '已被拒绝',
    },
    rejected: '服务器拒绝了它，因此不再使用。如需继续，请保存新的内容。',
    expired: '有效期已过，因此不再使用。如需继续，请重新保存一次。',
    outdated: '自您保存以来，所需的内容或发送的去向已有变化，因此不再使用。如需继续，请重新保存一次。',
    storedOn: '保存日期',
    validUntil: '有效期至',
    expiredOn: '过期日期',
    endsSoon: '它即将过期。如果您在此之前重新保存，使用就不会中断。',
    lastUsed: '上次使用',
    usedThrough: '使用它的应用',
    connect: '连接',
    replace: '更换',
    disconnect: '断开连接',
    disconnectNote: '保存的内容会立即删除。以后需要它时，会再次向您请求。',
    disconnectNow: '删除并断开',
    empty: '目前没有可以连接的内容。当某个服务器需要您提供内容时，您会在这里看到。',
    signOut: '退出登录',
  },

  consent: {
    pageTitle: (title, server) => `另一个应用想为 ${server} 使用 ${title}`,
    heading: (title) => `允许另一个应用使用 ${title} 吗？`,
    lead: (title) => `您之前通过其他应用保存了 ${title}。只有您同意，这个应用才能使用它。`,
    caution: '只有当您本人此刻正在使用这个应用时，才请允许。',
    factsHeading: '是谁在请求',
    app: '应用',
    appId: '应用标识',
    assurance: '内容始终加密保存。应用可以通过此服务器使用它，但永远看不到它。',
    allow: '允许',
    decline: '以后再说',
    replace: '改为保存另一份',
  },

  wrongPerson: {
    heading: '此链接不适用于当前账号',
    what: '它是为其他人或您的另一个账号创建的。当前账号无法使用它，也没有保存任何内容。',
    switchAccount: '使用其他账号',
    switchElsewhere: '如果您有另一个账号，请在您登录的地方退出，用那个账号登录，然后再次打开此链接。',
    notMeant: '这个链接是别人发给您的吗？那么它不是给您的，关闭此页面即可。',
  },

  signedOut: {
    heading: '您已退出登录',
    what: '您保存的内容仍然保留，只有您能使用。',
    elsewhere: '您在所属组织的登录可能仍然有效。如果这台电脑还有其他人使用，请在那里也退出登录。',
    signIn: '重新登录',
  },

  login: {
    retry: '重新登录',
    stale: {
      heading: '这次登录已失效',
      what: '登录用时过长、此前已经完成，或者是在另一个浏览器中开始的。',
    },
    denied: {
      heading: '您尚未登录',
      what: '登录已取消，或者此账号没有访问权限。您可以重试，也可以使用其他账号。',
    },
    failed: {
      heading: '登录没有成功',
      what: '登录服务返回的结果无法接受。这不是您的问题。如果再次发生，请告知此页面的维护人员。',
    },
    unavailable: {
      heading: '暂时无法登录',
      what: '登录服务目前无法连接。这不是您的问题。请过几分钟再试。',
    },
    yourLink: '您收到的链接不受影响，登录后请再次打开。',
  },

  problem: {
    'not-found': {
      heading: '此链接无法使用',
      what: '链接可能不完整，或者已不再使用。',
      todo: `请完全按照收到的样子再次打开它，或者回到${theApp}再提一次，您会收到新的链接。`,
    },
    'forbidden-origin': {
      heading: '没有保存任何内容',
      what: '表单不是从此页面提交的。为了保护您，系统没有接受它。',
      todo: '请再次打开您收到的链接，并在那里填写表单。',
    },
    'too-many': {
      heading: '请稍等片刻',
      what: '短时间内尝试的次数过多，此页面需要暂停一下。您的链接不受影响。',
      todo: (wait) => (wait === undefined ? '请稍等片刻，然后重试。' : `请等待${wait}，然后重试。`),
    },
    unavailable: {
      heading: '暂时无法进行',
      what: '此页面依赖的服务目前无法连接。这不是您的问题。',
      todo: (wait) => `请在${wait ?? '几分钟'}后重试。您的链接不受影响。`,
    },
    'not-local': {
      heading: '只能在同一台电脑上打开',
      what: '此页面只能在运行服务器的那台电脑上打开。',
      todo: '请在那台电脑的浏览器中打开此链接。',
    },
    'not-known': {
      heading: '请先登录',
      what: '此页面只对已在所属组织登录的人开放，但它没有得知您是谁。',
      todo: '请在那里登录，然后再次打开链接。如果仍然不行，请告知此页面的维护人员。',
    },
    'too-large': {
      heading: '内容太多了',
      what: '发送的内容超出了此页面可接受的大小。没有保存任何内容。',
      todo: '请返回，只粘贴所需的值本身。',
    },
    'bad-request': {
      heading: '没有收到您的提交',
      what: '此页面无法读取浏览器发送的内容。没有保存任何内容。',
      todo: '请再次打开您收到的链接，然后重试。',
    },
  },
};
