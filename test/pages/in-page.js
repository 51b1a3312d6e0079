/**
 * What the browser tests ask a page, run inside it: plain JavaScript, because it sees a document and
 * the project's types know only Node. Each function returns findings as text, none meaning all is well.
 */

function brief(element) {
  return element.outerHTML.slice(0, 100);
}

function all(selector) {
  return [...document.querySelectorAll(selector)];
}

/** What reaches beyond the window, so that a person would have to scroll sideways. */
function tooWide() {
  const { clientWidth, scrollWidth } = document.documentElement;
  const beyond = all('body *').filter((element) => {
    const { left, right } = element.getBoundingClientRect();
    return right > clientWidth + 0.5 || left < -0.5;
  });
  return [...(scrollWidth > clientWidth ? [`the page is ${scrollWidth} pixels wide`] : []), ...beyond.map(brief)];
}

/** Opens everything that opens, so that what is in it counts too. */
function openAll() {
  for (const details of all('details')) details.open = true;
}

/** Gives the page another accent colour. */
async function restyle(accent) {
  const [old] = all('link[rel=stylesheet]');
  const next = old.cloneNode();
  next.href = `${old.getAttribute('href').split('?')[0]}?accent=${encodeURIComponent(accent)}`;
  await new Promise((resolve, reject) => {
    next.addEventListener('load', resolve);
    next.addEventListener('error', reject);
    old.after(next);
  });
  old.remove();
}

/** What can be pressed but is smaller than 44 pixels (WCAG 2.2, 2.5.5). */
function tooSmall() {
  return all('a, button, summary, input:not([type=hidden]), textarea')
    .filter((element) => {
      const { width, height } = element.getBoundingClientRect();
      return width < 44 || height < 44;
    })
    .map(brief);
}

/** Texts whose contrast with what is painted behind them is below 4.5 (WCAG 2.2, 1.4.3). */
function tooFaint() {
  return all('body *')
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''))
    .filter((element) => {
      const [dark, light] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((a, b) => a - b);
      return (light + 0.05) / (dark + 0.05) < 4.5;
    })
    .map(brief);
}

/** What has moved since the page began to load. */
async function moved() {
  const observer = new PerformanceObserver(() => undefined);
  observer.observe({ type: 'layout-shift', buffered: true });
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return observer.takeRecords().map((shift) => `moved by ${shift.value}`);
}

/** Buttons and seals that would vanish where the system replaces all colours. */
function edgeless() {
  return all('button, .button, .seal, .status, .panel')
    .filter((element) => Number.parseFloat(getComputedStyle(element).borderTopWidth) < 1)
    .map(brief);
}

/** What a text could have made if it had broken out of its place. */
function injected() {
  return [
    ...all('script, style, iframe, object, embed, main img').map(brief),
    ...all('*').filter((element) => element.getAttributeNames().some((name) => /^on|^style$/.test(name))).map(brief),
  ];
}

/** The element that has the focus: what it is called, and whether a person can see that it has it. */
function focused() {
  const element = document.activeElement;
  if (element === null || element === document.body) return undefined;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  return {
    stop: element.matches('input, textarea') ? `input ${element.name}` : element.textContent.trim(),
    isSeen: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2,
  };
}

/** The texts that describe an input to a screen reader. */
function descriptions(name) {
  const input = document.getElementsByName(name)[0];
  const ids = input.getAttribute('aria-describedby')?.split(' ') ?? [];
  return ids.map((id) => document.getElementById(id).textContent.trim());
}

function channels(colour) {
  return colour.match(/[\d.]+/g).map(Number);
}

function luminance(colour) {
  const [red, green, blue] = channels(colour)
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function behind(element) {
  if (element === null) return 'rgb(255, 255, 255)';
  const { backgroundColor } = getComputedStyle(element);
  return channels(backgroundColor)[3] === 0 ? behind(element.parentElement) : backgroundColor;
}

Object.assign(globalThis, { openAll, restyle, tooWide, tooSmall, tooFaint, moved, edgeless, injected, focused, descriptions });
