/**
 * The drawings on the pages: icons as inline SVG that take the colour of the text around them, and
 * the favicon as a data: address. They carry no words, no style attributes and no script, so that the
 * strictest Content-Security-Policy lets them through.
 */

export type IconName = 'lock' | 'done' | 'pause' | 'clock' | 'notice' | 'person' | 'open' | 'globe';

const strokes: Readonly<Record<IconName, string>> = {
  lock: '<rect x="5" y="10.5" width="14" height="9.5" rx="2.5"/><path d="M8 10.5V8a4 4 0 0 1 8 0v2.5"/>',
  done: '<path d="m5.5 12.5 4.5 4.5 8.5-9.5"/>',
  pause: '<path d="M9 6.5v11M15 6.5v11"/>',
  clock: '<circle cx="12" cy="12" r="8"/><path d="M12 7.5V12l3 2"/>',
  person: '<circle cx="12" cy="8.5" r="3.75"/><path d="M5 19.5c.6-3.6 3.4-5.5 7-5.5s6.4 1.9 7 5.5"/>',
  open: '<circle cx="12" cy="12" r="8"/>',
  globe: '<circle cx="12" cy="12" r="8.5"/><path d="M3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17"/>',
  notice: '<circle cx="12" cy="12" r="8.5"/><path d="M12 7.8v5M12 16.1v.1"/>',
};

/** @returns an `<svg>` that screen readers skip */
export function icon(name: IconName): string {
  return (
    '<svg class="icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="2"' +
    ` stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${strokes[name]}</svg>`
  );
}

/** A gate with a keyhole; stands beside the site's name where the operator has no logo. */
export const mark =
  '<svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">' +
  '<path fill="currentColor" fill-rule="evenodd" d="M5 13.5a11 11 0 0 1 22 0V27a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2Z' +
  'm11-1.5a3.5 3.5 0 0 0-1.9 6.4L13 23h6l-1.1-4.6A3.5 3.5 0 0 0 16 12Z"/></svg>';

/** The same mark for the browser's tab, in a green that shows on light and dark tabs. */
export const favicon = `data:image/svg+xml,${encodeURIComponent(
  mark
    .replace('<svg class="mark"', '<svg xmlns="http://www.w3.org/2000/svg"')
    .replace('currentColor', '#3f8f68')
    .replace(' aria-hidden="true" focusable="false"', ''),
)}`;
